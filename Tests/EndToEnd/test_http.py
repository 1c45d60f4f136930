"""The HTTP door, keys and health (protocol.md A, H; operations.md S10)."""

import json

import pytest

from gateway import fresh, outgoing
from rawsocket import RawSocket
from session import Session


def post(gateway, body: bytes, *lines: str, token: str = "dev-ann") -> bytes:
    head = ["POST /v1/messages HTTP/1.1", f"Authorization: Bearer {token}", "Content-Type: application/json", *lines]
    if not any(line.lower().startswith("host") for line in lines):
        head.insert(1, f"Host: {gateway.host}:{gateway.port}")
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


class TestCredentials:
    def test_A1_mintedTokensWorkAndOnlyTheirHashIsStored(self, gateway, ann):
        assert ann.http("GET", f"/v1/users/{ann.uid}").status == 200
        ann.http("GET", "/v1/messages")
        assert len(ann.token) >= 20
        stored = b"".join(path.read_bytes() for path in gateway.data.rglob("*") if path.is_file())
        assert ann.uid.encode() in stored
        assert ann.token.encode() not in stored and b"dev-admin" not in stored

    @pytest.mark.parametrize("header", [None, "Bearer", "Bearer wrong", "Basic ZGV2LWFubg==", "dev-ann", "Bearer  "])
    def test_A1_withoutAGoodTokenIs401(self, gateway, header):
        fields = {} if header is None else {"authorization": header}
        answer = gateway.request("GET", "/v1/messages", **fields)
        assert (answer.status, answer.error["code"]) == (401, "ERR_NOT_LOGGED_IN")
        assert answer.error["retryable"] is False

    def test_A1_onlyAnAdminKeyMints(self, gateway, ann):
        answer = ann.http("POST", "/v1/admin/tokens", {"uid": ann.uid})
        assert answer.status in (401, 403)
        answer = gateway.admin("POST", "/v1/admin/tokens", {"uid": "nobody-x"})
        assert (answer.status, answer.error["code"]) == (404, "ERR_UID_NOT_FOUND")

    @pytest.mark.parametrize("key", ["wrong", "dev-admin2", "DEV-ADMIN", "dev-admi", ""])
    def test_A2_aWrongKeyIs401(self, gateway, key):
        answer = gateway.request("POST", "/v1/admin/users", {"uid": fresh("x"), "name": "x"}, apikey=key)
        assert answer.status == 401
        assert answer.error["code"] == "AUTH_ERR_APIKEY_NOT_FOUND" or (not key and answer.error["code"] == "ERR_NOT_LOGGED_IN")

    def test_A2_aKeyActsOnBehalfOfAUser(self, gateway, ann, bob):
        sent = gateway.admin("POST", "/v1/messages", outgoing(bob, "as Ann"), onBehalfOf=ann.uid)
        assert sent.data["senderUid"] == ann.uid
        answer = gateway.admin("POST", "/v1/messages", outgoing(bob, "x"), onBehalfOf="nobody-x")
        assert answer.error["code"] == "ERR_UID_NOT_FOUND"

    def test_A2_aKeyAloneIsTheApplication(self, gateway, bob, group):
        sent = gateway.admin("POST", "/v1/messages", outgoing(bob, "from the house"))
        assert sent.data["senderUid"] == "app"
        assert gateway.admin("POST", "/v1/messages", outgoing(group, "news")).data["senderUid"] == "app"

    def test_A2_rightsStillHoldOnBehalfOfAUser(self, gateway, group):
        stranger = gateway.new_user("stranger")
        answer = gateway.admin("POST", "/v1/messages", outgoing(group, "x"), onBehalfOf=stranger.uid)
        assert answer.status in (403, 404)

    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "169.254.169.254", "localhost.evil.example"])
    def test_A4_devServesLoopbackNamesOnly(self, gateway, host):
        with RawSocket(gateway) as raw:
            raw.send(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert raw.response()[0] == 421
        with RawSocket(gateway) as raw:
            raw.send(
                f"GET /v1/live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            assert raw.response()[0] == 421

    def test_A6_secretsAndTextsAreNotInTheLog(self, gateway, ann, bob):
        ann.send(bob, "a very private sentence")
        with Session(gateway, query=f"?access_token={ann.token}") as session:
            session.call("connect")
        gateway.request("GET", "/v1/messages", authorization="Bearer wrong-secret-token")
        gateway.request("GET", "/metrics")
        log = "".join(gateway.output)
        for secret in ("a very private sentence", ann.token, "wrong-secret-token", "dev-admin"):
            assert secret not in log


class TestHeads:
    BODY = b'{"receiverUid":"bob","receiverType":"user","type":"text","text":"smuggled"}'

    @pytest.mark.parametrize(
        "lines",
        [
            ["Content-Length: 75", "Transfer-Encoding: chunked"],
            ["Content-Length: 75", "Content-Length: 74"],
            ["Content-Length: 75", "Content-Length: 75"],
            ["Content-Length: 75, 75"],
            ["Content-Length: -1"],
            ["Content-Length: +75"],
            ["Content-Length: 0x4b"],
            ["Content-Length:"],
            ["Content-Length : 75"],
            ["Transfer-Encoding: gzip"],
            ["Transfer-Encoding: chunked, chunked"],
            ["Transfer-Encoding: identity"],
            ["Host: 127.0.0.1", "Host: 127.0.0.1", "Content-Length: 75"],
            ["X-Folded: a\r\n b", "Content-Length: 75"],
            ["X-Bad\x00: a", "Content-Length: 75"],
            ["X-Bad: a\x00b", "Content-Length: 75"],
            ["No colon here", "Content-Length: 75"],
            [": no name", "Content-Length: 75"],
            ["X-Bare: a\nX-Other: b", "Content-Length: 75"],
            ["X-Bare: a\rX-Other: b", "Content-Length: 75"],
        ],
        ids=lambda lines: " | ".join(lines)[:50].encode("unicode_escape").decode(),
    )
    def test_H_ambiguousHeadsAre400AndClosed(self, gateway, lines):
        with RawSocket(gateway) as raw:
            raw.send(post(gateway, self.BODY, *lines))
            status, head, _ = raw.response()
            # An encoding that we do not know is 501, a number that no machine holds is too large.
            unknown = {"Transfer-Encoding: gzip": 501, "Transfer-Encoding: identity": 501}
            too_large = {"Content-Length: 99999999999999999999999": 413}
            assert status in (400, (unknown | too_large).get(lines[0]))
            assert raw.is_closed()

    @pytest.mark.parametrize(
        "octets",
        [
            b"\r\n\r\n\r\n\r\nX", b"GET\r\n\r\n", b"GET / HTTP/1.1\n\n", b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n", b"G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET /\x80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ],
        ids=repr,
    )  # fmt: skip
    def test_H_whatIsNoRequestIs4xxOr5xxAndClosed(self, gateway, octets):
        with RawSocket(gateway) as raw:
            raw.send(octets + b"\r\n\r\n")
            status = raw.response()[0]
            assert status in (400, 404, 405, 505)
            if status in (400, 505):
                assert raw.is_closed()

    def test_H_C019_headsAboveTheirLimitAre431Or414(self, gateway):
        for lines, allowed in [
            (["X: " + "x" * 20_000], (431,)),
            ([f"X{n}: y" for n in range(4_000)], (431,)),
        ]:
            with RawSocket(gateway) as raw:
                raw.send(post(gateway, b"", *lines))
                assert raw.response()[0] in allowed
        with RawSocket(gateway) as raw:
            raw.send(b"GET /" + b"x" * 65_536 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert raw.response()[0] in (414, 431)

    def test_H_chunkedBodiesAreRead(self, gateway, ann, bob):
        body = json.dumps(outgoing(bob, "in pieces")).encode()
        chunks = b"".join(f"{len(body[at : at + 7]):x};x=y\r\n".encode() + body[at : at + 7] + b"\r\n" for at in range(0, len(body), 7))
        with RawSocket(gateway) as raw:
            raw.send(post(gateway, b"", "Transfer-Encoding: chunked", token=ann.token))
            for octet in chunks + b"0\r\nTrailer: x\r\n\r\n":
                raw.send(bytes([octet]))
            status, _, answer = raw.response()
            assert status == 200 and json.loads(answer)["data"]["text"] == "in pieces"

    @pytest.mark.parametrize(
        "chunks", [b"zz\r\n", b"-1\r\nx\r\n", b"5\r\nabc", b"fffffffffffffffff\r\n", b"3\nabc\r\n0\r\n\r\n", b"3\r\nabcd\r\n0\r\n\r\n"]
    )
    def test_H_brokenChunksAre4xxAndStoreNothing(self, gateway, ann, chunks):
        with RawSocket(gateway) as raw:
            raw.send(post(gateway, chunks, "Transfer-Encoding: chunked", token=ann.token))
            if chunks == b"5\r\nabc":
                return  # Half a chunk: the peer goes away, and nothing may happen.
            assert raw.response()[0] in (400, 413)
            assert raw.is_closed()

    def test_H_keepAliveAndPipelining(self, gateway, ann, bob):
        first = json.dumps(outgoing(bob, "one")).encode()
        second = json.dumps(outgoing(bob, "two")).encode()
        with RawSocket(gateway) as raw:
            raw.send(
                post(gateway, first, f"Content-Length: {len(first)}", token=ann.token)
                + post(gateway, second, f"Content-Length: {len(second)}", token=ann.token)
            )
            texts = [json.loads(raw.response()[2])["data"]["text"] for _ in range(2)]
            assert texts == ["one", "two"]
            raw.send(f"GET /healthz HTTP/1.1\r\nHost: {gateway.host}\r\nConnection: close\r\n\r\n".encode())
            assert raw.response()[0] == 200
            assert raw.is_closed()

    def test_H_oneByteAtATime(self, gateway):
        with RawSocket(gateway) as raw:
            for octet in b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":
                raw.send(bytes([octet]))
            assert raw.response()[0] == 200


class TestOperations:
    def test_H_unknownPathsAre404AndWrongMethods405(self, gateway, ann):
        for path in ("/v1/nothing", "/v2/messages", "/v1/messages/", "/v1/messages/1/2/3", "/", "/v1/../v1/messages"):
            answer = ann.http("GET", path)
            assert answer.status in (400, 404), path
            assert answer.error["code"] in ("ERR_API_NOT_FOUND", "ERR_BAD_REQUEST", "ERR_MESSAGE_ID_NOT_FOUND"), path
        answer = ann.http("PUT", "/v1/messages", {})
        assert answer.status == 405
        assert {"GET", "POST"} <= {word.strip() for word in answer.headers["allow"].split(",")}

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"5", b"null", b'"x"', b"{}x", b"\xff", b"\x00"], ids=repr)
    def test_H_bodiesThatAreNoObjectAre400(self, gateway, ann, body):
        answer = ann.http("POST", "/v1/messages", body)
        assert (answer.status, answer.error["code"]) == (400, "ERR_BAD_REQUEST")

    @pytest.mark.parametrize("message", ["0", "-1", "x", "1.0", "9007199254740992", "99999999999999999999", "%00", "%ff"])
    def test_H_idsInPathsAreChecked(self, gateway, ann, message):
        answer = ann.http("GET", f"/v1/messages/{message}")
        assert answer.status in (400, 404)
        assert answer.error["code"] in ("ERR_BAD_REQUEST", "ERR_MESSAGE_ID_NOT_FOUND", "ERR_API_NOT_FOUND")

    def test_H_sameOperationsSameAnswersOnBothDoors(self, gateway, ann, bob, group):
        root = ann.send(group, "root", tags=["a"], metadata={"x": 1})
        bob.send(group, "reply", parentMessageId=root["id"])
        with Session.of(ann) as session:
            for op, data, path, query in [
                ("message.get", {"id": root["id"]}, f"/v1/messages/{root['id']}", None),
                ("messages.list", {"guid": group}, "/v1/messages", {"guid": group}),
                ("messages.list", {"parentMessageId": root["id"]}, "/v1/messages", {"parentMessageId": root["id"]}),
                ("messages.list", {"guid": group, "limit": 1, "hideReplies": True}, "/v1/messages", {"guid": group, "limit": 1, "hideReplies": "true"}),
                ("message.get", {"id": 2**53 - 1}, f"/v1/messages/{2**53 - 1}", None),
                ("messages.list", {"guid": "nowhere-x"}, "/v1/messages", {"guid": "nowhere-x"}),
            ]:  # fmt: skip
                over_socket = session.answer(session.begin(op, data))
                over_http = ann.http("GET", path, query=query).json
                for part in ("data", "meta", "error"):
                    assert over_socket.get(part) == over_http.get(part), (op, part)

    def test_H_adminOperationsAreNotOnTheSocket(self, gateway, ann):
        with Session.of(ann) as session:
            reply = session.answer(session.begin("admin.users.create", {"uid": fresh("x"), "name": "x"}))
            assert reply["ok"] is False
            reply = session.answer(session.begin("users.create", {"uid": fresh("x"), "name": "x"}))
            assert reply["ok"] is False


class TestHealth:
    def test_S10_healthAndReadiness(self, gateway):
        assert gateway.request("GET", "/healthz").status == 200
        assert gateway.request("GET", "/readyz").status == 200

    def test_S8_everyMetricHasAHelpText(self, gateway):
        answer = gateway.request("GET", "/metrics")
        assert answer.status == 200
        helped = {line.split(" ")[2] for line in answer.body.decode().splitlines() if line.startswith("# HELP ")}
        typed = [line.split(" ") for line in answer.body.decode().splitlines() if line.startswith("# TYPE ")]
        assert typed and {words[2] for words in typed} <= helped
