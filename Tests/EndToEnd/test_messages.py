"""Messages over both doors (domain.md M)."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway import fresh, outgoing
from session import Refused, Session


def attachment(n: int = 1) -> dict:
    return {
        "name": f"photo-{n}",
        "extension": "png",
        "size": 1234,
        "mimeType": "image/png",
        "url": f"https://files.example/{n}.png",
    }


def refused(call, *arguments) -> Refused:
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value


class TestPeople:
    def test_D1_idsAreLoweredAndChecked(self, gateway):
        uid = fresh("Big").upper()
        created = gateway.admin("POST", "/v1/admin/users", {"uid": uid, "name": "Big"})
        assert created.data["uid"] == uid.lower()
        for wrong in ["", "a b", "ä", "x" * 101, "a.b", "a/b", 5, None]:
            answer = gateway.admin("POST", "/v1/admin/users", {"uid": wrong, "name": "x"})
            assert (answer.status, answer.error["code"]) == (400, "ERR_BAD_REQUEST"), wrong

    def test_D2_aUserHasItsFields(self, gateway, ann):
        user = ann.http("GET", f"/v1/users/{ann.uid}").data
        assert user["uid"] == ann.uid and user["name"] == "Ann"
        assert {"uid", "name", "createdAt"} <= user.keys()
        assert ann.http("GET", "/v1/users/nobody-at-all").error["code"] == "ERR_UID_NOT_FOUND"

    def test_D3_aGroupHasItsFields(self, gateway, ann, bob, cyd, group):
        found = ann.http("GET", f"/v1/groups/{group}").data
        assert found["guid"] == group and found["type"] == "private"
        assert found["owner"] == ann.uid and found["membersCount"] == 3
        members = ann.http("GET", f"/v1/groups/{group}/members").data
        assert {(m["uid"], m["scope"]) for m in members} == {
            (ann.uid, "admin"), (bob.uid, "participant"), (cyd.uid, "participant"),
        }  # fmt: skip

    def test_D4_conversationIdsSortTheTwo(self, gateway, ann, bob, group):
        first, second = sorted([ann.uid, bob.uid])
        assert ann.send(bob)["conversationId"] == f"{first}_user_{second}"
        assert bob.send(ann)["conversationId"] == f"{first}_user_{second}"
        assert ann.send(ann)["conversationId"] == f"{ann.uid}_user_{ann.uid}"
        assert ann.send(group)["conversationId"] == f"group_{group}"

    def test_D5_onlyMembersReadAndWriteAGroup(self, gateway, ann, group):
        stranger = gateway.new_user("stranger")
        ann.send(group, "for us")
        sent = stranger.http("POST", "/v1/messages", outgoing(group))
        assert sent.error["code"] in ("ERR_GROUP_NOT_JOINED", "ERR_GUID_NOT_FOUND")
        listed = stranger.http("GET", "/v1/messages", query={"guid": group})
        assert listed.error["code"] in ("ERR_GROUP_NOT_JOINED", "ERR_GUID_NOT_FOUND")

    def test_D8_aNewMemberReadsWhatWasWrittenBefore(self, gateway, ann, group):
        before = ann.send(group, "old news")
        dan = gateway.new_user("dan")
        assert ann.http("POST", f"/v1/groups/{group}/members", {"members": [{"uid": dan.uid}]}).status == 200
        rows = dan.http("GET", "/v1/messages", query={"guid": group}).data
        assert before["id"] in [row["id"] for row in rows]


class TestSending:
    def test_M1_idsGrowAndAreSeqs(self, gateway, ann, bob):
        with Session.of(ann) as session, Session.of(bob) as watching:
            ids = [session.call("message.send", outgoing(bob, str(n)))["id"] for n in range(20)]
            assert all(isinstance(each, int) and 1 <= each < 2**53 for each in ids)
            assert ids == sorted(set(ids))
            events = [watching.event("message") for _ in ids]
            assert [event["seq"] for event in events] == ids

    def test_M1_M6_theMessageOnTheWire(self, gateway, ann, bob):
        now = time.time()
        sent = ann.send(bob, "hello", metadata={"k": [1, "ä"]}, tags=["t"], sentAt=5, id=7, senderUid="eve")
        assert sent["senderUid"] == ann.uid and sent["receiverUid"] == bob.uid
        assert sent["receiverType"] == "user" and sent["category"] == "message" and sent["type"] == "text"
        assert sent["text"] == "hello" and sent["metadata"] == {"k": [1, "ä"]} and sent["tags"] == ["t"]
        assert abs(sent["sentAt"] - now) < 5 and sent["sentAt"] == sent["updatedAt"]
        for zero in ("deliveredAt", "readAt", "editedAt", "deletedAt", "replyCount"):
            assert sent[zero] == 0
        assert sent["sender"]["uid"] == ann.uid and sent["receiver"]["uid"] == bob.uid
        assert sent["mentions"] == [] and sent["reactions"] == []
        assert sent["threadSubscribed"] is True
        fetched = bob.http("GET", f"/v1/messages/{sent['id']}").data
        assert {key: fetched[key] for key in ("id", "text", "senderUid", "metadata", "tags", "sentAt")} == {
            key: sent[key] for key in ("id", "text", "senderUid", "metadata", "tags", "sentAt")
        }

    @pytest.mark.parametrize("kind", ["image", "video", "audio", "file"])
    def test_M2_M3_mediaTravelsWithItsAttachments(self, gateway, ann, bob, kind):
        with Session.of(ann) as session, Session.of(bob) as watching:
            sent = session.call(
                "message.send", outgoing(bob, None, type=kind, attachments=[attachment()], caption="look")
            )
            received = watching.event("message")["data"]
            for message in (sent, received):
                assert message["category"] == "message" and message["type"] == kind
                assert message["attachments"] == [attachment()] and message["caption"] == "look"

    def test_M2_M3_customTravels(self, gateway, ann, bob):
        with Session.of(ann) as session, Session.of(bob) as watching:
            fields = {"category": "custom", "customType": "poll", "customData": {"q": "tea?", "n": [1, 2.5, None]}}
            sent = session.call("message.send", outgoing(bob, None, **fields))
            received = watching.event("message")["data"]
            for message in (sent, received):
                assert message["category"] == "custom" and message["customType"] == "poll"
                assert message["customData"] == fields["customData"]

    @pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0\u2003", None], ids=repr)
    def test_M3_blankTextIsAnEmptyMessage(self, gateway, ann, bob, text):
        with Session.of(ann) as session:
            body = outgoing(bob, "x") | {"text": text}
            if text is None:
                del body["text"]
            assert refused(session.call, "message.send", body).code == "ERR_EMPTY_MESSAGE"
            assert ann.http("POST", "/v1/messages", body).error["code"] == "ERR_EMPTY_MESSAGE"

    @pytest.mark.parametrize(
        "fields",
        [
            {"type": "image"},
            {"type": "image", "attachments": []},
            {"type": "image", "attachments": [5]},
            {"type": "image", "attachments": "x"},
            {"category": "custom", "customData": {}},
            {"category": "custom", "customType": "x"},
            {"category": "custom", "customType": "x", "customData": [1]},
            {"category": "action", "type": "text", "text": "x"},
            {"category": "nonsense", "type": "text", "text": "x"},
            {"type": "nonsense", "text": "x"},
            {"type": "text", "text": 5},
            {"type": "text", "text": "x", "metadata": "x"},
            {"type": "text", "text": "x", "tags": "x"},
            {"type": "text", "text": "x", "tags": [5]},
            {"type": "text", "text": "x", "receiverType": "planet"},
            {"type": "text", "text": "x", "receiverUid": 5},
            {"type": "text", "text": "x", "muid": 5},
        ],
        ids=json.dumps,
    )
    def test_M2_M3_H_wrongContentIsRefusedAlikeOnBothDoors(self, gateway, ann, bob, fields):
        body = outgoing(bob, None) | fields
        with Session.of(ann) as session:
            over_socket = refused(session.call, "message.send", body)
        over_http = ann.http("POST", "/v1/messages", body)
        assert over_socket.code == over_http.error["code"]
        assert over_socket.code in ("ERR_BAD_REQUEST", "ERR_EMPTY_MESSAGE")
        assert over_http.status == 400
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []

    def test_M3_unknownReceiversAreNotFound(self, gateway, ann):
        nobody = ann.http("POST", "/v1/messages", {"receiverUid": "nobody-x", "receiverType": "user", "type": "text", "text": "x"})
        assert nobody.error["code"] == "ERR_UID_NOT_FOUND" and nobody.status == 404
        nowhere = ann.http("POST", "/v1/messages", outgoing("nowhere-x"))
        assert nowhere.error["code"] == "ERR_GUID_NOT_FOUND" and nowhere.status == 404

    def test_M15_R1_everySessionButTheSendersGetsIt(self, gateway, ann, bob, cyd, group):
        with (
            Session.of(ann) as sending, Session.of(ann) as second, Session.of(bob) as bobs, Session.of(bob) as bobs_other,
            Session.of(cyd) as cyds,
        ):  # fmt: skip
            sent = sending.call("message.send", outgoing(group, "to all"))
            for session in (second, bobs, bobs_other, cyds):
                assert session.event("message")["data"]["id"] == sent["id"]
            # A later message proves that nothing stood before it in the sender's stream.
            later = bob.send(group, "later")
            assert sending.event("message")["data"]["id"] == later["id"]

    def test_M15_R1_aMessageOverHTTPReachesEveryOwnSession(self, gateway, ann, bob):
        with Session.of(ann) as session:
            sent = ann.send(bob, "from the other door")
            assert session.event("message")["data"]["id"] == sent["id"]

    def test_M9_mentionsAreTokensOfParticipants(self, gateway, ann, bob, cyd, group):
        stranger = gateway.new_user("stranger")
        text = f"<@uid:{bob.uid}> and <@uid:{stranger.uid}> and @{cyd.uid} and <@all:everyone>"
        sent = ann.send(group, text)
        assert [user["uid"] for user in sent["mentions"]] == [bob.uid]
        caption = ann.send(group, None, type="image", attachments=[attachment()], caption=f"<@uid:{cyd.uid}>")
        assert [user["uid"] for user in caption["mentions"]] == [cyd.uid]
        assert ann.send(bob, f"<@uid:{cyd.uid}>")["mentions"] == []
        assert bob.http("GET", f"/v1/messages/{sent['id']}").data["mentionedMe"] is True


    def test_M10_aQuoteCarriesACopyOfItsConversation(self, gateway, ann, bob, group):
        said = ann.send(group, "é" * 300)
        sent = bob.send(group, "this!", quotedMessageId=said["id"])
        assert sent["quotedMessageId"] == said["id"]
        copy = sent["quotedMessage"]
        assert (copy["id"], copy["senderUid"], copy["type"]) == (said["id"], ann.uid, "text")
        assert copy["text"].startswith("é" * 199) and len(copy["text"]) <= 201
        assert sent.get("parentMessageId", 0) == 0
        elsewhere = ann.send(bob, "elsewhere")
        for quoted in (elsewhere["id"], 2**53 - 1):
            answer = bob.http("POST", "/v1/messages", outgoing(group, "x", quotedMessageId=quoted))
            assert 400 <= answer.status < 500


class TestLimits:
    def test_M5_limitsStandInTheHello(self, gateway, ann):
        with Session.of(ann) as session:
            limits = session.hello["limits"]
            assert 65536 in limits.values() and 16384 in limits.values() and 32 in limits.values()

    @pytest.mark.parametrize(
        ("name", "fits", "above"),
        [
            ("text", {"type": "text", "text": "é" * 8192}, {"type": "text", "text": "é" * 8192 + "x"}),
            ("metadata", {"metadata": {"k": "x" * 10232}}, {"metadata": {"k": "x" * 10233}}),
            ("tags", {"tags": [f"t{n}" for n in range(25)]}, {"tags": [f"t{n}" for n in range(26)]}),
            ("tag", {"tags": ["é" * 100]}, {"tags": ["é" * 101]}),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_M5_H_atTheLimitIsAcceptedAndOneAboveIsNot(self, gateway, ann, bob, name, fits, above):
        with Session.of(ann) as session:
            session.call("message.send", outgoing(bob, "x") | fits)
            error = refused(session.call, "message.send", outgoing(bob, "x") | above)
        assert error.code == "ERR_TOO_LARGE"
        assert name in json.dumps(error.details) + str(error)
        answer = ann.http("POST", "/v1/messages", outgoing(bob, "x") | above)
        assert answer.error["code"] == "ERR_TOO_LARGE"

    def test_M5_attachmentsAndCustomData(self, gateway, ann, bob):
        ten = [attachment(n) for n in range(10)]
        ann.send(bob, None, type="file", attachments=ten)
        eleven = ann.http("POST", "/v1/messages", outgoing(bob, None, type="file", attachments=ten + [attachment(11)]))
        assert eleven.error["code"] == "ERR_TOO_LARGE"
        custom = {"category": "custom", "customType": "x"}
        ann.send(bob, None, **custom, customData={"k": "x" * 10232})
        above = ann.http("POST", "/v1/messages", outgoing(bob, None, **custom, customData={"k": "x" * 10233}))
        assert above.error["code"] == "ERR_TOO_LARGE"

    def test_M5_sizesAreThoseOfOurOwnEncoding(self, gateway, ann, bob):
        # 30 KiB of spaces and escapes on the wire, 10,240 bytes when written compactly.
        value = "\\u0078" * 5000 + "x" * 5232
        body = json.dumps(outgoing(bob, "x") | {"metadata": 0}).replace('"metadata": 0', f'"metadata": {{ "k" : "{value}" }}')
        assert ann.http("POST", "/v1/messages", body.encode()).status == 200

    def test_M5_depth(self, gateway, ann, bob):
        def nested(levels: int) -> object:
            value: object = 1
            for _ in range(levels):
                value = [value]
            return value

        # The request is level 1, metadata level 2.
        fits = outgoing(bob, "x", metadata={"k": nested(28)})
        assert ann.http("POST", "/v1/messages", fits).status == 200
        with Session.of(ann) as session:
            session.send_text(json.dumps({"id": 1, "op": "message.send", "data": outgoing(bob, "x", metadata={"k": nested(40)})}))
            reply = session.frame()
            assert reply["ok"] is False and reply["error"]["code"] == "ERR_BAD_REQUEST"
            session.call("ping")
        above = ann.http("POST", "/v1/messages", outgoing(bob, "x", metadata={"k": nested(40)}))
        assert above.error["code"] == "ERR_BAD_REQUEST"

    def test_M5_aFrameAboveItsLimitIs1009AndStoresNothing(self, gateway, ann, bob):
        with Session.of(ann) as session:
            text = json.dumps({"id": 1, "op": "ping", "data": {"pad": ""}})
            session.send_text(text.replace('""', '"' + "x" * (65536 - len(text)) + '"'))
            assert session.frame()["ok"] is True
            text = json.dumps({"id": 2, "op": "message.send", "data": outgoing(bob, "big", pad="")})
            session.send_text(text.replace('""', '"' + "x" * (65537 - len(text)) + '"'))
            assert session.closing().code == 1009
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []

    def test_M5_H_anHTTPBodyAboveItsLimitIs413(self, gateway, ann, bob):
        body = json.dumps(outgoing(bob, "x") | {"pad": ""})
        fits = body.replace('""', '"' + "x" * (1_048_576 - len(body)) + '"').encode()
        assert len(fits) == 1_048_576
        assert ann.http("POST", "/v1/messages", fits).status == 200
        assert ann.http("POST", "/v1/messages", fits + b" ").status == 413


class TestIdempotency:
    def test_M7_theSameSendTwiceIsOneMessage(self, gateway, ann, bob):
        with Session.of(ann) as session, Session.of(bob) as watching:
            body = outgoing(bob, "once", muid="m-1", metadata={"a": 1, "b": 2})
            first = session.call("message.send", body)
            again = session.call("message.send", body)
            over_http = ann.http("POST", "/v1/messages", body).data
            reordered = ann.http("POST", "/v1/messages", body | {"metadata": {"b": 2, "a": 1}})
            assert first["id"] == again["id"] == over_http["id"] and first["muid"] == "m-1"
            assert reordered.status in (200, 409)
            fence = ann.send(bob, "fence")
            assert [message["id"] for message in watching.messages(2)] == [first["id"], fence["id"]]

    @pytest.mark.parametrize("change", [{"text": "other"}, {"tags": ["t"]}, {"metadata": {"x": 1}}], ids=json.dumps)
    def test_M7_otherContentIsAConflict(self, gateway, ann, bob, change):
        body = outgoing(bob, "first", muid="m-2")
        first = ann.http("POST", "/v1/messages", body).data
        conflict = ann.http("POST", "/v1/messages", body | change)
        assert conflict.error["code"] == "ERR_MUID_CONFLICT" and conflict.status == 409
        assert [row["id"] for row in ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data] == [first["id"]]

    def test_M7_C069_conflictsAcrossTargetsAndDistinctKeys(self, gateway, ann, bob, group):
        ann.send(group, "a", muid="x")
        for body in (outgoing(group, "b", muid="x"), outgoing(bob, "a", muid="x")):
            assert ann.http("POST", "/v1/messages", body).error["code"] == "ERR_MUID_CONFLICT"
        assert ann.send(bob, "ok", muid="k1")["id"] != ann.send(bob, "ok", muid="k2")["id"]
        assert ann.send(bob, "ok")["id"] != ann.send(bob, "ok")["id"]

    def test_M7_anotherSendersKeyIsAnotherKey(self, gateway, ann, bob):
        assert ann.send(bob, "x", muid="same")["id"] != bob.send(ann, "x", muid="same")["id"]

    def test_M7_C067_twentyAtOnceAreOneMessage(self, gateway, ann, bob):
        body = outgoing(bob, "many hands", muid="race")
        with Session.of(bob) as watching:
            with ThreadPoolExecutor(20) as pool:
                answers = list(pool.map(lambda _: ann.http("POST", "/v1/messages", body), range(20)))
            assert len({answer.data["id"] for answer in answers}) == 1
            fence = ann.send(bob, "fence")
            assert [m["id"] for m in watching.messages(2)] == [answers[0].data["id"], fence["id"]]

    def test_M7_theKeyIsLookedUpBeforeRights(self, gateway, ann, bob, group):
        body = outgoing(group, "while I was in", muid="left")
        sent = bob.http("POST", "/v1/messages", body).data
        assert bob.http("POST", f"/v1/groups/{group}/leave", {}).status == 200
        assert bob.http("POST", "/v1/messages", body).data["id"] == sent["id"]
        assert bob.http("POST", "/v1/messages", outgoing(group, "now")).status in (403, 404)


class TestReading:
    def test_M1_H_listsPageInBothDirections(self, gateway, ann, bob):
        ids = [ann.send(bob, str(n))["id"] for n in range(7)]

        def page(**query) -> tuple[list[int], dict]:
            answer = ann.http("GET", "/v1/messages", query={"uid": bob.uid, **query})
            return [row["id"] for row in answer.data], answer.json["meta"]

        assert page()[0] == ids and page()[1]["hasMore"] is False
        newest, meta = page(limit=3)
        assert newest == ids[4:] and meta == {"hasMore": True, "nextId": ids[4]}
        middle, meta = page(limit=3, id=meta["nextId"])
        assert middle == ids[1:4] and meta["hasMore"] is True
        oldest, meta = page(limit=3, id=meta["nextId"])
        assert oldest == ids[:1] and meta["hasMore"] is False
        after, meta = page(limit=3, id=ids[0], direction="after")
        assert after == ids[1:4] and meta == {"hasMore": True, "nextId": ids[3]}
        exact, meta = page(limit=3, id=ids[3], direction="after")
        assert exact == ids[4:] and meta["hasMore"] is False

    @pytest.mark.parametrize(
        "query",
        [
            {"uid": "a", "guid": "b"}, {"uid": "a", "parentMessageId": 1}, {"limit": 0}, {"limit": 101}, {"limit": "x"},
            {"direction": "up"}, {"id": "x"}, {"id": -1}, {"hideReplies": "maybe"}, {"uid": "not valid!"},
        ],
        ids=json.dumps,
    )  # fmt: skip
    def test_H_wrongListParametersAreRefusedAlikeOnBothDoors(self, gateway, ann, query):
        over_http = ann.http("GET", "/v1/messages", query=query)
        assert (over_http.status, over_http.error["code"]) == (400, "ERR_BAD_REQUEST")
        with Session.of(ann) as session:
            assert refused(session.call, "messages.list", query).code == "ERR_BAD_REQUEST"

    def test_H_aListWithoutAPlaceIsOfAllOwnConversations(self, gateway, ann, bob, cyd, group):
        mine = [ann.send(bob)["id"], cyd.send(group)["id"]]
        bob.send(cyd)
        assert [row["id"] for row in ann.http("GET", "/v1/messages").data] == mine

    def test_M2_oneOnOneMessagesAreForTheTwo(self, gateway, ann, bob, cyd):
        secret = ann.send(bob, "for you")
        for answer in (
            cyd.http("GET", f"/v1/messages/{secret['id']}"),
            cyd.http("GET", f"/v1/messages/{secret['id'] + 10**9}"),
        ):
            assert (answer.status, answer.error["code"]) == (404, "ERR_MESSAGE_ID_NOT_FOUND")
        assert cyd.http("GET", "/v1/messages", query={"uid": ann.uid}).data == []
