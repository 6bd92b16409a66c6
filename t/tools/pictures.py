#!/usr/bin/env python3
"""The numbers of a picture: pictures.py histogram|timeline|heatmap|states SVG

Prints a line for each frame, its numbers read from its tooltip: "name, low, high, count" of a histogram,
"name, time, value" of a timeline, "name, time, low, high, count" of a heat map, each with the label of its plot
before; of states "begin, thread, state, time". Exits with 1 where a frame is not where the axes of the picture
say, where the steps of an axis are not 1, 2 or 5 times a power of ten, where a frame is no picture with a name for
readers of screens, or the picture has no title and no description.
"""
import collections
import fractions
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LEFT, INSIDE, NEAR = 10, 1180, 0.005
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def number(text):
    """The number of "1.5 ms" or "7"."""
    value, _, unit = text.partition(" ")
    return fractions.Fraction(value) * UNITS.get(unit, 1)


def check(true, *what):
    if not true:
        sys.exit(" ".join(map(str, what)))


def near(a, b, *what):
    check(abs(a - b) <= NEAR, *what, "is at", a, "not", b)


def is_round(step):
    digits = f"{float(step):.12e}".split("e")[0].rstrip("0").rstrip(".")
    return digits in ("1", "2", "5")


def children(group, name):
    return group.findall(SVG + name)


def tooltip(frame):
    name, _, value = frame.find(SVG + "title").text.rpartition(" (")
    check(frame.get("role") == "img" and frame.get("tabindex") == "0", name, "is no picture")
    rect = frame.find(SVG + "rect")
    return name, value[:-1], {key: float(rect.get(key)) for key in ("x", "y", "width", "height")}


def read_ticks(groups, axis):
    """The places of the labels of ticks, x or y, by their numbers."""
    ticks = []
    for tick in groups:
        text = tick.find(SVG + "text").text
        if tick.get("class") == "tick" and text:
            ticks.append((number(text), float(tick.find(SVG + "line").get(axis + "1"))))
    return ticks


def check_counts(ticks):
    """Test a linear scale; return its places of 0 and of 1."""
    check(len(ticks) > 1 and ticks[0][0] == 0, "ticks", ticks)
    step = ticks[1][0] - ticks[0][0]
    check(is_round(step), "step", step)
    each = (ticks[1][1] - ticks[0][1]) / float(step)
    for at, (value, place) in enumerate(ticks):
        check(value == at * step, "tick", value)
        near(place, ticks[0][1] + each * float(value), "tick", value)
    return ticks[0][1], each


def time_axis(root):
    axis = root.find(f"{SVG}g[@class='axis']")
    span = int(root.get("data-span"))
    end = check_counts(read_ticks(axis, "x"))[1] * span
    check(abs(end - INSIDE) < 0.02, "the axis ends at", end)
    return INSIDE / span


def histogram(root):
    plot, bars, counts, values = None, [], [], []

    def end():
        if plot is None:
            return
        zero, each = check_counts(counts)
        for low, high, count, rect in bars:
            near(rect["y"] + rect["height"], zero, "bar", low)
            near(rect["height"], max(1, -each * count), "height of", low)
            # a value of the axis is where the bar of it begins, or between its edges
            for value, place in values:
                if low <= value <= high:
                    check(rect["x"] - NEAR <= place <= rect["x"] + rect["width"] + NEAR, "tick", value)
                else:
                    check(place <= rect["x"] + NEAR if value < low else place >= rect["x"] + rect["width"] - NEAR,
                          "tick", value, "at", place, "bar", low, high, rect)
            print(plot, int(low), int(high), count, sep="\t")
        bars.clear(), counts.clear(), values.clear()

    for element in root:
        if element.get("class") == "lane":
            end()
            plot = element.text
        elif element.get("class") == "tick":
            text = element.find(SVG + "text")
            (counts if text.get("text-anchor") == "end" else values).extend(
                read_ticks([element], "y" if text.get("text-anchor") == "end" else "x"))
        elif (element.get("class") or "").startswith("f"):
            name, value, rect = tooltip(element)
            low, high = map(number, name.split(" to "))
            bars.append((low, high, int(value.partition(",")[0]), rect))
    end()


def timeline(root):
    each = time_axis(root)
    lanes = [group for group in children(root, "g") if group.find(f"{SVG}text[@class='lane']") is not None]
    for lane in lanes:
        heights = []
        for frame in children(lane, "g"):
            name, value, rect = tooltip(frame)
            words, at = value.split(" at ")
            value = number(words.partition(" ")[2])
            near(rect["x"], LEFT + each * float(number(at)), name, at)
            heights.append((value, rect["height"]))
            print(name, int(number(at)), value, sep="\t")
        for value, height in heights:
            # times in tooltips have three decimals
            check(abs(height - max(1, float(value / max(heights)[0]) * max(heights)[1])) < 0.05, "height of", value)


def heatmap(root):
    each = time_axis(root)
    groups = children(root, "g")
    legends = [g for g in groups if g.get("class") == "legend"]
    lanes = [g for g in groups if g.find(f"{SVG}text[@class='lane']") is not None and g not in legends]
    for lane, legend in zip(lanes, legends):
        shades = [(int(re.match(r"\d+", text.text)[0]), group.get("class"))
                  for group, text in zip(children(legend, "g"), children(legend, "text"))]
        check(all(is_round(least) for least, _ in shades), shades)
        check(shades == sorted(shades) and len(set(shade for _, shade in shades)) == len(shades), shades)
        rows = collections.defaultdict(set)
        for frame in children(lane, "g"):
            name, value, rect = tooltip(frame)
            low, high, at = re.fullmatch("(.*) to (.*) at (.*)", value).groups()
            count = int(name.split()[0])
            near(rect["x"], LEFT + each * float(number(at)), name, value)
            shade = [shade for least, shade in shades if least <= count][-1]
            check(frame.get("class") == "f " + shade, name, frame.get("class"), "not", shade)
            rows[rect["y"]].add((number(low), number(high)))
            print(lane.find(SVG + "text").text, int(number(at)), int(number(low)), int(number(high)), count, sep="\t")
        order = [rows[y] for y in sorted(rows, reverse=True)]
        check(all(len(row) == 1 for row in order) and order == sorted(order, key=min), "rows", order)


def states(root):
    each = time_axis(root)
    for lane in children(root, "g"):
        label = lane.find(SVG + "text")
        if label is None or not label.text or not label.text.endswith(", states"):
            continue
        tid = re.search(r"\[(\d+)\], states", label.text)[1]
        for frame in children(lane, "g"):
            name, value, rect = tooltip(frame)
            time, at = map(number, re.fullmatch(r"(.*) at (.*), .*%", value).groups())
            near(rect["x"], LEFT + each * float(at), name, at)
            near(rect["width"], each * float(time), name, time)
            print(int(at), tid, name, int(time), sep="\t")


def main():
    root = ElementTree.parse(sys.argv[2]).getroot()
    for name, words in ("labelledby", "title"), ("describedby", "desc"):
        texts = {e.get("id"): e.text for e in children(root, words)}
        check(texts.get(root.get("aria-" + name)), "no", words)
    {"histogram": histogram, "timeline": timeline, "heatmap": heatmap, "states": states}[sys.argv[1]](root)


main()
