"""Chromium against the gateway: a real browser's handshake, deflate, close codes, and origins (A4, C186, L1)."""

import http.server
import json
import queue
import shutil
import subprocess
import threading

import pytest

from gateway import Gateway

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed: make test does")

PAGE = """<!doctype html><script>
const told = {origin: location.origin, frames: []}
function tell() { fetch(REPORT, {method: 'POST', mode: 'no-cors', body: JSON.stringify(told)}) }
const live = new WebSocket(LIVE, ['threadcast.v1.json'])
live.onopen = () => {
  told.protocol = live.protocol
  told.extensions = live.extensions
  live.send(JSON.stringify({id: 1, op: 'connect', data: {token: 'dev-ann'}}))
}
live.onmessage = (event) => {
  const frame = JSON.parse(event.data)
  told.frames.push(frame)
  if (frame.id == 1) {
    live.send(JSON.stringify({id: 2, op: 'message.send', data: {receiverUid: 'team', receiverType: 'group', text: TEXT}}))
  } else if (frame.id == 2) {
    live.send(JSON.stringify({id: 3, op: 'message.get', data: {id: frame.data.id}}))
  } else if (frame.id == 3) {
    live.send(new Uint8Array([1, 2, 3]))
  }
}
live.onclose = (event) => { told.code = event.code; told.clean = event.wasClean; tell() }
</script>"""

TEXT = "κόσμε 👩‍👩‍👧 " * 200


class Pages(http.server.ThreadingHTTPServer):
    """Serves one page on every path and collects what its script reports."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.page = b""
        self.reports: queue.Queue[dict] = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    server: Pages

    def do_GET(self) -> None:
        body = self.server.page if self.path.startswith("/page") else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        report = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.reports.put(json.loads(report))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def pages():
    server = Pages()
    yield server
    server.shutdown()
    server.server_close()


def browse(gateway: Gateway, pages: Pages, host: str, tmp_path, is_sandboxed: bool = False) -> dict:
    """What the page of `host` reports. Every name is this machine."""
    script = (
        PAGE.replace("REPORT", json.dumps(f"http://{host}:{pages.server_port}/report"))
        .replace("LIVE", json.dumps(gateway.live_url))
        .replace("TEXT", json.dumps(TEXT))
    )
    if is_sandboxed:
        # A frame without an origin of its own sends `Origin: null`.
        quoted = script.replace("&", "&amp;").replace('"', "&quot;")
        script = f'<!doctype html><iframe sandbox="allow-scripts" srcdoc="{quoted}"></iframe>'
    pages.page = script.encode()
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    command += [f"--user-data-dir={tmp_path}/profile-{host}", "--host-resolver-rules=MAP * 127.0.0.1", "--remote-debugging-port=0"]
    command += ["--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"]
    browser = subprocess.Popen(
        command + [f"http://{host}:{pages.server_port}/page"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return pages.reports.get(timeout=60)
    finally:
        browser.kill()
        browser.wait(10)


def test_L1_A4_chromiumConnectsTalksDeflatedAndSeesTheCloseCode(own_gateway, pages, tmp_path):
    gateway = own_gateway("--dev").start()
    told = browse(gateway, pages, "localhost", tmp_path)
    assert told["protocol"] == "threadcast.v1.json"
    assert "permessage-deflate" in told["extensions"]
    hello, sent, fetched = told["frames"]
    assert hello["ok"] and hello["data"]["uid"] == "ann"
    assert sent["data"]["text"] == fetched["data"]["text"] == TEXT
    assert told["code"] == 1003, "a binary frame is refused, and the browser is told so"
    assert told["clean"] is True
    gateway.stop()


@pytest.mark.parametrize("host", ["evil.test", "allowed.test.evil.test", "xallowed.test"])
def test_A4_C186_aForeignPageDoesNotConnect(own_gateway, pages, tmp_path, host):
    gateway = own_gateway("--dev")
    gateway.start({"THREADCAST_ALLOWED_ORIGINS": f"http://allowed.test:{pages.server_port}"})
    told = browse(gateway, pages, host, tmp_path)
    assert told["frames"] == [] and told["code"] == 1006, told
    gateway.stop()


def test_A4_C186_aPageWithoutAnOriginDoesNotConnect(own_gateway, pages, tmp_path):
    gateway = own_gateway("--dev").start()
    told = browse(gateway, pages, "localhost", tmp_path, is_sandboxed=True)
    assert told["origin"] == "null"
    assert told["frames"] == [] and told["code"] == 1006, told
    gateway.stop()


def test_A4_aConfiguredPageConnects(own_gateway, pages, tmp_path):
    gateway = own_gateway("--dev")
    gateway.start({"THREADCAST_ALLOWED_ORIGINS": f"http://allowed.test:{pages.server_port}"})
    told = browse(gateway, pages, "allowed.test", tmp_path)
    assert told["code"] == 1003 and len(told["frames"]) == 3, told
    gateway.stop()
