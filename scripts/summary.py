#!/usr/bin/env python3
"""Adds up the JUnit files of a folder: prints "PASSED FAILED"."""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def main(folder: str) -> None:
    passed = failed = 0
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif case.find("skipped") is None:
                passed += 1
    print(passed, failed)


if __name__ == "__main__":
    main(sys.argv[1])
