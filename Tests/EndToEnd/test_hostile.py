"""Hostile input: it ends in a documented code, stores nothing, and disturbs nobody else."""

import json
import os
import random
import socket
import struct
import time

import pytest

from gateway import outgoing
from rawsocket import CLOSE, TEXT, RawSocket, frame, upgrade_request
from session import Session

CLOSE_CODES = {None, 1000, 1002, 1003, 1007, 1008, 1009, 4200}
ERROR_CODES = {
    "ERR_BAD_REQUEST", "ERR_TOO_LARGE", "ERR_EMPTY_MESSAGE", "ERR_INVALID_PARENT_MESSAGE_ID", "ERR_MESSAGE_NOT_FOUND",
    "ERR_MESSAGE_ID_NOT_FOUND", "ERR_UID_NOT_FOUND", "ERR_GUID_NOT_FOUND", "ERR_API_NOT_FOUND", "ERR_WRONG_MESSAGE_THREAD",
    "ERR_NOT_LOGGED_IN", "ERR_GROUP_NOT_JOINED", "ERR_TOO_MANY_REQUESTS",
}  # fmt: skip


@pytest.fixture
def bystander(gateway, ann, bob):
    """Two people who talk while the test misbehaves; at the end both still do, in time."""
    with Session.of(ann) as first, Session.of(bob) as second:
        yield
        began = time.monotonic()
        sent = first.call("message.send", outgoing(bob, "still here"))
        assert second.event("message")["data"]["id"] == sent["id"]
        assert time.monotonic() - began < 2
        rows = ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data
        assert [row["text"] for row in rows] == ["still here"]


def mutations(dice: random.Random, seed: bytes) -> bytes:
    """The seed with a few bytes changed, cut, doubled or put in."""
    octets = bytearray(seed)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(octets)) if octets else 0
        match dice.randrange(5):
            case 0 if octets:
                octets[at] = dice.randrange(256)
            case 1 if octets:
                del octets[at : at + dice.randint(1, 8)]
            case 2:
                octets[at:at] = octets[at : at + dice.randint(1, 16)]
            case 3:
                octets[at:at] = dice.choice([b"\x00", b"\xff", b'"', b"\\u", b"\\ud800", b"{", b"[", b"]", b"1e999", b"\r\n"])
            case _:
                octets[at : at + 1] = bytes([octets[at] ^ (1 << dice.randrange(8))]) if octets else b""
    return bytes(octets)


def test_L8_mutatedJSONEndsInDocumentedCodes(gateway, bystander, cyd):
    dice = random.Random(1)
    seed = json.dumps({"id": 1, "op": "message.send", "data": outgoing(cyd, "hi", parentMessageId=3, tags=["a"], metadata={"a": [1, 2.5e3]})}).encode()
    with Session.of(cyd) as session:
        for _ in range(90):
            text = mutations(dice, seed).decode("utf-8", "replace")
            session.send_text(text)
            reply = session.frame()
            while "event" in reply:
                reply = session.frame()
            assert reply["ok"] is True or reply["error"]["code"] in ERROR_CODES, (text, reply)


def test_L8_mutatedFramesEndInDocumentedCodes(gateway, bystander, cyd):
    dice = random.Random(2)
    connect = frame(TEXT, json.dumps({"id": 1, "op": "connect", "data": {"token": cyd.token}}).encode())
    for _ in range(120):
        with RawSocket.upgraded(gateway) as raw:
            raw.stream.settimeout(3)
            raw.send(connect)
            raw.frame()
            payload = json.dumps({"id": 2, "op": "ping"}).encode()
            octets = mutations(dice, frame(dice.choice([TEXT, 0, 2, CLOSE, 9, 10]), payload))
            try:
                raw.send(octets + frame(CLOSE, struct.pack("!H", 1000)))
                raw.stream.shutdown(socket.SHUT_WR) if not gateway.is_secure else None
                code = raw.close_code()
                # None: the stream ended inside a frame. 3000 and above: a mutated close frame's own code, sent back.
                assert code is None or code in CLOSE_CODES or 3000 <= code <= 4999
            except (TimeoutError, ConnectionError):
                # A length that asks for more bytes than came: the server rightly waits for them.
                pass
    assert gateway.is_alive


def test_H_mutatedRequestsEndInDocumentedStatuses(gateway, bystander, cyd):
    dice = random.Random(3)
    body = json.dumps(outgoing(cyd, "hi")).encode()
    seed = (
        f"POST /v1/messages?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {cyd.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    for _ in range(200):
        with RawSocket(gateway) as raw:
            raw.stream.settimeout(0.5)
            raw.send(mutations(dice, seed))
            try:
                if not gateway.is_secure:
                    raw.stream.shutdown(socket.SHUT_WR)
                status, _, answer = raw.response()
            except (TimeoutError, EOFError, ConnectionError):
                continue  # An incomplete request waits, or ends without an answer when the peer is gone.
            assert status in (200, 400, 401, 403, 404, 405, 408, 413, 414, 417, 421, 426, 431, 501, 505), status
            if status == 200:
                assert "data" in json.loads(answer)
    assert gateway.is_alive


def test_H_mutatedUpgradesAreRefusedOrWork(gateway, bystander):
    dice = random.Random(4)
    for _ in range(100):
        with RawSocket(gateway) as raw:
            raw.stream.settimeout(0.5)
            raw.send(mutations(dice, upgrade_request(gateway, "/v1/live", "Sec-WebSocket-Extensions: permessage-deflate")))
            try:
                status = int(raw.head().split(b" ", 2)[1])
            except (TimeoutError, EOFError, ConnectionError):
                continue
            assert status in (101, 400, 401, 404, 405, 408, 421, 426, 431, 501, 505), status


def test_C006_aDeflateBombIs1009(gateway, bystander, cyd):
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packer.compress(b"\0" * 60_000_000) + packer.flush(zlib.Z_SYNC_FLUSH)
    bomb = bomb.removesuffix(b"\0\0\xff\xff")
    assert len(bomb) < 65_000
    offer = "Sec-WebSocket-Extensions: permessage-deflate"
    with RawSocket.upgraded(gateway, "/v1/live", offer) as raw:
        raw.send(frame(TEXT, json.dumps({"id": 1, "op": "connect", "data": {"token": cyd.token}}).encode()))
        raw.send(frame(TEXT, bomb, reserved=0x40))
        assert raw.close_code() == 1009


@pytest.mark.parametrize("above", [1, 2, 3])
def test_C001_M5_inflatedMessagesAreCountedExactly(gateway, bystander, cyd, above):
    import zlib

    def packed(size: int) -> bytes:
        text = json.dumps({"id": 2, "op": "ping", "data": {"pad": ""}})
        text = text.replace('""', '"' + "x" * (size - len(text)) + '"').encode()
        assert len(text) == size
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return (packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)).removesuffix(b"\0\0\xff\xff")

    with RawSocket.upgraded(gateway, "/v1/live", "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=9") as raw:
        connect = json.dumps({"id": 1, "op": "connect", "data": {"token": cyd.token}}).encode()
        raw.send(frame(TEXT, connect) + frame(TEXT, packed(65_536), reserved=0x40))
        raw.frame()
        assert raw.frame()[0] == TEXT
        raw.send(frame(TEXT, packed(65_536 + above), reserved=0x40))
        assert raw.close_code() == 1009


def test_C006_brokenDeflateIs1007Or1002(gateway, bystander):
    with RawSocket.upgraded(gateway, "/v1/live", "Sec-WebSocket-Extensions: permessage-deflate") as raw:
        raw.send(frame(TEXT, b"\xff\xff\xff\xff", reserved=0x40))
        assert raw.close_code() in (1002, 1007)


def test_C025_emptyFragmentsWithoutEndAre1008Or1009(gateway, bystander):
    with RawSocket.upgraded(gateway) as raw:
        raw.send(frame(TEXT, b"x", fin=False))
        try:
            for _ in range(400):
                raw.send(frame(0, b"", fin=False) * 500)
        except OSError:
            pass  # It was closed on us, as it should be.
        assert raw.close_code() in (None, 1008, 1009)
        assert raw.is_closed()


def test_H_peersThatGoAwayLeaveNothingBehind(gateway, bystander, cyd):
    """Refused, cut off, reset and silent connections; the process keeps no descriptors of them."""
    descriptors = f"/proc/{gateway.process.pid}/fd"
    before = len(os.listdir(descriptors))
    for n in range(200):
        with RawSocket(gateway) as raw:
            match n % 4:
                case 0:
                    raw.send(b"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                case 1:
                    raw.send(upgrade_request(gateway)[: n % 90])
                case 2:
                    raw.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    raw.send(upgrade_request(gateway))
                case _:
                    raw.send(upgrade_request(gateway) + frame(TEXT, b"{", fin=False))
    deadline = time.monotonic() + 15
    while len(os.listdir(descriptors)) > before + 2:
        assert time.monotonic() < deadline, "descriptors are left open"
        time.sleep(0.1)
