#!/usr/bin/env python3
"""House style that no formatter checks: a line per finding, exit 1 when there is one."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE_LINES = 450

# Files that may be longer, each with its reason. An entry that is no longer needed is a finding too.
LONGER_FILES: dict[str, str] = {}

# What must not stand in Swift code, and why. Comments and strings are taken out before the search.
REFUSED = [
    (re.compile(r"\btry!"), "try! turns a failure of the world into a crash"),
    (re.compile(r"\bas!"), "as! turns a wrong guess into a crash"),
    (re.compile(r"\bnonisolated\(unsafe\)"), "nonisolated(unsafe) hides a race"),
    (re.compile(r"\bcatch\s*\{\s*\}"), "an empty catch swallows a failure"),
]
UNCHECKED = re.compile(r"@unchecked\s+Sendable")
# Written in two halves, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + r"ME|X" + r"XX)\b")
# Paths of one machine's home or scratch folders do not belong in the project.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|work)/\w+")
CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def without_comments_and_strings(text: str) -> str:
    """The same text with its line breaks, so that line numbers stay true."""
    return CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def tests_without_expectation(code: str) -> list[str]:
    names = []
    for match in re.finditer(r"@Test\b[^{]*?\bfunc\s+(\w+)[^{]*\{", code):
        depth, end = 1, match.end()
        while end < len(code) and depth:
            depth += (code[end] == "{") - (code[end] == "}")
            end += 1
        if not re.search(r"#expect|#require|Issue\.record|\b(expect|check|verify|require)\w*\(", code[match.end() : end]):
            names.append(match.group(1))
    return names


def main() -> int:
    findings: list[str] = []
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    longer = dict(LONGER_FILES)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not path.is_file() or name == "LICENSE":
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATH.search(line):
                findings.append(f"{name}:{number}: a path of one machine")
            if name.startswith(("Sources/", "Tests/", "loadtest/", "scripts/")) and UNFINISHED.search(line):
                findings.append(f"{name}:{number}: an unfinished thought; file an issue or finish it")
        if not name.endswith((".swift", ".py", ".c", ".h", ".cpp")):
            continue
        lines = text.count("\n")
        if name in longer:
            if lines <= LONGEST_FILE_LINES:
                findings.append(f"{name}: is short enough now; take it out of LONGER_FILES")
            del longer[name]
        elif lines > LONGEST_FILE_LINES:
            findings.append(f"{name}: {lines} lines; above {LONGEST_FILE_LINES} a concept in it wants its own file")
        if not name.endswith(".swift"):
            continue
        code = without_comments_and_strings(text)
        for number, line in enumerate(code.splitlines(), 1):
            for pattern, reason in REFUSED:
                if pattern.search(line):
                    findings.append(f"{name}:{number}: {reason}")
            if UNCHECKED.search(line) and not name.startswith("Sources/Workers/"):
                findings.append(f"{name}:{number}: @unchecked Sendable belongs to Workers alone")
        if name.startswith("Tests/"):
            findings += [f"{name}: {test} expects nothing, so it cannot fail" for test in tests_without_expectation(code)]
    findings += [f"scripts/style.py: {name} in LONGER_FILES does not exist" for name in longer]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
