#!/usr/bin/env python3
"""Measures a release build on this machine and holds it to loadtest/limits.json; `make bench` builds and runs it.

    python3 loadtest/bench.py [--rounds N] [--json FILE] [--limits FILE] [--only fanout,durable,idle]

The server has one core, the driver another. In each round every cell runs once, in turn with a small C loop that sends
to as many sockets (loadtest/sendloop): what counts is the ratio to the loop of the same round, and its median over the
rounds. A ratio `.cpu` compares computing time per message, which others on the machine disturb little; a ratio `.rate`
compares messages a second by the clock and is judged only when the machine was quiet. Exit 1 beyond a limit.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / ".build/release"
SENDLOOP = ROOT / ".build/sendloop"
READY = re.compile(r"threadcast ready listen=(\S+) ")
TICKS = os.sysconf("SC_CLK_TCK")
# Of one core, used by processes that are none of ours: above it a wall-clock ratio says nothing.
QUIET_PERCENT = 4.0
SLOW_COMMIT_MILLISECONDS = 4.0
# Metrics that others on the machine falsify: by the clock of the wall, or computing time that is compared with nothing.
WALL_CLOCK = (".rate", ".p99Commits", ".cpuPercent")

FANOUT = {
    "fanout": ("fanout-echo", "--sessions 1000 --senders 1 --in-flight 1 --payload 150"),
    "fanoutInFlight8": ("fanout-echo", "--sessions 1000 --senders 1 --in-flight 8 --payload 150"),
    "fanoutDeflate": ("fanout-echo", "--sessions 1000 --senders 1 --in-flight 1 --payload 1024 --deflate"),
    "echo": ("echo", "--sessions 100 --in-flight 1 --payload 128"),
}


class Failed(Exception):
    """Something could not be measured; one sentence."""


class Server:
    """A gateway with one loop on one core, with a data folder of its own on the disk of the working copy."""

    def __init__(self, core: int) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / ".build"))
        command = ["taskset", "-c", str(core), str(BIN / "threadcast"), "serve", "--dev", "--echo", "--loops", "1"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("THREADCAST_")}
        with open(self.folder / "log", "w") as log:
            self.process = subprocess.Popen(
                [*command, "--listen", "127.0.0.1:0", "--data", str(self.folder / "data")],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )
        line = self.process.stdout.readline()
        ready = READY.match(line)
        if not ready:
            self.stop()
            raise Failed(f"the gateway did not start: {line.strip() or 'it said nothing'}")
        self.url = f"ws://{ready[1].split(',')[0]}"

    def stop(self) -> None:
        # Nothing in the folder is wanted, so nobody waits for a drain.
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        self.stop()


class Bench:
    def __init__(self, server_core: int, driver_core: int) -> None:
        self.server_core = server_core
        self.driver_core = driver_core
        self.noise: list[float] = []

    def run(self, server: Server, scenario: str, flags: str, polls: bool = True) -> dict:
        """One run of the driver; its metrics. What it finds wrong ends the bench."""
        command = ["taskset", "-c", str(self.driver_core), str(BIN / "threadcast-load"), "run"]
        command += [str(ROOT / f"loadtest/scenarios/{scenario}.json"), "--target", server.url, "--json", "-"]
        command += ["--pid", str(server.process.pid), *flags.split(), *(["--poll"] if polls else [])]
        done = self.watched(command, server)
        if not done.stdout:
            raise Failed(f"{scenario}: {done.stderr.strip()}")
        report = json.loads(done.stdout)
        if not report["ok"]:
            raise Failed(f"{scenario}: the deliveries were wrong: {report['violations']} {report['examples']}")
        return report["metrics"]

    def sendloop(self, server: Server) -> dict:
        cores = [str(self.server_core), str(self.driver_core)]
        done = self.watched([str(SENDLOOP), "1000", "150", "1", "1", *cores], server)
        if done.returncode:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout)

    def watched(self, command: list[str], server: Server) -> subprocess.CompletedProcess:
        """Runs a command and notes how much of a core was used by neither it, the server nor us."""
        before, started = self.foreign_seconds(server), time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        passed = time.monotonic() - started
        self.noise.append(max(0.0, 100 * (self.foreign_seconds(server) - before) / passed))
        return done

    @staticmethod
    def foreign_seconds(server: Server) -> float:
        """Computing time of all processes since boot, less the server's and ours."""
        fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        user, nice, system, _, _, hard, soft, steal = map(int, fields[:8])
        stat = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        own = sum(
            usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return (user + nice + system + hard + soft + steal - int(stat[11]) - int(stat[12])) / TICKS - own


def short(value: float) -> str:
    """Three significant digits, or a whole number with separators."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def fanout(bench: Bench, rounds: int) -> dict[str, list[float]]:
    """Ratios to the send loop of the same round: of rates, and of computing times."""
    samples: dict[str, list[float]] = {}
    with Server(bench.server_core) as server:
        for number in range(rounds):
            loop = bench.sendloop(server)
            samples.setdefault("sendloop.messagesPerSecond", []).append(loop["messagesPerSecond"])
            samples.setdefault("sendloop.cpuMicroseconds", []).append(loop["cpuMicrosecondsPerMessage"])
            for name, (scenario, flags) in FANOUT.items():
                metrics = bench.run(server, scenario, f"{flags} --seconds 2 --warm-up 1")
                rate, cost = metrics["deliveries.perSecond"], metrics["server.cpuMicrosecondsPerDelivery"]
                samples.setdefault(f"{name}.perSecond", []).append(rate)
                samples.setdefault(f"{name}.rate", []).append(rate / loop["messagesPerSecond"])
                samples.setdefault(f"{name}.cpu", []).append(loop["cpuMicrosecondsPerMessage"] / cost)
            progress(f"fan-out and echo, round {number + 1} of {rounds}")
    return samples


def durable(bench: Bench, rounds: int) -> dict[str, list[float]]:
    """64 senders against what group commit could do: 64 for each median commit of a single sender.

    A commit counts as 4 ms at least: on a faster disk the core is the limit, and 16,000 a second are possible enough.
    """
    samples: dict[str, list[float]] = {}
    with Server(bench.server_core) as server:
        for number in range(rounds):
            flags = "--in-flight 1 --seconds 2 --warm-up 1"
            one = bench.run(server, "durable-sends", f"--senders 1 {flags}", polls=False)
            many = bench.run(server, "durable-sends", f"--senders 64 {flags}", polls=False)
            commit = one["acknowledgement.p50Milliseconds"]
            samples.setdefault("durable.commitMilliseconds", []).append(commit)
            samples.setdefault("durable.perSecond", []).append(many["acknowledged.perSecond"])
            samples.setdefault("durable.rate", []).append(many["acknowledged.perSecond"] * max(commit, SLOW_COMMIT_MILLISECONDS) / 64_000)
            samples.setdefault("durable.p99Commits", []).append(many["acknowledgement.p99Milliseconds"] / commit)
            progress(f"durable sends, round {number + 1} of {rounds}")
    return samples


def idle(bench: Bench) -> dict[str, list[float]]:
    """10,000 sessions, long enough for everybody's heartbeat."""
    with Server(bench.server_core) as server:
        flags = "--sessions 10000 --seconds 28 --warm-up 2"
        metrics = bench.run(server, "idle", flags, polls=False)
        progress("10,000 idle sessions")
    return {
        "idle.bytesPerSession": [metrics["server.residentBytesPerSession"]],
        "idle.cpuPercent": [metrics["server.cpuPercent"]],
        "idle.heartbeats": [metrics["heartbeats.total"]],
        "idle.connectsPerSecond": [metrics["connect.perSecond"]],
    }


def judge(medians: dict[str, float], limits: dict, is_quiet: bool, only: list[str]) -> tuple[list[str], bool]:
    """A line for each limit, and whether all were kept."""
    lines, kept = [], True
    for name, limit in sorted(limits.items()):
        low, high = limit.get("atLeast"), limit.get("atMost")
        bound = f"at least {low}" if high is None else f"at most {high}"
        if name not in medians:
            if len(only) < 3:
                continue
            kept = False
            lines.append(f"BROKEN  {name}: {bound}, but it was not measured")
            continue
        value = medians[name]
        good = value >= low if high is None else value <= high
        if name.endswith(WALL_CLOCK) and not is_quiet:
            lines.append(f"skipped {name}: {bound}, is {short(value)}; others used the machine")
        else:
            kept = kept and good
            lines.append(f"{'kept   ' if good else 'BROKEN '} {name}: {bound}, is {short(value)}")
    return lines, kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--limits", type=pathlib.Path, default=ROOT / "loadtest/limits.json")
    parser.add_argument("--only", default="fanout,durable,idle")
    options = parser.parse_args()
    only = options.only.split(",")
    if options.rounds < 1 or not set(only) <= {"fanout", "durable", "idle"}:
        parser.error("--rounds is at least 1, --only is of fanout, durable, idle")
    limits = json.loads(options.limits.read_text())
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Failed("two cores are needed, one for the server and one for the driver")
    bench = Bench(cores[0], cores[1])
    samples: dict[str, list[float]] = {}
    if "fanout" in only:
        samples |= fanout(bench, options.rounds)
    if "durable" in only:
        samples |= durable(bench, min(options.rounds, 3))
    if "idle" in only:
        samples |= idle(bench)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    noise = statistics.median(bench.noise)
    width = max(map(len, medians))
    for name, values in samples.items():
        print(f"{name:{width}}  {short(medians[name]):>12}   ({short(min(values))} ... {short(max(values))})")
    print(f"{'others on this machine':{width}}  {noise:>12.3g} % of a core")
    lines, kept = judge(medians, limits, noise <= QUIET_PERCENT, only)
    print("\n".join(lines))
    if options.json:
        options.json.write_text(json.dumps({"medians": medians, "samples": samples, "noisePercent": noise, "kept": kept}))
    return 0 if kept else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        print(f"bench: {failed}", file=sys.stderr)
        sys.exit(1)
