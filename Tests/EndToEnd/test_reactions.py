"""Reactions over both doors (domain.md M12)."""

import urllib.parse

import pytest

from session import Refused, Session

MISSING = 2**53 - 1


def path(message: dict | int, emoji: str | None = None) -> str:
    number = message if isinstance(message, int) else message["id"]
    base = f"/v1/messages/{number}/reactions"
    return base if emoji is None else f"{base}/{urllib.parse.quote(emoji, safe='')}"


class TestReactions:
    def test_M12_R1_M15_aReactionReachesEverybodyElse(self, gateway, ann, bob, group):
        sent = ann.send(group, "x")
        with Session.of(ann) as author, Session.of(bob) as acting, Session.of(bob) as other:
            answer = acting.call("reaction.add", {"id": sent["id"], "emoji": "👍"})
            assert answer["reactions"] == [{"reaction": "👍", "count": 1}] and answer["reactedByMe"] == ["👍"]
            for session in (author, other):
                event = session.event()
                assert event["event"] == "reaction.added" and event["seq"] == sent["id"] + 1
                data = event["data"]
                assert (data["messageId"], data["reaction"], data["uid"]) == (sent["id"], "👍", bob.uid)
                assert data["reactions"] == answer["reactions"] and "reactedByMe" not in data
            # Twice is success, and nobody hears of it.
            assert acting.call("reaction.add", {"id": sent["id"], "emoji": "👍"})["reactions"] == answer["reactions"]
            removed = acting.call("reaction.remove", {"id": sent["id"], "emoji": "👍"})
            assert removed["reactions"] == [] and removed["reactedByMe"] == []
            acting.call("reaction.remove", {"id": sent["id"], "emoji": "👍"})
            for session in (author, other):
                event = session.event()
                assert event["event"] == "reaction.removed" and event["seq"] == sent["id"] + 2
                session.call("ping")
                assert not session.events
            assert not acting.events

    def test_M12_H_theSameOverHTTP(self, gateway, ann, bob, cyd, group):
        sent = ann.send(group, "x")
        family = "👩‍👩‍👧‍👦"
        for person, emoji in [(bob, family), (cyd, family), (cyd, ":ok:"), (ann, "a/b?c#d%")]:
            answer = person.http("PUT", path(sent, emoji))
            assert answer.status == 200 and answer.data["reactedByMe"][-1] == emoji
        rows = ann.http("GET", path(sent))
        assert [(row["uid"], row["reaction"]) for row in rows.data] == [
            (bob.uid, family), (cyd.uid, family), (cyd.uid, ":ok:"), (ann.uid, "a/b?c#d%"),
        ]
        assert rows.json["meta"]["hasMore"] is False and all(row["user"]["uid"] == row["uid"] for row in rows.data)
        one = ann.http("GET", path(sent), query={"emoji": family, "limit": "1"})
        assert len(one.data) == 1 and one.json["meta"]["hasMore"] is True
        two = ann.http("GET", path(sent), query={"emoji": family, "limit": "1", "after": str(one.json["meta"]["nextAfter"])})
        assert [row["uid"] for row in two.data] == [cyd.uid] and two.json["meta"]["hasMore"] is False
        assert ann.http("DELETE", path(sent, "a/b?c#d%")).status == 200
        fetched = bob.http("GET", f"/v1/messages/{sent['id']}").data
        assert fetched["reactions"] == [{"reaction": family, "count": 2}, {"reaction": ":ok:", "count": 1}]
        assert fetched["reactedByMe"] == [family]

    @pytest.mark.parametrize(
        "emoji, code", [("", None), ("a b", "ERR_BAD_REQUEST"), ("\n", "ERR_BAD_REQUEST"), ("\u200b", "ERR_BAD_REQUEST"), ("x" * 33, "ERR_TOO_LARGE")]
    )
    def test_M12_whatIsNoReaction(self, gateway, ann, bob, emoji, code):
        sent = ann.send(bob, "x")
        if code:
            assert bob.http("PUT", path(sent, emoji)).error["code"] == code
        with Session.of(bob) as session:
            for value in (emoji, 7, None, ["👍"]):
                with pytest.raises(Refused) as caught:
                    session.call("reaction.add", {"id": sent["id"], "emoji": value})
                expected = code if value == emoji and code else "ERR_BAD_REQUEST"
                assert (caught.value.code, caught.value.details["field"]) == (expected, "emoji")
        assert ann.http("GET", path(sent)).data == []

    def test_M12_T2_whoMayNot(self, gateway, ann, bob, group):
        sent, gone = ann.send(group, "x"), ann.send(group, "gone")
        stranger = gateway.new_user("stranger")
        bob.http("PUT", path(gone, "👍"))
        ann.http("DELETE", f"/v1/messages/{gone['id']}")
        for method, where in (("PUT", "👍"), ("DELETE", "👍"), ("GET", None)):
            answers = [stranger.http(method, path(message, where)) for message in (sent, MISSING)]
            assert answers[0].status == 404 and answers[0].body == answers[1].body
            assert bob.http(method, path(gone, where)).error["code"] == "ERR_MESSAGE_ID_NOT_FOUND"
        bob.http("POST", f"/v1/groups/{group}/leave")
        assert bob.http("PUT", path(sent, "👍")).error["code"] == "ERR_MESSAGE_NO_ACCESS"

    def test_M12_R6_aMissedReactionIsReplayed(self, gateway, ann, bob):
        sent = ann.send(bob, "x")
        with Session.of(ann) as session:
            resume = {"epoch": session.hello["epoch"], "seq": session.hello["seq"]}
        bob.http("PUT", path(sent, "🎉"))
        with Session.of(ann, resume=resume) as session:
            event = session.event()
            assert event["event"] == "reaction.added" and event["data"]["reactions"] == [{"reaction": "🎉", "count": 1}]
