"""What an operator does beside a running gateway: tokens, keys, backups, the service's files (S5, S6, S12, R11)."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import threading

import pytest

from gateway import READY, ROOT, clean_environment, outgoing, program, until
from operating import Client, answer, as_user, first_people, run
from runbook import Runbook, blocks
from session import Session


class TestMinting:
    def test_S5_A2_theFirstKeyAndTokenOfARunningGateway(self, own_gateway):
        gateway = own_gateway().start()
        data = ("--data", str(gateway.data))
        minted = run("key", "mint", "--scope", "fullAccess", "--name", "backend", *data)
        assert minted.returncode == 0
        key = minted.stdout.strip()
        assert re.fullmatch(r"tk_[\w-]{43}", key) and minted.stdout.count("\n") == 1
        assert "once" in minted.stderr and key not in minted.stderr
        assert gateway.request("POST", "/v1/admin/users", {"uid": "ann", "name": "Ann"}, apikey=key).status in (200, 201)

        minted = run("token", "mint", "--uid", "Ann", "--ttl", "24h", *data)
        token = minted.stdout.strip()
        assert minted.returncode == 0 and re.fullmatch(r"tc_[\w-]{43}", token)
        assert gateway.request("GET", "/v1/users/ann", authorization=f"Bearer {token}").data["uid"] == "ann"
        with Session(gateway) as session:
            session.call("connect", {"token": token})

        listed = answer("key", "list", *data)["keys"]
        assert [(row["scope"], row["name"]) for row in listed] == [("fullAccess", "backend")]
        assert key not in json.dumps(listed) and listed[0]["id"] in run("key", "list", *data).stdout
        revoked = run("key", "revoke", listed[0]["id"], *data)
        assert revoked.returncode == 0 and listed[0]["id"] in revoked.stdout
        assert gateway.request("POST", "/v1/admin/users", {"uid": "bob"}, apikey=key).status == 401
        gateway.stop()
        assert not [line for line in gateway.output if key in line or token in line]
        for path in gateway.data.iterdir():
            assert key.encode() not in path.read_bytes() and token.encode() not in path.read_bytes()

    def test_S5_anAuthOnlyKeyMintsTokensAlone(self, own_gateway):
        gateway = own_gateway().start()
        first_people(gateway)
        key = answer("key", "mint", "--scope", "authOnly", "--data", str(gateway.data))["key"]
        assert gateway.request("POST", "/v1/admin/tokens", {"uid": "ann"}, apikey=key).status in (200, 201)
        assert gateway.request("POST", "/v1/admin/users", {"uid": "cyd"}, apikey=key).status == 403

    def test_S5_A1_anExpiredTokenIsRefused(self, own_gateway):
        gateway = own_gateway().start()
        first_people(gateway)
        minted = answer("token", "mint", "--uid", "ann", "--ttl", "1s", "--data", str(gateway.data))
        assert minted["uid"] == "ann" and minted["expiresAt"] > 0
        ask = Client(gateway, authorization=f"Bearer {minted['token']}")
        until(lambda: ask("GET", "/v1/users/ann").status == 401)

    def test_S5_M8_mintsWhileSendsAreUnderWayLoseNothing(self, own_gateway):
        """The gateway commits without a pause; every mint finds its gap and every acknowledged send is there, in order."""
        gateway = own_gateway().start()
        first_people(gateway)
        first = as_user(gateway, "ann")("POST", "/v1/messages", outgoing("bob") | {"receiverType": "user"}).data["id"]
        acknowledged: list[int] = []
        failures: list[object] = []
        enough = threading.Event()

        def send_on(ask: Client) -> None:
            token = ask.headers["authorization"].removeprefix("Bearer ")
            with Session(gateway) as session:
                session.call("connect", {"token": token})
                body = {"receiverUid": "bob", "receiverType": "user", "type": "text", "text": "x"}
                while not enough.is_set():
                    for request in [session.begin("message.send", body) for _ in range(16)]:
                        reply = session.answer(request)
                        if reply["ok"]:
                            acknowledged.append(reply["data"]["id"])
                        else:
                            failures.append(reply)

        senders = [threading.Thread(target=send_on, args=(as_user(gateway, "ann"),)) for _ in range(2)]
        for sender in senders:
            sender.start()
        until(lambda: len(acknowledged) > 50 or failures)
        before = len(acknowledged)
        minted = [as_user(gateway, "bob") for _ in range(12)]
        during = len(acknowledged) - before
        enough.set()
        for sender in senders:
            sender.join(20)
        assert not failures and during > 0
        assert len(set(acknowledged)) == len(acknowledged)
        for ask in minted:
            assert ask("GET", "/v1/users/bob").status == 200
        gateway.kill()
        gateway.start()
        rows, after = set(), first
        while after:
            page = minted[0]("GET", "/v1/messages", query={"uid": "ann", "direction": "after", "id": after, "limit": 100})
            rows |= {row["id"] for row in page.data}
            after = page.json["meta"]["nextId"] if page.json["meta"]["hasMore"] else None
        assert set(acknowledged) <= rows
        gateway.stop()

    def test_S5_mintingWorksWhileNobodyServes(self, own_gateway):
        gateway = own_gateway().start()
        first_people(gateway)
        gateway.stop()
        ask = as_user(gateway, "ann")
        gateway.start()
        assert ask("GET", "/v1/users/ann").status == 200

    def test_A3_revokingATokenBesideAGatewaySaysHow(self, own_gateway):
        gateway = own_gateway().start()
        first_people(gateway)
        data = ("--data", str(gateway.data))
        token = answer("token", "mint", "--uid", "ann", *data)["token"]
        ask = Client(gateway, authorization=f"Bearer {token}")
        done = run("token", "revoke", *data, stdin=token + "\n")
        assert done.returncode == 1 and "/v1/admin/tokens" in done.stderr and token not in done.stderr
        assert ask("GET", "/v1/users/ann").status == 200
        gateway.stop()
        assert answer("token", "revoke", *data, stdin=token + "\n") == {"revoked": True}
        assert answer("token", "revoke", *data, stdin=token + "\n") == {"revoked": False}
        gateway.start()
        assert ask("GET", "/v1/users/ann").status == 401

    def test_S6_whatCannotBeDoneIsOneSentence(self, own_gateway, tmp_path):
        gateway = own_gateway().start()
        gateway.stop()
        data = ("--data", str(gateway.data))
        for arguments, status, words in [
            (("token", "mint", "--uid", "nobody", *data), 1, "no user nobody"),
            (("token", "mint", "--uid", "app", *data), 1, "system user"),
            (("token", "mint", "--uid", "a b", *data), 78, "no uid"),
            (("token", "mint", "--uid", "a", "--ttl", "1y", *data), 78, "24h"),
            (("key", "mint", "--scope", "fulAccess", *data), 78, "did you mean fullAccess?"),
            (("key", "revoke", "00", *data), 1, "key list"),
            (("token", "revoke", *data), 78, "standard input"),
            (("key", "list", "--data", str(tmp_path / "nowhere")), 1, "There is no store"),
            (("tokn", "mint"), 78, "did you mean threadcast token?"),
            (("backup", "--fore", "x"), 78, "did you mean --force?"),
        ]:
            done = run(*arguments)
            assert done.returncode == status and words in done.stderr, (arguments, done.stderr)
            assert done.stdout == "" and done.stderr.count("\n") == 1
        assert not (tmp_path / "nowhere").exists()


class TestBackup:
    def test_S5_R11_aBackupUnderLoadIsRestoredByTheRunbook(self, own_gateway, tmp_path):
        gateway = own_gateway().start()
        first_people(gateway)
        ann = as_user(gateway, "ann")
        root = ann("POST", "/v1/messages", outgoing("bob") | {"receiverType": "user"}).data["id"]
        enough = threading.Event()

        def load() -> None:
            while not enough.is_set():
                body = outgoing("bob", "reply", parentMessageId=root) | {"receiverType": "user"}
                assert ann("POST", "/v1/messages", body).status in (200, 201)

        sender = threading.Thread(target=load)
        sender.start()
        copy = tmp_path / "copy.sqlite"
        try:
            until(lambda: ann("GET", f"/v1/messages/{root}").data["replyCount"] > 5)
            known = ann("GET", f"/v1/messages/{root}").data["replyCount"]
            made = answer("backup", str(copy), "--data", str(gateway.data))
        finally:
            enough.set()
            sender.join(20)
        assert made["epoch"] != gateway.epoch and made["bytes"] == copy.stat().st_size
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []
        again = run("backup", str(copy), "--data", str(gateway.data))
        assert again.returncode == 1 and "--force" in again.stderr
        gateway.stop()

        # As deploy/README.md says.
        folder = tmp_path / "restored"
        subprocess.run(["install", "-d", "-m", "700", str(folder)], check=True)
        subprocess.run(["install", "-m", "600", str(copy), str(folder / "threadcast.sqlite")], check=True)
        restored = own_gateway(data="restored").start()
        assert restored.epoch == made["epoch"]
        there = Client(restored, **ann.headers)
        count = there("GET", f"/v1/messages/{root}").data["replyCount"]
        assert known <= count <= known + 1000
        rows = there("GET", "/v1/messages", query={"parentMessageId": root, "limit": 100}).data
        assert len(rows) == min(count, 100) and {row["parentMessageId"] for row in rows} == {root}
        sent = there("POST", "/v1/messages", outgoing("bob", "after") | {"receiverType": "user"}).data
        assert sent["id"] > made["head"]
        restored.stop()

    def test_S5_migrateSaysTheVersions(self, own_gateway):
        gateway = own_gateway().start()
        data = ("--data", str(gateway.data))
        version = answer("migrate", *data)
        assert version["from"] == version["to"] > 0
        gateway.stop()
        assert f"schema version {version['to']}, nothing to do" in run("migrate", *data).stdout
        with sqlite3.connect(gateway.data / "threadcast.sqlite") as database:
            database.execute(f"PRAGMA user_version = {version['to'] + 1}")
        database.close()
        for arguments in (["migrate"], ["backup", str(gateway.data / "../copy")], ["key", "list"]):
            done = run(*arguments, *data)
            assert done.returncode == 1 and done.stderr.count("\n") == 1 and "start a newer program" in done.stderr
        assert not (gateway.data / "../copy").exists()

    def test_S5_everyCommandHasHelpWithAnExampleAndVersionSpeaksJSON(self):
        commands = re.findall(r"^  (\S+(?: \S+)?)  +\w", run("--help").stdout, re.MULTILINE)
        assert {"token mint", "key mint", "check-config", "migrate", "backup", "version", "serve"} <= set(commands)
        for command in commands:
            done = run(*command.split(), "--help")
            assert done.returncode == 0 and f"\nExample: threadcast {command}" in done.stdout
        assert answer("version")["version"] in run("version").stdout

    def test_S5_S6_checkConfig(self, tmp_path):
        good = tmp_path / "good.yaml"
        good.write_text("limits:\n  tags: 3\nlisten: 127.0.0.1:9000\n")
        settings = answer("check-config", "--config", str(good))
        assert settings["limits.tags"] == 3 and settings["listen"] == ["127.0.0.1:9000"] and settings["echo"] is False
        assert "limits.tags: 3  # set\n" in run("check-config", "--config", str(good)).stdout
        wrong = tmp_path / "wrong.yaml"
        wrong.write_text("limits:\n  tag: 3\ndrainSeconds: -1\n")
        done = run("check-config", "--config", str(wrong))
        assert done.returncode == 78 and done.stdout == "" and done.stderr.count("\n") == 2
        assert "did you mean limits.tags?" in done.stderr and "drainSeconds" in done.stderr

    def test_S6_aFileOfBracketsDoesNotHangTheStart(self, tmp_path):
        deep = tmp_path / "deep.yaml"
        deep.write_text("a: " + "[" * 200_000)
        done = run("serve", "--config", str(deep))
        assert done.returncode == 78 and "nested too deep" in done.stderr


class TestRunbook:
    def test_S5_S7_R11_theCommandsOfTheRunbookWork(self, own_gateway, tmp_path):
        gateway = own_gateway().start()
        book = Runbook(gateway, tmp_path)
        first, people, minting, key_leaked, token_leaked = blocks("First key")
        said = book.run(first + people + minting + "echo TOKEN=$TOKEN\n")
        token = re.search(r"TOKEN=(tc_\S+)", said)[1]
        ann = Client(gateway, authorization=f"Bearer {token}")
        kept = ann("POST", "/v1/messages", outgoing("ann", "kept") | {"receiverType": "user"}).data["id"]
        assert "revoked" in book.run(key_leaked)
        assert answer("key", "list", "--data", str(gateway.data)) == {"keys": []}

        (make_copy,) = blocks("Back up")
        book.run(make_copy)
        (copy,) = (tmp_path / "backups").iterdir()
        assert re.fullmatch(r"\d{4}-\d\d-\d\d\.sqlite", copy.name)
        copy.rename(copy.with_name("copy.sqlite"))
        lost = ann("POST", "/v1/messages", outgoing("ann", "lost") | {"receiverType": "user"}).data["id"]
        epoch = gateway.epoch
        (restoring,) = blocks("Restore")
        book.steps(restoring)
        assert gateway.epoch != epoch
        assert ann("GET", f"/v1/messages/{kept}").data["text"] == "kept"
        assert ann("GET", f"/v1/messages/{lost}").status == 404

        (upgrading,) = blocks("Upgrade")
        book.steps(upgrading)
        assert (tmp_path / "backups/before-upgrade.sqlite").exists() and (tmp_path / "tools/installed").exists()
        assert ann("GET", f"/v1/messages/{kept}").status == 200
        book.run(f"TOKEN={token}\n" + token_leaked)
        assert ann("GET", f"/v1/messages/{kept}").status == 401
        (stopping,) = blocks("Stop without breaking anything")
        book.steps(stopping)
        assert gateway.process.returncode == 0


class TestRights:
    def test_S12_wideRightsAreTightenedWithAWarning(self, own_gateway):
        gateway = own_gateway().start()
        gateway.stop()
        store = gateway.data / "threadcast.sqlite"
        gateway.data.chmod(0o755)
        store.chmod(0o644)
        gateway.start()
        warnings = [line for line in gateway.output if "rights_tightened" in line]
        assert len(warnings) == 2 and "755" in warnings[0] and "644" in warnings[1]
        assert stat.S_IMODE(gateway.data.stat().st_mode) == 0o700
        assert stat.S_IMODE(store.stat().st_mode) == 0o600
        gateway.stop()


    def test_S12_whatRootDoesInTheFolderStaysTheOwners(self, own_gateway, tmp_path):
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to another user")
        gateway = own_gateway().start()
        first_people(gateway)
        gateway.kill()
        for path in (gateway.data, *gateway.data.iterdir()):
            os.chown(path, 65534, 65534)
        data = ("--data", str(gateway.data))
        held = sqlite3.connect(gateway.data / "threadcast.sqlite")
        held.execute("SELECT count(*) FROM users").fetchone()
        for path in gateway.data.iterdir():
            os.chown(path, 65534, 65534)
        answer("key", "mint", "--scope", "authOnly", *data)
        answer("token", "mint", "--uid", "ann", *data)
        answer("backup", str(tmp_path / "copy"), *data)
        assert {path.name for path in gateway.data.iterdir()} >= {"threadcast.sqlite", "threadcast.sqlite-wal"}
        assert {path.stat().st_uid for path in gateway.data.iterdir()} == {65534}
        held.close()


class TestService:
    def test_S7_theSupervisorHearsReadyAndStopping(self, own_gateway, tmp_path):
        for address in (str(tmp_path / "notify"), f"\0threadcast-test-{os.getpid()}"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
                supervisor.bind(address)
                supervisor.settimeout(10)
                gateway = own_gateway().start({"NOTIFY_SOCKET": address.replace("\0", "@")})
                assert supervisor.recv(100) == b"READY=1"
                gateway.stop()
                assert supervisor.recv(100) == b"STOPPING=1"

    def test_S7_theUnitIsSound(self, tmp_path):
        if not shutil.which("systemd-analyze"):
            pytest.skip("systemd-analyze is not there")
        text = (ROOT / "deploy/systemd/threadcast.service").read_text()
        unit = tmp_path / "threadcast.service"
        # Where the program stands is the one thing that differs here.
        unit.write_text(text.replace("/usr/local/bin/threadcast", program()))
        assert unit.read_text() != text
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60)
        complaints = [line for line in done.stderr.splitlines() if "threadcast" in line]
        assert not complaints, complaints
        stop = int(re.search(r"^TimeoutStopSec=(\d+)", text, re.MULTILINE)[1])
        drain = answer("check-config", "--config", str(ROOT / "deploy/threadcast.example.yaml"))["drainSeconds"]
        assert stop > drain

    def test_S2_theExampleFileStartsAGateway(self, tmp_path):
        example = (ROOT / "deploy/threadcast.example.yaml").read_text()
        settings = tmp_path / "threadcast.yaml"
        settings.write_text(example)
        command = [program(), "serve", "--config", str(settings), "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=clean_environment())
        try:
            assert READY.search(process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.wait(10)
