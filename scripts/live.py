#!/usr/bin/env python3
"""A terminal client for the live socket that needs nothing but Python 3.

    python3 scripts/live.py ann                      talk in the group "team" as Ann, with the demo token dev-ann
    python3 scripts/live.py ann --to user:bob        talk to Bob alone

A typed line is sent as a message. Commands: /reply ID words · /thread ID · /history · /follow ID · /unfollow ID ·
/to user:UID or group:GUID · /op NAME {json} · /quit
"""

import argparse
import base64
import hashlib
import json
import os
import queue
import socket
import ssl
import struct
import sys
import threading
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Socket:
    """The client's side of RFC 6455, as far as text goes: no extensions, no fragments of our own."""

    def __init__(self, url: str, insecure: bool) -> None:
        parts = urlsplit(url)
        secure = parts.scheme == "wss"
        port = parts.port or (443 if secure else 80)
        stream = socket.create_connection((parts.hostname, port), timeout=10)
        if secure:
            context = ssl.create_default_context()
            if insecure:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            stream = context.wrap_socket(stream, server_hostname=parts.hostname)
        self.stream = stream
        self.sending = threading.Lock()
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        stream.sendall(
            f"GET /v1/live HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: threadcast.v1.json\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        status = head.split(b"\r\n", 1)[0].decode(errors="replace")
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if " 101 " not in status + " " or accept not in head:
            raise ConnectionError(f"the server answered: {status}")
        stream.settimeout(None)

    def take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            received = self.stream.recv(65536)
            if not received:
                raise ConnectionError("the server closed the connection")
            self.buffer += received
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def send(self, opcode: int, payload: bytes) -> None:
        mask = os.urandom(4)
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0xFE, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0xFF, size)
        with self.sending:
            self.stream.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def receive(self) -> str:
        """The next text message; answers pings on the way."""
        message = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self.take(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self.take(8))
            payload = self.take(size)
            opcode = first & 0x0F
            if opcode == PING:
                self.send(PONG, payload)
            elif opcode == CLOSE:
                self.send(CLOSE, payload[:2])
                code = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
                raise ConnectionError(f"closed: {code} {payload[2:].decode(errors='replace')}".strip())
            elif opcode in (0, TEXT):
                message += payload
                if first & 0x80:
                    return message.decode()


class Client:
    def __init__(self, options: argparse.Namespace) -> None:
        self.name = options.name
        self.to = options.to
        self.socket = Socket(options.url, options.insecure)
        self.last_id = 0
        self.waiting: dict[int, tuple[str, queue.Queue]] = {}
        self.lock = threading.Lock()
        self.over = threading.Event()

    def start(self, token: str) -> None:
        threading.Thread(target=self.read, daemon=True).start()
        hello = self.call("connect", {"token": token})
        if hello is None:
            raise SystemExit(1)
        print(f"connected as {hello['uid']}, talking to {self.to}; /quit leaves", flush=True)

    def read(self) -> None:
        try:
            while True:
                self.show(json.loads(self.socket.receive()))
        except (ConnectionError, OSError) as ended:
            if not self.over.is_set():
                print(ended, flush=True)
            self.over.set()
            with self.lock:
                for _, answer in self.waiting.values():
                    answer.put(None)

    def call(self, op: str, data: dict) -> object:
        """Sends an operation and waits for its answer; None when it was refused, the reason is printed."""
        answer: queue.Queue = queue.Queue()
        with self.lock:
            self.last_id += 1
            request = self.last_id
            self.waiting[request] = (op, answer)
        self.socket.send(TEXT, json.dumps({"id": request, "op": op, "data": data}, ensure_ascii=False).encode())
        try:
            return answer.get(timeout=15)
        except queue.Empty:
            print(f"no answer to {op} in 15 s", flush=True)
            return None

    def show(self, frame: dict) -> None:
        if "event" in frame:
            if frame["event"] == "message":
                print(line(frame["data"]), flush=True)
            elif frame["event"] not in ("heartbeat", "thread.subscription"):
                print(f"  [{frame['event']}] {json.dumps(frame.get('data'), ensure_ascii=False)}", flush=True)
            return
        with self.lock:
            op, answer = self.waiting.pop(frame.get("id"), ("?", queue.Queue()))
        if frame.get("ok"):
            answer.put(frame.get("data", {}))
        else:
            error = frame.get("error", {})
            print(f"  {op} refused: {error.get('code')} {error.get('message')}", flush=True)
            answer.put(None)

    def send(self, text: str, parent: int | None = None) -> None:
        kind, _, receiver = self.to.partition(":")
        data = {"receiverUid": receiver, "receiverType": kind, "type": "text", "text": text}
        if parent:
            data["parentMessageId"] = parent
        sent = self.call("message.send", data)
        if sent:
            print(line(sent, own=True), flush=True)

    def list(self, **query: object) -> None:
        for message in self.call("messages.list", query) or []:
            print(line(message, own=message["senderUid"] == self.name), flush=True)

    def obey(self, typed: str) -> bool:
        """Does what the line says; false ends the program."""
        word, _, rest = typed.partition(" ")
        number, _, words = rest.partition(" ")
        identity = int(number) if number.isdigit() else 0
        if not typed.startswith("/"):
            self.send(typed)
        elif word == "/quit":
            return False
        elif word == "/reply" and identity and words:
            self.send(words, parent=identity)
        elif word == "/thread" and identity:
            self.list(parentMessageId=identity)
        elif word == "/history":
            kind, _, receiver = self.to.partition(":")
            self.list(**{"uid" if kind == "user" else "guid": receiver, "limit": 20})
        elif word in ("/follow", "/unfollow") and identity:
            op = "thread.subscribe" if word == "/follow" else "thread.unsubscribe"
            if self.call(op, {"parentMessageId": identity}) is not None:
                print(f"  [thread {identity} followed: {word == '/follow'}]", flush=True)
        elif word == "/to" and rest.partition(":")[0] in ("user", "group"):
            self.to = rest
        elif word == "/op" and number:
            try:
                data = json.loads(words or "{}")
            except ValueError:
                print("? the words after the operation must be a JSON object", flush=True)
                return True
            print(json.dumps(self.call(number, data), ensure_ascii=False, indent=2), flush=True)
        else:
            print(__doc__.strip().splitlines()[-2], __doc__.strip().splitlines()[-1], sep="\n", flush=True)
        return True


def line(message: dict, own: bool = False) -> str:
    """`#12 ann: hello`, a reply `#13 bob ↳ #12: hi`."""
    who = "you" if own else message.get("senderUid", "?")
    parent = message.get("parentMessageId") or 0
    words = message.get("text") or message.get("caption") or json.dumps(message.get("customData", ""), ensure_ascii=False)
    count = f"  ({message['replyCount']} in thread)" if message.get("replyCount") else ""
    return f"#{message['id']} {who}{f' ↳ #{parent}' if parent else ''}: {words}{count}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="who you are; also makes the demo token dev-NAME")
    parser.add_argument("--token", help="another token than dev-NAME")
    parser.add_argument("--to", default="group:team", help="group:GUID or user:UID (default: group:team)")
    parser.add_argument("--url", default="ws://127.0.0.1:8080", help="where the gateway listens (default: %(default)s)")
    parser.add_argument("--insecure", action="store_true", help="accept any certificate with wss://")
    options = parser.parse_args()
    try:
        client = Client(options)
        client.start(options.token or f"dev-{options.name}")
        for typed in sys.stdin:
            typed = typed.strip()
            if client.over.is_set() or (typed and not client.obey(typed)):
                break
        client.over.set()
        client.socket.send(CLOSE, struct.pack("!H", 1000))
    except (ConnectionError, OSError) as refused:
        print(f"{options.url}: {refused}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
