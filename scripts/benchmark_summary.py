# SPDX-License-Identifier: Apache-2.0
"""The summary of bench/results: eight operations, ours and every peer's, quiet and loaded.

A cell names the result that it comes from by a letter, and the letters stand below the table with
device and commit. A cell is empty (an em dash) where nobody measured, or where the peer has no such
operation.
"""
import re

NOTHING = "—"


class Source:
    """Figures of one kind: the quiet CPU, the loaded CPU or the GPU."""

    def __init__(self, results):
        self.results = results

    def find(self, name, pattern, field, smallest):
        """Value and result of the rows of `name` that match; the latest result that has one."""
        found = None
        for result in self.results:
            if result["name"] != name:
                continue
            values = [row[field] for row in result["rows"]
                      if re.search(pattern, row["what"]) and row["unit"] == "ms"
                      and row[field] is not None]
            if values:
                found = (min(values) if smallest else values[0], result)
        return found


def is_gpu(result):
    return "NVIDIA" in result["device"]


def sources(results):
    """The kinds of figures; of each, results in the order of their dates."""
    ordered = sorted(results, key=lambda result: result.get("date", ""))
    loaded = [r for r in ordered if r["name"].endswith("_loaded")]
    return {"quiet": Source([r for r in ordered if not is_gpu(r) and r not in loaded]),
            "loaded": Source(loaded),
            "gpu": Source([r for r in ordered if is_gpu(r)])}


def row(title, ours, gpu=None, pcl=None, opencv=None, open3d=None, loaded=None):
    return {"title": title, "ours": ours, "gpu": gpu, "pcl": pcl, "opencv": opencv,
            "open3d": open3d, "loaded": loaded}


# Patterns are (benchmark, rows); of several rows of a peer the fastest counts.
ROWS = [
    row("bilateral filter 11 × 11, VGA",
        ours=("depth", r"bilateral .*OpenCV.*2 threads"),
        gpu=("surface-speed", r"^bilateral filter 11 x 11$"),
        pcl=("depth", r"bilateral .*PCL.*2 threads"),
        opencv=("depth", r"bilateral .*OpenCV.*2 threads"),
        loaded=("depth_loaded", r"bilateral .*loaded, median")),
    row("normals 7 × 7, VGA",
        ours=("surface", r"normals 7x7, VGA, OpenCV RgbdNormals FALS"),
        gpu=("surface-speed", r"^normals 7 x 7, by rays$|^normals 7 x 7$"),
        pcl=("surface", r"normals 7x7, VGA, PCL"),
        opencv=("surface", r"normals 7x7, VGA, OpenCV"),
        open3d=("surface", r"normals 7x7, VGA, Open3D"),
        loaded=("surface_loaded", r"normals 7x7.*loaded, median")),
    row("triangles, VGA, with list of indices (GPU: without)",
        ours=("surface", r"triangulation, VGA, mask and index list"),
        gpu=("surface-speed", r"^triangulation$"),
        pcl=("surface", r"triangulation, VGA, mask and index list"),
        loaded=("surface_loaded", r"triangulation.*loaded, median")),
    row("normals of 292 k points in any order, 15 nearest",
        ours=("neighbours", r"synthetic scan, normals, k = 15, peer NormalEstimationOMP"),
        pcl=("neighbours", r"synthetic scan, normals, k = 15, peer NormalEstimationOMP"),
        open3d=("neighbours", r"synthetic scan, normals, k = 15, peer Open3D"),
        loaded=("neighbours_loaded", r"cloud normals.*loaded, median")),
    row("curvature 37 × 37, VGA (PCL: 20 mm)",
        ours=("curvature", r"curvature, VGA, cpu, 37x37 .*5 iterations"),
        gpu=("curvature-speed", r"^640 x 480, patch 37 x 37$"),
        pcl=("curvature", r"curvature, VGA, cpu, 37x37, PCL Normal"),
        loaded=("curvature_loaded", r"curvature, VGA.*loaded, median")),
    row("segmentation, VGA, noisy depth (PCL: planes alone)",
        ours=("segment", r"segmentation, VGA, PCL OrganizedMultiPlane.*noise$"),
        gpu=("segment_device", r"segmentation, VGA \(cuda"),
        pcl=("segment", r"segmentation, VGA, PCL OrganizedMultiPlane.*noise$"),
        loaded=("segment_loaded", r"segmentation, VGA.*loaded, median")),
    row("SHOT of 36 k points, 280 to 315 neighbours",
        ours=("shot", r"281 neighbours: SHOT352, PCL"),
        gpu=("shot-speed", r"^36000 points x 315 neighbours, exact$"),
        pcl=("shot", r"281 neighbours: SHOT352, PCL"),
        loaded=("shot_loaded", r"SHOT352.*loaded, median")),
    row("depth to 200 tensors, VGA",
        ours=("tensor", r"depth to 200 tensors, all steps \(\d+ threads"),
        gpu=("tensor", r"depth to 200 tensors, all steps \(cuda")),
]
COLUMNS = ["CPU", "CPU, loaded", "GPU", "PCL", "PCL, loaded", "OpenCV", "OpenCV, loaded", "Open3D"]


def figures_of(entry, kinds):
    """One (value, result) or None for each column."""
    def find(kind, key, field, smallest=False, also=""):
        if not entry[key]:
            return None
        name, pattern = entry[key]
        return kinds[kind].find(name, pattern + also, field, smallest)

    def loaded_peer(names):
        return find("loaded", "loaded", "peer", smallest=True, also=f".*peer ({names})")

    return [find("quiet", "ours", "ours"), find("loaded", "loaded", "ours"),
            find("gpu", "gpu", "ours"), find("quiet", "pcl", "peer", smallest=True),
            loaded_peer("PCL|NormalEstimationOMP"), find("quiet", "opencv", "peer", smallest=True),
            loaded_peer("OpenCV"), find("quiet", "open3d", "peer", smallest=True)]


def day_of(result):
    """When it was measured; of older results only the day of their commit is known."""
    day = result.get("date") or result.get("commit_date")
    return f" of {day}" if day else ""


def summary(results, number):
    """The table, and the list of what its letters stand for."""
    kinds = sources(results)
    letters = {}
    lines = ["| milliseconds | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    for entry in ROWS:
        cells = []
        for figure in figures_of(entry, kinds):
            if figure is None:
                cells.append(NOTHING)
                continue
            value, result = figure
            origin = (result["device"], str(result["commit"]), day_of(result))
            letter = letters.setdefault(origin, chr(ord("a") + len(letters)))
            cells.append(f"{number(value)} <sup>{letter}</sup>")
        lines.append("| " + " | ".join([entry["title"], *cells]) + " |")
    notes = "; ".join(f"{letter}: {device}, commit {commit}{day}"
                      for (device, commit, day), letter in letters.items())
    return "\n".join(lines) + "\n\n" + f"{notes}. A dash: not measured, or the peer has none."
