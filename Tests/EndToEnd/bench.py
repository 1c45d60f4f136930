"""A floor for what a build does on this machine: the client is Python and shares the cores.

    python Tests/EndToEnd/bench.py [SECONDS]
"""

import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from websockets.sync.client import connect

from gateway import Gateway, outgoing
from session import Session

WINDOW = 32
MEMBERS = 50


def milliseconds(samples: list[float]) -> str:
    ordered = sorted(samples)
    return f"p50 {statistics.median(ordered) * 1000:.2f} ms, p99 {ordered[int(len(ordered) * 0.99)] * 1000:.2f} ms"


def echo(gateway: Gateway, seconds: float) -> str:
    samples = []
    with connect(gateway.live_url.replace("/v1/live", "/echo"), compression=None, proxy=None, legacy=False) as socket:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            socket.send("x" * 128)
            socket.recv()
            samples.append(time.perf_counter() - began)
    return f"echo of 128 bytes, one at a time: {len(samples) / seconds:.0f}/s, {milliseconds(samples)}"


def sends(gateway: Gateway, seconds: float) -> str:
    """Four senders, each with a window of unanswered sends; every answer means the message is on disk."""
    counts = [0] * 4

    def send(n: int) -> None:
        with Session(gateway) as session:
            session.call("connect", {"token": f"dev-{('ann', 'bob', 'cyd', 'dan')[n]}"})
            end = time.perf_counter() + seconds
            body = {"receiverUid": "eve", "receiverType": "user", "type": "text", "text": "x" * 100}
            while time.perf_counter() < end:
                for request in [session.begin("message.send", body) for _ in range(WINDOW)]:
                    session.answer(request)
                    counts[n] += 1

    threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"acknowledged sends, 4 senders with {WINDOW} in flight: {sum(counts) / seconds:.0f}/s"


def fan_out(gateway: Gateway, seconds: float) -> str:
    """From the send to the moment the last of the members has it."""
    owner = gateway.new_user("owner")
    members = [gateway.new_user("member") for _ in range(MEMBERS)]
    group = gateway.new_group(owner, *members)
    sessions = [Session.of(member) for member in members]
    samples = []
    with Session.of(owner) as sending:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            request = sending.begin("message.send", outgoing(group, "x" * 100))
            for session in sessions:
                session.event("message")
            samples.append(time.perf_counter() - began)
            sending.answer(request)
    for session in sessions:
        session.close()
    return f"send to the last of {MEMBERS} members: {milliseconds(samples)}"


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(pathlib.Path(folder) / "data", ("--dev", "--echo")).start()
        try:
            for measure in (echo, sends, fan_out):
                print(measure(gateway, seconds), flush=True)
        finally:
            gateway.stop()


if __name__ == "__main__":
    main()
