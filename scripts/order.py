#!/usr/bin/env python3
"""Keeps the functions that runs execute together in the binary (see scripts/linker.sh).

Usage: order.py record BINARY COMMAND...  runs a command with FGW_BINARY as BINARY under Valgrind, and writes order.txt
       order.py symbols ARGUMENT...       prints the symbols of the linker's objects in the order of order.txt

order.txt has checksums of the functions' names, without the hashes that depend on the compiler and the platform. A
function that is not listed comes after the listed ones, so an old list costs memory and nothing else.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

ORDER = pathlib.Path(__file__).resolve().parent / "order.txt"
PER_LINE = 13
# Of the copies of a generic function, often only few are executed. Below this share of their bytes, the size tells which.
DENSE = 0.5


def keys(symbol, size):
    """Two checksums of a function: of its name without hashes (the old mangling has one at the end, the new one has
    those of crates), and of this name with its size in bytes, for one copy of a generic function."""
    name = re.sub(r"\.llvm\.\d+$", "", symbol)
    name = re.sub(r"17h[0-9a-f]{16}E$", "E", name) if name.startswith("_ZN") else re.sub(r"Cs[0-9A-Za-z]+_", "C", name)
    return tuple(f"{zlib.crc32(it.encode()):08x}" for it in (name, f"{name} {size}"))


def functions(files):
    """The functions that objects, archives or programs define, with their sizes in bytes."""
    listed = subprocess.run(["nm", "-S", "--defined-only", *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True)
    if listed.returncode:
        sys.exit(listed.stderr)
    rows = (line.split() for line in listed.stdout.splitlines())
    return {row[3]: int(row[1], 16) for row in rows if len(row) == 4 and row[2] in "tTwW"}


def symbols(arguments):
    """The symbols to order among those of a linker's arguments."""
    rank = {line: position for position, line in enumerate(ORDER.read_text().split())}
    objects = [it for it in arguments if it.endswith((".o", ".rlib")) and os.path.isfile(it)]
    found = []
    for symbol, size in functions(objects).items():
        ranks = [rank[key] for key in keys(symbol, size) if key in rank]
        if ranks:
            found.append((min(ranks), symbol))
    return [symbol for _, symbol in sorted(found)]


def executed(profile):
    """The functions in a profile of Callgrind, which states each name once and then refers to it by a number."""
    names, numbers = {}, set()
    for line in profile.read_text().splitlines():
        if found := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
            number, name = found.groups()
            numbers.add(number)
            if name:
                names[number] = name
    return {re.sub(r"'\d+$", "", names[number]) for number in numbers}


def ordered(sizes, runs):
    """The keys: first of what all processes execute, then of what ever fewer do, each set of processes together."""
    processes_of = {it: {number for number, run in enumerate(runs) if it in run} for it in sizes}
    all_bytes, executed_bytes = collections.Counter(), collections.Counter()
    for it, size in sizes.items():
        of_name, _ = keys(it, size)
        all_bytes[of_name] += size
        executed_bytes[of_name] += size if processes_of[it] else 0
    merged = collections.defaultdict(set)
    for it, size in sizes.items():
        of_name, of_copy = keys(it, size)
        if processes_of[it]:
            key = of_name if executed_bytes[of_name] >= DENSE * all_bytes[of_name] else of_copy
            merged[key] |= processes_of[it]
    return sorted(merged, key=lambda key: (-len(merged[key]), sorted(merged[key]), key))


def record(binary, command):
    with tempfile.TemporaryDirectory() as directory:
        traced = pathlib.Path(directory, pathlib.Path(binary).name)
        traced.write_text("#!/bin/sh\nexec valgrind --quiet --tool=callgrind --demangle=no "
                          f"--log-file=/dev/null --callgrind-out-file='{directory}/%p.profile' '{binary}' \"$@\"\n")
        traced.chmod(0o755)
        subprocess.run(command, env=dict(os.environ, FGW_BINARY=str(traced)), check=True)
        runs = [executed(it) for it in sorted(pathlib.Path(directory).glob("*.profile"))]
    if not runs:
        sys.exit("the command has not started the provider")
    listed = ordered(functions([binary]), runs)
    lines = [" ".join(listed[start:start + PER_LINE]) for start in range(0, len(listed), PER_LINE)]
    ORDER.write_text("\n".join(lines) + "\n")
    print(f"{ORDER.name}: {len(listed)} functions of {len(runs)} processes")


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(os.path.abspath(sys.argv[2]), sys.argv[3:])
    else:
        print("\n".join(symbols(sys.argv[2:])))
