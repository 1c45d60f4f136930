"""Threads and subscriptions over both doors (domain.md T)."""

import json

import pytest

from gateway import outgoing
from session import Refused, Session

MISSING = 2**53 - 1


def refused(call, *arguments) -> Refused:
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value


def is_subscribed(person, message_id: int) -> bool:
    return person.http("GET", f"/v1/messages/{message_id}").data["threadSubscribed"]


class TestRootsAndReplies:
    def test_T1_T2_aReplyNamesItsRoot(self, gateway, ann, bob):
        with Session.of(ann) as session:
            root = session.call("message.send", outgoing(bob, "root"))
            assert root.get("parentMessageId", 0) in (0, None)
            reply = bob.send(ann, "reply", parentMessageId=root["id"])
            assert reply["parentMessageId"] == root["id"]
            event = session.event("message")
            assert event["data"]["id"] == reply["id"] and event["data"]["parentMessageId"] == root["id"]

    def test_T1_everyKindOfMessageCanBeARoot(self, gateway, ann, bob):
        picture = {"name": "a", "extension": "png", "size": 1, "mimeType": "image/png", "url": "https://f.example/a"}
        for root in (
            ann.send(bob, None, type="image", attachments=[picture]),
            ann.send(bob, None, category="custom", customType="poll", customData={}),
        ):
            assert bob.send(ann, "re", parentMessageId=root["id"])["parentMessageId"] == root["id"]

    @pytest.mark.parametrize("nothing", ["0", "null"])
    def test_T2_zeroAndNullAreNoParent(self, gateway, ann, bob, nothing):
        body = json.dumps(outgoing(bob, "x") | {"parentMessageId": "?"}).replace('"?"', nothing).encode()
        assert ann.http("POST", "/v1/messages", body).data.get("parentMessageId", 0) in (0, None)

    def test_T2_C084_numbersThatAreNoMessageId(self, gateway, ann, bob):
        """Each as it stands on the wire, over both doors."""
        table = {
            "1.0": "ERR_INVALID_PARENT_MESSAGE_ID",
            "1e3": "ERR_INVALID_PARENT_MESSAGE_ID",
            "-1": "ERR_INVALID_PARENT_MESSAGE_ID",
            "18446744073709551616": "ERR_INVALID_PARENT_MESSAGE_ID",
            "18446744073709551615": "ERR_INVALID_PARENT_MESSAGE_ID",
            "9223372036854775808": "ERR_INVALID_PARENT_MESSAGE_ID",
            "9007199254740992": "ERR_INVALID_PARENT_MESSAGE_ID",
            "true": "ERR_INVALID_PARENT_MESSAGE_ID",
            '"abc"': "ERR_INVALID_PARENT_MESSAGE_ID",
            '"1.0"': "ERR_INVALID_PARENT_MESSAGE_ID",
            "[]": "ERR_INVALID_PARENT_MESSAGE_ID",
            "{}": "ERR_INVALID_PARENT_MESSAGE_ID",
            "1e400": "ERR_BAD_REQUEST",
            "1" * 10_000: "ERR_BAD_REQUEST",
            "01": "ERR_BAD_REQUEST",
            "+1": "ERR_BAD_REQUEST",
            "NaN": "ERR_BAD_REQUEST",
            "Infinity": "ERR_BAD_REQUEST",
            "[" * 10_000 + "]" * 10_000: "ERR_BAD_REQUEST",
        }
        # Where a parser may or may not hold the number, both answers are right.
        either = {"18446744073709551616", "1" * 10_000}
        wrong = []
        with Session.of(ann) as session:
            for text, expected in table.items():
                body = json.dumps(outgoing(bob, "x") | {"parentMessageId": "?"}).replace('"?"', text)
                over_http = ann.http("POST", "/v1/messages", body.encode())
                session.send_text(f'{{"id":1,"op":"message.send","data":{body}}}')
                over_socket = session.frame()
                got = (over_http.status, over_http.json.get("error", {}).get("code"), over_socket.get("error", {}).get("code"))
                allowed = {expected} | ({"ERR_BAD_REQUEST"} if text in either else set())
                if got[0] != 400 or got[1] not in allowed or got[2] != got[1]:
                    wrong.append((text[:30], expected, got))
            assert not wrong
            session.call("ping")
        assert ann.http("GET", "/v1/messages", query={"uid": bob.uid}).data == []

    def test_T2_C084_aDecimalStringIsANumber(self, gateway, ann, bob):
        root = ann.send(bob, "root")
        assert ann.send(bob, "re", parentMessageId=str(root["id"]))["parentMessageId"] == root["id"]

    def test_T2_C084_minusZeroIsAnsweredWithoutATrap(self, gateway, ann, bob):
        body = json.dumps(outgoing(bob, "x") | {"parentMessageId": "?"}).replace('"?"', "-0").encode()
        answer = ann.http("POST", "/v1/messages", body)
        assert answer.status == 200 or answer.error["code"] == "ERR_INVALID_PARENT_MESSAGE_ID"

    def test_T2_H_C106_refusalsOfAReply(self, gateway, ann, bob, cyd, group):
        root = ann.send(group, "root")
        reply = bob.send(group, "reply", parentMessageId=root["id"])
        elsewhere = ann.send(bob, "elsewhere")
        private = bob.send(cyd, "not for Ann")
        for parent, code, status, details in [
            (MISSING, "ERR_MESSAGE_NOT_FOUND", 404, None),
            (private["id"], "ERR_MESSAGE_NOT_FOUND", 404, None),
            (elsewhere["id"], "ERR_WRONG_MESSAGE_THREAD", 400, None),
            (reply["id"], "ERR_WRONG_MESSAGE_THREAD", 400, root["id"]),
        ]:
            body = outgoing(group, "x", parentMessageId=parent)
            answer = ann.http("POST", "/v1/messages", body)
            assert (answer.status, answer.error["code"]) == (status, code)
            assert answer.error.get("details", {}).get("rootMessageId") == details
            with Session.of(ann) as session:
                error = refused(session.call, "message.send", body)
                assert error.code == code and error.details.get("rootMessageId") == details
        listed = ann.http("GET", "/v1/messages", query={"guid": group}).data
        assert [row["id"] for row in listed] == [root["id"], reply["id"]]
        assert listed[0]["replyCount"] == 1

    def test_T2_C105_aHiddenParentIsTheSameAsAMissingOne(self, gateway, ann, bob, cyd):
        hidden = bob.send(cyd, "hidden")
        answers = [
            ann.http("POST", "/v1/messages", outgoing(bob, "x", parentMessageId=parent)).body
            for parent in (hidden["id"], MISSING)
        ]
        assert answers[0] == answers[1]
        fetched = [ann.http("GET", f"/v1/messages/{message}").body for message in (hidden["id"], MISSING)]
        assert fetched[0] == fetched[1]
        pages = [ann.http("GET", "/v1/messages", query={"parentMessageId": m}) for m in (hidden["id"], MISSING)]
        assert (pages[0].status, pages[0].body) == (pages[1].status, pages[1].body)

    def test_T3_theRootCountsItsReplies(self, gateway, ann, bob):
        root = ann.send(bob, "root")
        replies = [bob.send(ann, str(n), parentMessageId=root["id"]) for n in range(3)]
        assert ann.http("GET", f"/v1/messages/{root['id']}").data["replyCount"] == 3
        thread = ann.http("GET", "/v1/messages", query={"parentMessageId": root["id"]}).data
        assert [row["id"] for row in thread] == [reply["id"] for reply in replies]

    def test_T3_hideRepliesLeavesRootsAlone(self, gateway, ann, bob):
        root = ann.send(bob, "root")
        ann.send(bob, "reply", parentMessageId=root["id"])
        after = ann.send(bob, "after")
        rows = ann.http("GET", "/v1/messages", query={"uid": bob.uid, "hideReplies": "true"}).data
        assert [row["id"] for row in rows] == [root["id"], after["id"]]


class TestSubscriptions:
    def test_T4_T5_authorsRepliersAndMentionedAreSubscribed(self, gateway, ann, bob, cyd, group):
        dan = gateway.new_user("dan")
        assert ann.http("POST", f"/v1/groups/{group}/members", {"members": [{"uid": dan.uid}]}).status == 200
        root = ann.send(group, f"root for <@uid:{dan.uid}>")
        assert [is_subscribed(p, root["id"]) for p in (ann, bob, cyd, dan)] == [True, False, False, True]
        bob.send(group, "a reply of my own", parentMessageId=root["id"])
        assert [is_subscribed(p, root["id"]) for p in (ann, bob, cyd, dan)] == [True, True, False, True]
        bob.send(group, f"and <@uid:{cyd.uid}>", parentMessageId=root["id"])
        assert is_subscribed(cyd, root["id"])

    def test_T4_mentioningAllSubscribesNobody(self, gateway, ann, bob, cyd, group):
        root = ann.send(group, "<@all:team> hello")
        ann.send(group, "<@all:team> again", parentMessageId=root["id"])
        assert [is_subscribed(p, root["id"]) for p in (bob, cyd)] == [False, False]

    def test_T6_H_subscribingIsIdempotentOnBothDoors(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        with Session.of(bob) as session:
            for _ in range(2):
                session.call("thread.subscribe", {"parentMessageId": root["id"]})
                assert is_subscribed(bob, root["id"])
            for _ in range(2):
                session.call("thread.unsubscribe", {"parentMessageId": root["id"]})
                assert not is_subscribed(bob, root["id"])
        path = f"/v1/messages/{root['id']}/thread/subscription"
        for method, expected in [("PUT", True), ("PUT", True), ("DELETE", False), ("DELETE", False)]:
            assert bob.http(method, path).status == 200
            assert is_subscribed(bob, root["id"]) is expected

    def test_T6_oneOnOneThreadsToo(self, gateway, ann, bob):
        root = ann.send(bob, "root")
        assert not is_subscribed(bob, root["id"])
        assert bob.http("PUT", f"/v1/messages/{root['id']}/thread/subscription").status == 200
        assert is_subscribed(bob, root["id"])

    def test_T5_T6_C100_somebodyElsesReplyDoesNotResubscribe(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        ann.http("DELETE", f"/v1/messages/{root['id']}/thread/subscription")
        bob.send(group, "reply", parentMessageId=root["id"])
        assert not is_subscribed(ann, root["id"])

    @pytest.mark.parametrize("cause", ["own reply", "mention"])
    def test_T6_C101_ownReplyAndMentionResubscribe(self, gateway, ann, bob, group, cause):
        root = ann.send(group, "root")
        ann.http("DELETE", f"/v1/messages/{root['id']}/thread/subscription")
        if cause == "mention":
            bob.send(group, f"<@uid:{ann.uid}>", parentMessageId=root["id"])
        else:
            ann.send(group, "me again", parentMessageId=root["id"])
        assert is_subscribed(ann, root["id"])

    def test_T7_anUnsubscribeAfterTheMentionStands(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        bob.send(group, f"<@uid:{ann.uid}>", parentMessageId=root["id"])
        ann.http("DELETE", f"/v1/messages/{root['id']}/thread/subscription")
        bob.send(group, "no mention", parentMessageId=root["id"])
        assert not is_subscribed(ann, root["id"])

    def test_T8_H_refusalsOfSubscribe(self, gateway, ann, bob, cyd, group):
        root = ann.send(group, "root")
        reply = bob.send(group, "reply", parentMessageId=root["id"])
        hidden = bob.send(cyd, "hidden")
        for message, code, details in [
            (reply["id"], "ERR_INVALID_PARENT_MESSAGE_ID", root["id"]),
            (MISSING, "ERR_MESSAGE_ID_NOT_FOUND", None),
            (hidden["id"], "ERR_MESSAGE_ID_NOT_FOUND", None),
        ]:
            with Session.of(ann) as session:
                for op, method in [("thread.subscribe", "PUT"), ("thread.unsubscribe", "DELETE")]:
                    error = refused(session.call, op, {"parentMessageId": message})
                    assert error.code == code and error.details.get("rootMessageId") == details
                    answer = ann.http(method, f"/v1/messages/{message}/thread/subscription")
                    assert answer.error["code"] == code

    def test_T8_whoHasLeftHasNoAccess(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        assert bob.http("POST", f"/v1/groups/{group}/leave", {}).status == 200
        answer = bob.http("PUT", f"/v1/messages/{root['id']}/thread/subscription")
        assert (answer.status, answer.error["code"]) == (403, "ERR_MESSAGE_NO_ACCESS")

    @pytest.mark.parametrize("data", [{}, {"parentMessageId": 0}, {"parentMessageId": "x"}, {"parentMessageId": None}])
    def test_T8_aSubscribeNeedsARoot(self, gateway, ann, data):
        with Session.of(ann) as session:
            assert refused(session.call, "thread.subscribe", data).code in (
                "ERR_INVALID_PARENT_MESSAGE_ID", "ERR_BAD_REQUEST",
            )  # fmt: skip

    def test_T11_fetchedMessagesSayWhetherTheThreadIsFollowed(self, gateway, ann, bob, group):
        with Session.of(bob) as session:
            root = ann.send(group, "root")
            reply = ann.send(group, "reply", parentMessageId=root["id"])
            for message in session.messages(2):
                assert "threadSubscribed" not in message
            bob.http("PUT", f"/v1/messages/{root['id']}/thread/subscription")
            later = ann.send(group, "later", parentMessageId=root["id"])
            assert "threadSubscribed" not in session.event("message")["data"]
            for row in session.call("messages.list", {"guid": group}):
                assert row["threadSubscribed"] is True
            for message in (root, reply, later):
                assert session.call("message.get", {"id": message["id"]})["threadSubscribed"] is True
        # Cyd follows nothing.
        rows = ann.http("GET", "/v1/messages", query={"parentMessageId": root["id"]}).data
        assert all(row["threadSubscribed"] is True for row in rows)


class TestEvents:
    def test_T15_L6_explicitChangesReachTheUsersOtherSessions(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        with Session.of(bob) as asking, Session.of(bob) as other:
            asking.call("thread.subscribe", {"parentMessageId": root["id"]})
            asking.call("thread.subscribe", {"parentMessageId": root["id"]})
            asking.call("thread.unsubscribe", {"parentMessageId": root["id"]})
            states = [other.event() for _ in range(2)]
            assert [event["event"] for event in states] == ["thread.subscription"] * 2
            assert [event["data"]["parentMessageId"] for event in states] == [root["id"]] * 2
            assert [event["data"]["threadSubscribed"] for event in states] == [True, False]
            # The asking session heard its replies and nothing else: the next event is somebody's message.
            fence = ann.send(group, "fence")
            assert asking.event()["data"]["id"] == fence["id"]

    def test_T15_M1_automaticOnesReachEverySessionBehindTheirReply(self, gateway, ann, bob, group):
        root = ann.send(group, "root")
        with Session.of(bob) as writing, Session.of(bob) as other:
            reply = writing.call("message.send", outgoing(group, "my own", parentMessageId=root["id"]))
            message, subscription = other.event(), other.event()
            assert (message["event"], message["seq"]) == ("message", reply["id"])
            assert subscription["event"] == "thread.subscription" and subscription["seq"] > reply["id"]
            assert subscription["data"]["threadSubscribed"] is True
            assert writing.event()["seq"] == subscription["seq"]
