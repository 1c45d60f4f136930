"""Broken input for FUZZ_SECONDS, from FUZZ_SEED; stops at the first thing that is not a documented answer."""

import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from gateway import Gateway
from rawsocket import CLOSE, TEXT, RawSocket, frame, upgrade_request
from test_hostile import CLOSE_CODES, mutations

STATUSES = {101, 200, 400, 401, 403, 404, 405, 408, 413, 414, 417, 421, 426, 431, 501, 503, 505}
CONNECT = frame(TEXT, json.dumps({"id": 1, "op": "connect", "data": {"token": "dev-ann"}}).encode())
SEND = {
    "receiverUid": "team", "receiverType": "group", "type": "text", "text": "<@uid:bob> \u00e9\ud83d\ude00",
    "parentMessageId": 1, "muid": "m", "tags": ["a"], "metadata": {"a": [1, 2.5e3, None, True, {"b": "c"}]},
}  # fmt: skip


def live(gateway: Gateway, dice: random.Random) -> None:
    """A session that says one thing well and then something broken."""
    lines = ["Sec-WebSocket-Extensions: permessage-deflate"] if dice.random() < 0.5 else []
    payload = json.dumps({"id": 2, "op": dice.choice(["message.send", "messages.list", "ping"]), "data": SEND}).encode()
    opcode = dice.choice([TEXT, TEXT, TEXT, 0, 2, 8, 9, 10])
    inside = mutations(dice, payload)
    octets = frame(opcode, inside, fin=dice.random() < 0.9, reserved=0x40 if lines and dice.random() < 0.3 else 0)
    if dice.random() < 0.4:
        octets = mutations(dice, octets)
    with RawSocket.upgraded(gateway, "/v1/live", *lines) as raw:
        raw.stream.settimeout(0.3)
        raw.send(CONNECT + octets + frame(CLOSE, struct.pack("!H", 1000)))
        code = raw.close_code()
        assert code in CLOSE_CODES, code


def request(gateway: Gateway, dice: random.Random) -> None:
    body = json.dumps(SEND).encode()
    seed = (
        f"POST /v1/messages?limit=5 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer dev-ann\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    if dice.random() < 0.3:
        seed = upgrade_request(gateway, "/v1/live", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
    with RawSocket(gateway) as raw:
        raw.stream.settimeout(0.2)
        raw.send(mutations(dice, seed))
        status = int(raw.head().split(b" ", 2)[1])
        assert status in STATUSES, status


def main() -> int:
    seconds = float(os.environ.get("FUZZ_SECONDS", "60"))
    seed = int(os.environ.get("FUZZ_SEED", str(random.SystemRandom().randrange(2**32))))
    print(f"fuzz: seed {seed}, {seconds:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(pathlib.Path(folder) / "data", ("--dev", "--echo")).start()
        end = time.monotonic() + seconds
        rounds = 0
        while time.monotonic() < end:
            dice = random.Random(f"{seed}-{rounds}")
            rounds += 1
            try:
                dice.choice([live, request])(gateway, dice)
            except (TimeoutError, EOFError, ConnectionError):
                pass  # A broken length makes the server wait for what never comes.
            except AssertionError as wrong:
                print(f"fuzz: seed {seed}, round {rounds}: undocumented answer {wrong}")
                return 1
            if not gateway.is_alive:
                print(f"fuzz: seed {seed}, round {rounds}: the gateway died\n{''.join(gateway.output[-60:])}")
                return 1
        gateway.stop()
    print(f"fuzz: {rounds} rounds, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
