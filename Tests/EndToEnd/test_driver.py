"""The load driver: each scenario small against a gateway, and servers that lie, which it must find out."""

import json
import os
import pathlib
import subprocess
import threading
from contextlib import contextmanager

import pytest
from websockets.sync.server import serve

from gateway import ROOT, Gateway, program

SCENARIOS = ROOT / "loadtest/scenarios"


def driver() -> str:
    """The driver beside the binary under test, unless THREADCAST_LOAD_BIN names another."""
    path = os.environ.get("THREADCAST_LOAD_BIN", str(pathlib.Path(program()).parent / "threadcast-load"))
    assert os.access(path, os.X_OK), f"{path} is not there: swift build -c release --product threadcast-load"
    return path


def load(target: str, scenario: str | pathlib.Path, *flags: str) -> tuple[int, dict]:
    """Runs a scenario; its exit status and its report."""
    path = scenario if isinstance(scenario, pathlib.Path) else SCENARIOS / f"{scenario}.json"
    done = subprocess.run(
        [driver(), "run", str(path), "--target", target, "--json", "-", *flags],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.stdout, f"no report, status {done.returncode}: {done.stderr}"
    return done.returncode, json.loads(done.stdout)


def good(gateway: Gateway, scenario: str, *flags: str) -> dict:
    """The metrics of a run in which nothing was lost, doubled or late."""
    target = gateway.live_url.removesuffix("/v1/live")
    status, report = load(target, scenario, "--pid", str(gateway.process.pid), "--warm-up", "0", *flags)
    assert (status, report["violations"]) == (0, {}), report
    assert report["ok"] and report["kind"] == scenario
    return report["metrics"]


def test_L2_idle_sessions_are_held(gateway):
    metrics = good(gateway, "idle", "--sessions", "60", "--seconds", "1")
    assert metrics["sessions"] == 60
    assert 0 < metrics["server.residentMegabytes"] < 2000
    assert metrics["server.cpuPercent"] < 100


def test_R1_R4_fan_out_reaches_every_session_once_and_in_order(gateway):
    metrics = good(gateway, "fanout", "--sessions", "40", "--senders", "3", "--rate", "60", "--seconds", "1")
    # Each message goes to all sessions but the one that sent it.
    assert metrics["deliveries.total"] == metrics["sent.total"] * 42
    assert metrics["sent.total"] >= 50
    assert 0 < metrics["latency.p50Milliseconds"] <= metrics["latency.maxMilliseconds"]


def test_R1_R4_fan_out_with_a_window_and_deflate(gateway):
    metrics = good(gateway, "fanout", "--sessions", "20", "--in-flight", "4", "--seconds", "1", "--deflate")
    assert metrics["deliveries.total"] == metrics["sent.total"] * (20 + 4 - 1)


def test_S4_publications_reach_every_subscriber_once(gateway):
    metrics = good(gateway, "fanout-echo", "--sessions", "50", "--in-flight", "8", "--seconds", "1")
    assert metrics["deliveries.total"] == metrics["sent.total"] * 50 > 0


def test_S4_publications_reach_subscribers_deflated(gateway):
    metrics = good(gateway, "fanout-echo", "--sessions", "20", "--payload", "1024", "--deflate", "--seconds", "1")
    assert metrics["deliveries.total"] == metrics["sent.total"] * 20 > 0


def test_S4_echo_answers_every_message_once(gateway):
    metrics = good(gateway, "echo", "--sessions", "20", "--in-flight", "2", "--seconds", "1")
    assert metrics["deliveries.total"] == metrics["sent.total"] > 0


def test_R6_everybody_comes_back_from_a_storm_and_misses_nothing(gateway):
    metrics = good(gateway, "reconnect-storm", "--sessions", "80", "--rate", "30", "--away", "1", "--seconds", "3")
    assert (metrics["storm.resumed"], metrics["storm.reset"]) == (80, 0)
    assert 0 < metrics["storm.lastBackSeconds"] < 10


def test_C040_R7_slow_readers_do_not_hold_up_the_others(gateway):
    flags = ["--sessions", "12", "--stalled", "3", "--rate", "150", "--payload", "16000", "--seconds", "6"]
    metrics = good(gateway, "slow-readers", *flags)
    assert metrics["stalled.ended"] == 3, "4001 is due when the queue is full"
    assert (metrics["stalled.resumed"], metrics["stalled.reset"]) == (3, 0)
    assert metrics["latencyWhileStalled.p50Milliseconds"] > 0


def test_M7_durable_sends_are_acknowledged_once(gateway):
    metrics = good(gateway, "durable-sends", "--senders", "16", "--seconds", "1")
    assert metrics["deliveries.total"] == metrics["sent.total"]
    assert metrics["acknowledged.perSecond"] > 0
    assert metrics["acknowledgement.p99Milliseconds"] >= metrics["acknowledgement.p50Milliseconds"] > 0


def test_a_broken_limit_fails_the_run(gateway, tmp_path):
    limits = tmp_path / "limits.json"
    limits.write_text('{"deliveries.perSecond": {"atLeast": 1e9}, "sessions": {"atMost": 20}}')
    target = gateway.live_url.removesuffix("/v1/live")
    status, report = load(
        target, "echo", "--sessions", "5", "--seconds", "1", "--warm-up", "0", "--limits", str(limits)
    )
    assert status == 1 and not report["ok"] and report["violations"] == {}
    assert [(limit["metric"], limit["ok"]) for limit in report["limits"]] == [
        ("deliveries.perSecond", False),
        ("sessions", True),
    ]


def test_a_wrong_scenario_lists_all_problems_and_exits_78(tmp_path):
    scenario = tmp_path / "wrong.json"
    scenario.write_text('{"kind": "fanout", "rate": 0, "speed": 9}')
    done = subprocess.run([driver(), "run", str(scenario)], capture_output=True, text=True, timeout=10)
    assert done.returncode == 78
    assert all(word in done.stderr for word in ("speed is not known", "sessions is missing", "rate must be from"))


def test_no_server_is_one_sentence(tmp_path):
    done = subprocess.run(
        [driver(), "run", str(SCENARIOS / "echo.json"), "--target", "ws://127.0.0.1:1"],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 1
    assert "Connection refused" in done.stderr and done.stderr.count("\n") == 1


@contextmanager
def liar(lie):
    """An echo server that gives every message to `lie(number, text)` and sends what comes back."""

    def answer(socket) -> None:
        for number, text in enumerate(socket):
            for reply in lie(number, text):
                socket.send(reply)

    with serve(answer, "127.0.0.1", 0, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


def held_back():
    """Keeps message 5 until message 6 has gone."""
    kept = []

    def lie(number, text):
        if number == 5:
            kept.append(text)
            return []
        return [text, *[kept.pop() for _ in range(len(kept))]]

    return lie


@pytest.mark.parametrize(
    "lie, violations",
    [
        (lambda number, text: [] if number == 5 else [text], {"lost": 1}),
        (lambda number, text: [text, text] if number == 5 else [text], {"doubled": 1}),
        (held_back(), {"outOfOrder": 1}),
        (lambda number, text: [text[:-1] + "!"] if number == 5 else [text], {"lost": 1, "corrupted": 1}),
        (lambda number, text: [text], {}),
    ],
    ids=["lost", "doubled", "swapped", "corrupted", "honest"],
)
def test_a_server_that_lies_is_found_out(lie, violations):
    with liar(lie) as target:
        flags = ["--sessions", "1", "--rate", "50", "--seconds", "1", "--warm-up", "0"]
        status, report = load(target, "echo", *flags)
    assert report["violations"] == violations
    assert status == (1 if violations else 0)
