# SPDX-License-Identifier: Apache-2.0
"""Points over logarithmic axes as SVG, for the plots of docs/."""
import math

WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 20, 50
COLOURS = ["#c0392b", "#2e6da4", "#3a8f4d", "#8e5aa8", "#b8860b", "#555555"]


def decades(values):
    return (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{words}</text>'


def axes(place, x_range, y_range, x_label):
    parts = []
    for decade in range(x_range[0], x_range[1] + 1):
        x, _ = place(10.0**decade, 1)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 18, f"{10.0**decade:g}"))
    for decade in range(y_range[0], y_range[1] + 1):
        _, y = place(1, 10.0**decade)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y + 4, f"{10.0**decade:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turn = f'transform="rotate(-90 18 {middle})"'
    parts.append(text(18, middle, "milliseconds", "middle", turn))
    return parts


def plot(series, x_label):
    points = [point for line in series.values() for point in line]
    x_range = decades([x for x, _ in points])
    y_range = decades([y for _, y in points])

    def place(x, y):
        across = (math.log10(x) - x_range[0]) / (x_range[1] - x_range[0])
        up = (math.log10(y) - y_range[0]) / (y_range[1] - y_range[0])
        return (
            LEFT + across * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
        )

    parts = axes(place, x_range, y_range, x_label)
    for i, (name, line) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        for x, y in (place(*point) for point in line):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        # The line through the largest total along which time is in proportion.
        largest, time = line[-1]
        first = max(10.0 ** x_range[0], 10.0 ** y_range[0] * largest / time)
        (x0, y0), (x1, y1) = place(first, first * time / largest), place(largest, time)
        parts.append(
            f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{colour}" fill="none"'
            ' stroke-dasharray="5 4"/>'
        )
        key = TOP + 18 + 18 * i
        parts.append(f'<circle cx="{LEFT + 16}" cy="{key - 4}" r="4" fill="{colour}"/>')
        parts.append(text(LEFT + 28, key, name, "start"))
    return parts


def write(file, series, x_label):
    """{name: [(x, milliseconds)]}, each with the line along which time is in proportion to x."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">'
    )
    body = ['<rect width="100%" height="100%" fill="white"/>', *plot(series, x_label)]
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("\n".join([head, *body, "</svg>"]) + "\n")
