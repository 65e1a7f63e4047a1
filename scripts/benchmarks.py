"""Writes BENCHMARKS.md from the results of `make bench`.

Usage: benchmarks.py DIRECTORY [FILE], where each part of the benchmark has written one JSON file. FILE is by default
BENCHMARKS.md of the project.
"""

import json
import pathlib
import statistics
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "BENCHMARKS.md"
OPERATIONS = ["apply", "plan", "change", "destroy"]
SIDES = {"fgw": "fgw", "aws": "hashicorp/aws"}
NOT_MEASURED = "not measured"

INTRODUCTION = """\
# Benchmarks

This page compares the provider with hashicorp/aws 5.100.0. Real Terraform applies, plans without changes, changes and
destroys the same topologies with both in turn, on emulators of AWS. A proxy between the provider and the emulator adds
latency to each response and keeps NAT gateways pending. `make bench` writes this page.
"""

PICTURE = """\
![Bars of the wall time on an emulator with 50 ms latency, from the tables of absolute values below. In each apply and
plan, fgw takes a fraction of the time of hashicorp/aws.](docs/pictures/benchmarks.svg)
"""

GROWTH = """\
![Lines of the AWS calls and of the CPU time of a plan for 1, 5, 20 and 50 networks and gateways, from the table below.
The calls for networks grow by three for each network and by eleven for each ten that Terraform reads at
once.](docs/pictures/growth.svg)
"""

METHOD = """\
## Method

- The configurations are in [benches](benches): one resource for fgw, and a plain configuration with the same objects
  for hashicorp/aws. After each apply, an independent listing of the account compares the results: the number of objects
  of each kind, and of their routes, associations and permissions, must be the same.
- The network has four tiers in three AZs, three NAT gateways, two endpoints and the default security group: 49 objects.
  Its change adds one tag to all of them. The gateway has an authorizer, access logs and one route for each path, to one
  of five functions, or of twenty if it has twenty routes or more. Its change adds one route.
- Wall time is the duration of the whole Terraform command: Terraform itself, its starts of the provider, and the
  emulator. An emulator is a Python process that takes some milliseconds for each call and processes one call at a time.
  Without latency, this is most of the wall time of fgw. The time during which the emulator was busy has its own column.
- CPU is the user and system time that the kernel counts for the provider's processes, in steps of 10 ms. Memory is the
  high-water mark of the largest provider process (`VmHWM`), read every 5 ms.
- The proxy counts the calls, including retries. *Reads* are the read calls before the first mutating call. After it, a
  provider reads to wait for its changes (fgw), or also to read the changed objects again (hashicorp/aws).
- The critical path is the longest chain of calls in which each needs the response to the previous one, multiplied by
  the latency, plus the time for which NAT gateways are pending. It includes the calls by which fgw loses nothing when a
  run is killed: a search for objects of an earlier run, the creation of the VPC first and alone, and a tag at the end.
  It excludes polls of created objects, except for NAT gateways. The chain is defined in the benchmark; the log of each
  run is searched for its calls in this sequence.
- fgw observes the rate limit of API Gateway, ten calls per second after a burst of forty, because AWS rejects more. The
  emulator does not enforce the limit, which benefits hashicorp/aws, because it sends calls as fast as it gets responses.
- All values are medians. Each run has its own account. Binaries are in the page cache.
"""


def load(directory):
    parts = {}
    for file in sorted(directory.glob("*.json")):
        part = json.loads(file.read_text())
        parts[part["part"]] = part
    return parts


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def table(heads, rows, left=1):
    return row(heads) + row(["---"] * left + ["---:"] * (len(heads) - left)) + "".join(row(cells) for cells in rows) + "\n"


def seconds(ms):
    return f"{ms / 1000:.2f} s" if abs(ms) >= 1000 else f"{ms:.0f} ms"


def kilobytes(amount):
    return f"{amount / 1e3:.0f} kB"


def megabytes(amount, unit):
    return f"{amount * unit / 1e6:.1f} MB"


def fraction(ours, theirs):
    """A ratio as text, such as 1/12."""
    if not ours:
        return "none" if theirs else "the same"
    if abs(theirs / ours - 1) < 0.02:
        return "the same"
    return f"1/{theirs / ours:.1f}" if theirs >= ours else f"{ours / theirs:.1f} times"


def title(topology):
    if topology["kind"] == "network":
        text = f"network, {topology['azs']} AZ{'s' if topology['azs'] > 1 else ''}"
        text += ", every input" if topology["full"] else ""
    else:
        text = f"gateway, {topology['routes']} route{'s' if topology['routes'] > 1 else ''}"
        text += ", each with a function" if topology["full"] else ""
    if topology["copies"] > 1:
        text = f"{topology['copies']} resources: {text} each"
    if topology["latency_ms"]:
        text += f", {topology['latency_ms']} ms"
    if topology["nat_pending_s"]:
        text += f", NAT pending {topology['nat_pending_s']} s"
    return text


def sentence(text):
    return text[0].upper() + text[1:]


class Measured:
    """Samples of one part, found by topology, side and operation."""

    def __init__(self, part):
        self.part = part
        self.groups = {}
        for sample in part["samples"] if part else []:
            key = (json.dumps(sample["topology"], sort_keys=True), sample["side"], sample["operation"])
            self.groups.setdefault(key, []).append(sample)
        self.topologies = []
        for sample in part["samples"] if part else []:
            if sample["topology"] not in self.topologies:
                self.topologies.append(sample["topology"])

    def samples(self, topology, side, operation):
        return self.groups.get((json.dumps(topology, sort_keys=True), side, operation), [])

    def median(self, topology, side, operation, of):
        samples = self.samples(topology, side, operation)
        value = of if callable(of) else lambda sample: sample[of]
        return statistics.median(value(sample) for sample in samples) if samples else None

    def ratio(self, topology, operation, of):
        ours, theirs = (self.median(topology, side, operation, of) for side in SIDES)
        return None if ours is None or theirs is None else fraction(ours, theirs)

    def find(self, **wanted):
        fits = lambda topology: all(topology.get(name) == value for name, value in wanted.items())
        return next((topology for topology in self.topologies if fits(topology)), None)


def all_calls(sample):
    return sum(sample["calls"].values())


def without_polls(sample):
    return sample["looks"] + sample["changing"]


def walked(sample):
    """The number of sequential calls of a run."""
    return len(sample["walked"])


def ratios(measured, heading):
    rows = []
    for topology in measured.topologies:
        for name, of in [("wall time", "wall_ms"), ("CPU", "provider_cpu_ms"), ("memory", "peak_kb"), ("AWS calls", all_calls)]:
            cells = [measured.ratio(topology, operation, of) for operation in OPERATIONS]
            if any(cells):
                rows.append([title(topology), name, *(cell or NOT_MEASURED for cell in cells)])
    if not rows:
        return ""
    return f"{heading}\n\n" + table(["fgw relative to hashicorp/aws", "", *OPERATIONS], rows, left=2)


def absolutes(measured):
    heads = ["operation", "provider", "runs", "wall time", "fastest to slowest", "provider CPU", "memory", "calls", "reads",
             "mutating", "concurrent", "emulator busy"]
    text = ""
    for topology in measured.topologies:
        rows = []
        for operation in OPERATIONS:
            for side, name in SIDES.items():
                samples = measured.samples(topology, side, operation)
                if not samples:
                    continue
                middle = lambda of: measured.median(topology, side, operation, of)
                walls = [sample["wall_ms"] for sample in samples]
                rows.append([
                    operation, name, len(samples), seconds(middle("wall_ms")), f"{seconds(min(walls))} to {seconds(max(walls))}",
                    seconds(middle("provider_cpu_ms")),
                    megabytes(middle("peak_kb"), 1024), f"{middle(all_calls):g}", f"{middle('looks'):g}",
                    f"{middle('changing'):g}", f"{middle('peak_concurrency'):g}", seconds(middle("emulator_ms")),
                ])
        text += f"### {sentence(title(topology))}\n\n" + table(heads, rows, left=2) + actions(measured, topology)
    return text


def actions(measured, topology):
    """The calls by action of the first run of each provider, in a collapsed section."""
    text = ""
    for operation in OPERATIONS:
        for side, name in SIDES.items():
            samples = measured.samples(topology, side, operation)
            if samples:
                calls = ", ".join(f"{action} {count}" for action, count in sorted(samples[0]["calls"].items()))
                text += f"- {operation}, {name}: {calls or 'none'}\n"
    return f"<details><summary>Calls by action</summary>\n\n{text}\n</details>\n\n"


def growth(measured):
    if not measured.topologies:
        return ""
    heads = ["", "provider", *OPERATIONS, "CPU of apply", "CPU of plan", "emulator busy: apply", "plan", "memory",
             "calls: apply", "plan", "destroy", "state", "plan file"]
    rows = []
    for topology in measured.topologies:
        for side, name in SIDES.items():
            middle = lambda operation, of: measured.median(topology, side, operation, of)
            if middle("apply", "wall_ms") is None:
                continue
            memory = max(middle(operation, "peak_kb") for operation in OPERATIONS if middle(operation, "peak_kb"))
            rows.append([
                title(topology), name, *(seconds(middle(operation, "wall_ms")) for operation in OPERATIONS),
                *(seconds(middle(operation, of)) for of in ["provider_cpu_ms", "emulator_ms"] for operation in ["apply", "plan"]),
                megabytes(memory, 1024), *(f"{middle(operation, all_calls):g}" for operation in ["apply", "plan", "destroy"]),
                *(kilobytes(middle("plan", of)) for of in ["state_bytes", "plan_bytes"]),
            ])
    picture = GROWTH + "\n" if measured.find(kind="gateway", copies=50, latency_ms=0) else ""
    text = ("## Growth with size\n\n" + picture +
            "Without latency unless the row names one, and with NAT gateways that are available at once. The values of "
            "hashicorp/aws for the network in 3 AZs and the gateway with 10 routes are in the sections below. The "
            "emulator searches all objects of an account in each call, so its share grows with the square of the number of "
            "resources.\n\n" + table(heads, rows, left=2))
    not_run = [title(topology) for topology in measured.part["not_run"]]
    if not_run:
        text += f"hashicorp/aws was not measured with these topologies, because it takes too long: {'; '.join(not_run)}.\n\n"
    return text


def starts(part):
    if not part:
        return ""
    heads = ["provider", "start to handshake", "fastest", "terraform validate", "without a provider", "binary", "zipped", "runs"]
    rows = []
    for start in part["start"]:
        zipped = megabytes(start["zipped_bytes"], 1) if start["zipped_bytes"] else NOT_MEASURED
        validations = [seconds(statistics.median(start[name])) for name in ["validate_ms", "validate_alone_ms"]]
        rows.append([
            SIDES[start["side"]], f"{statistics.median(start['handshake_ms']):.1f} ms", f"{min(start['handshake_ms']):.1f} ms",
            *validations, megabytes(start["bytes"], 1), zipped, len(start["handshake_ms"]),
        ])
    return "## Start and size\n\n" + table(heads, rows)


def goals(parts, network, grown):
    """The goals with the measured values, and the reasons for goals that were not reached."""
    rows, reasons = [], []

    def add(what, limit, value, shown, goal, why=None):
        if value is None:
            rows.append([what, goal, NOT_MEASURED, ""])
            return
        is_reached = value <= limit
        rows.append([what, goal, shown, "reached" if is_reached else f"**not reached**: {value / limit:.2f} times the goal"])
        if not is_reached and why:
            reasons.append(f"- *{sentence(what)}.* {why()}\n")

    def share(what, topology, operation, of, part, why=None):
        ours, theirs = ((network.median(topology, side, operation, of) if topology else None) for side in SIDES)
        value = None if ours is None or theirs is None else ours / theirs
        add(what, 1 / part, value, fraction(ours, theirs) if value is not None else "", f"at most 1/{part}", why)

    def plain(what, limit, value, shown, goal, why=None):
        add(what, limit, value, shown(value) if value is not None else "", goal, why)

    at = lambda latency, pending=0: network.find(azs=3, latency_ms=latency, nat_pending_s=pending)
    of_fgw = lambda topology, operation, of: network.median(topology, "fgw", operation, of) if topology else None
    start = next((it for it in (parts.get("start") or {"start": []})["start"] if it["side"] == "fgw"), None)

    def plan_at_once():
        took, emulator, terraform, provider = (
            seconds(of_fgw(at(0), "plan", of)) for of in ["wall_ms", "emulator_ms", "terraform_cpu_ms", "provider_cpu_ms"])
        return (f"Of {took}, the emulator was busy for {emulator}, because it processes one call at a time. Terraform took "
                f"{terraform} of CPU, and the provider {provider} in all its starts. With fewer calls, the provider would "
                "read less of the network.")

    def slow_gateways():
        rest = seconds(of_fgw(slow, "apply", "wall_ms") - pending * 1000)
        ready = at(slow["latency_ms"])
        return (f"In addition to the wait, it took {rest}. An apply whose NAT gateways are available at once takes "
                f"{seconds(of_fgw(ready, 'apply', 'wall_ms'))}: Terraform with its starts of the provider, "
                f"{of_fgw(ready, 'apply', walked):g} sequential calls, and an emulator that was busy for "
                f"{seconds(of_fgw(slow, 'apply', 'emulator_ms'))}, because unlike AWS it processes one call at a time. The "
                "pause between polls is an eighth of the time waited, so a sixteenth of it is lost on average; shorter pauses "
                "would mean more calls.")

    def far_away():
        more = of_fgw(far, "apply", walked) - of_fgw(far, "apply", lambda sample: len(sample["chain"]))
        return (f"The apply has {more:g} more sequential calls than the path, which take {seconds(more * 200)}: polls until a "
                "change is visible, above all the attachment of the internet gateway, without which a NAT gateway fails "
                "permanently, and the last of the routes. The rest is Terraform with its starts of the provider, and an "
                f"emulator that was busy for {seconds(of_fgw(far, 'apply', 'emulator_ms'))}, because unlike AWS it processes "
                "one call at a time.")

    def memory():
        binary = megabytes(start["bytes"], 1) if start else "an unknown size"
        return (f"The binary has {binary}. At commit 03508152, `/proc/PID/smaps` showed at the peak 7.3 MB of its code, 3.3 MB "
                "of its other pages, 2.1 MB of system libraries, and 5 MB of heap and stacks. For each page of code that is "
                "used, the kernel counts its neighbors within 64 kB too. A release links the functions that runs execute next "
                "to each other, in the order that `make order` records.")

    def many_networks():
        took, emulator, terraform, provider = (
            seconds(of_many(of)) for of in ["wall_ms", "emulator_ms", "terraform_cpu_ms", "provider_cpu_ms"])
        return (f"Of {took}, the emulator was busy for {emulator}. Terraform took {terraform} of CPU, and the provider {provider}.")

    def validation():
        return (f"On this machine, Terraform takes {seconds(of_start('validate_alone_ms'))} of it for a configuration without a "
                "provider. The rest is two starts of the provider, each with a TLS connection, and reading its schema.")

    share("plan without changes, no latency: wall time", at(0), "plan", "wall_ms", 50, plan_at_once)
    share("plan without changes, no latency: CPU", at(0), "plan", "provider_cpu_ms", 80)
    share("plan without changes, 50 ms: wall time", at(50), "plan", "wall_ms", 12)
    share("apply, 50 ms, NAT gateways available at once", at(50), "apply", "wall_ms", 8)
    slow = next((it for it in network.topologies if it["nat_pending_s"]), None)
    pending = slow["nat_pending_s"] if slow else 0
    apply = of_fgw(slow, "apply", "wall_ms")
    plain(f"apply, 50 ms, NAT gateways pending for t = {pending or 5} s", (pending + 1.5) * 1000, apply, seconds, "at most t + 1.5 s",
          slow_gateways)
    far = at(200)
    apply = of_fgw(far, "apply", "wall_ms")
    bound = of_fgw(far, "apply", "bound_ms")
    shown = lambda value: f"{seconds(value)}, {value / bound:.2f} times {seconds(bound)}"
    plain("apply, 200 ms", 1.5 * bound if bound else 1, apply, shown, "at most 1.5 times the critical path", far_away)
    share("destroy, 50 ms", at(50), "destroy", "wall_ms", 8)
    peak = of_fgw(at(50), "apply", "peak_kb")
    plain("memory of the provider, apply at 50 ms", 18e6, peak and peak * 1024, lambda value: megabytes(value, 1), "at most 18 MB", memory)
    for operation, limit in [("apply", 80), ("plan", 16), ("destroy", 65)]:
        calls = of_fgw(at(0), operation, without_polls)
        plain(f"AWS calls without polls: {operation}", limit, calls, lambda value: f"{value:g}", f"at most {limit}")
    is_plain = lambda it: it["kind"] == "network" and it["copies"] == 1 and not it["full"]
    sizes = [topology for topology in grown.topologies if is_plain(topology)]
    counts = {grown.median(topology, "fgw", "plan", all_calls) for topology in sizes}
    counts = sorted(counts - {None})
    spread = counts[-1] - counts[0] + 1 if len(sizes) > 1 and counts else None
    shown = lambda _: ", ".join(f"{count:g}" for count in counts) + " at " + ", ".join(str(it["azs"]) for it in sizes) + " AZs"
    plain("AWS calls of a plan, by size", 1, spread, shown, "independent of size")
    many = grown.find(kind="network", copies=20, latency_ms=50)
    of_many = lambda of: grown.median(many, "fgw", "plan", of) if many else None
    plain("AWS calls of a plan of 20 networks", 90, of_many(all_calls), lambda value: f"{value:g}", "at most 90")
    plain("plan of 20 networks, 50 ms", 3000, of_many("wall_ms"), seconds, "at most 3 s", many_networks)
    of_start = lambda name: statistics.median(start[name]) if start else None
    plain("provider start to handshake", 15, of_start("handshake_ms"), lambda value: f"{value:.1f} ms", "at most 15 ms")
    plain("binary, stripped", 25e6, start and start["bytes"], lambda value: megabytes(value, 1), "at most 25 MB")
    plain("binary, zipped", 10e6, start and start["zipped_bytes"], lambda value: megabytes(value, 1), "at most 10 MB")
    plain("terraform validate", 150, of_start("validate_ms"), seconds, "at most 0.15 s", validation)
    heads = ["Network of 49 objects, compared with hashicorp/aws", "goal", "measured", ""]
    text = "## Goals\n\n" + row(heads) + row(["---"] * 4) + "".join(row(cells) for cells in rows) + "\n"
    return text + ("Reasons for the goals that were not reached:\n\n" + "".join(reasons) + "\n" if reasons else "")


def paths(network):
    """The chains, the times that they require, and the times of fgw."""
    rows, chains = [], {}
    for topology in network.topologies:
        for operation in OPERATIONS:
            samples = network.samples(topology, "fgw", operation)
            if not samples or not samples[0]["chain"]:
                continue
            chain = chains.setdefault(operation, {"calls": samples[0]["chain"], "holds": True})
            chain["holds"] &= all(sample["chain_holds"] for sample in samples)
            wall, bound = (network.median(topology, "fgw", operation, of) for of in ["wall_ms", "bound_ms"])
            if bound:
                rows.append([title(topology), operation, seconds(bound), seconds(wall), f"{wall / bound:.2f}",
                             f"{network.median(topology, 'fgw', operation, walked):g}"])
    if not rows:
        return ""
    heads = ["", "operation", "critical path", "fgw", "ratio", "sequential calls"]
    text = "## The critical path\n\n" + table(heads, rows, left=2)
    text += ("The last column is the number of sequential calls of fgw, counted from its last call backward: the predecessor "
             "of a call is the one that ended last before the call started.\n\n")
    for operation, chain in chains.items():
        seen = "in this order in each run" if chain["holds"] else "not in this order in each run"
        text += f"- {operation}: {', '.join(chain['calls'])} ({seen}).\n"
    return text + "\n"


def origins(parts):
    text = "## Machine and date\n\n"
    lines = {}
    for name, part in parts.items():
        origin = part["origin"]
        changed = ", with changes" if origin["changed"] else ""
        line = (f"`{origin['command']}` on {origin['date']} at commit {origin['commit'] or 'of an exported tree'}{changed}: "
                f"{origin['cores']} cores ({origin['cpu']}), {origin['memory_gb']:g} GB of memory, {origin['os']} "
                f"({origin['kernel']}), {origin['terraform']}")
        lines.setdefault(line, []).append(name)
    return text + "".join(f"- {', '.join(names)}: {line}.\n" for line, names in lines.items())


def page(parts):
    network, gateway, grown = (Measured(parts.get(name)) for name in ["network", "gateway", "growth"])
    text = INTRODUCTION + "\n"
    if all("aws" not in part["sides"] for part in parts.values()):
        text += "hashicorp/aws was not measured, so there are no ratios.\n\n"
    elif network.topologies and gateway.topologies:
        text += PICTURE + "\n"
    for difference in (it for part in parts.values() for it in part["differences"]):
        text += (f"**{SIDES[difference['side']]} has not created the same objects as the first run of "
                 f"{title(difference['topology'])}.** Their numbers, and those of the first run: "
                 f"{json.dumps(difference['made'])}.\n\n")
    text += ratios(network, "## The network") + ratios(gateway, "## The gateway")
    text += goals(parts, network, grown) + growth(grown) + paths(network) + starts(parts.get("start"))
    for name, measured in [("network", network), ("gateway", gateway)]:
        if measured.topologies:
            text += f"## The {name}: absolute values\n\n" + absolutes(measured)
    return text + METHOD + "\n" + origins(parts)


def main():
    parts = load(pathlib.Path(sys.argv[1]))
    if not parts:
        sys.exit(f"{sys.argv[1]} contains no results: run make bench")
    file = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else PAGE
    file.write_text(page(parts))
    print(f"Wrote {file} from: {', '.join(parts)}")


main()
