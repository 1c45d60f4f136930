"""A live session over Python `websockets`: operations get their answers, events are kept in order."""

import collections
import json
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from gateway import Gateway, Person

SUBPROTOCOL = "threadcast.v1.json"


class Refused(Exception):
    """The operation was answered with `ok: false`."""

    def __init__(self, error: dict) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')} {error.get('details', '')}")
        self.code = error.get("code")
        self.details = error.get("details", {})
        self.retryable = error.get("retryable")


class Closed(Exception):
    """The server closed the socket."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


class Session:
    def __init__(self, gateway: Gateway, headers: dict[str, str] | None = None, query: str = "", **options) -> None:
        options.setdefault("subprotocols", [SUBPROTOCOL])
        options.setdefault("proxy", None)
        self._connecting = connect(
            gateway.live_url + query,
            additional_headers=headers or {},
            ssl=gateway.client_context(),
            open_timeout=15,
            close_timeout=5,
            max_size=64 * 1024 * 1024,
            legacy=False,
            **options,
        )
        self.socket = self._connecting.__enter__()
        self.events: collections.deque[dict] = collections.deque()
        self.replies: dict[object, dict] = {}
        self.last_id = 0
        self.hello: dict = {}

    @staticmethod
    def of(person: Person, **connecting) -> "Session":
        """A session that has its hello."""
        session = Session(person.gateway)
        session.hello = session.call("connect", {"token": person.token} | connecting)
        return session

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._connecting.__exit__(None, None, None)

    def frame(self, seconds: float = 10.0) -> dict:
        """The next frame, parsed."""
        try:
            text = self.socket.recv(timeout=seconds)
        except ConnectionClosed as ended:
            code = ended.rcvd.code if ended.rcvd else 1006
            raise Closed(code, ended.rcvd.reason if ended.rcvd else "") from None
        assert isinstance(text, str), "the server sends text frames only"
        return json.loads(text)

    def send_text(self, text: str | bytes) -> None:
        self.socket.send(text)

    def begin(self, op: str, data: object = None, request: object = None) -> object:
        """Sends an operation and does not wait; returns its id."""
        if request is None:
            self.last_id += 1
            request = self.last_id
        self.send_text(json.dumps({"id": request, "op": op, "data": data if data is not None else {}}))
        return request

    def answer(self, request: object, seconds: float = 10.0) -> dict:
        """The whole reply frame; events that come before it are kept."""
        deadline = time.monotonic() + seconds
        while request not in self.replies:
            frame = self.frame(max(0.01, deadline - time.monotonic()))
            if "event" in frame:
                self.events.append(frame)
            else:
                self.replies[frame.get("id")] = frame
        return self.replies.pop(request)

    def call(self, op: str, data: object = None, seconds: float = 10.0):
        """The operation's `data`; raises `Refused`."""
        reply = self.answer(self.begin(op, data), seconds)
        if not reply["ok"]:
            raise Refused(reply["error"])
        return reply.get("data")

    def event(self, name: str | None = None, seconds: float = 10.0) -> dict:
        """The next event (of that name, others are dropped), without heartbeats."""
        deadline = time.monotonic() + seconds
        while True:
            if self.events:
                frame = self.events.popleft()
            else:
                frame = self.frame(max(0.01, deadline - time.monotonic()))
                if "event" not in frame:
                    self.replies[frame.get("id")] = frame
                    continue
            if frame["event"] != "heartbeat" and name in (None, frame["event"]):
                return frame

    def messages(self, count: int) -> list[dict]:
        """The data of the next `count` message events."""
        return [self.event("message")["data"] for _ in range(count)]

    def closing(self, seconds: float = 10.0) -> Closed:
        """Reads on until the server closes."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                frame = self.frame(max(0.01, deadline - time.monotonic()))
            except Closed as closed:
                return closed
            if "event" in frame:
                self.events.append(frame)
            else:
                self.replies[frame.get("id")] = frame
