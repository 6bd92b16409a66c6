#!/usr/bin/env python3
"""Compare a flame chart with calls or samples: flame_chart.py GRAPH calls DUMP | samples STREAM [--timed] | axis

DUMP is what `uftrace dump` prints; STREAM is read by trstream.py. --timed: the weight of a sample is a time.
Every call must be a frame of its thread's lane at its depth, with its time, and as far from the left and as wide as
its times say. The frames of a sample last until the next sample of its thread, but with --timed only as long as
its weight if the next sample is more than twice as far. Calls shorter than the least time that the chart names, with
their callees, are merged: a run of such calls, with gaps below that time, is one frame if it is long enough. The
least time must be a tenth of a pixel, or what 8000 frames, or 2 MB of the longest possible frames, need. The axis
has ticks at multiples of 1, 2 or 5 times a power of ten, at most ten of them, as near as their texts allow; for
"axis" only that is tested, and the ticks are printed. Exits with 1 if anything differs.
"""
import fractions
import re
import sys
import xml.etree.ElementTree as ElementTree

from amounts import amount

SVG = "{http://www.w3.org/2000/svg}"
TITLE = re.compile(r"(.*) \(([\d.]+ \w+) at ([\d.]+ \w+), ([\d.]+)%\)", re.S)
INSIDE, LEFT, ROW, LEVELS = 1180, 10, 17, 1024
FRAME_BYTES = 280  # most bytes of a frame without its name, which is there twice


class Call:
    def __init__(self, name, start):
        self.name, self.start, self.end, self.callees = name, start, None, []

    def count(self):
        """The number of calls in it, itself too."""
        calls, todo = 0, [self]
        while todo:
            calls += 1
            todo += todo.pop().callees
        return calls


def read_dump(path):
    """The outermost calls of each thread of uftrace."""
    lines, lanes, opened, last = [], {}, {}, {}
    form = re.compile(r"(\d+)\.(\d+) +(\d+): \[(\w+) *\] (.*?)\([0-9a-f]+\)")
    with open(path, encoding="utf-8") as dump:
        for line in dump:
            match = form.match(line)
            if match:
                lines.append((int(match[1]) * 10**9 + int(match[2]), int(match[3]), match[4], match[5]))
    lines.sort(key=lambda line: line[0])
    for now, tid, what, name in lines:
        stack, last[tid] = opened.setdefault(tid, []), now
        scheduled = stack and stack[-1].name.startswith("linux:schedule")
        if name.startswith("linux:sched-out"):
            if not stack:
                continue
            what, name = "entry", "linux:schedule" + name[len("linux:sched-out"):]
        elif name == "linux:sched-in":
            what = "exit" if scheduled else "none"
        if what == "entry":
            call = Call(name, now)
            (stack[-1].callees if stack else lanes.setdefault(str(tid), [])).append(call)
            stack.append(call)
        elif what == "exit":
            stack.pop().end = now
    for tid, stack in opened.items():
        for call in stack:
            call.end = last[tid]
    return lanes


def read_samples(path, timed):
    """The frames of each thread's samples."""
    import trstream
    events, threads, lanes = [], {}, {}
    with open(path, "rb") as stream:
        trstream.read_events(stream.read(), events.append, lambda message: None)
    for event in events:
        if event["kind"] == "sample":
            threads.setdefault(event["tid"], []).append((event["time"], event["stack"] or [], event["weight"]))
    for tid, samples in threads.items():
        spans = []
        for number, (time, stack, weight) in enumerate(samples):
            end = samples[number + 1][0] if number + 1 < len(samples) else None
            if end is None:
                end = time + (weight if timed else time - samples[number - 1][0] if number else 0)
            elif timed and end - time > 2 * weight:
                end = time + weight
            spans.append((time, end, stack))
        lanes[f"{tid}, samples"] = merge_samples(spans)
    return lanes


def merge_samples(spans):
    """Frames of neighbouring samples that have the same callers and name are one."""
    top, opened, until = [], [], None
    for start, end, stack in spans:
        keep = 0
        while until == start and keep < min(len(opened), len(stack)) and opened[keep].name == stack[keep]:
            keep += 1
        del opened[keep:]
        for name in stack[keep:]:
            call = Call(name, start)
            (opened[-1].callees if opened else top).append(call)
            opened.append(call)
        for call in opened:
            call.end = end
        until = end
    return top


def wanted(calls, least, depth=0):
    """The frames that must be drawn: depth, start, time, name."""
    frames, run = [], []

    def end_run():
        if run and run[-1].end - run[0].start >= least:
            plural = "" if len(run) == 1 else "s"
            frames.append((depth, run[0].start, run[-1].end - run[0].start, f"({len(run)} merged frame{plural})"))
        run.clear()

    for call in calls:
        if call.end - call.start >= least and depth < LEVELS:
            end_run()
            frames.append((depth, call.start, call.end - call.start, call.name))
            frames += wanted(call.callees, least, depth + 1)
            continue
        if run and call.start - run[-1].end >= least:
            end_run()
        run.append(call)
    end_run()
    return frames


def drawn(root):
    """The frames of each lane, by its name, and the x and width of each."""
    lanes = {}
    for lane in root.findall(SVG + "g"):
        label = lane.find(SVG + "text")
        if lane.get("class") == "axis" or lane.get("class") == "legend" or label.text.endswith(", states"):
            continue
        frames = []
        for group in lane.findall(SVG + "g"):
            name, time, at, _ = TITLE.fullmatch(group.find(SVG + "title").text).groups()
            rect = group.find(SVG + "rect")
            depth, odd = divmod(int(rect.get("y")) - (int(label.get("y")) - 12) - ROW, ROW)
            if odd:
                sys.exit(f"{name}: y is {rect.get('y')}")
            frames.append((depth, amount(at)[0], amount(time)[0], name, float(rect.get("x")), float(rect.get("width"))))
        lanes[re.fullmatch(r".* \[(\d+)\](.*)", label.text).expand(r"\1\2")] = frames
    return lanes


def read_axis(root):
    """The texts of the axis, and the step of its ticks, each of which must be at its time."""
    span, unit = int(root.get("data-span")), root.get("data-unit")
    ticks, labels, free = root.findall(f"{SVG}g[@class='axis']/{SVG}g[@class='tick']"), [], 0
    lines = [tick.find(SVG + "line").attrib for tick in ticks]
    steps = [n * 10**power for power in range(21) for n in (1, 2, 5)]
    step = min(steps, key=lambda step: abs(step - (float(lines[1]["x1"]) - LEFT) / INSIDE * span)) if ticks[1:] else None
    for number, (tick, line) in enumerate(zip(ticks, lines)):
        text, time = tick.find(SVG + "text"), number * (step or 0)
        begin, label = float(text.get("x")), text.text or ""
        if line["x1"] != line["x2"] or abs(float(line["x1"]) - LEFT - INSIDE * time / span) > 0.001:
            sys.exit(f"tick {number} of step {step} is at {line['x1']}")
        if not label:
            continue
        value, _, name = label.partition(" ")
        scale = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[name] if unit == "ns" else 1
        if fractions.Fraction(value) * scale != time or len(labels) < number or begin < free:
            sys.exit(f"tick {number} of step {step} is {label}, at {begin} after {free}")
        labels.append(label)
        free = begin + 7.25 * len(label)
    if free > 2 * LEFT + INSIDE or len(ticks) != (span // step + 1 if step else 1):
        sys.exit(f"{len(ticks)} ticks of step {step}, up to {free}")
    return labels, step, steps


def check_axis(root):
    span = int(root.get("data-span"))
    labels, step, steps = read_axis(root)
    if step and span / step > 10:
        sys.exit(f"step {step} in {span}")
    # the next smaller step would be too small, or the space less than a text of that length and a gap
    finer = steps[steps.index(step) - 1] if step and step > 1 else None
    space = finer and INSIDE * finer / span
    if finer and span / finer <= 10 and space > 7.25 * (max(map(len, labels)) + 2) + 15:
        sys.exit(f"step {step} in {span}, which has space for {finer}")
    return labels


def check_least(root, lanes, least, span):
    about = root.find(SVG + "text[@class='about head']/" + SVG + "title").text
    seen = re.search(r"by time: ([\d.]+ \w+)", about)[1]
    if amount(seen) != (span, "ns"):
        sys.exit(f"the chart is of {seen}, not {span} ns")
    narrow = re.search(r", (\d+) frames(?: and \d+ states)? too narrow to see \(below ([\d.]+ \w+)", about)
    if narrow:
        least = amount(narrow[2])[0]
    enough = span // (10 * INSIDE) + 1
    if least < enough:
        sys.exit(f"frames of {least} ns are drawn, less than {enough}")
    if least > enough:
        finer = int((least - 1) * 0.8)
        frames = [frame for calls in lanes.values() for frame in wanted(calls, finer)]
        if len(frames) < 8000 and sum(FRAME_BYTES + 2 * len(frame[3]) for frame in frames) < 1.8e6:
            sys.exit(f"frames below {least} ns are merged, without need")
    return least, int(narrow[1]) if narrow else 0


def main():
    sys.setrecursionlimit(10000)
    path, what, source = (sys.argv[1:] + [None])[:3]
    if what == "axis":
        print(", ".join(check_axis(ElementTree.parse(path).getroot())))
        return
    lanes = read_dump(source) if what == "calls" else read_samples(source, "--timed" in sys.argv)
    root = ElementTree.parse(path).getroot()
    with open(path, "rb") as file:
        size = len(file.read())
    if size >= 2_000_000:
        sys.exit(f"{size} bytes")
    check_axis(root)
    origin = min(call.start for calls in lanes.values() for call in calls)
    span = max(1, max(call.end for calls in lanes.values() for call in calls) - origin)
    least, narrow = check_least(root, lanes, span // (10 * INSIDE) + 1, span)
    have, plain = drawn(root), 0
    if set(have) != set(lanes):
        sys.exit(f"lanes {sorted(have)}, not {sorted(lanes)}")
    for lane, calls in lanes.items():
        want = sorted((depth, at - origin, time, name) for depth, at, time, name in wanted(calls, least))
        plain += sum(not name.endswith((" merged frame)", " merged frames)")) for _, _, _, name in want)
        for ours, frame in zip(sorted(frame[:4] for frame in have[lane]), want):
            if ours != frame:
                sys.exit(f"{lane}: {ours}, not {frame}")
        if len(have[lane]) != len(want):
            sys.exit(f"{lane}: {len(have[lane])} frames, not {len(want)}")
        for _, at, time, name, x, width in have[lane]:
            if abs(x - LEFT - INSIDE * at / span) > 0.001 or abs(width - INSIDE * time / span) > 0.001:
                sys.exit(f"{lane}: {name} is at {x}, {width} wide")
    calls = sum(call.count() for calls in lanes.values() for call in calls)
    if narrow != calls - plain:
        sys.exit(f"{narrow} frames are too narrow, not {calls - plain}")
    print(f"{plain} of {calls} frames, below {least} ns {narrow}, {size} bytes")


main()
