#!/usr/bin/env python3
"""Which test proves which clause of the contract.

A test carries the numbers in its name: `func M7_sameContentIsSuccess()` in Swift, `def test_M7_...` in Python, several
as `M7_C067_...`. `Tests/clauses.txt` lists every clause; `clauses.pending` lists what a later change will prove, one
`CLAUSE  tag: reason` a line for a clause without any test, `CLAUSE part  tag: what` for a part of one that has some.
Exit 1 on a clause that has neither test nor entry, and on an entry that has become stale.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMBER = r"(?:[A-Z]\d{1,2}|C\d{3}|H)"
SWIFT = re.compile(rf"\bfunc\s+((?:{NUMBER}_)+)(\w+)")
PYTHON = re.compile(rf"\bdef\s+test_((?:{NUMBER}_)+)(\w+)")


def read_clauses() -> dict[str, str]:
    clauses = {}
    for line in (ROOT / "Tests/clauses.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            number, _, title = line.partition(" ")
            clauses[number] = title.strip()
    return clauses


def read_pending(problems: list[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    whole: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    path = ROOT / "clauses.pending"
    for row, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(rf"({NUMBER})( part)?\s+(later: [\w -]+): (.+)", line.strip())
        if not match:
            problems.append(f"clauses.pending:{row}: is not 'CLAUSE [part]  later: NAME: reason'")
        elif match[2]:
            parts.setdefault(match[1], []).append(f"{match[3]}: {match[4]}")
        elif match[1] in whole:
            problems.append(f"clauses.pending:{row}: {match[1]} stands twice")
        else:
            whole[match[1]] = f"{match[3]}: {match[4]}"
    return whole, parts


def find_tests() -> dict[str, list[str]]:
    tests: dict[str, list[str]] = {}
    for path in sorted((ROOT / "Tests").rglob("*")):
        pattern = {".swift": SWIFT, ".py": PYTHON}.get(path.suffix)
        if pattern is None:
            continue
        for match in pattern.finditer(path.read_text(encoding="utf-8")):
            place = f"{path.relative_to(ROOT)} {match[1]}{match[2]}"
            for number in match[1].rstrip("_").split("_"):
                tests.setdefault(number, []).append(place)
    return tests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quiet", action="store_true", help="print problems and the totals only")
    quiet = parser.parse_args().quiet
    problems: list[str] = []
    clauses = read_clauses()
    whole, parts = read_pending(problems)
    tests = find_tests()

    for number in {*whole, *parts} - clauses.keys():
        problems.append(f"clauses.pending: {number} is not in Tests/clauses.txt")
    for number in tests.keys() - clauses.keys():
        if not re.fullmatch(r"C\d{3}", number):
            problems.append(f"{tests[number][0]}: {number} is not in Tests/clauses.txt")
    for number, title in clauses.items():
        found = tests.get(number, [])
        if not quiet:
            print(f"{number}  {title}")
            for place in found:
                print(f"      {place}")
            for entry in [whole.get(number), *parts.get(number, [])]:
                if entry:
                    print(f"      pending, {entry}")
        if not found and number in parts:
            problems.append(f"{number}: only a part is pending and no test carries it")
        elif not found and number not in whole:
            problems.append(f"{number}: no test carries it ({title})")
        elif found and number in whole:
            problems.append(f"{number}: has tests; take it out of clauses.pending or say which part is missing")
    cases = {number: places for number, places in tests.items() if re.fullmatch(r"C\d{3}", number)}
    if not quiet:
        for number in sorted(cases):
            print(f"{number}")
            for place in cases[number]:
                print(f"      {place}")
    for problem in problems:
        print(f"clauses: {problem}", file=sys.stderr)
    proven = sum(number in tests for number in clauses)
    print(f"clauses: {proven} of {len(clauses)} carried by tests, {len(whole)} pending, {len(cases)} cases from the field")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
