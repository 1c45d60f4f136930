"""Who gets which event, in which order (domain.md R)."""

import json
import random

from gateway import outgoing
from session import Session


def stream_until(session: Session, last: int) -> list[dict]:
    """Message events up to the message with this id."""
    events = []
    while not events or events[-1]["data"]["id"] != last:
        events.append(session.event("message"))
    return events


class TestRouting:
    def test_R1_strangersGetNothing(self, gateway, ann, bob, cyd):
        with Session.of(cyd) as session:
            ann.send(bob, "not yours")
            mine = ann.send(cyd, "yours")
            assert session.event("message")["data"]["id"] == mine["id"]

    def test_R1_aNewMemberGetsWhatFollows(self, gateway, ann, group):
        dan = gateway.new_user("dan")
        with Session.of(dan) as session:
            ann.send(group, "before")
            ann.http("POST", f"/v1/groups/{group}/members", {"members": [{"uid": dan.uid}]})
            after = ann.send(group, "after")
            assert session.event("message")["data"]["id"] == after["id"]

    def test_R1_whoLeftGetsNothingMore(self, gateway, ann, bob, group):
        with Session.of(bob) as session:
            bob.http("POST", f"/v1/groups/{group}/leave", {})
            ann.send(group, "without Bob")
            alone = ann.send(bob, "to Bob")
            assert session.event("message")["data"]["id"] == alone["id"]

    def test_R4_seqOrderAcrossConversationsAndOnce(self, gateway, ann, bob, cyd, group):
        with Session.of(bob) as watching, Session.of(ann) as first, Session.of(cyd) as second:
            dice = random.Random(20260101)
            pending = []
            for n in range(150):
                sender = dice.choice([first, second])
                target = dice.choice([group, bob])
                pending.append((sender, sender.begin("message.send", outgoing(target, str(n)))))
            ids = [sender.answer(request)["data"]["id"] for sender, request in pending]
            events = stream_until(watching, max(ids))
            seqs = [event["seq"] for event in events]
            assert seqs == sorted(set(seqs))
            assert set(seqs) == set(ids)

    def test_R4_everyEventHasAGreaterSeqThanTheHello(self, gateway, ann, bob):
        for _ in range(10):
            before = ann.send(bob, "before")
            with Session.of(bob) as session:
                assert session.hello["seq"] >= before["id"]
                after = ann.send(bob, "after")
                event = session.event("message")
                assert event["seq"] == after["id"] > session.hello["seq"]

    def test_R5_everyRecipientGetsTheSameBytes(self, gateway, ann, bob, cyd, group):
        sessions = [Session(gateway, compression=mode) for mode in ("deflate", None, None)]
        try:
            for session, person in zip(sessions, (bob, cyd, cyd)):
                session.call("connect", {"token": person.token})
            sent = ann.send(group, f"same for <@uid:{bob.uid}> " + "and all " * 200)
            texts = set()
            for session in sessions:
                while True:
                    text = session.socket.recv(timeout=10)
                    event = json.loads(text)
                    if event.get("event") == "message":
                        assert event["data"]["id"] == sent["id"]
                        texts.add(text)
                        break
            assert len(texts) == 1
            assert not {"threadSubscribed", "mentionedMe", "unreadRepliesCount", "reactedByMe"} & json.loads(texts.pop())["data"].keys()
        finally:
            for session in sessions:
                session.close()

    def test_R11_theEpochBelongsToTheStore(self, own_gateway):
        first = own_gateway("--dev", data="one").start()
        second = own_gateway("--dev", data="two").start()
        assert len(first.epoch) >= 8 and first.epoch != second.epoch
        epoch = first.epoch
        first.stop()
        first.start()
        assert first.epoch == epoch
