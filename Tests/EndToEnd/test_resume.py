"""Sessions that come back: after a slow read, a dead connection, a drain, kills (R6, R7, R11, S7).

The counts are small here; `make soak` runs them in full: KILLS=200, DRAINED=5000.
"""

import asyncio
import json
import os
import random
import signal
import socket
import threading
import time

import pytest
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway import Gateway, outgoing, until
from rawsocket import CLOSE, TEXT, RawSocket, frame
from session import Closed, Session

KILLS = int(os.environ.get("KILLS", "5"))
DRAINED = int(os.environ.get("DRAINED", "300"))


class Follower:
    """A client that keeps its position, comes back with it, and checks what it hears."""

    def __init__(self, token: str, **connecting) -> None:
        self.token, self.connecting = token, connecting
        self.epoch, self.position = None, None
        self.seqs: list[int] = []
        self.texts: list[str] = []
        self.resets: list[str] = []

    def hello(self, session: Session) -> dict:
        resume = {} if self.epoch is None else {"resume": {"epoch": self.epoch, "seq": self.position}}
        hello = session.call("connect", {"token": self.token} | self.connecting | resume)
        if "reset" in hello:
            self.resets.append(hello["reset"]["reason"])
        if not hello["resumed"]:
            self.epoch, self.position = hello["epoch"], hello["seq"]
        else:
            assert hello["seq"] == self.position, "a resumed session starts where it was"
        while session.events:
            self.take(session.events.popleft())
        return hello

    def take(self, frame: dict) -> None:
        if frame.get("event") == "heartbeat":
            assert frame["seq"] >= self.position
            self.position = frame["seq"]
        elif "seq" in frame:
            assert frame["seq"] > self.position, f"{frame['seq']} came after {self.position}"
            self.position = frame["seq"]
            self.seqs.append(frame["seq"])
            if frame["event"] == "message":
                self.texts.append(frame["data"]["text"])

    def follow(self, session: Session, until_text: str, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while until_text not in self.texts[-1:]:
            self.take(session.frame(max(0.01, deadline - time.monotonic())))


def raw_session(gateway: Gateway, token: str) -> tuple[RawSocket, dict]:
    """A session whose peer has a small window and reads only when asked, and its hello."""
    raw = RawSocket.upgraded(gateway, receive_buffer=4096)
    raw.send(frame(TEXT, json.dumps({"id": 1, "op": "connect", "data": {"token": token}}).encode()))
    opcode, payload = raw.frame()
    assert opcode == TEXT
    return raw, json.loads(payload)["data"]


def test_C040_C041_R7_aStalledReaderIsSentAwayAndMissesNothing(gateway, ann, bob, cyd, group):
    stalled, hello = raw_session(gateway, ann.token)
    listening = Session.of(cyd)
    follower = Follower(ann.token)
    follower.epoch, follower.position = hello["epoch"], hello["seq"]
    sender = Session.of(bob)
    sent: list[int] = []
    delays: list[float] = []
    for number in range(1000):
        began = time.monotonic()
        message = sender.call("message.send", outgoing(group, f"{number} " + "x" * 4000))
        sent.append(message["id"])
        assert listening.event("message")["seq"] == message["id"]
        delays.append(time.monotonic() - began)
    # The first hundred found an empty queue, the last hundred a session that is gone.
    quiet, loaded = sorted(delays[:100])[98], sorted(delays[100:])[890]
    assert loaded < quiet * 10 + 0.25, f"a stalled reader slows others down: {quiet:.4f} s, then {loaded:.4f} s"
    code = None
    try:
        while True:
            opcode, payload = stalled.frame()
            if opcode == CLOSE:
                code = int.from_bytes(payload[:2], "big")
                break
            if opcode == TEXT:
                follower.take(json.loads(payload))
    except (OSError, EOFError):
        pass
    assert code in (4001, None), "the close says to come back, unless the stalled peer never took it"
    heard = len(follower.seqs)
    assert heard < 1000, "the queue has a limit"
    with Session(gateway) as back:
        assert follower.hello(back)["resumed"] is True
        follower.follow(back, f"999 {'x' * 4000}")
    assert follower.seqs == sent
    stalled.stream.close()
    listening.close()
    sender.close()


class Relay:
    """A TCP relay that can stop passing anything on without ending a connection."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_frozen = False
        self.sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection((self.gateway.host, self.gateway.port))
            self.sockets += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                while self.is_frozen:
                    time.sleep(0.05)
                target.sendall(data)
        except OSError:
            pass

    def close(self) -> None:
        self.listener.close()
        for one in self.sockets:
            one.close()


def sessions(gateway: Gateway) -> int:
    text = gateway.request("GET", "/metrics").body.decode()
    return int(next(line for line in text.splitlines() if line.startswith("threadcast_sessions ")).split()[1])


def test_C063_whatWasSentToADeadConnectionComesOnceAndTheGhostIsClosed(own_gateway):
    gateway = own_gateway("--dev").start()
    relay = Relay(gateway)
    follower = Follower("dev-ann", device={"id": "phone"})
    through = Gateway(gateway.data)
    through.host, through.port, through.is_secure = "127.0.0.1", relay.port, False
    ghost = Session(through)
    follower.hello(ghost)
    relay.is_frozen = True
    with Session(gateway) as bob:
        bob.call("connect", {"token": "dev-bob"})
        sent = [bob.call("message.send", outgoing("team", f"m{n}"))["id"] for n in range(20)]
        assert sessions(gateway) == 2
        with Session(gateway) as back:
            assert follower.hello(back)["resumed"] is True
            follower.follow(back, "m19")
            assert follower.seqs == sent
            until(lambda: sessions(gateway) == 2)
            assert 'threadcast_closes_total{code="4204"} 1' in gateway.request("GET", "/metrics").body.decode()
    relay.close()
    gateway.stop()


def test_C060_R11_aPositionOfAnotherStoreIsNeverRecovered(own_gateway):
    old = own_gateway("--dev", data="old").start()
    epoch = old.epoch
    old.stop()
    new = own_gateway("--dev", data="new").start()
    assert new.epoch != epoch
    with Session(new) as bob:
        bob.call("connect", {"token": "dev-bob"})
        for n in range(10):
            bob.call("message.send", outgoing("team", str(n)))
    for resume, reason in (
        ({"epoch": epoch, "seq": 5}, "epoch_changed"),
        ({"epoch": "", "seq": 5}, "epoch_changed"),
        ({"epoch": new.epoch, "seq": 500_000}, "bad_position"),
    ):
        with Session(new) as ann:
            hello = ann.call("connect", {"token": "dev-ann", "resume": resume})
            assert hello["resumed"] is False
            assert hello["reset"] == {"reason": reason}
            assert not ann.events
    new.stop()


def test_M8_R6_afterKillsEveryClientHasEachEventOnce(own_gateway):
    """SIGKILL at random moments under load: followers that come back have what the store has, each once, in order."""
    gateway = own_gateway("--dev")
    dice = random.Random(int(os.environ.get("SEED", "20261201")))
    followers = [Follower("dev-eve"), Follower("dev-dan", replies="all"), Follower("dev-cyd")]
    acknowledged: dict[str, int] = {}
    for kill in range(KILLS):
        gateway.start()

        def load(name: str, label: str) -> None:
            try:
                with Session(gateway) as session:
                    session.call("connect", {"token": f"dev-{name}"})
                    for n in range(100_000):
                        muid = f"{label}-{n}"
                        window = [
                            (f"{muid}-{k}", session.begin("message.send", outgoing("team", f"{muid}-{k}", muid=f"{muid}-{k}")))
                            for k in range(8)
                        ]
                        for text, request in window:
                            reply = session.answer(request)
                            assert reply["ok"], reply
                            acknowledged[text] = reply["data"]["id"]
            except (OSError, Closed, ConnectionClosed, EOFError, TimeoutError, InvalidStatus):
                pass
            except Exception as ended:  # The handshake was cut.
                if "Invalid" not in type(ended).__name__:
                    raise

        def listen(follower: Follower) -> None:
            try:
                with Session(gateway) as session:
                    follower.hello(session)
                    while True:
                        follower.take(session.frame(30))
            except AssertionError:
                raise
            except Exception:
                pass

        threads = [threading.Thread(target=load, args=(name, f"{kill}-{name}")) for name in ("ann", "bob")]
        threads += [threading.Thread(target=listen, args=(follower,)) for follower in followers]
        for thread in threads:
            thread.start()
        time.sleep(dice.uniform(0.05, 0.9))
        gateway.kill()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
    assert acknowledged, "there was no load"

    gateway.start()
    with Session(gateway) as ann:
        ann.call("connect", {"token": "dev-ann"})
        ann.call("message.send", outgoing("team", "the end"))
    stored: list[dict] = []
    after = 1
    while True:
        query = {"guid": "team", "limit": 100, "direction": "after", "id": after}
        page = gateway.request("GET", "/v1/messages", query=query, authorization="Bearer dev-eve")
        stored += page.data
        if not page.json["meta"]["hasMore"]:
            break
        after = page.json["meta"]["nextId"]
    by_text = {row["text"]: row["id"] for row in stored}
    assert len(by_text) == len(stored), "no send is stored twice"
    lost = [text for text, number in acknowledged.items() if by_text.get(text) != number]
    assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are gone: {lost[:5]}"
    for follower in followers:
        with Session(gateway) as session:
            follower.hello(session)
            follower.follow(session, "the end", 60)
        first = follower.seqs[0]
        assert follower.resets == [] or set(follower.resets) <= {"too_many"}, follower.resets
        if not follower.resets:
            assert follower.seqs == [row["id"] for row in stored if row["id"] >= first]
            assert len(follower.seqs) == len(set(follower.seqs))
    gateway.stop()


class Drained:
    """One of many sessions over a drain, on an event loop."""

    def __init__(self, number: int) -> None:
        self.token = f"dev-{('ann', 'bob', 'cyd', 'dan', 'eve')[number % 5]}"
        self.epoch, self.position = None, None
        self.seqs: list[int] = []
        self.delay: int | None = None
        self.code: int | None = None

    async def run(self, url: str, ready: asyncio.Event | None, wanted: int) -> None:
        """Connects (again) and listens until it is sent away, or until `wanted` is heard."""
        async with connect_async(url, subprotocols=["threadcast.v1.json"], proxy=None, open_timeout=120, compression=None) as live:
            connecting = {"token": self.token}
            if self.epoch:
                connecting["resume"] = {"epoch": self.epoch, "seq": self.position}
            await live.send(json.dumps({"id": 1, "op": "connect", "data": connecting}))
            hello = json.loads(await live.recv())["data"]
            assert hello["resumed"] is (self.epoch is not None), hello.get("reset")
            if self.epoch is None:
                self.epoch, self.position = hello["epoch"], hello["seq"]
            if ready:
                ready.set()
            try:
                while wanted not in self.seqs[-1:]:
                    frame = json.loads(await live.recv())
                    if "seq" not in frame:
                        continue
                    assert frame["seq"] > self.position or frame["event"] == "heartbeat"
                    self.position = max(self.position, frame["seq"])
                    if frame["event"] == "message":
                        self.seqs.append(frame["seq"])
            except ConnectionClosed as closed:
                self.code = closed.rcvd.code if closed.rcvd else 1006
                if self.code == 4000:
                    self.delay = json.loads(closed.rcvd.reason)["reconnectAfterMs"]


def test_C054_S7_sessionsDrainAndComeBackWithoutALostOrDoubledEvent(own_gateway):
    gateway = own_gateway("--dev").start()
    url = gateway.live_url
    clients = [Drained(number) for number in range(DRAINED)]
    sender = Session(gateway)
    sender.call("connect", {"token": "dev-eve"})
    # Sessions that do not read, and peers in the middle of a handshake.
    stalled = []
    for _ in range(10):
        stalled.append(raw_session(gateway, "dev-bob")[0])
    half = []
    for _ in range(20):
        peer = socket.create_connection((gateway.host, gateway.port))
        peer.sendall(b"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        half.append(peer)

    sent: list[int] = []

    async def first_life() -> None:
        ready = [asyncio.Event() for _ in clients]
        tasks = []
        for client, event in zip(clients, ready, strict=True):
            tasks.append(asyncio.create_task(client.run(url, event, -1)))
            if len(tasks) % 50 == 0:
                await asyncio.gather(*(event.wait() for event in ready[: len(tasks)]))
        await asyncio.gather(*(event.wait() for event in ready))
        for n in range(10):
            sent.append((await asyncio.to_thread(sender.call, "message.send", outgoing("team", f"before {n}")))["id"])
        requests = [sender.begin("message.send", outgoing("team", f"under way {n}", muid=f"w{n}")) for n in range(20)]
        began = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        answered = await asyncio.to_thread(collect, sender, requests)
        await asyncio.gather(*tasks)
        status = await asyncio.to_thread(gateway.process.wait, 30)
        assert status == 0, "".join(gateway.output[-20:])
        assert time.monotonic() - began < 20, "the drain has a deadline"
        sent.extend(answered)

    def collect(session: Session, requests: list) -> list[int]:
        """Ids of the sends that were acknowledged before the close."""
        ids = []
        try:
            for request in requests:
                ids.append(session.answer(request)["data"]["id"])
        except Closed as closed:
            assert closed.code == 4000
        return ids

    asyncio.run(first_life())
    assert {client.code for client in clients} == {4000}
    delays = [client.delay for client in clients]
    assert all(0 <= delay < 10_000 for delay in delays)
    assert len(set(delays)) > DRAINED * 0.7, "the delays are spread"

    gateway.start()
    with Session(gateway) as dan:
        dan.call("connect", {"token": "dev-dan"})
        last = dan.call("message.send", outgoing("team", "after"))["id"]

    async def second_life() -> None:
        for start in range(0, len(clients), 500):
            await asyncio.wait_for(
                asyncio.gather(*(client.run(gateway.live_url, None, last) for client in clients[start : start + 500])), 120)

    asyncio.run(second_life())
    query = {"guid": "team", "limit": 100}
    rows = gateway.request("GET", "/v1/messages", query=query, authorization="Bearer dev-eve").data
    stored = [row["id"] for row in rows]
    assert set(sent) <= set(stored), "what was acknowledged is there"
    for client in clients:
        assert client.seqs == stored
    # A send that was not acknowledged is there or not: asking again with its muid settles it, once.
    with Session(gateway) as eve:
        eve.call("connect", {"token": "dev-eve"})
        for n in range(20):
            eve.call("message.send", outgoing("team", f"under way {n}", muid=f"w{n}"))
    again = gateway.request("GET", "/v1/messages", query=query, authorization="Bearer dev-eve").data
    texts = [row["text"] for row in again]
    assert len(texts) == len(set(texts)) == 31
    for one in stalled:
        one.stream.close()
    for one in half:
        one.close()
    gateway.stop()


def test_C054_S7_aDrainingGatewayTurnsNewcomersAway(own_gateway):
    gateway = own_gateway("--dev").start()
    # A stalled session keeps the drain going while we look.
    raw, _ = raw_session(gateway, "dev-bob")
    gateway.process.send_signal(signal.SIGTERM)
    seen = []
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and gateway.is_alive:
        try:
            ready = gateway.request("GET", "/readyz")
            refused = gateway.request(
                "GET", "/v1/live", connection="Upgrade", upgrade="websocket", sec_websocket_version="13",
                sec_websocket_key="AAAAAAAAAAAAAAAAAAAAAA==")
        except OSError:
            # A connection that had sent nothing when the drain began is closed as an idle one.
            continue
        if ready.status == 503:
            seen.append((refused.status, "retry-after" in refused.headers))
            break
    assert seen == [(503, True)], "while it drains it says so"
    raw.stream.close()
    assert gateway.process.wait(20) == 0


@pytest.mark.parametrize("count", [20])
def test_C067_M7_manyRetriesAtOnceStoreOneMessage(gateway, ann, bob, group, count):
    listening = Session.of(bob)
    bodies = []

    def send() -> None:
        with Session.of(ann) as session:
            bodies.append(session.call("message.send", outgoing(group, "once", muid="retried")))

    threads = [threading.Thread(target=send) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(bodies) == count
    assert len({body["id"] for body in bodies}) == 1
    last = ann.send(group, "last")["id"]
    assert [message["id"] for message in listening.messages(2)] == [bodies[0]["id"], last]
    listening.close()
