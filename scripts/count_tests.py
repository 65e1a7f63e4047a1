"""Counts tests and assertions per module, to verify that a change that moves tests has lost none.

Usage: count_tests.py             counts in the working tree
       count_tests.py COMMIT ...  counts in commits, and the difference between the last and the first one

A test is a function with #[test] or #[tokio::test]; an assertion is a place that calls assert!, assert_eq!, assert_ne!,
prop_assert*! or a function or method named assert_*. Comments and literals do not count.
"""

import collections
import io
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = re.compile(
    r"//[^\n]*"  # comments
    r"|/\*.*?\*/"
    r"|\b[bc]?r(#*)\".*?\"\1"  # raw strings
    r"|\b[bc]?\"(?:\\.|[^\"\\])*\"|\"(?:\\.|[^\"\\])*\""  # strings
    r"|'(?:\\[^']+|\\'|[^'\\])'",  # characters, not lifetimes
    re.DOTALL,
)
TEST = re.compile(r"#\[(?:\w+::)*test\b")
MACRO = re.compile(r"\b(?:debug_|prop_)?assert(?:_eq|_ne)?!")
HELPER = re.compile(r"(?<!fn )\bassert_\w+(?:::<[^>]*>)?\(")


def sources(commit):
    """The paths and texts of the Rust files in src and tests."""
    if commit is None:
        for path in sorted(path for top in ("src", "tests") for path in (ROOT / top).rglob("*.rs")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        return
    archive = subprocess.run(["git", "archive", commit, "src", "tests"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        for member in files:
            if member.isfile() and member.name.endswith(".rs"):
                yield member.name, files.extractfile(member).read().decode()


def module(path):
    """The first two levels of the path: src/aws, tests/suite/network."""
    parts = path.removesuffix(".rs").split("/")
    return "/".join(parts[:3 if parts[0] == "tests" and parts[1:2] == ["suite"] else 2])


def count(commit):
    """Tests and assertions by module."""
    found = collections.defaultdict(lambda: [0, 0])
    for path, text in sources(commit):
        code = TEXT.sub(" ", text)
        counts = found[module(path)]
        counts[0] += len(TEST.findall(code))
        counts[1] += len(MACRO.findall(code)) + len(HELPER.findall(code))
    return found


def main():
    commits = sys.argv[1:] or [None]
    columns = [count(commit) for commit in commits]
    names = [commit or "working tree" for commit in commits]
    heads = [f"{name}: {what}" for name in names for what in ("tests", "assertions")]
    if len(columns) > 1:
        heads += ["difference: tests", "difference: assertions"]
    rows = {}
    for name in sorted({name for column in columns for name in column}):
        cells = [number for column in columns for number in column.get(name, [0, 0])]
        rows[name] = cells + ([cells[-2] - cells[0], cells[-1] - cells[1]] if len(columns) > 1 else [])
    rows = {name: cells for name, cells in rows.items() if any(cells)}
    rows["**all**"] = [sum(cells) for cells in zip(*rows.values())]
    print("| Module | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(heads))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
