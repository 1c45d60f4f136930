"""How a running gateway is watched and reloaded (operations.md S7, S8, S10; protocol.md A4, A6)."""

import email.utils
import json
import os
import re
import resource
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import InvalidStatus

from gateway import ROOT, Gateway, outgoing, until
from rawsocket import CLOSE, PING, TEXT, RawSocket, frame, upgrade_request
from session import Closed, Refused, Session

ANN = {"authorization": "Bearer dev-ann"}


def events(gateway: Gateway, *names: str) -> list[str]:
    """The log lines of these events."""
    return [line for line in gateway.output if (words := line.split(" ", 3))[2:] and words[2].strip() in names]


def reload(gateway: Gateway) -> str:
    """Sends SIGHUP; returns the line that tells what came of it."""
    before = len(events(gateway, "reloaded", "reload_refused"))
    gateway.process.send_signal(signal.SIGHUP)
    until(lambda: len(events(gateway, "reloaded", "reload_refused")) > before)
    return events(gateway, "reloaded", "reload_refused")[-1]


def metrics(gateway: Gateway) -> dict[str, float]:
    """Every sample by its name and labels as they stand in the text."""
    answer = gateway.request("GET", "/metrics")
    assert answer.status == 200 and answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
            samples[sample.name + (f"{{{labels}}}" if labels else "")] = sample.value
    return samples


def upgrade_status(gateway: Gateway, origin: str) -> int:
    try:
        with Session(gateway, {"Origin": origin}):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def new_certificate(folder, name: str) -> tuple[str, str]:
    paths = str(folder / f"{name}.pem"), str(folder / f"{name}-key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "9"]
        + ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", paths[1], "-out", paths[0]],
        check=True,
        capture_output=True,
    )
    return paths


def served_certificate(gateway: Gateway) -> str:
    return ssl.get_server_certificate((gateway.host, gateway.port), timeout=10)


class TestReload:
    def test_S7_aNewCertificateIsForNewConnectionsAndOldOnesLive(self, own_gateway, tmp_path):
        first, second = new_certificate(tmp_path, "first"), new_certificate(tmp_path, "second")
        used = tmp_path / "used.pem", tmp_path / "used-key.pem"
        for source, target in zip(first, used):
            shutil.copy(source, target)
        gateway = own_gateway("--dev", certificate=(str(used[0]), str(used[1]))).start()
        assert served_certificate(gateway).strip() == open(first[0]).read().strip()
        with Session(gateway) as old:
            old.call("connect", {"token": "dev-ann"})
            for source, target in zip(second, used):
                shutil.copy(source, target)
            assert " reloaded " in reload(gateway)
            assert served_certificate(gateway).strip() == open(second[0]).read().strip()
            old.call("message.send", outgoing("team", "over the old certificate"))
            # The client trusts the second certificate only.
            with Session(gateway) as new:
                new.call("connect", {"token": "dev-bob"})
                sent = old.call("message.send", outgoing("team", "to the new one"))
                assert new.event("message")["data"]["id"] == sent["id"]
        samples = metrics(gateway)
        assert samples['threadcast_reloads_total{outcome="done"}'] == 1
        assert samples["threadcast_tls_certificate_days"] in (8, 9)
        gateway.stop()

    def test_S7_A4_originsLimitsAndTheLogChangeTogether(self, own_gateway, tmp_path):
        settings = tmp_path / "settings.yaml"
        settings.write_text("allowedOrigins: [https://old.example]\nlimits:\n  tags: 2\n")
        gateway = own_gateway("--dev", "--config", str(settings)).start()
        assert (upgrade_status(gateway, "https://old.example"), upgrade_status(gateway, "https://new.example")) == (101, 403)
        assert not events(gateway, "http_response")
        with Session(gateway) as old:
            hello = old.call("connect", {"token": "dev-ann"})
            assert hello["limits"]["tags"] == 2 and hello["heartbeatSeconds"] == 25
            settings.write_text(
                "allowedOrigins: [https://new.example]\nheartbeatSeconds: 50\nlimits:\n  tags: 1\nlog:\n  level: debug\n"
            )
            line = reload(gateway)
            assert " reloaded " in line
            for key in ("log.level", "allowedOrigins", "heartbeatSeconds", "limits.tags"):
                assert key in line
            assert (upgrade_status(gateway, "https://old.example"), upgrade_status(gateway, "https://new.example")) == (403, 101)
            with Session(gateway) as new:
                hello = new.call("connect", {"token": "dev-bob"})
                assert hello["limits"]["tags"] == 1 and hello["heartbeatSeconds"] == 50
                two = outgoing("team", "two tags", tags=["a", "b"])
                with pytest.raises(Refused) as refused:
                    new.call("message.send", two)
                assert refused.value.code == "ERR_TOO_LARGE"
                # What the hello told holds for the session.
                sent = old.call("message.send", two)
                assert new.event("message")["data"]["id"] == sent["id"]
        gateway.request("GET", "/healthz")
        until(lambda: events(gateway, "http_response"))
        gateway.stop()

    def test_S7_theLogFormatAndTheDrainAreThoseOfTheReload(self, own_gateway, tmp_path):
        settings = tmp_path / "settings.yaml"
        settings.write_text("drainSeconds: 60\n")
        gateway = own_gateway("--dev", "--loops", "1", "--config", str(settings)).start()
        settings.write_text("drainSeconds: 1\nlog:\n  format: json\n")
        gateway.process.send_signal(signal.SIGHUP)
        until(lambda: any('"event":"reloaded"' in line for line in gateway.output))
        sessions = [Session(gateway) for _ in range(4)]
        for session in sessions:
            session.call("connect", {"token": "dev-ann"})
        gateway.process.send_signal(signal.SIGTERM)
        delays = [json.loads(session.closing().reason)["reconnectAfterMs"] for session in sessions]
        assert all(0 <= delay < 1000 for delay in delays)
        for session in sessions:
            session.close()
        assert gateway.process.wait(20) == 0
        assert json.loads(gateway.output[-1])["event"] == "stopped"

    def test_S7_aBrokenFileKeepsTheOldStateAndNamesEveryProblem(self, own_gateway, tmp_path):
        settings = tmp_path / "settings.yaml"
        settings.write_text("allowedOrigins: [https://old.example]\n")
        gateway = own_gateway("--dev", "--config", str(settings)).start()
        settings.write_text("allowedOrigins: [https://new.example]\nlimits:\n  tags: 9000\n  frameByte: 9\nlog:\n  level: loud\n")
        line = reload(gateway)
        assert " error reload_refused " in line and line.count("\n") == 1
        for words in ("limits.tags", "9000", "limits.frameByte", "limits.frameBytes", "log.level", "loud"):
            assert words in line
        assert (upgrade_status(gateway, "https://old.example"), upgrade_status(gateway, "https://new.example")) == (101, 403)
        settings.unlink()
        assert "No such file" in reload(gateway)
        assert upgrade_status(gateway, "https://old.example") == 101
        samples = metrics(gateway)
        assert samples['threadcast_reloads_total{outcome="refused"}'] == 2
        assert samples['threadcast_reloads_total{outcome="done"}'] == 0
        settings.write_text("allowedOrigins: [https://new.example]\n")
        assert " reloaded " in reload(gateway)
        assert (upgrade_status(gateway, "https://old.example"), upgrade_status(gateway, "https://new.example")) == (403, 101)
        gateway.stop()

    def test_S7_aBrokenCertificateKeepsEverythingElseToo(self, own_gateway, tmp_path):
        first = new_certificate(tmp_path, "first")
        settings = tmp_path / "settings.yaml"
        settings.write_text("allowedOrigins: [https://old.example]\n")
        gateway = own_gateway("--dev", "--config", str(settings), certificate=first).start()
        before = served_certificate(gateway)
        whole = open(first[0]).read()
        settings.write_text("allowedOrigins: [https://new.example]\n")
        for broken in ("not a certificate\n", None):
            if broken:
                open(first[0], "w").write(broken)
            else:
                os.unlink(first[0])
            line = reload(gateway)
            assert "reload_refused" in line and "first.pem" in line
            assert served_certificate(gateway) == before
        open(first[0], "w").write(whole)
        assert (upgrade_status(gateway, "https://old.example"), upgrade_status(gateway, "https://new.example")) == (101, 403)
        assert " reloaded " in reload(gateway)
        assert upgrade_status(gateway, "https://new.example") == 101
        gateway.stop()

    def test_S7_keysThatNeedARestartAreNamedAndTheRestHolds(self, own_gateway, tmp_path):
        settings = tmp_path / "settings.yaml"
        settings.write_text("readers: 2\n")
        gateway = own_gateway("--dev", "--config", str(settings)).start()
        settings.write_text("readers: 3\nloops: 1\nlimits:\n  tags: 3\n")
        line = reload(gateway)
        assert re.search(r" reloaded changed=limits\.tags needs_restart=loops,readers\n", line)
        send = lambda count: gateway.request(  # noqa: E731
            "POST", "/v1/messages", outgoing("team", "x", tags=["t"] * count), **ANN
        )
        assert (send(3).status, send(4).error["code"]) == (200, "ERR_TOO_LARGE")
        # A reload without a change says so, and what waits for a restart is told again.
        assert re.search(r' reloaded changed="" needs_restart=loops,readers\n', reload(gateway))
        gateway.stop()


class TestMetrics:
    def test_S8_theTableOfTheManualIsTrueBothWays(self, own_gateway, certificate):
        gateway = own_gateway("--dev", "--echo", certificate=certificate).start()
        text = gateway.request("GET", "/metrics").body.decode()
        served = {}
        for family in text_string_to_metric_families(text):
            name = family.name + ("_total" if family.type == "counter" else "")
            assert family.documentation and family.samples, name
            assert re.search(r"(_seconds|_bytes|_total|_days|_fds|_ratio|_info|_changes|_messages|_contexts|_phase|_progress)$", name) or name in (
                "threadcast_sessions", "threadcast_connections", "threadcast_ready", "threadcast_store_working",
            ), f"{name} tells no unit"  # fmt: skip
            served[name] = family.type
        table = re.findall(r"^\| `((?:threadcast|process)_\w+)` \| (\w+) \|", (ROOT / "docs/OPERATIONS.md").read_text(), re.MULTILINE)
        assert len(table) == len(dict(table)) > 30
        assert dict(table) == served
        gateway.stop()

    def test_S8_whatHappensIsCounted(self, own_gateway, certificate):
        gateway = own_gateway("--dev", certificate=certificate).start()
        with Session(gateway) as ann, Session(gateway) as bob:
            ann.call("connect", {"token": "dev-ann"})
            bob.call("connect", {"token": "dev-bob"})
            for number in range(10):
                ann.call("message.send", outgoing("team", f"number {number} " + "and so on " * 100))
            bob.messages(10)
            with pytest.raises(Refused):
                ann.call("message.get", {"id": 999_999})
            with RawSocket.upgraded(gateway) as raw:
                raw.send(frame(TEXT, b"hello", masked=False))
                assert raw.close_code() == 1002
            samples = metrics(gateway)
        assert samples["threadcast_sessions"] == 2
        assert samples['threadcast_connections_by_phase{phase="live"}'] == 2
        assert samples["threadcast_messages_total"] == 10
        assert samples["threadcast_deliveries_total"] == 10
        assert samples["threadcast_store_batch_changes_sum"] == samples["threadcast_store_batch_changes_count"] == 10
        assert samples["threadcast_store_commit_seconds_count"] == 10
        assert samples["threadcast_fan_out_seconds_count"] >= 10
        assert samples["threadcast_end_to_end_seconds_count"] >= 10
        # The way to the sockets is longer than the way to the queues, and shorter than a second a message.
        assert 0 < samples["threadcast_fan_out_seconds_sum"] < samples["threadcast_end_to_end_seconds_sum"] < 20
        assert samples['threadcast_end_to_end_seconds_bucket{le="+Inf"}'] == samples["threadcast_end_to_end_seconds_count"]
        assert samples['threadcast_errors_total{code="ERR_MESSAGE_ID_NOT_FOUND"}'] == 1
        assert samples['threadcast_closes_total{code="1002"}'] == 1
        assert sum(value for name, value in samples.items() if name.startswith("threadcast_protocol_errors_total")) == 1
        # Two sessions, the raw one, and the scrape.
        assert samples['threadcast_tls_handshakes_total{outcome="done"}'] == 4
        assert samples["threadcast_tls_handshakes_in_progress"] == 0
        assert 0 < samples["threadcast_deflate_ratio"] < 0.5
        assert samples["threadcast_deflate_contexts"] >= 2
        assert 0 < samples["threadcast_deflate_output_bytes_total"] < samples["threadcast_deflate_input_bytes_total"]
        assert samples["threadcast_loop_turn_seconds_count"] > 10
        assert samples["threadcast_ready"] == samples["threadcast_store_working"] == 1
        assert samples['threadcast_mailbox_messages{mailbox="committer"}'] == 0
        assert samples['threadcast_mailbox_limit_messages{mailbox="committer"}'] > 0
        with open(f"/proc/{gateway.process.pid}/status") as status:
            resident = int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) * 1024
        assert abs(samples["process_resident_memory_bytes"] - resident) < 8 << 20
        assert abs(samples["process_open_fds"] - len(os.listdir(f"/proc/{gateway.process.pid}/fd"))) < 8
        assert samples["process_max_fds"] == resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)[0]
        assert abs(samples["process_start_time_seconds"] - time.time()) < 60
        gateway.stop()
        with pytest.raises(OSError):
            gateway.request("GET", "/metrics")


class TestLog:
    def test_S8_linesMayBeJSON(self, own_gateway):
        gateway = own_gateway("--dev", "--log-format", "json", "--log-level", "debug").start()
        gateway.request("GET", "/v1/messages", query={"guid": "team"}, **ANN)
        gateway.stop()
        lines = [json.loads(line) for line in gateway.output if not line.startswith("threadcast ready")]
        assert {"ready", "http_request", "http_response", "draining", "stopped"} <= {line["event"] for line in lines}
        for line in lines:
            assert line["level"] in ("debug", "info", "warning", "error")
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["ts"])

    def test_S8_anEventHasItsLinesASecondAndTheRestAreCounted(self, own_gateway):
        gateway = own_gateway("--dev", "--log-level", "debug").start()
        connection = gateway.http_connection()
        for _ in range(100):
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b"ok\n"
        connection.close()
        time.sleep(1.1)
        gateway.request("GET", "/healthz")
        until(lambda: any("suppressed=" in line for line in events(gateway, "http_response")))
        lines = events(gateway, "http_response")
        suppressed = sum(int(found[1]) for line in lines if (found := re.search(r"suppressed=(\d+)", line)))
        assert len(lines) + suppressed == 101
        seconds = [line[:19] for line in lines]
        # A window is a second from its first line, so two of them may touch a second of the clock.
        assert max(seconds.count(second) for second in seconds) <= 40
        assert metrics(gateway)["threadcast_log_suppressed_lines_total"] >= suppressed
        gateway.stop()

    def test_A6_noSecretStandsInALogLineOrAMetric(self, own_gateway):
        gateway = own_gateway("--dev", "--log-level", "debug").start()
        uid = "ann"
        kept: list[str] = []

        def secret(kind: str) -> str:
            kept.append(f"{kind}-{secrets.token_hex(8)}")
            return kept[-1]

        def ask(*request, **rest):
            # Slower than the log's limit, so that every line is there to be searched.
            time.sleep(0.07)
            return gateway.request(*request, **rest)

        minted = ask("POST", "/v1/admin/tokens", {"uid": uid}, apikey="dev-admin")
        token = minted.data["token"]
        kept += [token, "dev-admin", "dev-ann"]
        bearer = {"authorization": f"Bearer {token}"}
        # Tokens: in a header, in the query, in the first frame; right and wrong.
        assert ask("GET", "/v1/users/ann", **bearer).status == 200
        assert ask("GET", "/v1/users/ann", **ANN).status == 200
        assert ask("GET", "/v1/users/ann", authorization=f"Bearer {secret('bad')}").status == 401
        assert ask("GET", "/v1/users/ann", authorization=f"Basic {secret('basic')}").status == 401
        assert ask("GET", f"/v1/users/ann?access_token={secret('query')}").status == 401
        assert ask("GET", f"/{secret('path')}?{secret('name')}=1", **bearer).status == 404
        assert ask(secret("METHOD").upper(), "/v1/messages", **bearer).status in (400, 405, 501)
        kept.append(kept[-1].upper())
        with pytest.raises(InvalidStatus):
            Session(gateway, query=f"?access_token={secret('query')}")
        with pytest.raises(InvalidStatus):
            Session(gateway, {"Authorization": f"Bearer {secret('bad')}"})
        for headers, query, first in (({}, f"?access_token={token}", None), (bearer, "", None), ({}, "", token)):
            time.sleep(0.1)
            with Session(gateway, {name.title(): value for name, value in headers.items()}, query) as session:
                session.call("connect", {"token": first} if first else {})
                session.call("message.send", outgoing("team", secret("text"), metadata={"m": secret("meta")}, tags=[secret("tag")]))
                with pytest.raises(Refused):
                    session.call("message.send", outgoing(secret("nobody"), secret("text")))
                with pytest.raises(Refused):
                    session.call(secret("operation"), {"text": secret("text")})
                session.send_text("{" + secret("broken"))
                session.send_text(json.dumps({"id": secret("id"), "op": "message.send", "data": {"text": [secret("list")]}}))
                session.call("ping")
        with Session(gateway) as session:
            with pytest.raises(Refused):
                session.call("connect", {"token": secret("frame")})
            assert session.closing().code == 4200
        with RawSocket(gateway) as raw:
            raw.send(upgrade_request(gateway, "/v1/live", f"Sec-WebSocket-Protocol: {secret('protocol')}", f"X-Any: {secret('field')}"))
            raw.head()
            raw.send(frame(PING, secret("ping").encode()))
            raw.send(frame(CLOSE, b"\x03\xe8" + secret("reason").encode()))
        with RawSocket(gateway) as raw:
            raw.send(f"GET /v1/live HTTP/1.1\r\nHost: x\r\n{secret('line')}\r\n\r\n".encode())
            assert raw.head().startswith(b"HTTP/1.1 400 ")
        # Messages over HTTP, and what an admin does.
        assert ask("POST", "/v1/messages", outgoing("team", secret("text"), muid=secret("muid")), **bearer).status == 200
        assert ask("POST", "/v1/messages", outgoing("team", secret("text") + "x" * 20_000), **bearer).status == 413
        assert ask("POST", "/v1/messages", secret("json").encode(), content_type="application/json", **bearer).status == 400
        assert ask("POST", "/v1/admin/users", {"uid": "new", "name": "N"}, apikey=secret("key")).status == 401
        assert ask("POST", "/v1/admin/users", {"uid": "new", "name": "N"}, apikey="dev-admin", onbehalfof=secret("behalf")).status >= 400
        assert ask("DELETE", "/v1/admin/tokens", {"token": secret("unknown")}, apikey="dev-admin").status < 500
        assert ask("DELETE", "/v1/admin/tokens", {"token": token}, apikey="dev-admin").status in (200, 204)
        assert ask("GET", "/v1/users/ann", **bearer).status == 401
        scraped = gateway.request("GET", "/metrics").body.decode()
        gateway.stop()

        log = "".join(gateway.output)
        # The search would find something if it were there: what may be told is.
        assert f"uid={uid} " in log and "suppressed=" not in log
        for event in ("http_request", "http_response", "session_opened", "operation", "refused", "closing"):
            assert events(gateway, event), event
        assert len(kept) > 30
        for text in kept:
            assert text not in log, f"{text} stands in the log"
            assert text not in scraped, f"{text} stands in the metrics"

    def test_C016_aPauseOfAcceptingAndItsEndAreTold(self, own_gateway):
        gateway = own_gateway("--dev", "--loops", "1").start()
        open_now = len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (open_now + 8, open_now + 8))
        with Session(gateway) as session:
            session.call("connect", {"token": "dev-ann"})
            crowd = [socket.create_connection((gateway.host, gateway.port), timeout=5) for _ in range(30)]
            until(lambda: events(gateway, "accept_paused"))
            assert "Too many open files" in events(gateway, "accept_paused")[0]
            time.sleep(0.3)
            # It is told once, however often it is tried again, and who is in is served.
            assert len(events(gateway, "accept_paused")) == 1 and not events(gateway, "accept_resumed")
            session.call("ping", seconds=2)
            before = os.times()
            spent = sum(map(int, open(f"/proc/{gateway.process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))
            time.sleep(0.5)
            spent = sum(map(int, open(f"/proc/{gateway.process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) - spent
            assert spent <= 0.1 * os.sysconf("SC_CLK_TCK") * (os.times().elapsed - before.elapsed)
            for client in crowd:
                client.close()
            until(lambda: events(gateway, "accept_resumed"))
            assert re.search(r"paused_ms=\d+", events(gateway, "accept_resumed")[0])
            assert gateway.request("GET", "/healthz").status == 200
            assert metrics(gateway)["threadcast_accept_pauses_total"] >= 2
        gateway.stop()


class TestReadiness:
    def test_S10_S11_aDataFolderThatIsMovedAwayIsNoticedAndItsReturnToo(self, own_gateway):
        gateway = own_gateway("--dev").start()
        kept = gateway.request("POST", "/v1/messages", outgoing("team", "kept"), **ANN).data
        assert gateway.request("GET", "/readyz").status == 200
        elsewhere = gateway.data.with_name("elsewhere")
        gateway.data.rename(elsewhere)
        # Nobody sends anything.
        until(lambda: gateway.request("GET", "/readyz").status == 503)
        answer = gateway.request("GET", "/readyz")
        assert answer.body == b"the store does not commit\n" and answer.headers["retry-after"] == "1"
        assert gateway.request("GET", "/healthz").status == 200
        assert "its files are gone" in events(gateway, "store_failed")[0]
        assert metrics(gateway)["threadcast_ready"] == metrics(gateway)["threadcast_store_working"] == 0
        refused = gateway.request("POST", "/v1/messages", outgoing("team", "lost"), **ANN)
        assert (refused.status, refused.error["code"]) == (503, "ERR_STORE_UNAVAILABLE")
        elsewhere.rename(gateway.data)
        until(lambda: gateway.request("GET", "/readyz").status == 200)
        assert len(events(gateway, "store_failed")) == len(events(gateway, "store_recovered")) == 1
        again = gateway.request("POST", "/v1/messages", outgoing("team", "kept too"), **ANN).data
        rows = gateway.request("GET", "/v1/messages", query={"guid": "team"}, **ANN).data
        assert [row["id"] for row in rows][-2:] == [kept["id"], again["id"]]
        gateway.stop()

    def test_S10_aDeletedDataFolderIsNoticedWithoutASend(self, own_gateway):
        gateway = own_gateway("--dev").start()
        assert gateway.request("GET", "/readyz").status == 200
        shutil.rmtree(gateway.data)
        until(lambda: gateway.request("GET", "/readyz").status == 503)
        gateway.stop()


class TestHTTP:
    def test_H_responsesAreDatedAndA401SaysHowToAuthenticate(self, gateway):
        fine = gateway.request("GET", "/healthz")
        refused = gateway.request("GET", "/v1/messages")
        for answer in (fine, refused, gateway.request("GET", "/nowhere"), gateway.request("GET", "/metrics")):
            dated = email.utils.parsedate_to_datetime(answer.headers["date"])
            assert abs(dated.timestamp() - time.time()) < 10
        assert refused.status == 401 and refused.headers["www-authenticate"] == "Bearer"
        assert "www-authenticate" not in fine.headers
