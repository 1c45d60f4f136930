"""The program's commands, and the first people of a gateway that has no demo data."""

import json
import subprocess

from gateway import clean_environment, program


def run(*arguments: str, stdin: str = "", environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Runs the program to its end, which must come soon."""
    return subprocess.run(
        [program(), *arguments], capture_output=True, text=True, timeout=30, input=stdin,
        env=clean_environment() | (environment or {}),
    )  # fmt: skip


def answer(*arguments: str, stdin: str = "") -> dict:
    """The JSON of a command that must be done without a word beside it."""
    done = run(*arguments, "--json", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


class Client:
    """Somebody with an admin key or a token over HTTP."""

    def __init__(self, gateway, **headers: str) -> None:
        self.gateway, self.headers = gateway, headers

    def __call__(self, method: str, path: str, body=None, **rest):
        return self.gateway.request(method, path, body, **self.headers, **rest)


def first_people(gateway) -> Client:
    """The way of the runbook: the first key on the command line, the rest over HTTP."""
    admin = Client(gateway, apikey=answer("key", "mint", "--scope", "fullAccess", "--data", str(gateway.data))["key"])
    for uid in ("ann", "bob"):
        assert admin("POST", "/v1/admin/users", {"uid": uid, "name": uid}).status in (200, 201)
    return admin


def as_user(gateway, uid: str) -> Client:
    token = answer("token", "mint", "--uid", uid, "--data", str(gateway.data))["token"]
    return Client(gateway, authorization=f"Bearer {token}")
