"""How the gateway is started, told what to do, and stopped (operations.md S)."""

import http.client
import os
import pathlib
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from gateway import READY, ROOT, clean_environment, outgoing, program, until
from session import Closed, Session


def run(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Runs the program to its end, which must come soon."""
    return subprocess.run(
        [program(), *arguments], capture_output=True, text=True, timeout=20, env=clean_environment() | (environment or {})
    )


class TestSetup:
    def test_S1_setupIsQuietAndQuickWhenNothingIsMissing(self):
        for _ in range(2):
            done = subprocess.run([ROOT / "scripts/setup.sh"], capture_output=True, text=True, timeout=20)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    @pytest.mark.parametrize("version", [None, "5.10", "6.1"])
    def test_S1_aMissingOrOldToolchainIsOneSentence(self, tmp_path, version):
        for tool in ("bash", "env", "sed", "head", "dirname"):
            found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
            (tmp_path / tool).symlink_to(found)
        if version:
            (tmp_path / "swift").write_text(f"#!/bin/bash\necho 'Swift version {version} (swift-{version}-RELEASE)'\n")
            (tmp_path / "swift").chmod(0o755)
        done = subprocess.run(
            [ROOT / "scripts/setup.sh"], capture_output=True, text=True, timeout=20, env={"PATH": str(tmp_path)}
        )
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "Swift 6.2 or newer is needed" in done.stderr

    def test_S1_theTourOfTheScriptWorksAsPrinted(self, tmp_path):
        if "THREADCAST_BIN" in os.environ and not os.environ["THREADCAST_BIN"].endswith("release/threadcast"):
            pytest.skip("the script builds release; this run tests another build")
        serving = subprocess.Popen(
            ["make", "-s", "serve", f"ARGS=--listen 127.0.0.1:0 --data {tmp_path / 'data'}"],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env=clean_environment(),
        )  # fmt: skip
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.extend(serving.stdout), daemon=True)
        reading.start()
        try:
            until(lambda: any("Ctrl-C stops" in line for line in lines) or serving.poll() is not None, 300)
            text = "".join(lines)
            assert "Ctrl-C stops" in text, text
            clients = re.findall(r"^  (python3 scripts/live\.py \w+ --url \S+)$", text, re.MULTILINE)
            assert len(clients) == 2
            ann, bob = (
                subprocess.Popen(
                    command, shell=True, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
                )
                for command in clients
            )
            assert ann.stdout.readline().startswith("connected as ann")
            assert bob.stdout.readline().startswith("connected as bob")
            ann.stdin.write("tea or coffee?\n")
            sent = re.fullmatch(r"#(\d+) you: tea or coffee\?\n", ann.stdout.readline())
            assert bob.stdout.readline() == f"#{sent[1]} ann: tea or coffee?\n"
            bob.stdin.write(f"/reply {sent[1]} tea\n")
            reply = re.fullmatch(rf"#(\d+) you ↳ #{sent[1]}: tea\n", bob.stdout.readline())
            assert ann.stdout.readline() == f"#{reply[1]} bob ↳ #{sent[1]}: tea\n"
            bob.communicate(timeout=10)
            ann.communicate(timeout=10)
            assert (ann.returncode, bob.returncode) == (0, 0)
            block = text[text.index("  curl") : text.index("Ctrl-C")]
            for command in re.split(r"(?<!\\)\n(?=  curl)", block):
                done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=20)
                assert done.returncode == 0 and '"data"' in done.stdout, command + done.stderr
            assert "hello from curl" in done.stdout
        finally:
            os.killpg(serving.pid, signal.SIGINT)
            serving.wait(30)
            reading.join(5)


class TestSettings:
    def test_S2_theReadyLineIsOneLineAndTrue(self, own_gateway):
        gateway = own_gateway().start()
        ready = [line for line in gateway.output if READY.search(line)]
        assert len(ready) == 1 and ready[0].startswith("threadcast ready listen=127.0.0.1:")
        assert (gateway.store, gateway.is_secure) == ("sqlite", False) and gateway.port > 0
        assert gateway.request("GET", "/healthz").status == 200
        gateway.stop()

    def test_S2_severalListenersAndASocketFile(self, own_gateway, tmp_path):
        path = tmp_path / "gateway.sock"
        gateway = own_gateway("--listen", f"unix:{path}").start()
        assert gateway.request("GET", "/healthz").status == 200
        connection = http.client.HTTPConnection("localhost", timeout=10)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        gateway.stop()
        assert not path.exists()

    def test_S2_flagsWinOverEnvironmentWinsOverFile(self, tmp_path):
        settings = tmp_path / "settings.yaml"
        settings.write_text(f"data: {tmp_path / 'file'}\nlisten: 127.0.0.1:0\nlimits:\n  tags: 3\n")

        def start(flags: list[str], environment: dict[str, str]) -> None:
            command = [program(), "serve", "--config", str(settings), *flags]
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=clean_environment() | environment
            )
            assert READY.search(process.stdout.readline())
            process.terminate()
            process.communicate(timeout=20)
            assert process.returncode == 0

        start([], {})
        assert {path.name for path in tmp_path.iterdir()} == {"settings.yaml", "file"}
        start([], {"THREADCAST_DATA": str(tmp_path / "variable")})
        assert (tmp_path / "variable").exists()
        start(["--data", str(tmp_path / "flag")], {"THREADCAST_DATA": str(tmp_path / "unused")})
        assert (tmp_path / "flag").exists() and not (tmp_path / "unused").exists()

    def test_S2_M5_aConfiguredLimitHolds(self, own_gateway):
        gateway = own_gateway("--dev").start({"THREADCAST_LIMITS_TAGS": "2"})
        send = lambda tags: gateway.request(  # noqa: E731
            "POST", "/v1/messages", {"receiverUid": "bob", "receiverType": "user", "type": "text", "text": "x", "tags": tags},
            authorization="Bearer dev-ann",
        )  # fmt: skip
        assert send(["a", "b"]).status == 200
        assert send(["a", "b", "c"]).error["code"] == "ERR_TOO_LARGE"

    def test_S3_demoDataIsWrittenOnce(self, own_gateway):
        gateway = own_gateway("--dev").start()
        ann = {"authorization": "Bearer dev-ann"}
        members = gateway.request("GET", "/v1/groups/team/members", **ann).data
        assert sorted(member["uid"] for member in members) == ["ann", "bob", "cyd", "dan", "eve"]
        for name in ("ann", "bob", "cyd", "dan", "eve"):
            answer = gateway.request("GET", f"/v1/users/{name}", authorization=f"Bearer dev-{name}")
            assert answer.data["uid"] == name
        sent = gateway.request("POST", "/v1/messages", outgoing("team", "kept"), **ann).data
        gateway.stop()
        gateway.start()
        rows = gateway.request("GET", "/v1/messages", query={"guid": "team", "limit": 1}, **ann).data
        assert rows[-1]["id"] == sent["id"]
        assert len(gateway.request("GET", "/v1/groups/team/members", **ann).data) == 5
        gateway.stop()

    def test_S3_withoutDevThereIsNobody(self, own_gateway):
        gateway = own_gateway().start()
        assert gateway.request("GET", "/v1/messages", authorization="Bearer dev-ann").status == 401
        assert gateway.request("POST", "/v1/admin/users", {"uid": "x"}, apikey="dev-admin").status == 401

    def test_S3_aDemoFolderIsNotServedWithoutDev(self, own_gateway):
        gateway = own_gateway("--dev").start()
        gateway.stop()
        done = run("serve", "--listen", "127.0.0.1:0", "--data", str(gateway.data))
        assert done.returncode == 1 and done.stdout == ""
        assert "--dev" in done.stderr and str(gateway.data) in done.stderr

    def test_S3_devRefusesOtherAddresses(self, tmp_path):
        done = run("serve", "--dev", "--listen", "0.0.0.0:0", "--data", str(tmp_path / "data"))
        assert done.returncode == 78
        assert "0.0.0.0" in done.stderr and "127.0.0.1" in done.stderr
        assert not (tmp_path / "data").exists()

    def test_S4_echoIsOffByDefault(self, own_gateway):
        gateway = own_gateway("--dev").start()
        for path in ("/echo", "/sub", "/pub"):
            assert gateway.request("GET", path).status == 404

    def test_S4_whatIsPublishedReachesEverySubscriber(self, gateway):
        from websockets.sync.client import connect

        base = gateway.live_url.removesuffix("/v1/live")
        options = {"ssl": gateway.client_context(), "proxy": None, "max_size": None}
        with (
            connect(base + "/sub", **options) as plain, connect(base + "/sub", compression=None, **options) as bare,
            connect(base + "/pub", **options) as publisher,
        ):  # fmt: skip
            for message in ("hello", "x" * 100_000, "again"):
                publisher.send(message)
                assert plain.recv(timeout=10) == message
                assert bare.recv(timeout=10) == message

    def test_S5_versionAndHelp(self):
        version = run("version")
        assert version.returncode == 0 and version.stdout.count("\n") == 1 and version.stdout.strip()
        for arguments in (["--help"], ["serve", "--help"], ["version", "--help"]):
            help_text = run(*arguments)
            assert help_text.returncode == 0 and "threadcast" in help_text.stdout and help_text.stderr == ""


class TestWrongSettings:
    def test_S6_everyProblemIsListedWithItsKeyAndExit78(self, tmp_path):
        settings = tmp_path / "settings.yaml"
        settings.write_text("limits:\n  frameByte: 9\n  tags: 9000\nlog:\n  level: verbose\n")
        done = run("serve", "--config", str(settings), "--loops", "many", environment={"THREADCAST_READERS": "0"})
        assert done.returncode == 78 and done.stdout == ""
        for words in ("limits.frameByte", "limits.frameBytes", "limits.tags", "log.level", "--loops", "THREADCAST_READERS"):
            assert words in done.stderr
        assert done.stderr.count("\n") >= 5

    def test_S6_anUnknownFlagSuggestsTheNearest(self):
        done = run("serve", "--lisen", "127.0.0.1:0")
        assert done.returncode == 78 and "--listen" in done.stderr
        done = run("sreve")
        assert done.returncode == 78 and "threadcast serve" in done.stderr

    def test_S6_aPortInUseIsOneSentence(self, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = run("serve", "--listen", f"127.0.0.1:{port}", "--data", str(tmp_path / "data"))
        assert done.returncode == 1 and "threadcast ready" not in done.stdout
        assert str(port) in done.stderr and done.stderr.count("\n") == 1

    def test_S6_anotherGatewayOnThePortIsNoticedToo(self, own_gateway, tmp_path):
        gateway = own_gateway().start()
        done = run("serve", "--listen", f"127.0.0.1:{gateway.port}", "--data", str(tmp_path / "other"))
        assert done.returncode == 1 and str(gateway.port) in done.stderr
        assert gateway.request("GET", "/healthz").status == 200

    def test_S6_anUnusableDataFolderIsOneSentence(self, tmp_path):
        (tmp_path / "file").write_text("not a folder")
        done = run("serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "file/data"))
        assert done.returncode == 1 and "file/data" in done.stderr and done.stderr.count("\n") == 1

    @pytest.mark.parametrize("content", [None, "", "not a certificate"])
    def test_S6_anUnusableCertificateIsOneSentence(self, tmp_path, certificate, content):
        broken = tmp_path / "broken.pem"
        if content is not None:
            broken.write_text(content)
        for pair in ((str(broken), certificate[1]), (certificate[0], str(broken))):
            done = run(
                "serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"), "--tls-cert", pair[0], "--tls-key", pair[1]
            )
            assert done.returncode == 1 and "broken.pem" in done.stderr and done.stderr.count("\n") == 1

    def test_S6_aKeyOfAnotherCertificateIsOneSentence(self, tmp_path, certificate):
        other = tmp_path / "other.pem"
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", str(other)],
            check=True, capture_output=True,
        )  # fmt: skip
        done = run(
            "serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"), "--tls-cert", certificate[0], "--tls-key", str(other)
        )
        assert done.returncode == 1 and done.stderr.count("\n") == 1

    def test_S6_theSameDataFolderTwiceIsRefused(self, own_gateway, tmp_path):
        own_gateway().start()
        done = run("serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"))
        assert done.returncode == 1 and done.stderr.count("\n") == 1


class TestStopping:
    @pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
    def test_S7_sessionsAreClosed4000AndTheExitIsClean(self, own_gateway, which):
        gateway = own_gateway("--dev").start({"THREADCAST_DRAIN_SECONDS": "1"})
        with Session(gateway) as session:
            session.call("connect", {"token": "dev-ann"})
            gateway.process.send_signal(which)
            with pytest.raises(Closed) as closed:
                while True:
                    session.frame(15)
            assert closed.value.code == 4000 and "reconnectAfterMs" in closed.value.reason
        assert gateway.process.wait(20) == 0

    def test_S11_aStoreFromTheFutureIsRefused(self, own_gateway, tmp_path):
        gateway = own_gateway("--dev").start()
        gateway.stop()
        files = [path for path in gateway.data.iterdir() if path.read_bytes()[:15] == b"SQLite format 3"]
        assert len(files) == 1
        with sqlite3.connect(files[0]) as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            assert version > 0
            database.execute(f"PRAGMA user_version = {version + 1}")
        database.close()
        done = run("serve", "--listen", "127.0.0.1:0", "--data", str(gateway.data))
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and "version" in done.stderr

    def test_S12_theStoreIsItsOwnersAlone(self, own_gateway):
        gateway = own_gateway("--dev").start()
        assert stat.S_IMODE(gateway.data.stat().st_mode) == 0o700
        files = [path for path in gateway.data.rglob("*") if path.is_file()]
        assert files
        for path in files:
            assert stat.S_IMODE(path.stat().st_mode) & 0o177 == 0, path
        gateway.stop()


class TestClient:
    def test_S1_theTerminalClientSaysWhatIsWrong(self, gateway):
        if gateway.is_secure:
            pytest.skip("once is enough")
        url = gateway.live_url.removesuffix("/v1/live")
        client = [sys.executable, str(pathlib.Path(ROOT) / "scripts/live.py")]
        wrong = subprocess.run([*client, "nobody", "--url", url], capture_output=True, text=True, timeout=20, input="")
        assert wrong.returncode == 1 and "connect refused" in wrong.stdout
        nowhere = subprocess.run([*client, "ann", "--url", "ws://127.0.0.1:9"], capture_output=True, text=True, timeout=20)
        assert nowhere.returncode == 1 and "ws://127.0.0.1:9" in nowhere.stderr
