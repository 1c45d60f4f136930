#!/usr/bin/env python3
"""Bad peers beside good ones: does an attack slow other sessions down, and is the attacker turned away and counted?

Starts a gateway on core 0. On core 1 a sender and a receiver measure the time from a send to its delivery, first in
quiet, then during each attack, whose peers run with the lowest priority. Prints a line for each attack; exits 1 when
the p99 under attack is above `--factor` times the quiet one (and by more than `--slack` milliseconds, which is what
the measuring process itself scatters), or when nobody was turned away.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import socket
import statistics
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from gateway import Gateway, outgoing  # noqa: E402
from rawsocket import TEXT, RawSocket, frame, upgrade_request  # noqa: E402
from session import Session  # noqa: E402


def connect_frame(name: str) -> bytes:
    return frame(TEXT, json.dumps({"id": 1, "op": "connect", "data": {"token": f"dev-{name}"}}).encode())


def drain(raw: RawSocket) -> None:
    """Takes what has come without waiting."""
    raw.stream.setblocking(False)
    try:
        while raw.stream.recv(1 << 16):
            pass
    except (OSError, ValueError):
        pass
    raw.stream.setblocking(True)


def flood(gateway: Gateway, until: float) -> None:
    """Frames that are no JSON, as fast as they go."""
    junk = frame(TEXT, b"{") * 50
    while time.monotonic() < until:
        try:
            with RawSocket.upgraded(gateway) as raw:
                raw.send(connect_frame("cyd"))
                for _ in range(20):
                    raw.send(junk)
                drain(raw)
        except (OSError, EOFError, AssertionError):
            pass
        time.sleep(0.02)


def busy_group(gateway: Gateway, until: float, reading: bool) -> None:
    """Somebody keeps a group busy: 200 messages of 15 kB a second, with thirty sessions of a member that read or do not."""
    members: list[RawSocket] = []
    replaced = time.monotonic()
    with Session(gateway) as dan:
        dan.call("connect", {"token": "dev-dan"})
        while time.monotonic() < until:
            if reading:
                for raw in members:
                    drain(raw)
            elif members and time.monotonic() > replaced + 3:  # their queues are full by now: others take their place
                replaced = time.monotonic()
                for raw in members:
                    raw.stream.close()
                members.clear()
            while len(members) < 30:
                raw = RawSocket.upgraded(gateway, receive_buffer=None if reading else 4096)
                raw.send(connect_frame("eve"))
                members.append(raw)
            for _ in range(10):
                dan.call("message.send", outgoing("busy", "x" * 15_000))
            time.sleep(0.05)
    for raw in members:
        raw.stream.close()


def stall(gateway: Gateway, until: float) -> None:
    """Members of a busy group who do not read."""
    busy_group(gateway, until, reading=False)


def readers(gateway: Gateway, until: float) -> None:
    """The same group, and everybody reads: what the stall is compared with."""
    busy_group(gateway, until, reading=True)


def half_open(gateway: Gateway, until: float) -> None:
    """Upgrades that never end."""
    peers: list[socket.socket] = []
    request = upgrade_request(gateway)
    while time.monotonic() < until:
        while len(peers) < 400:
            try:
                peers.append(socket.create_connection((gateway.host, gateway.port), timeout=2))
                peers[-1].send(request[:20])
            except OSError:
                break
        for peer in peers:
            try:
                peer.send(b"X")
            except OSError:
                pass
        time.sleep(1)


def bomb(gateway: Gateway, until: float) -> None:
    """A small frame that would inflate to 60 MB."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    payload = deflater.compress(b"\0" * 60_000_000) + deflater.flush(zlib.Z_SYNC_FLUSH)
    bad = frame(TEXT, payload[:-4], reserved=0x40)
    while time.monotonic() < until:
        try:
            with RawSocket.upgraded(gateway, "/v1/live", "Sec-WebSocket-Extensions: permessage-deflate") as raw:
                raw.send(connect_frame("cyd") + bad)
                raw.close_code()
        except (OSError, EOFError, AssertionError):
            pass
        time.sleep(0.01)


def storm(gateway: Gateway, until: float) -> None:
    """Sessions that come and go at once, with a token that is not known."""
    wrong = frame(TEXT, b'{"id":1,"op":"connect","data":{"token":"guess"}}')
    while time.monotonic() < until:
        peers = []
        for _ in range(50):
            try:
                raw = RawSocket(gateway)
                raw.send(upgrade_request(gateway) + wrong)
                peers.append(raw)
            except OSError:
                pass
        for raw in peers:
            raw.stream.close()
        time.sleep(0.05)


# The attack, what must have been counted after it (a metric's name and labels), and what goes on in the quiet time.
ATTACKS = {
    "flood": (flood, 'threadcast_closes_total{code="1008"}', None),
    "stall": (stall, 'threadcast_closes_total{code="4001"}', readers),
    "half-open": (half_open, 'threadcast_http_responses_total{status="4xx"}', None),
    "bomb": (bomb, 'threadcast_closes_total{code="1009"}', None),
    "storm": (storm, 'threadcast_closes_total{code="4200"}', None),
}


def count(gateway: Gateway, series: str) -> float:
    text = gateway.request("GET", "/metrics").body.decode()
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(series + " ")), 0)


def run(attack, gateway: Gateway, until: float) -> None:
    os.nice(19)
    attack(gateway, until)


def measure(ann: Session, bob: Session, seconds: float) -> list[float]:
    """Delivery times in milliseconds of 50 sends a second."""
    times = []
    until = time.monotonic() + seconds
    due = time.monotonic()
    while due < until:
        time.sleep(max(0, due - time.monotonic()))
        began = time.monotonic()
        request = ann.begin("message.send", outgoing("pair", "tick"))
        bob.event("message", 30)
        times.append((time.monotonic() - began) * 1000)
        ann.answer(request)
        due += 0.02
    return times


def beside(other, lead: float, gateway: Gateway, work, seconds: float):
    """Does `work`, of `seconds`, while `other` runs, which has `lead` seconds to get going."""
    if other is None:
        return work()
    process = multiprocessing.Process(
        target=run, args=(other, gateway, time.monotonic() + seconds + lead), daemon=True)
    process.start()
    time.sleep(lead)
    done = work()
    process.join()
    return done


def p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=10, help="length of each measurement")
    options.add_argument("--factor", type=float, default=2)
    options.add_argument("--slack", type=float, default=5, help="milliseconds")
    options.add_argument("attacks", nargs="*", default=list(ATTACKS), help=f"some of {' '.join(ATTACKS)}")
    arguments = options.parse_args()

    folder = tempfile.TemporaryDirectory(prefix="threadcast-hostile-")
    gateway = Gateway(pathlib.Path(folder.name) / "data", ("--dev", "--loops", "1"))
    gateway.start()
    os.sched_setaffinity(gateway.process.pid, {0})
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for guid, members in (("pair", ["bob"]), ("busy", ["dan", "eve"])):
        made = gateway.request("POST", "/v1/groups", {"guid": guid, "name": guid}, authorization="Bearer dev-ann")
        assert made.status == 200, made
        added = gateway.request(
            "POST", f"/v1/groups/{guid}/members", {"members": [{"uid": uid} for uid in members]},
            authorization="Bearer dev-ann")
        assert added.status == 200, added
    failures = 0
    with Session(gateway) as ann, Session(gateway) as bob:
        ann.call("connect", {"token": "dev-ann", "replies": "none"})
        bob.call("connect", {"token": "dev-bob"})
        measure(ann, bob, 1)
        for name in arguments.attacks:
            attack, series, companion = ATTACKS[name]
            quiet = beside(companion, 1, gateway, lambda: measure(ann, bob, arguments.seconds), arguments.seconds)
            before = count(gateway, series)
            extra = 12 if name == "half-open" else 1
            attacked = beside(attack, extra, gateway, lambda: measure(ann, bob, arguments.seconds), arguments.seconds)
            turned_away = count(gateway, series) - before
            ratio = p99(attacked) / p99(quiet)
            good = turned_away > 0 and (ratio <= arguments.factor or p99(attacked) - p99(quiet) <= arguments.slack)
            failures += not good
            print(
                f"{name:10} p50 {statistics.median(quiet):6.2f} -> {statistics.median(attacked):6.2f} ms   "
                f"p99 {p99(quiet):6.2f} -> {p99(attacked):6.2f} ms  x{ratio:4.2f}   "
                f"turned away {turned_away:.0f}   {'ok' if good else 'BEYOND ITS LIMIT'}",
                flush=True)
    gateway.stop()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
