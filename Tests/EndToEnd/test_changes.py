"""Editing and deleting messages over both doors (domain.md M11, T10)."""

import json

import pytest

from session import Refused, Session

MISSING = 2**53 - 1


def history(person, **where) -> list[dict]:
    return person.http("GET", "/v1/messages", query=where).data


class TestEditing:
    def test_M11_R1_M15_anEditReachesEverybodyElse(self, gateway, ann, bob, group):
        stranger = gateway.new_user("stranger")
        with Session.of(ann) as acting, Session.of(ann) as other, Session.of(bob) as member, Session.of(stranger) as outside:
            sent = acting.call("message.send", {"receiverUid": group, "receiverType": "group", "text": "first"})
            edited = acting.call("message.edit", {"id": sent["id"], "text": f"second <@uid:{bob.uid}>", "tags": ["t"]})
            assert edited["text"].startswith("second") and edited["editedBy"] == ann.uid and edited["editedAt"] > 0
            for session in (other, member):
                assert session.event("message")["data"]["id"] == sent["id"]
                action = session.event("message")
                assert action["data"]["category"] == "action" and action["data"]["action"] == "edited"
                assert action["data"]["actionBy"] == ann.uid and action["data"]["actionOn"] == sent["id"]
                event = session.event()
                assert event["event"] == "message.edited" and event["seq"] == action["seq"] + 1
                assert event["data"]["text"] == edited["text"] and event["data"]["tags"] == ["t"]
                assert [user["uid"] for user in event["data"]["mentions"]] == [bob.uid]
                # R5: nothing in it depends on who receives it.
                assert not {"mentionedMe", "threadSubscribed", "reactedByMe"} & set(event["data"])
            acting.call("ping")
            assert not [event for event in acting.events if event["event"] != "heartbeat"]
            outside.call("ping")
            assert not outside.events
        assert [row["id"] for row in history(bob, guid=group)] == [sent["id"], action["data"]["id"]]

    def test_M11_H_theSameOverHTTP(self, gateway, ann, bob):
        sent = ann.send(bob, "first")
        path = f"/v1/messages/{sent['id']}"
        answer = ann.http("PATCH", path, {"text": "second", "metadata": {"k": 1}})
        assert answer.status == 200 and answer.data["text"] == "second" and answer.data["metadata"] == {"k": 1}
        assert bob.http("GET", path).data["text"] == "second"
        removed = ann.http("DELETE", path)
        assert removed.status == 200 and removed.data["text"] == "" and removed.data["deletedBy"] == ann.uid
        assert bob.http("GET", path).data["metadata"] == {}

    @pytest.mark.parametrize(
        "fields, status, code, field",
        [
            ({}, 400, "ERR_BAD_REQUEST", None),
            ({"text": None}, 400, "ERR_BAD_REQUEST", None),
            ({"text": " \n"}, 400, "ERR_EMPTY_MESSAGE", "text"),
            ({"text": 7}, 400, "ERR_BAD_REQUEST", "text"),
            ({"text": "x" * 16385}, 413, "ERR_TOO_LARGE", "text"),
            ({"caption": "x"}, 400, "ERR_BAD_REQUEST", "caption"),
            ({"customData": {}}, 400, "ERR_BAD_REQUEST", "customData"),
            ({"customData": []}, 400, "ERR_BAD_REQUEST", "customData"),
            ({"metadata": "x"}, 400, "ERR_BAD_REQUEST", "metadata"),
            ({"metadata": {"k": "x" * 10240}}, 413, "ERR_TOO_LARGE", "metadata"),
            ({"tags": [1]}, 400, "ERR_BAD_REQUEST", "tags"),
            ({"tags": ["x"] * 26}, 413, "ERR_TOO_LARGE", "tags"),
        ],
    )
    def test_M11_M5_badEditsLeaveNoTrace(self, gateway, ann, bob, fields, status, code, field):
        sent = ann.send(bob, "as it was")
        answer = ann.http("PATCH", f"/v1/messages/{sent['id']}", fields)
        assert (answer.status, answer.error["code"], answer.error.get("details", {}).get("field")) == (status, code, field)
        with Session.of(ann) as session, pytest.raises(Refused) as caught:
            session.call("message.edit", {"id": sent["id"]} | fields)
        assert (caught.value.code, caught.value.details.get("field")) == (code, field)
        rows = history(ann, uid=bob.uid)
        assert [row["text"] for row in rows] == ["as it was"] and rows[0]["editedAt"] == 0

    @pytest.mark.parametrize("text", ["0", "-1", "1.5", '"x"', "null", "[]", "9007199254740992"])
    def test_M11_idsThatAreNone(self, gateway, ann, text):
        with Session.of(ann) as session:
            for op in ("message.edit", "message.delete"):
                session.send_text(f'{{"id":1,"op":"{op}","data":{{"id":{text},"text":"x"}}}}')
                error = session.answer(1)["error"]
                assert error["code"] == "ERR_BAD_REQUEST" and error["details"]["field"] == "id"

    def test_M11_T2_whoMayNot(self, gateway, ann, bob, group):
        stranger = gateway.new_user("stranger")
        sent = ann.send(group, "by Ann")
        action = ann.http("PATCH", f"/v1/messages/{sent['id']}", {"text": "new"}) and history(ann, guid=group)[-1]

        def codes(person, message) -> list[str]:
            path = f"/v1/messages/{message}"
            answers = [person.http("PATCH", path, {"text": "x"}), person.http("DELETE", path)]
            return [answer.error["code"] for answer in answers]

        assert codes(bob, sent["id"]) == ["ERR_MESSAGE_NOT_A_SENDER"] * 2
        assert codes(ann, action["id"]) == ["ERR_MESSAGE_ACTION_NOT_ALLOWED"] * 2
        assert codes(stranger, sent["id"]) == ["ERR_MESSAGE_ID_NOT_FOUND"] * 2
        hidden = [stranger.http("DELETE", f"/v1/messages/{message}").body for message in (sent["id"], MISSING)]
        assert hidden[0] == hidden[1]
        bob.http("POST", f"/v1/groups/{group}/leave")
        assert codes(bob, sent["id"]) == ["ERR_MESSAGE_NO_ACCESS"] * 2
        assert gateway.admin("PATCH", f"/v1/messages/{sent['id']}", {"text": "by the application"}).data["editedBy"] == "app"
        ann.http("DELETE", f"/v1/messages/{sent['id']}")
        assert codes(ann, sent["id"]) == ["ERR_MESSAGE_ID_NOT_FOUND"] * 2

    def test_M9_T4_aMentionThatAnEditAddsSubscribes(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        with Session.of(bob, replies="none") as session:
            ann.http("PATCH", f"/v1/messages/{root['id']}", {"text": f"<@uid:{bob.uid}>"})
            session.event("message.edited")
            change = session.event("thread.subscription")["data"]
            assert change["parentMessageId"] == root["id"] and change["cause"] == "mention" and change["threadSubscribed"]
        assert bob.http("GET", f"/v1/messages/{root['id']}").data["mentionedMe"]


class TestDeleting:
    def test_M11_theWordsAreGoneEverywhere(self, gateway, ann, bob, group):
        secret = "zebra-4711"
        with Session.of(bob) as session:
            position = session.hello["seq"]
            sent = ann.send(group, secret, metadata={"m": secret}, tags=[secret], subType=secret)
            ann.http("DELETE", f"/v1/messages/{sent['id']}")
            event = session.event("message.deleted")["data"]
            assert event["id"] == sent["id"] and event["type"] == "text" and event["deletedAt"] > 0
            assert secret not in json.dumps(event)
        assert secret not in json.dumps(history(bob, guid=group))
        resume = {"epoch": session.hello["epoch"], "seq": position}
        with Session.of(bob, resume=resume) as session:
            told = [session.event() for _ in range(3)]
            assert [event["event"] for event in told] == ["message", "message", "message.deleted"]
            assert secret not in json.dumps(told)

    def test_T10_T3_aDeletedRootAndItsReplies(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        replies = [bob.send(group, str(number), parentMessageId=root["id"]) for number in range(3)]
        bob.http("DELETE", f"/v1/messages/{replies[1]['id']}")
        path = f"/v1/messages/{root['id']}"
        assert ann.http("GET", path).data["replyCount"] == 2
        assert ann.http("GET", path).data["unreadRepliesCount"] == 2
        ann.http("DELETE", path)
        seen = ann.http("GET", path).data
        assert (seen["replyCount"], seen["unreadRepliesCount"], seen["text"]) == (2, 0, "")
        refused = bob.http("POST", "/v1/messages", {"receiverUid": group, "receiverType": "group", "text": "x"} | {"parentMessageId": root["id"]})
        assert (refused.status, refused.error["code"]) == (404, "ERR_MESSAGE_NOT_FOUND")
        for method in ("PUT", "DELETE"):
            refused = bob.http(method, f"{path}/thread/subscription")
            assert (refused.status, refused.error["code"]) == (404, "ERR_MESSAGE_ID_NOT_FOUND")
        rows = history(bob, parentMessageId=root["id"])
        assert [row["text"] for row in rows if row["category"] == "message"] == ["0", "", "2"]
        assert [row["action"] for row in rows if row["category"] == "action"] == ["deleted"]

    def test_M11_aChangeOutlivesTheProcess(self, own_gateway):
        gateway = own_gateway("--dev").start()
        ann, bob = gateway.new_user("ann"), gateway.new_user("bob")
        sent, gone = ann.send(bob, "first"), ann.send(bob, "gone")
        ann.http("PATCH", f"/v1/messages/{sent['id']}", {"text": "second"})
        ann.http("DELETE", f"/v1/messages/{gone['id']}")
        before = history(bob, uid=ann.uid)
        gateway.kill()
        gateway.start()
        assert history(bob, uid=ann.uid) == before
        assert [row["text"] for row in before if row["category"] == "message"] == ["second", ""]
