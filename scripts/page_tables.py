# SPDX-License-Identifier: Apache-2.0
"""Tables that pages of docs/ show of bench/results, each between two marks of its name."""
import re


class NotMeasured(Exception):
    """Nobody has stored a result yet."""


def latest(results, name):
    """The newest result of a benchmark or experiment on a CPU."""
    found = [r for r in results if r["name"] == name and "NVIDIA" not in r["device"]]
    if not found:
        raise NotMeasured(name)
    return max(found, key=lambda result: result.get("date", ""))


def source(result):
    """The line below a table that says where its figures come from."""
    return (f"\n`./dev bench {result['name']}`, {result['device']}, commit {result['commit']}.\n")


def table(head, lines):
    parts = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    parts += ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join(parts) + "\n"


def faces(results, number):
    """Faces that segmentation finds, by noise and distance."""
    result = latest(results, "segment")
    cells, kinds, distances = {}, {}, []
    for row in result["rows"]:
        match = re.fullmatch(r"faces found( with the right kind)? of (\d+), (.*) at (.*)",
                             row["what"])
        if not match:
            continue
        right, all_faces, depth, distance = match.groups()
        if distance not in distances:
            distances.append(distance)
        if right:
            kinds[depth, distance] = f"{row['ours']:.0f}"
        else:
            cells[depth, distance] = f"{row['ours']:.0f} of {all_faces}"
    depths = list(dict.fromkeys(depth for depth, _ in cells))

    def cell(depth, distance):
        kind = kinds.get((depth, distance))
        return cells[depth, distance] + (f", {kind}" if kind else "")

    lines = [[depth] + [cell(depth, distance) for distance in distances] for depth in depths]
    return table(["depth"] + distances, lines) + source(result)


def segment_speed(results, number):
    """Milliseconds of segmentation beside PCL's, in the same run."""
    result = latest(results, "segment")
    rows = {row["what"]: row for row in result["rows"]}
    lines = []
    for what, row in rows.items():
        match = re.fullmatch(r"segmentation, VGA, PCL OrganizedMultiPlaneSegmentation, (.*)", what)
        if not match:
            continue
        growing = rows[f"segmentation, VGA, PCL RegionGrowing, {match[1]}"]["peer"]
        ratio = rows[f"segmentation, VGA, PCL multi-plane's time over ours, {match[1]}"]["ours"]
        lines.append([match[1], number(row["ours"]), number(row["peer"]), number(ratio),
                      number(growing)])
    head = ["640 × 480", "ours, ms", "PCL multi-plane, ms", "PCL multi-plane / ours",
            "PCL RegionGrowing, ms"]
    return table(head, lines) + source(result)


def cans(results, number):
    """Curvature of cans in real frames."""
    result = latest(results, "real-surfaces")
    rows = {row["what"]: row for row in result["rows"]}
    lines = []
    for what, row in rows.items():
        if not what.startswith("k1 of a "):
            continue
        name = what.removeprefix("k1 of a ")
        share = rows[f"pixels with a curvature on a {name}"]["ours"]
        lines.append([name, number(row["goal"]), number(row["ours"]), number(share) + " %",
                      number(row["peer"])])
    head = ["", "true k1, 1/m", "ours, mean", "valid", "PCL"]
    return table(head, lines) + source(result)


NOISES = ["", ", independent noise"]


def accuracy(results, number):
    """RMS errors of k on the paper's objects, by every method."""
    result = latest(results, "curvature-accuracy")
    rows = {row["what"]: row for row in result["rows"]}
    names = [match[1] for match in (re.fullmatch(r"(.*), RMS error", what) for what in rows)
             if match and "independent" not in match[1]]
    by = ["Douros' least squares", "Besl's weighted least squares", "the paper's method",
          "the paper's method with rejection"]
    lines = []
    for name in names:
        own = rows[f"{name}, RMS error"]
        other = rows.get(f"{name}, independent noise, RMS error")
        default = rows.get(f"{name}, by the default patch, where valid")
        cells = [number(own["paper"])] + [number(rows[f"{name}, by {m}"]["ours"]) for m in by]
        cells += [number(own["peer"]), f"**{number(own['ours'])}**",
                  number(default["ours"]) if default else "",
                  number(rows[f"{name}, valid by default"]["ours"]) + " %"]
        cells += [number(other["peer"]), number(other["ours"])] if other else ["", ""]
        lines.append([name] + cells)
    head = ["", "paper's figure", "Douros", "Besl", "paper's method", "with rejection",
            "PCL, calibrated", "ours, 37 × 37", "default patch", "valid by default",
            "PCL, independent", "ours, independent"]
    return table(head, lines) + source(result)


def correspondence(results, number):
    """The diagonals of the paper's Tables 3 and 4 beside ours and PCL's here."""
    result = latest(results, "curvature-correspondence")
    objects, values = [], {}
    for row in result["rows"]:
        match = re.fullmatch(r"([^,]+), (more than [^,]+|.*?)(, independent noise)?", row["what"])
        if not match or row["unit"] != "%":
            continue
        name, what, noise = match[1], match[2], match[3] or ""
        if what.startswith("more than"):
            values["ours", noise, name], values["PCL", noise, name] = row["ours"], row["peer"]
            values["paper", "", name] = row["paper"]
            if name not in objects:
                objects.append(name)
        else:
            values[what, noise, name] = row["ours"]
            if row["paper"] is not None:
                values["paper's PCL", "", name] = row["paper"]
    kinds = [("paper, Table 3", "paper", ""), ("paper, Table 4: PCL", "paper's PCL", ""),
             ("PCL, calibrated", "PCL", ""), ("ours", "ours", ""),
             ("the most that 400 allow", "if all valid pixels of the object came first", ""),
             ("ours, of as many as are valid", "of as many as the object has valid pixels", ""),
             ("ours, 37 × 37 everywhere", "on patches of 37 x 37", ""),
             ("PCL, independent noise", "PCL", NOISES[1]),
             ("ours, independent noise", "ours", NOISES[1]),
             ("ours, 37 × 37, independent noise", "on patches of 37 x 37", NOISES[1])]
    lines = []
    for title, what, noise in kinds:
        row = [values.get((what, noise, name)) for name in objects]
        if any(value is None for value in row):
            continue
        lines.append([title] + [f"{value:.0f} %" for value in row + [sum(row) / len(row)]])
    return table([""] + objects + ["mean"], lines) + source(result)


def learned(results, number):
    """Captured models and what was learned of them."""
    result = latest(results, "learn-captured")
    objects = {}
    for row in result["rows"]:
        name, what = row["what"].rsplit(", ", 1)
        objects.setdefault(name, {})[what] = row["ours"]

    def symmetries(found):
        turns = f"{found['turns onto itself']:.0f}"
        parts = ["round"] if found["round axes"] else []
        parts += [f"{turns} turn{'' if turns == '1' else 's'}"] if turns != "0" else []
        return ", ".join(parts) or "–"

    lines = [[name, f"{found['triangles']:.0f}", f"{found['diameter']:.1f}", symmetries(found),
              f"{found['views']:.0f}", f"{found['tensors']:.0f}", f"{found['learned in']:.1f}"]
             for name, found in objects.items()]
    head = ["object", "triangles", "diameter, mm", "symmetries", "views", "tensors", "s"]
    return table(head, lines) + source(result)


def hidden(results, number):
    """Toys found on tables, by what hides of them and by what proposed their poses."""
    result = latest(results, "tensor-occlusion")
    rates, counts, others = {}, {}, []
    for row in result["rows"]:
        found = re.fullmatch(r"toys hidden (.*), (found|proposed) by (.*)", row["what"])
        count = re.fullmatch(r"toys hidden (.*)", row["what"])
        if found:
            hides, stage, name = found.groups()
            rates.setdefault(hides, {}).setdefault(name, {})[stage] = f"{row['ours']:.0f}"
        elif count:
            counts[count[1]] = f"{row['ours']:.0f}"
        else:
            paper = "" if row["paper"] is None else f", {number(row['paper'])} in the paper"
            others.append(f"{row['what']}: {number(row['ours'])} {row['unit']}".strip() + paper)
    sources = list(next(iter(rates.values())))
    lines = [[hides, counts[hides]] + [f"{own[name]['proposed']} / {own[name]['found']}"
                                       for name in sources]
             for hides, own in rates.items()]
    return (table(["hidden", "toys"] + [f"{name}, %" for name in sources], lines) + "\n" +
            "\n".join(f"- {other}" for other in others) + "\n" + source(result))


def toys_on_tables(results, number):
    """What is found of toys by how much of them is hidden, and how good it is, beside the goals."""
    result = latest(results, "recognition-tables")
    rows = {row["what"]: row for row in result["rows"]}

    def cell(what):
        return number(rows[what]["ours"]) if what in rows else ""

    def goal(row):
        return "" if row["goal"] is None else number(row["goal"])

    lines, others = [], []
    for what, row in rows.items():
        if re.fullmatch(r"toys hidden (.*), found", what):
            kind = what.rsplit(", ", 1)[0]
            lines.append([kind.removeprefix("toys hidden "), cell(kind), cell(kind + ", proposed"),
                          number(row["ours"]), goal(row)])
        elif not what.startswith("toys hidden"):
            asked = f" (goal: {goal(row)})" if goal(row) else ""
            others.append(f"{what}: {number(row['ours'])} {row['unit']}".strip() + asked)
    head = ["hidden", "toys", "proposed, %", "found, %", "goal, %"]
    return (table(head, lines) + "\n" + "\n".join(f"- {other}" for other in others) + "\n" +
            source(result))


def recognition_times(results, number):
    """Milliseconds of the steps of recognition, by what proposed poses."""
    result = latest(results, "recognition-time")
    cells, papers = {}, {}
    for row in result["rows"]:
        match = re.fullmatch(r"(?:step )?(.*), by (.*)", row["what"])
        if not match:
            continue
        what, sources = match.groups()
        what += f" [{row['unit']}]"
        cells.setdefault(what, {})[sources] = number(row["ours"])
        papers[what] = number(row["paper"])
    columns = list(dict.fromkeys(name for own in cells.values() for name in own))
    lines = [[what, papers[what]] + [own.get(name, "") for name in columns]
             for what, own in cells.items()]
    return table(["", "paper"] + columns, lines) + source(result)


def claimed_errors(results, number):
    """Errors of poses over what their covariances claim, by object and sensor."""
    result = latest(results, "pose-covariance")
    cells, settings, others = {}, [], []
    for row in result["rows"]:
        match = re.fullmatch(r"([^,:]+), ([^:]+): (.*)", row["what"])
        if not match:
            goal = "" if row["goal"] is None else f" (goal {number(row['goal'])})"
            others.append(f"{row['what']}: {number(row['ours'])} {row['unit']}".strip() + goal)
            continue
        name, setting, what = match.groups()
        if setting not in settings:
            settings.append(setting)
        cells.setdefault(name, {}).setdefault(setting, {})[what] = row
    def cell(own):
        error, scatter = own["error over what is claimed"], own["scatter over what is claimed"]
        told = own["directions told, of 6"]["ours"]
        text = f"{error['ours']:.2f} / {scatter['ours']:.2f}"
        text = text if error["met"] else f"**{text}**"
        return text if told > 5.95 else f"{text} ({told:.1f})"
    lines = [[name] + [cell(own[setting]) for setting in settings] for name, own in cells.items()]
    return (table([""] + settings, lines) + "\n" + "\n".join(f"- {other}" for other in others) +
            "\n" + source(result))


PAGE_TABLES = {
    "faces": ("docs/segment.md", faces),
    "segment-speed": ("docs/segment.md", segment_speed),
    "real-cans": ("docs/curvature.md", cans),
    "learn-captured": ("docs/learn.md", learned),
    "curvature-accuracy": ("docs/curvature_command.md", accuracy),
    "curvature-correspondence": ("docs/curvature_command.md", correspondence),
    "tensor-occlusion": ("docs/recognition.md", hidden),
    "recognition-tables": ("docs/recognition.md", toys_on_tables),
    "pose-covariance": ("docs/recognition.md", claimed_errors),
    "recognition-time": ("docs/recognition.md", recognition_times),
}


def page_table(name, results, number):
    """The table, or how to measure it where nobody has."""
    try:
        return PAGE_TABLES[name][1](results, number)
    except NotMeasured as missing:
        return f"Not stored yet; `./dev bench {missing}` measures it.\n"
