"""The Autobahn TestSuite, driven by kosoku against /echo: every case over TCP, and over TLS every case but the twelve
large ones of each compression group, which say nothing about TLS and take minutes. AUTOBAHN=full runs all over both.

A case passes when its exchange and its closing handshake are both OK. What is not OK and still right stands in
autobahn-accepted.txt with its reason; a case that stands there and is OK fails as well, so that the list stays true.
"""

import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Cases are independent of each other; two cores serve driver and gateway.
PARALLEL_CASES = "3"
LONGEST_RUN_SECONDS = 900
# 1 to 7 and 10 are the protocol, 9 is large messages, 12 and 13 are compression.
CASES = 517
# Compression of messages of 16 KiB and more.
LARGE = [f"{group}.*.{size}" for group in (12, 13) for size in range(7, 19)]
LARGE_CASES = 12 * len(LARGE) // 2


def accepted() -> dict[str, str]:
    rows = {}
    for line in (HERE / "autobahn-accepted.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            case, verdict, reason = line.split(maxsplit=2)
            assert reason
            rows[case] = verdict
    return rows


@contextlib.contextmanager
def plain_address(gateway, certificate):
    """Where kosoku, which speaks no TLS, finds the gateway."""
    if not gateway.is_secure:
        yield f"{gateway.host}:{gateway.port}"
        return
    command = [sys.executable, str(HERE / "tlsbridge.py"), str(gateway.port), certificate[0]]
    bridge = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield f"127.0.0.1:{int(bridge.stdout.readline())}"
    finally:
        bridge.kill()
        bridge.communicate(timeout=10)


def test_S4_everyAutobahnCaseIsOK(gateway, certificate, tmp_path):
    began = time.monotonic()
    is_whole = not gateway.is_secure or os.environ.get("AUTOBAHN") == "full"
    left_out = [] if is_whole else [word for pattern in LARGE for word in ("-x", pattern)]
    with plain_address(gateway, certificate) as address:
        done = subprocess.run(
            [str(pathlib.Path(sys.executable).parent / "kosoku"), f"ws://{address}/echo"]
            + ["-p", PARALLEL_CASES, "-o", str(tmp_path), *left_out],
            capture_output=True, text=True, timeout=LONGEST_RUN_SECONDS,
        )  # fmt: skip
    elapsed = time.monotonic() - began
    index = tmp_path / "index.json"
    assert index.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    agents = json.loads(index.read_text())
    cases = {case: verdict for verdicts in agents.values() for case, verdict in verdicts.items()}
    allowed = accepted()
    wrong = []
    seconds: collections.Counter = collections.Counter()
    for case, verdict in sorted(cases.items(), key=lambda item: [int(part) for part in item[0].split(".")]):
        got = f"{verdict['behavior']}/{verdict['behaviorClose']}".replace(" ", "-")
        if got != allowed.get(case, "OK/OK"):
            wrong.append(f"{case}: {got}")
        seconds[case.split(".")[0]] += verdict["duration"] / 1000
    shares = ", ".join(f"{group}.*: {spent:.0f} s" for group, spent in seconds.items())
    print(f"\nAutobahn over {'TLS' if gateway.is_secure else 'TCP'}: {len(cases)} cases in {elapsed:.0f} s ({shares})")
    assert not wrong, f"{len(wrong)} of {len(cases)} cases: {wrong[:40]}"
    assert len(cases) == (CASES if is_whole else CASES - LARGE_CASES)
