"""A gateway process under test, and what a test needs to talk to it over HTTP."""

import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlencode

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
READY = re.compile(r"threadcast ready listen=(\S+) tls=(on|off) store=(\w+) epoch=(\S+)")

_names = itertools.count(1)


def fresh(prefix: str) -> str:
    """A uid or guid that no other test of this run has."""
    return f"{prefix}-{os.getpid()}-{next(_names)}"


def program() -> str:
    """The binary under test: THREADCAST_BIN, else the release build."""
    path = os.environ.get("THREADCAST_BIN", str(ROOT / ".build/release/threadcast"))
    assert os.access(path, os.X_OK), f"{path} is not there: run make build, or set THREADCAST_BIN"
    return path


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("THREADCAST_")}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)

    @property
    def data(self):
        assert self.status == 200 or self.status == 201, f"{self.status} {self.body[:400]!r}"
        return self.json["data"]

    @property
    def error(self) -> dict:
        assert self.status >= 400, f"{self.status} {self.body[:400]!r}"
        return self.json["error"]


class Gateway:
    """One process. `start` waits for the ready line; `stop` asks it to drain and checks that it ends with 0."""

    def __init__(self, data: pathlib.Path, flags: tuple[str, ...] = (), certificate: tuple[str, str] | None = None):
        self.data = data
        self.flags = list(flags)
        self.certificate = certificate
        self.process: subprocess.Popen | None = None
        self.output: list[str] = []

    def start(self, environment: dict[str, str] | None = None) -> "Gateway":
        command = [program(), "serve", "--listen", "127.0.0.1:0", "--data", str(self.data), *self.flags]
        if self.certificate:
            command += ["--tls-cert", self.certificate[0], "--tls-key", self.certificate[1]]
        self.output = []
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=clean_environment() | (environment or {}),
        )
        ready = threading.Event()
        threading.Thread(target=self._collect, args=(self.process.stdout, ready), daemon=True).start()
        assert ready.wait(20), f"not ready in 20 s:\n{''.join(self.output[-40:])}"
        match = next((m for line in self.output if (m := READY.search(line))), None)
        assert match, f"ended without a ready line:\n{''.join(self.output[-40:])}"
        host, _, port = match[1].split(",")[0].rpartition(":")
        self.host, self.port = host, int(port)
        self.is_secure = match[2] == "on"
        self.store, self.epoch = match[3], match[4]
        assert self.is_secure == (self.certificate is not None)
        return self

    def _collect(self, stream, ready: threading.Event) -> None:
        for line in stream:
            self.output.append(line)
            if READY.search(line):
                ready.set()
        ready.set()

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                status = self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            assert status == 0, f"ended with {status}:\n{''.join(self.output[-60:])}"

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, nothing is said."""
        if self.process:
            self.process.kill()
            self.process.wait(10)

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def live_url(self) -> str:
        return f"{'wss' if self.is_secure else 'ws'}://{self.host}:{self.port}/v1/live"

    def url(self, path: str) -> str:
        return f"{'https' if self.is_secure else 'http'}://{self.host}:{self.port}{path}"

    def client_context(self) -> ssl.SSLContext | None:
        """Trusts the one certificate of this gateway; None without TLS."""
        if not self.certificate:
            return None
        context = ssl.create_default_context(cafile=self.certificate[0])
        context.check_hostname = False
        return context

    def http_connection(self) -> http.client.HTTPConnection:
        if self.is_secure:
            return http.client.HTTPSConnection(self.host, self.port, timeout=15, context=self.client_context())
        return http.client.HTTPConnection(self.host, self.port, timeout=15)

    def request(self, method: str, path: str, body=None, query: dict | None = None, **headers: str) -> Answer:
        """One request on a connection of its own. `body` is JSON unless it is bytes. Underscores in header names are
        dashes: `content_type="…"`."""
        connection = self.http_connection()
        try:
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            payload = None
            if body is not None:
                payload = body if isinstance(body, bytes) else json.dumps(body).encode()
                fields.setdefault("content-type", "application/json")
            target = path + ("?" + urlencode(query) if query else "")
            connection.request(method, target, payload, fields)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def admin(self, method: str, path: str, body=None, **rest) -> Answer:
        return self.request(method, path, body, apikey="dev-admin", **rest)

    # People and groups of one test, so that tests that share a process do not meet.

    def new_user(self, prefix: str = "user") -> "Person":
        uid = fresh(prefix)
        created = self.admin("POST", "/v1/admin/users", {"uid": uid, "name": prefix.capitalize()})
        assert created.status in (200, 201), created
        minted = self.admin("POST", "/v1/admin/tokens", {"uid": uid})
        return Person(self, uid, minted.data["token"])

    def new_group(self, owner: "Person", *members: "Person", kind: str = "private") -> str:
        guid = fresh("group")
        created = owner.http("POST", "/v1/groups", {"guid": guid, "name": guid, "type": kind})
        assert created.status in (200, 201), created
        if members:
            added = owner.http(
                "POST",
                f"/v1/groups/{guid}/members",
                {"members": [{"uid": member.uid, "scope": "participant"} for member in members]},
            )
            assert added.status in (200, 201), added
        return guid


@dataclass
class Person:
    gateway: Gateway
    uid: str
    token: str

    def http(self, method: str, path: str, body=None, **rest) -> Answer:
        return self.gateway.request(method, path, body, authorization=f"Bearer {self.token}", **rest)

    def send(self, to: "str | Person", text: str = "hello", **fields) -> dict:
        """Sends over HTTP to a group (its guid) or a person; returns the message."""
        return self.http("POST", "/v1/messages", outgoing(to, text, **fields)).data


def outgoing(to: "str | Person", text: str | None = "hello", **fields) -> dict:
    """The fields of message.send."""
    receiver = (
        {"receiverUid": to, "receiverType": "group"}
        if isinstance(to, str)
        else {"receiverUid": to.uid, "receiverType": "user"}
    )
    content = {} if text is None else {"type": "text", "text": text}
    return receiver | content | fields


def until(holds, seconds: float = 5.0) -> None:
    """Asks again until the condition holds; for what happens in another process without telling us."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "did not come true in time"
        time.sleep(0.02)
