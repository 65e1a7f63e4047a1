"""Draws the pictures of the documentation: `python3 scripts/pictures.py [DIRECTORY]` writes docs/pictures/*.svg.

The output depends only on this file and on BENCHMARKS.md. Each picture has its own background and follows the color
scheme of the reader. A test compares the committed files with the output.
"""

import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 800

STYLE = """
svg { font: 14px -apple-system, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; color-scheme: light dark }
text { fill: #1f2328; text-anchor: middle; dominant-baseline: central }
.left { text-anchor: start } .right { text-anchor: end }
.title { font-weight: 600 } .small { font-size: 12px; fill: #4d555e } .code { font-family: monospace; font-size: 12px }
.page { fill: #ffffff; stroke: #d1d9e0 } .box { fill: #f0f3f6; stroke: #7d8792 } .zone { fill: none; stroke: #7d8792; stroke-dasharray: 5 4 }
.public { fill: #dcf2e0; stroke: #2b7a3b } .app { fill: #dbeafe; stroke: #2457a8 } .data { fill: #ece4fb; stroke: #6b3fb5 }
.transit { fill: #fdeacb; stroke: #94600a } .deleted { fill: #fbe3e1; stroke: #b3261e; stroke-dasharray: 5 4 } .free { fill: none; stroke: #b6bec7 }
.line { fill: none; stroke: #4d555e; stroke-width: 1.6 } .head { fill: #4d555e } .dash { stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #b0bac5 }
.page { fill: #0d1117; stroke: #3d444d } .box { fill: #1c232c; stroke: #8b949e } .zone { stroke: #8b949e }
.public { fill: #12351d; stroke: #4fbd68 } .app { fill: #14294d; stroke: #6ea8ff } .data { fill: #2b1d4d; stroke: #b794f6 }
.transit { fill: #3f2b08; stroke: #e0a33a } .deleted { fill: #461613; stroke: #ff8a80 } .free { stroke: #4a525c }
.line { stroke: #b0bac5 } .head { fill: #b0bac5 }
}
"""


class Picture:
    """An SVG under construction: shapes in the order in which they are painted."""

    def __init__(self, title, height):
        self.title, self.height, self.parts = title, height, []

    def text(self, x, y, words, style=""):
        self.parts.append(f'<text x="{x}" y="{y}" class="{style}">{escape(words)}</text>')

    def box(self, x, y, width, height, style, *lines):
        """A rectangle with centered lines, of which the first is the title."""
        radius = round(min(5, width / 3), 1)
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius:g}" class="{style}"/>')
        first = y + height / 2 - 9 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text(x + width / 2, first + 18 * number, line, "title" if number == 0 else "small")

    def arrow(self, *points, style=""):
        """A line through points, with a head at the last one."""
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        self.parts.append(f'<path d="{path}" class="line {style}" marker-end="url(#head)"/>')

    def svg(self):
        """The file."""
        head = (
            '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0 L10 5 L0 10 z" class="head"/></marker>'
        )
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
            f'viewBox="0 0 {WIDTH} {self.height}" role="img">',
            f"<title>{escape(self.title)}</title>",
            f"<style>{STYLE}</style>",
            f"<defs>{head}</defs>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="8" class="page"/>',
            *self.parts,
            "</svg>\n",
        ])


def network():
    """Columns are zones, rows are tiers."""
    it = Picture("A four-tier VPC in three availability zones", 560)
    it.box(340, 16, 170, 34, "box", "Internet")
    it.parts.append('<rect x="16" y="74" width="768" height="470" rx="8" class="zone"/>')
    it.text(30, 92, "VPC 10.0.0.0/16", "title left")
    it.box(340, 86, 170, 34, "box", "internet gateway")
    it.arrow((425, 86), (425, 52))
    for zone in range(3):
        x = 128 + 222 * zone
        it.parts.append(f'<rect x="{x}" y="138" width="206" height="330" rx="8" class="zone"/>')
        it.text(x + 103, 152, f"AZ {zone}", "title")
        it.box(x + 12, 166, 182, 66, "public")
        it.text(x + 60, 199, f"10.0.{8 * zone}.0/21", "small")
        it.box(x + 112, 176, 74, 46, "box", "NAT", "gateway")
        it.box(x + 12, 250, 182, 56, "app", f"10.0.{48 + 8 * zone}.0/21")
        it.box(x + 12, 324, 182, 56, "data", f"10.0.{96 + 8 * zone}.0/21")
        it.box(x + 12, 398, 182, 56, "transit", f"10.0.{144 + 8 * zone}.0/21")
        it.arrow((x + 149, 250), (x + 149, 224))
        it.arrow((x + 75, 166), (x + 75, 128), (425, 128), (425, 121))
    for y, name in [(199, "public"), (278, "private app"), (345, "private"), (426, "transit")]:
        it.text(28, y, name, "title left")
    it.text(28, 363, "persistence", "title left")
    it.text(28, 444, "optional", "small left")
    it.box(128, 484, 650, 46, "box", "gateway endpoints: S3 and DynamoDB", "in all route tables; no charge")
    return it


def request_path():
    """From the client to the function."""
    it = Picture("The path of a request through an HTTP gateway", 300)
    it.box(20, 70, 96, 54, "box", "client")
    it.box(150, 30, 150, 54, "public", "custom domain", "DNS record, mapping")
    it.box(150, 110, 150, 54, "public", "default endpoint", "execute-api")
    it.box(334, 70, 110, 54, "app", "stage", "$default")
    it.box(478, 70, 120, 54, "app", "route", "GET /orders/{id}")
    it.box(632, 70, 148, 54, "app", "integration", "payload, timeout")
    it.box(632, 190, 148, 54, "data", "Lambda function", "not managed")
    it.box(478, 190, 120, 54, "data", "authorizer", "if configured")
    it.box(319, 190, 140, 54, "transit", "log group", "access logs")
    it.arrow((116, 90), (133, 90), (133, 57), (149, 57))
    it.arrow((116, 104), (133, 104), (133, 137), (149, 137))
    it.arrow((300, 57), (317, 57), (317, 90), (333, 90))
    it.arrow((300, 137), (317, 137), (317, 104), (333, 104))
    it.arrow((444, 97), (477, 97))
    it.arrow((598, 97), (631, 97))
    it.arrow((706, 124), (706, 189))
    it.arrow((538, 124), (538, 189))
    it.arrow((389, 124), (389, 189), style="dash")
    it.text(712, 157, "permission", "small left")
    it.text(544, 157, "before the call", "small left")
    it.text(20, 276, "The resource manages everything except the client and the functions.", "small left")
    return it


def adoption():
    """What a destroy does in each state."""
    it = Picture("The states of an adoption, and the effect of a destroy in each", 264)
    states = [
        ("1 built elsewhere", "not in this state", "nothing to destroy", "not in this state"),
        ("2 imported", "read, not changed", "forgets it", "deletes nothing"),
        ("3 half adopted", "an apply has failed", "forgets it", "deletes nothing"),
        ("4 adopted", "all tags are set", "deletes the objects", "except unmanaged ones"),
    ]
    for number, (name, about, effect, detail) in enumerate(states):
        x = 20 + 196 * number
        it.box(x, 56, 172, 60, ["box", "app", "app", "public"][number], name, about)
        it.box(x, 168, 172, 54, "deleted" if number == 3 else "box", effect, detail)
        it.arrow((x + 86, 116), (x + 86, 167), style="dash")
        if number < 3:
            it.arrow((x + 172, 86), (x + 195, 86))
            it.text(x + 184, 40, ["import", "apply", "apply again"][number], "small")
    it.text(20, 244, "A dashed arrow is a destroy. An apply that succeeds goes from 2 to 4.", "small left")
    return it


def nat_removal():
    """The order of the operations."""
    it = Picture("How a NAT gateway is replaced or removed: its routes switch before it is deleted", 282)
    steps = [
        ("1 create", "new gateway", ("old", "box"), ("pending", "app"), 0),
        ("2 wait", "until it is available", ("old", "box"), ("new", "app"), 0),
        ("3 switch", "the default routes", ("old", "box"), ("new", "app"), 1),
        ("4 delete", "old gateway and address", ("old", "deleted"), ("new", "app"), 1),
    ]
    for number, (name, about, old, new, target) in enumerate(steps):
        x = 14 + 196 * number
        it.parts.append(f'<rect x="{x}" y="14" width="184" height="232" rx="8" class="zone"/>')
        it.text(x + 92, 34, name, "title")
        it.text(x + 92, 54, about, "small")
        it.box(x + 8, 76, 66, 44, old[1], old[0])
        it.box(x + 80, 76, 98, 44, new[1], new[0])
        it.box(x + 32, 186, 120, 44, "public", "private route", "0.0.0.0/0")
        end = x + 41 if target == 0 else x + 129
        it.arrow((x + 92, 186), (end, 122))
    it.text(14, 264, "A removal has only steps 3 and 4: the routes switch to a NAT gateway that stays.", "small left")
    return it


def addresses():
    """The blocks of the guide "Addresses", with the defaults."""
    it = Picture("10.0.0.0/16 as 32 blocks of /21, three zones, with the default spacing", 210)
    it.text(20, 24, "10.0.0.0/16: 32 blocks of /21", "title left")
    for number in range(0, 32, 5):
        it.text(170.5 + 19 * number, 52, str(number), "small")
    for row, (tier, style) in enumerate([("public", "public"), ("private app", "app"), ("private persistence", "data")]):
        y = 68 + 38 * row
        it.text(20, y + 14, tier, "left")
        for block in range(32):
            zone = block - 10 * row
            used = 0 <= zone < 3
            it.box(162 + 19 * block, y, 17, 28, style if used else "free", *([str(zone)] if used else []))
    it.text(20, 192, "A number in a block is the index of its zone. Empty blocks are not used by the tier.", "small left")
    return it


def seconds(text):
    """`1.16 s` or `496 ms`."""
    number, unit = text.split()
    return float(number) / (1000 if unit == "ms" else 1)


def benchmarks():
    """Apply and plan at 50 ms, from the tables of absolute values in BENCHMARKS.md."""
    rows = measured((ROOT / "BENCHMARKS.md").read_text())
    it = Picture("Wall time of fgw and hashicorp/aws on an emulator with 50 ms latency", 32 + 84 * len(rows))
    it.text(20, 24, "Wall time, emulator with 50 ms latency", "title left")
    most = max(value for _, values in rows for value in values)
    for number, (name, values) in enumerate(rows):
        y = 46 + 84 * number
        it.text(20, y + 30, name, "left")
        for line, (who, value) in enumerate(zip(("fgw", "hashicorp/aws"), values)):
            width = round(380 * value / most, 1)
            it.text(300, y + 14 + 32 * line, who, "small right")
            it.box(310, y + 32 * line, max(width, 1), 28, ["app", "box"][line])
            it.text(318 + width, y + 14 + 32 * line, f"{value:.2f} s", "left")
    return it


def measured(page):
    """Rows of a name and the values of fgw and hashicorp/aws, in seconds."""
    rows = []
    for topology in ("Network, 3 AZs, 50 ms", "Gateway, 10 routes, 50 ms"):
        section = page.split(f"\n### {topology}\n")[1].split("\n### ")[0]
        for operation in ("apply", "plan"):
            lines = [re.search(rf"^\| {operation} \| {who} \|.*$", section, re.MULTILINE) for who in ("fgw", "hashicorp/aws")]
            values = [seconds(line[0].split("|")[4].strip()) for line in lines]
            rows.append((f"{topology.split(',')[0]}: {operation}", values))
    return rows


def growth():
    """Calls and CPU time of a plan by the number of resources, from the table of growth in BENCHMARKS.md."""
    it = Picture("Calls and CPU time of a plan by the number of networks and of gateways", 300)
    page = (ROOT / "BENCHMARKS.md").read_text()
    kinds = [("networks", "network, 3 AZs", "app"), ("gateways", "gateway, 10 routes", "public")]
    for panel, (title, column) in enumerate([("AWS calls of a plan", "plan calls"), ("CPU of the provider in a plan, ms", "CPU of plan")]):
        left, bottom, width, height = 60 + 390 * panel, 250, 300, 180
        it.text(left - 40, 24, title, "title left")
        it.arrow((left, bottom), (left + width + 20, bottom))
        it.arrow((left, bottom), (left, bottom - height - 16))
        values = {kind: grown(page, topology, column) for kind, topology, _ in kinds}
        most = max(value for points in values.values() for _, value in points)
        for count, _ in values["networks"]:
            it.text(left + width * count / 50, bottom + 14, f"{count}", "small")
        for line, (kind, _, style) in enumerate(kinds):
            points = [(left + width * count / 50, round(bottom - height * value / most, 1)) for count, value in values[kind]]
            path = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
            it.parts.append(f'<path d="{path}" class="line {["", "dash"][line]}"/>')
            for (x, y), (_, value) in zip(points, values[kind]):
                it.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" class="{style}"/>')
                if value != values["networks"][0][1] and (x > left + 40):
                    it.text(x, y + [-14, 16][line], f"{value:g}", "small")
    it.box(60, 276, 12, 12, "app")
    it.text(80, 282, "networks of 3 AZs", "small left")
    it.box(220, 276, 12, 12, "public")
    it.text(240, 282, "gateways with 10 routes, dashed", "small left")
    return it


def grown(page, topology, column):
    """Pairs of a number of resources and the value of fgw in a column of the table of growth."""
    section = page.split("\n## Growth with size\n")[1].split("\n## ")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    at = lines[0].index("calls: apply") + 1 if column == "plan calls" else lines[0].index(column)
    rows = {cells[0]: cells[at] for cells in lines if cells[1] == "fgw"}
    names = {1: topology, **{count: f"{count} resources: {topology} each" for count in (5, 20, 50)}}
    value = lambda text: round(1000 * seconds(text)) if text.endswith("s") else int(text)
    return [(count, value(rows[name])) for count, name in names.items()]


PICTURES = {
    "network": network,
    "request-path": request_path,
    "adoption": adoption,
    "nat-removal": nat_removal,
    "addresses": addresses,
    "benchmarks": benchmarks,
    "growth": growth,
}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures"
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().svg())


if __name__ == "__main__":
    main()
