"""The live socket: upgrade, token, frames, hello (protocol.md L)."""

import json
import threading
import time

import pytest
from websockets.exceptions import InvalidStatus

from gateway import outgoing
from rawsocket import TEXT, RawSocket, frame, upgrade_request
from session import SUBPROTOCOL, Closed, Refused, Session


class TestUpgrade:
    def test_L1_withoutAnUpgradeIs426(self, gateway):
        answer = gateway.request("GET", "/v1/live")
        assert answer.status == 426
        assert answer.headers["upgrade"].lower() == "websocket"

    def test_L1_anotherVersionIs426AndNamesOurs(self, gateway):
        with RawSocket(gateway) as raw:
            raw.send(upgrade_request(gateway).replace(b"Version: 13", b"Version: 12"))
            status, head, _ = raw.response()
            assert status == 426
            assert b"sec-websocket-version: 13" in head.lower()

    @pytest.mark.parametrize(
        "key", [b"", b"short", b"AAAAAAAAAAAAAAAAAAAAAAAAAAAA", b"!!!!!!!!!!!!!!!!!!!!!!=="], ids=repr
    )
    def test_L1_aBadKeyIs400(self, gateway, key):
        with RawSocket(gateway) as raw:
            raw.send(upgrade_request(gateway, key="KEY").replace(b"KEY", key))
            assert raw.response()[0] == 400

    def test_L1_offeredSubprotocolIsEchoed(self, gateway):
        with Session(gateway, subprotocols=["other", SUBPROTOCOL]) as session:
            assert session.socket.subprotocol == SUBPROTOCOL

    def test_L1_noSubprotocolIsAccepted(self, gateway, ann):
        with Session(gateway, subprotocols=None) as session:
            assert session.socket.subprotocol is None
            assert session.call("connect", {"token": ann.token})["uid"] == ann.uid

    def test_L1_acceptKeyIsThatOfTheRFC(self, gateway):
        with RawSocket(gateway) as raw:
            raw.send(upgrade_request(gateway, key="dGhlIHNhbXBsZSBub25jZQ=="))
            assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in raw.head()

    @pytest.mark.parametrize(
        ("offer", "expected"),
        [
            ("permessage-deflate", {"server_no_context_takeover"}),
            (
                "permessage-deflate; client_max_window_bits; server_max_window_bits=10",
                {"server_no_context_takeover", "server_max_window_bits=10"},
            ),
            (
                "permessage-deflate; client_no_context_takeover",
                {"server_no_context_takeover", "client_no_context_takeover"},
            ),
        ],
    )
    def test_L1_deflateIsNegotiated(self, gateway, offer, expected):
        with RawSocket(gateway) as raw:
            raw.send(upgrade_request(gateway, "/v1/live", f"Sec-WebSocket-Extensions: {offer}"))
            head = raw.head().decode().lower()
            line = next(line for line in head.split("\r\n") if line.startswith("sec-websocket-extensions:"))
            names = {part.strip() for part in line.partition(":")[2].split(";")}
            assert "permessage-deflate" in names
            assert expected <= names

    @pytest.mark.parametrize(
        "offer",
        [
            "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; unknown=1",
            "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; client_max_window_bits; client_max_window_bits=10",
            "x-webkit-deflate-frame",
        ],
    )
    def test_L1_anOfferThatCannotBeTakenIsDeclined(self, gateway, offer):
        with RawSocket(gateway) as raw:
            raw.send(upgrade_request(gateway, "/v1/live", f"Sec-WebSocket-Extensions: {offer}"))
            head = raw.head().lower()
            assert head.startswith(b"http/1.1 101")
            assert b"sec-websocket-extensions" not in head

    @pytest.mark.parametrize("compression", ["deflate", None])
    def test_L1_messagesTravelWithAndWithoutDeflate(self, gateway, ann, bob, compression):
        text = "threads and replies " * 400
        with Session(gateway, compression=compression) as receiving:
            receiving.call("connect", {"token": bob.token})
            ann.send(bob, text)
            assert receiving.event("message")["data"]["text"] == text


class TestToken:
    @pytest.mark.parametrize("token", ["wrong", "dev-nobody", ""])
    def test_L2_aBadTokenInTheUpgradeIs401(self, gateway, token):
        with pytest.raises(InvalidStatus) as refused:
            Session(gateway, headers={"Authorization": f"Bearer {token}"})
        assert refused.value.response.status_code == 401
        if token:
            with pytest.raises(InvalidStatus) as refused:
                Session(gateway, query=f"?access_token={token}")
            assert refused.value.response.status_code == 401

    def test_L2_aTokenInTheUpgradeNeedsNoneInConnect(self, gateway, ann):
        with Session(gateway, headers={"Authorization": f"Bearer {ann.token}"}) as session:
            assert session.call("connect")["uid"] == ann.uid
        with Session(gateway, query=f"?access_token={ann.token}") as session:
            assert session.call("connect")["uid"] == ann.uid

    @pytest.mark.parametrize("data", [{"token": "wrong"}, {}, {"token": ""}, {"token": 5}])
    def test_L2_aBadConnectIsAnsweredAndThenClosed4200(self, gateway, data):
        with Session(gateway) as session:
            reply = session.answer(session.begin("connect", data))
            assert reply["ok"] is False
            assert session.closing().code == 4200

    def test_L2_anotherUsersTokenIs4200(self, gateway, ann, bob):
        with Session(gateway, headers={"Authorization": f"Bearer {ann.token}"}) as session:
            assert session.answer(session.begin("connect", {"token": bob.token}))["ok"] is False
            assert session.closing().code == 4200

    def test_L2_theFirstFrameMustBeConnect(self, gateway, ann):
        with Session(gateway, headers={"Authorization": f"Bearer {ann.token}"}) as session:
            session.begin("messages.list", {})
            assert session.closing().code == 4200

    def test_L2_aMutedClientIsClosed4200InTime(self, own_gateway):
        gateway = own_gateway("--dev").start({"THREADCAST_CONNECT_SECONDS": "1"})
        with Session(gateway) as session:
            began = time.monotonic()
            assert session.closing().code == 4200
            assert 0.5 < time.monotonic() - began < 4

    def test_L2_operationsBehindConnectAreQueuedForTheHello(self, gateway, ann, bob):
        with RawSocket.upgraded(gateway) as raw:
            sends = [{"id": n, "op": "message.send", "data": outgoing(bob, f"queued {n}")} for n in range(1, 11)]
            connect = {"id": 0, "op": "connect", "data": {"token": ann.token}}
            raw.send(b"".join(frame(TEXT, json.dumps(request).encode()) for request in [connect, *sends]))
            replies = [json.loads(raw.frame()[1]) for _ in range(11)]
        assert replies[0]["id"] == 0 and replies[0]["ok"]
        assert sorted(reply["id"] for reply in replies[1:]) == list(range(1, 11))
        assert all(reply["ok"] for reply in replies)

    def test_L2_noEventPrecedesTheHello(self, gateway, ann, bob):
        stop = threading.Event()

        def chatter() -> None:
            while not stop.is_set():
                ann.send(bob, "noise")

        talking = threading.Thread(target=chatter)
        talking.start()
        try:
            for _ in range(10):
                with Session(gateway) as session:
                    session.begin("connect", {"token": bob.token}, request="hello")
                    assert session.frame().get("id") == "hello"
        finally:
            stop.set()
            talking.join()


class TestFrames:
    @pytest.mark.parametrize("request_id", [0, 7, -7, 2**53 - 1, "a", "é" * 64, ""], ids=repr)
    def test_L3_theIdIsEchoed(self, gateway, ann, request_id):
        with Session.of(ann) as session:
            assert session.answer(session.begin("ping", request=request_id))["id"] == request_id

    @pytest.mark.parametrize(
        "text",
        [
            '{"op":"ping"}',
            '{"id":1.5,"op":"ping"}',
            '{"id":null,"op":"ping"}',
            '{"id":{},"op":"ping"}',
            '{"id":true,"op":"ping"}',
            json.dumps({"id": "x" * 65, "op": "ping"}),
            "[]",
            "5",
            "null",
            '"ping"',
        ],
    )
    def test_L3_aFrameWithoutAUsableIdIsAnErrorWithoutId(self, gateway, ann, text):
        with Session.of(ann) as session:
            session.send_text(text)
            reply = session.frame()
            assert "id" not in reply or reply["id"] is None
            assert reply["ok"] is False and reply["error"]["code"] == "ERR_BAD_REQUEST"
            session.call("ping")

    @pytest.mark.parametrize("text", ['{"id":9}', '{"id":9,"op":5}', '{"id":9,"op":"message.send","data":[]}'])
    def test_L3_aBadEnvelopeWithAnIdIsAnswered(self, gateway, ann, text):
        with Session.of(ann) as session:
            session.send_text(text)
            reply = session.frame()
            assert reply["ok"] is False and reply["error"]["code"] == "ERR_BAD_REQUEST"
            session.call("ping")

    def test_L3_anUnknownOperationIsAnError(self, gateway, ann):
        with Session.of(ann) as session:
            with pytest.raises(Refused) as refused:
                session.call("message.sned")
            assert refused.value.code in ("ERR_API_NOT_FOUND", "ERR_BAD_REQUEST")

    def test_L3_unknownFieldsAreIgnored(self, gateway, ann, bob):
        with Session.of(ann) as session:
            message = session.call("message.send", outgoing(bob, "hi", surprise={"deep": [1]}))
            assert "surprise" not in message

    def test_L3_listsAreArraysWithMeta(self, gateway, ann, bob):
        ann.send(bob, "one")
        ann.send(bob, "two")
        with Session.of(ann) as session:
            reply = session.answer(session.begin("messages.list", {"uid": bob.uid, "limit": 1}))
            assert [row["text"] for row in reply["data"]] == ["two"]
            assert reply["meta"]["hasMore"] is True
            assert reply["meta"]["nextId"] == reply["data"][0]["id"]

    def test_L3_anErrorHasItsFourFields(self, gateway, ann):
        with Session.of(ann) as session:
            reply = session.answer(session.begin("message.get", {"id": 2**53 - 1}))
            assert reply["ok"] is False
            assert {"code", "message", "retryable"} <= reply["error"].keys() <= {"code", "message", "retryable", "details"}
            assert reply["error"]["code"] == "ERR_MESSAGE_ID_NOT_FOUND"
            assert reply["error"]["retryable"] is False

    def test_L3_L6_anEventHasSeqAndData(self, gateway, ann, bob):
        with Session.of(bob) as session:
            sent = ann.send(bob, "see")
            event = session.event()
            assert event.keys() == {"event", "seq", "data"}
            assert event["event"] == "message"
            assert event["seq"] == event["data"]["id"] == sent["id"]

    def test_L3_theReplyToASendNeverFollowsALaterEvent(self, gateway, ann, bob, group):
        with Session.of(ann) as session, Session.of(bob) as other:
            pending = {}
            for n in range(60):
                pending[session.begin("message.send", outgoing(group, f"a{n}"))] = None
                other.begin("message.send", outgoing(group, f"b{n}"))
            highest = answered = 0
            events = 0
            while answered < 60 or events < 60:
                received = session.frame()
                if received.get("event") == "message":
                    events += 1
                    highest = max(highest, received["seq"])
                elif received.get("id") in pending:
                    answered += 1
                    assert received["ok"]
                    assert received["data"]["id"] > highest or highest == 0


class TestHello:
    def test_L4_helloHasItsFields(self, gateway, ann):
        with Session.of(ann, device={"id": "d1", "platform": "web", "name": "Firefox"}, foreground=True) as session:
            hello = session.hello
            assert {
                "sessionId", "uid", "user", "epoch", "seq", "resumed", "heartbeatSeconds", "serverTime", "limits",
                "version",
            } <= hello.keys()  # fmt: skip
            assert hello["uid"] == hello["user"]["uid"] == ann.uid
            assert hello["epoch"] == gateway.epoch
            assert hello["resumed"] is False and "reset" not in hello
            assert hello["heartbeatSeconds"] == 25
            assert isinstance(hello["sessionId"], str) and len(hello["sessionId"]) >= 16
            assert isinstance(hello["seq"], int) and hello["seq"] > 0

    def test_L4_eachSessionHasItsOwnId(self, gateway, ann):
        with Session.of(ann) as first, Session.of(ann) as second:
            assert first.hello["sessionId"] != second.hello["sessionId"]

    @pytest.mark.parametrize(
        ("resume", "reason"),
        [({"epoch": "of another store", "seq": 1}, "epoch_changed"), ({"epoch": None, "seq": 2**52}, "bad_position")],
    )
    def test_L4_aPositionThatIsNotOursIsResetWithItsReason(self, gateway, ann, resume, reason):
        resume = {"epoch": resume["epoch"] or gateway.epoch, "seq": resume["seq"]}
        with Session.of(ann, resume=resume) as session:
            assert session.hello["resumed"] is False
            assert session.hello["reset"]["reason"] == reason

    @pytest.mark.parametrize("resume", [5, {"epoch": 5, "seq": 1}, {"seq": 1}, {"epoch": "x", "seq": "y"}], ids=repr)
    def test_L4_aMalformedConnectIsRefused(self, gateway, ann, resume):
        with Session(gateway) as session:
            reply = session.answer(session.begin("connect", {"token": ann.token, "resume": resume}))
            assert reply["ok"] is False and reply["error"]["code"] == "ERR_BAD_REQUEST"
            assert session.closing().code == 4200

    def test_L4_aSecondConnectIsRefusedAndTheSessionLives(self, gateway, ann):
        with Session.of(ann) as session:
            with pytest.raises(Refused) as refused:
                session.call("connect", {"token": ann.token})
            assert refused.value.code == "ERR_BAD_REQUEST"
            session.call("ping")

    def test_L5_quietIsBrokenByAPingAndAHeartbeat(self, own_gateway):
        gateway = own_gateway("--dev").start({"THREADCAST_HEARTBEAT_SECONDS": "1"})
        with Session(gateway) as session:
            hello = session.call("connect", {"token": "dev-ann"})
            beat = session.frame(5)
            assert beat["event"] == "heartbeat"
            assert beat["seq"] >= hello["seq"]


class TestMalformed:
    def test_L8_binaryFrameIs1003(self, gateway, ann):
        with Session.of(ann) as session:
            session.send_text(b'{"id":1,"op":"ping"}')
            assert session.closing().code == 1003

    @pytest.mark.parametrize("text", ["", "{", "{}}", '{"id":1,}', "\x00", "nope", "{'id':1}", "[" * 10_000], ids=repr)
    def test_L8_malformedJSONIsAnErrorAndTheConnectionLives(self, gateway, ann, text):
        with Session.of(ann) as session:
            session.send_text(text)
            reply = session.frame()
            assert reply["ok"] is False and reply["error"]["code"] == "ERR_BAD_REQUEST"
            assert reply.get("id") is None
            session.call("ping")

    def test_L8_moreThanAHundredMalformedFramesAMinuteIs1008(self, gateway, ann, bob):
        with Session.of(ann) as session, Session.of(bob) as bystander:
            for _ in range(101):
                session.send_text("{")
            assert session.closing().code == 1008
            bystander.call("ping")

    def test_L8_aFrameBeforeTheHelloThatIsNoJSONIs4200(self, gateway):
        with Session(gateway) as session:
            session.send_text("{")
            with pytest.raises(Closed) as closed:
                while True:
                    session.frame()
            assert closed.value.code == 4200
