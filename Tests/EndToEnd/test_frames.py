"""RFC 6455 on the raw socket: what a well-behaved client never sends, and what may come in pieces."""

import json
import struct

import pytest

from gateway import outgoing
from rawsocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, RawSocket, frame, upgrade_request
from session import Session


def request(op: str, data: dict, request_id: object = 1) -> bytes:
    return json.dumps({"id": request_id, "op": op, "data": data}, ensure_ascii=False).encode()


@pytest.fixture
def live(gateway, ann):
    """A raw socket that has its hello."""
    with RawSocket.upgraded(gateway) as raw:
        raw.send(frame(TEXT, request("connect", {"token": ann.token}, "hello")))
        assert json.loads(raw.frame()[1])["ok"] is True
        yield raw


class TestFragments:
    def test_C002_aNewMessageInsideAFragmentedOneIs1002(self, live, gateway, ann, bob):
        with Session.of(bob) as bystander:
            live.send(frame(TEXT, b'{"a":', fin=False) + frame(TEXT, b"1}"))
            assert live.close_code() == 1002 and live.is_closed()
            bystander.call("ping")

    def test_C002_aContinuationWithoutAStartIs1002(self, live):
        live.send(frame(CONTINUATION, b"x"))
        assert live.close_code() == 1002

    def test_C002_nothingOfABrokenMessageIsStored(self, live, gateway, ann, bob):
        text = request("message.send", outgoing(bob, "half"))
        live.send(frame(TEXT, text[:20], fin=False) + frame(TEXT, text[20:]))
        assert live.close_code() == 1002
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []

    def test_L3_aMessageMayComeInFragmentsWithPingsBetween(self, live, bob):
        text = request("message.send", outgoing(bob, "κόσμε 👩‍👩‍👧"))
        live.send(frame(TEXT, text[:1], fin=False))
        for at in range(1, len(text) - 1):
            live.send(frame(PING, bytes([at])) + frame(CONTINUATION, text[at : at + 1], fin=False))
        live.send(frame(CONTINUATION, text[-1:]))
        pongs = []
        while True:
            opcode, payload = live.frame()
            if opcode == PONG:
                pongs.append(payload)
                continue
            reply = json.loads(payload)
            if reply.get("id") == 1:
                break
        assert reply["data"]["text"] == "κόσμε 👩‍👩‍👧"
        # An unsent pong may give way to a newer one (RFC 6455 §5.5.3).
        assert pongs and pongs == sorted(pongs)

    def test_L3_oneByteAtATime(self, live):
        for octet in frame(TEXT, request("ping", {})):
            live.send(bytes([octet]))
        assert json.loads(live.frame()[1])["ok"] is True


class TestControl:
    @pytest.mark.parametrize(
        "octets",
        [
            frame(PING, b"x" * 10, fin=False),
            frame(PING, b"x" * 126),
            frame(CLOSE, struct.pack("!H", 1000) + b"x" * 124),
            frame(0x3, b"x"),
            frame(0x7, b"x"),
            frame(0xB, b"x"),
            frame(0xF, b"x"),
            frame(TEXT, b"x", reserved=0x20),
            frame(TEXT, b"x", reserved=0x10),
            frame(TEXT, b"x", reserved=0x40),
            frame(PING, b"x", reserved=0x40),
            frame(TEXT, b"{}", masked=False),
            frame(PING, b"", masked=False),
            b"\x81\xff\x80" + b"\x00" * 7 + b"\x00" * 4,
        ],
        ids=[
            "fragmented ping", "ping of 126", "close of 126", "opcode 3", "opcode 7", "opcode 11", "opcode 15", "RSV2",
            "RSV3", "RSV1 without deflate", "RSV1 on a ping", "unmasked text", "unmasked ping", "length of 2^63",
        ],
    )  # fmt: skip
    def test_C003_brokenFramesAre1002(self, live, gateway, octets):
        live.send(octets)
        assert live.close_code() == 1002 and live.is_closed()
        assert gateway.is_alive

    @pytest.mark.parametrize("payload", [b"", b"x", b"x" * 125])
    def test_C003_aGoodPingIsAnswered(self, live, payload):
        live.send(frame(PING, payload))
        assert live.frame() == (PONG, payload)

    def test_C003_anUnaskedPongIsIgnored(self, live):
        live.send(frame(PONG, b"by myself") + frame(PING, b"?"))
        assert live.frame() == (PONG, b"?")


class TestClosing:
    @pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999])
    def test_C013_goodCodesAreEchoed(self, live, code):
        live.send(frame(CLOSE, struct.pack("!H", code) + "über".encode()))
        assert live.close_code() in (code, 1000) and live.is_closed()

    @pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535])
    def test_C013_codesThatMustNotStandOnTheWireAre1002(self, live, code):
        live.send(frame(CLOSE, struct.pack("!H", code)))
        assert live.close_code() == 1002 and live.is_closed()

    def test_C013_aCloseOfOneByteIs1002(self, live):
        live.send(frame(CLOSE, b"\x03"))
        assert live.close_code() == 1002

    def test_C013_aReasonThatIsNoUTF8Is1007(self, live):
        live.send(frame(CLOSE, struct.pack("!H", 1000) + b"\xff"))
        assert live.close_code() == 1007

    def test_C013_anEmptyCloseIsAnsweredWithoutAForbiddenCode(self, live):
        live.send(frame(CLOSE))
        assert live.close_code() in (None, 1000) and live.is_closed()

    def test_C013_nothingIsReadAfterAClose(self, live, gateway, ann, bob):
        live.send(frame(CLOSE, struct.pack("!H", 1000)) + frame(TEXT, request("message.send", outgoing(bob, "late"))))
        assert live.close_code() == 1000 and live.is_closed()
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []


class TestSegments:
    def test_C020_framesInTheSegmentOfTheUpgradeAreRead(self, gateway, ann, bob):
        third = frame(TEXT, request("message.send", outgoing(bob, "third"), 3))
        with RawSocket(gateway) as raw:
            raw.send(
                upgrade_request(gateway)
                + frame(TEXT, request("connect", {"token": ann.token}, 1))
                + frame(TEXT, request("message.send", outgoing(bob, "second"), 2))
                + third[: len(third) // 2]
            )
            assert raw.head().startswith(b"HTTP/1.1 101 ")
            assert json.loads(raw.frame()[1])["id"] == 1
            assert json.loads(raw.frame()[1])["id"] == 2
            raw.send(third[len(third) // 2 :])
            assert json.loads(raw.frame()[1])["id"] == 3
        rows = ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data
        assert [row["text"] for row in rows] == ["second", "third"]

    def test_C004_fortyFramesInOneRecord(self, live, bob):
        live.send(b"".join(frame(TEXT, request("message.send", outgoing(bob, str(n)), n)) for n in range(40)))
        assert sorted(json.loads(live.frame()[1])["id"] for _ in range(40)) == list(range(40))


class TestUTF8:
    def test_C021_splitsInsideACharacterAreFine(self, live, bob):
        text = request("message.send", outgoing(bob, "κόσμε 👩‍👩‍👧"))
        for at in range(1, len(text)):
            live.send(frame(TEXT, text[:at], fin=False) + frame(CONTINUATION, text[at:]))
            assert json.loads(live.frame()[1])["data"]["text"] == "κόσμε 👩‍👩‍👧"

    @pytest.mark.parametrize(
        "octets",
        [b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xce", b"\x80", b"\xff", b"\xe2\x82", b"\xf0\x9f\x91"],
        ids=lambda octets: octets.hex(),
    )
    def test_C021_M4_L8_badUTF8Is1007AndStoresNothing(self, live, gateway, ann, bob, octets):
        text = request("message.send", outgoing(bob, "?"))
        live.send(frame(TEXT, text.replace(b"?", octets)))
        assert live.close_code() == 1007
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []

    def test_C021_aTailThatIsCutOffIs1007(self, live):
        live.send(frame(TEXT, b'{"id":1,"op":"ping"}\xce'))
        assert live.close_code() == 1007

    def test_C021_theFirstWrongOctetFailsBeforeTheMessageEnds(self, live):
        live.send(frame(TEXT, b'{"id":1,"op":"\xff', fin=False))
        assert live.close_code() == 1007

    def test_M4_overHTTPBadUTF8IsABadRequest(self, gateway, ann, bob):
        body = request("x", {}).replace(b"x", b"\xff")
        answer = ann.http("POST", "/v1/messages", body)
        assert (answer.status, answer.error["code"]) == (400, "ERR_BAD_REQUEST")


class TestUnicode:
    @pytest.mark.parametrize(
        "escaped",
        [r"\u0000", r"a\u0000b", r"\ud83d", r"\udc00\ud83d", r"\ud83dx", r"\ud83d\u0041", "\x00"],
        ids=["NUL", "NUL inside", "high", "reversed", "high and x", "high and A", "raw NUL"],
    )
    def test_M4_C085_NULAndLoneSurrogatesAreRefusedOnBothDoors(self, gateway, ann, bob, escaped):
        bodies = [
            json.dumps(outgoing(bob, "?")),
            json.dumps(outgoing(bob, None, category="custom", customType="x", customData={"deep": ["?"]})),
            json.dumps(outgoing(bob, None, category="custom", customType="x", customData={"?": 1})),
            json.dumps(outgoing(bob, "x", metadata={"k": "?"})),
            json.dumps(outgoing(bob, "x", tags=["?"])),
            json.dumps(outgoing(bob, "x", muid="?")),
        ]
        with Session.of(ann) as session:
            for body in bodies:
                body = body.replace("?", escaped)
                answer = ann.http("POST", "/v1/messages", body.encode())
                assert (answer.status, answer.error["code"]) == (400, "ERR_BAD_REQUEST"), body
                session.send_text(f'{{"id":1,"op":"message.send","data":{body}}}')
                reply = session.frame()
                assert reply["ok"] is False and reply["error"]["code"] == "ERR_BAD_REQUEST", body
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []

    @pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "😀", "\ufffd", "\u200b", "e\u0301", "\u007f\u0080"], ids=ascii)
    def test_M4_C085_everyOtherTextIsKeptAsItIs(self, gateway, ann, bob, text):
        assert ann.send(bob, text + ".")["text"] == text + "."
        escaped = json.dumps(outgoing(bob, text + "!"), ensure_ascii=True).encode()
        sent = ann.http("POST", "/v1/messages", escaped).data
        assert bob.http("GET", f"/v1/messages/{sent['id']}").data["text"] == text + "!"

    def test_L8_binaryIs1003EvenWhenItIsJSON(self, live):
        live.send(frame(BINARY, request("ping", {})))
        assert live.close_code() == 1003
