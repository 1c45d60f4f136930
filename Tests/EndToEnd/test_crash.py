"""Killed with SIGKILL under load: nothing acknowledged is lost, nothing is half done (M8, S7)."""

import itertools
import json
import threading

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from gateway import Gateway
from session import Session

ROUNDS = 4
CLIENTS = 6
SECONDS_OF_LOAD = 0.8


class Sender(threading.Thread):
    """Sends as fast as answers come, some as replies, until the connection breaks; keeps what was acknowledged."""

    def __init__(self, gateway: Gateway, name: str, label: str) -> None:
        super().__init__(daemon=True)
        self.gateway, self.name, self.label = gateway, name, label
        self.acknowledged: dict[str, int] = {}
        self.replies: dict[int, list[int]] = {}
        self.attempted: list[str] = []

    def run(self) -> None:
        try:
            session = Session(self.gateway)
            session.call("connect", {"token": f"dev-{self.name}"})
            root = 0
            for n in itertools.count():
                window = []
                for k in range(4):
                    muid = f"{self.label}-{n}-{k}"
                    body = {"receiverUid": "team", "receiverType": "group", "type": "text", "text": muid, "muid": muid}
                    if root and k:
                        body["parentMessageId"] = root
                    self.attempted.append(muid)
                    window.append((muid, body.get("parentMessageId", 0), session.begin("message.send", body)))
                for muid, parent, request in window:
                    reply = session.answer(request)
                    assert reply["ok"], reply
                    message = reply["data"]
                    self.acknowledged[muid] = message["id"]
                    if parent:
                        self.replies.setdefault(parent, []).append(message["id"])
                    else:
                        root = message["id"]
        except (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage, TimeoutError, RuntimeError):
            return  # The kill.
        except Exception as ended:
            if type(ended).__name__ not in ("Closed",):
                raise


def everything(gateway: Gateway, **place) -> list[dict]:
    """Every message of the place, page by page."""
    rows: list[dict] = []
    after = None
    while True:
        query = {"limit": 100, "direction": "after", **place} | ({"id": after} if after else {"id": 1})
        answer = gateway.request("GET", "/v1/messages", query=query, authorization="Bearer dev-eve")
        rows += answer.data
        if not answer.json["meta"]["hasMore"]:
            return rows
        after = answer.json["meta"]["nextId"]


def test_M8_S7_whatWasAcknowledgedSurvivesKills(own_gateway):
    gateway = own_gateway("--dev")
    acknowledged: dict[str, int] = {}
    attempted: set[str] = set()
    replies: dict[int, set[int]] = {}
    epoch = None
    names = ("ann", "bob", "cyd", "dan")
    for round_number in range(ROUNDS):
        gateway.start()
        assert epoch in (None, gateway.epoch)
        epoch = gateway.epoch
        senders = [Sender(gateway, names[n % 4], f"{round_number}-{n}") for n in range(CLIENTS)]
        for sender in senders:
            sender.start()
        threading.Event().wait(SECONDS_OF_LOAD)
        gateway.kill()
        for sender in senders:
            sender.join(20)
            assert not sender.is_alive()
            acknowledged |= sender.acknowledged
            attempted |= set(sender.attempted)
            for root, ids in sender.replies.items():
                replies.setdefault(root, set()).update(ids)
    assert len(acknowledged) > 100, "there was hardly any load"

    gateway.start()
    rows = everything(gateway, guid="team")
    ids = [row["id"] for row in rows]
    assert ids == sorted(set(ids)), "ids are strictly ascending"
    by_muid = {row["text"]: row["id"] for row in rows}
    assert len(by_muid) == len(rows), "no send is stored twice"
    missing = {muid for muid, message in acknowledged.items() if by_muid.get(muid) != message}
    assert not missing, f"{len(missing)} of {len(acknowledged)} acknowledged messages are gone: {sorted(missing)[:5]}"
    assert set(by_muid) <= attempted, "nothing is there that nobody sent"

    # Nothing is half done: a root counts exactly the replies that are there.
    counted: dict[int, int] = {}
    for row in rows:
        if row.get("parentMessageId"):
            counted[row["parentMessageId"]] = counted.get(row["parentMessageId"], 0) + 1
    for row in rows:
        assert row["replyCount"] == counted.get(row["id"], 0), row["id"]
    for root, expected in replies.items():
        assert expected <= {row["id"] for row in everything(gateway, parentMessageId=root)}

    # A retry of what was acknowledged before a kill finds it (M7 across restarts).
    muid, message = next(iter(acknowledged.items()))
    name = names[int(muid.split("-")[1]) % 4]
    row = next(row for row in rows if row["id"] == message)
    body = {"receiverUid": "team", "receiverType": "group", "type": "text", "text": muid, "muid": muid}
    if row.get("parentMessageId"):
        body["parentMessageId"] = row["parentMessageId"]
    answer = gateway.request("POST", "/v1/messages", body, authorization=f"Bearer dev-{name}")
    assert answer.data["id"] == message
    later = gateway.request("POST", "/v1/messages", body | {"muid": "after", "text": "after"}, authorization=f"Bearer dev-{name}")
    assert later.data["id"] > max(ids), "ids are never used again"
    gateway.stop()


def test_M8_S7_aKillInTheMiddleOfABurstLeavesWholeMessages(own_gateway):
    """Sends nobody waits for: each is there whole or not at all, and the log goes on."""
    gateway = own_gateway("--dev").start()
    session = Session(gateway)
    session.call("connect", {"token": "dev-ann"})
    for n in range(500):
        body = {"receiverUid": "team", "receiverType": "group", "type": "text", "text": f"{n}-" + "x" * 500}
        session.send_text(json.dumps({"id": n, "op": "message.send", "data": body}))
    session.frame()
    gateway.kill()
    gateway.start()
    rows = everything(gateway, guid="team")
    assert rows, "one was acknowledged"
    for row in rows:
        number, _, rest = row["text"].partition("-")
        assert rest == "x" * 500 and 0 <= int(number) < 500
    numbers = [int(row["text"].partition("-")[0]) for row in rows]
    assert numbers == list(range(len(numbers))), "one connection's sends keep their order"
    gateway.stop()
