"""The dependencies of the provider and their licenses, from the metadata and the downloaded sources of cargo.

Usage: licenses.py          compares the licenses of all dependencies on this platform with deny.toml, and fails if they
                            differ
       licenses.py notices  prints the notices for the binary of this platform
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXTS = re.compile(r"^(licen[cs]e|copying|copyright|notices?|unlicense)", re.IGNORECASE)
LINE = "-" * 100

# For packages whose manifest states MIT and that contain no text of the license.
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


class Graph:
    """The packages of Cargo.lock that a target platform uses."""

    def __init__(self, target):
        # Only packages that this platform uses, because cargo may not have downloaded others.
        command = ["cargo", "metadata", "--quiet", "--locked", "--format-version", "1", "--filter-platform", target]
        metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
        self.packages = {package["id"]: package for package in metadata["packages"]}
        self.nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.root = metadata["resolve"]["root"]
        self.members = set(metadata["workspace_members"])

    def all(self):
        """The provider and every dependency, including those that only tests and builds need."""
        return [self.packages[node] for node in self.nodes if node == self.root or node not in self.members]

    def linked(self):
        """The dependencies whose code is in the binary: none only of builds and tests, and no procedural macros."""
        found, waiting = set(), [self.root]
        while waiting:
            node = waiting.pop()
            if node in found or self._is_macro(node):
                continue
            found.add(node)
            for dependency in self.nodes[node]["deps"]:
                if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                    waiting.append(dependency["pkg"])
        found.discard(self.root)
        return sorted((self.packages[node] for node in found), key=lambda it: (it["name"], it["version"]))

    def _is_macro(self, node):
        return any("proc-macro" in target["kind"] for target in self.packages[node]["targets"])


def host():
    """Rust's name of this machine's platform."""
    about = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(line.split()[1] for line in about.splitlines() if line.startswith("host:"))


def satisfies(expression, allowed):
    """Whether the allowed licenses satisfy a license expression. A slash is the older form of OR."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def alternatives():
        kept = all_of()
        while words and words[0] == "OR":
            words.pop(0)
            kept = all_of() or kept
        return kept

    def all_of():
        kept = one()
        while words and words[0] == "AND":
            words.pop(0)
            kept = one() and kept
        return kept

    def one():
        word = words.pop(0)
        if word == "(":
            kept = alternatives()
            words.pop(0)
            return kept
        if words and words[0] == "WITH":
            word = f"{word} WITH {words[1]}"
            del words[:2]
        return word in allowed

    return alternatives()


def differences(graph):
    """The differences between deny.toml and the licenses of the dependencies, as sentences."""
    allowed = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"]
    packages = graph.all()
    found = [f"{it['name']} {it['version']} has the license {it['license'] or '(none)'}, which deny.toml does not allow"
             for it in packages if not it["license"] or not satisfies(it["license"], allowed)]
    needed = {name for name in allowed
              if any(it["license"] and not satisfies(it["license"], set(allowed) - {name}) for it in packages)}
    return found + [f"deny.toml allows {name}, which no dependency needs" for name in allowed if name not in needed]


def texts_of(package):
    """The license texts and notices in the root directory of a package."""
    top = pathlib.Path(package["manifest_path"]).parent
    files = sorted(it for it in top.iterdir() if TEXTS.match(it.name) and it.is_file())
    if package["license_file"] and top / package["license_file"] not in files:
        files.append(top / package["license_file"])
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in texts]


def label(package):
    return f"{package['name']} {package['version']}"


def notices(graph):
    """The packages in the binary with their licenses, then each distinct license text with its packages."""
    linked = graph.linked()
    texts = {}
    for package in linked:
        found = texts_of(package)
        if not found:
            # For a package of a workspace, the text may be in another package of the workspace.
            siblings = [it for it in linked if it["repository"] and it["repository"] == package["repository"]]
            found = [text for it in siblings for text in texts_of(it)]
        if not found:
            if not satisfies(package["license"], ["MIT"]):
                sys.exit(f"{label(package)} contains no license text: add the text to scripts/licenses.py")
            authors = ", ".join(package["authors"]) or f"the authors of {package['name']}"
            found = [f"Copyright (c) {authors}\n\n{MIT}"]
        for text in found:
            # Texts that differ only in white space or case are equal.
            texts.setdefault(" ".join(text.lower().split()), (text, {}))[1][label(package)] = None
    parts = [
        "terraform-provider-fgw is licensed under the Mozilla Public License 2.0 (LICENSE). The source of each\n"
        "version is the commit with the tag v<version>. The binary contains the packages below and the standard library\n"
        "of Rust, which is licensed under Apache-2.0 OR MIT (https://www.rust-lang.org/policies/licenses).\n",
        "\n".join(f"{label(it)}: {it['license']}" + (f", {it['repository']}" if it["repository"] else "")
                  for it in linked) + "\n",
    ]
    for text, packages in texts.values():
        parts.append(f"{LINE}\n{', '.join(packages)}\n{LINE}\n\n{text}\n")
    return "\n".join(parts)


def main():
    graph = Graph(os.environ.get("TARGET") or host())
    if sys.argv[1:] == ["notices"]:
        print(notices(graph), end="")
    elif found := differences(graph):
        sys.exit("\n".join(found))
    else:
        print(f"the licenses of {len(graph.all())} packages match deny.toml")


if __name__ == "__main__":
    main()
