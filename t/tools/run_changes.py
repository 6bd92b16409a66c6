#!/usr/bin/env python3
"""A model of trstat --diff for many runs, by the words of trstat-diff(7).

usage: run_changes.py COLUMNS OLD.csv... -- NEW.csv... <DIFF.csv

Each CSV is the table of one run, by trstat -t csv -c COLUMNS,count. DIFF.csv is the difference that trstat printed. All
divisions of the runs are counted, so that there must be few.
"""
import csv
import itertools
import math
import sys

SUMS = {"total", "self", "count", "total_percent", "self_percent", "rate"}


def t_tail(t, freedom):
    """The probability of a value beyond t or -t of Student's distribution, by Simpson's rule."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    # x = sqrt(freedom) tan(a)
    n, h = 400, math.atan(t / math.sqrt(freedom)) / 400
    return 1 - 2 * scale * h / 3 * sum(
        math.cos(i * h) ** (freedom - 1) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1))


def t_bound(freedom, alpha):
    low, high = 0.0, 1e4
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > alpha else (low, middle)
    return low


def variance(values, resolution):
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1) + resolution ** 2 / 12


def welch(a, b, resolution):
    """The difference of the means, its error and degrees of freedom; None: too few values."""
    if not a or not b or len(a) + len(b) < 3:
        return None
    of_a = variance(a if len(a) > 1 else b, resolution) / len(a)
    of_b = variance(b if len(b) > 1 else a, resolution) / len(b)
    if len(a) == 1 or len(b) == 1:
        freedom = len(a) + len(b) - 2
    elif of_a + of_b == 0:
        freedom = 1
    else:
        freedom = (of_a + of_b) ** 2 / (of_a ** 2 / (len(a) - 1) + of_b ** 2 / (len(b) - 1))
    return sum(b) / len(b) - sum(a) / len(a), math.sqrt(of_a + of_b), freedom


def clearness(a, b, resolution):
    return max(clear_without(a, b, resolution, z) for a, b, z in [
        (a, b, by_ranks(a, b) if len(a) >= 10 and len(b) >= 10 else 0), *without_far_run(a, b, resolution)])


def without_far_run(a, b, resolution):
    """Both sides without the run that is farthest from the mean of its side, if it is far from the others."""
    if len(a) < 4 or len(b) < 4:
        return
    both = [(side, i) for side in (0, 1) for i in range(len((a, b)[side]))]
    far = max(both, key=lambda at: abs((a, b)[at[0]][at[1]] - sum((a, b)[at[0]]) / len((a, b)[at[0]])))
    left = [[v for i, v in enumerate(values) if (side, i) != far] for side, values in enumerate((a, b))]
    squares = [sum((v - sum(values) / len(values)) ** 2 for v in values) for values in (a, b, *left)]
    off = squares[0] + squares[1] - squares[2] - squares[3]
    if off > 0 and off >= 49 * ((squares[2] + squares[3]) / (len(a) + len(b) - 3) + resolution ** 2 / 12):
        yield (*left, 0)


def clear_without(a, b, resolution, z):
    found = welch(a, b, resolution)
    if not found or abs(found[0]) < 1e-9:
        return z
    t, n = abs(found[0]) / found[1], found[2]
    return max(z, (8 * n + 1) / (8 * n + 3) * math.sqrt(n * math.log1p(t * t / n)))


def by_ranks(a, b):
    """Wilcoxon's sum of the ranks of b, in standard deviations from its mean."""
    both = a + b
    ranks = [sum(w < v for w in both) + (sum(w == v for w in both) + 1) / 2 for v in both]
    n, mean = len(both), (len(both) + 1) / 2
    squares = sum((r - mean) ** 2 for r in ranks)
    if not a or not b or squares == 0:
        return 0
    return abs(sum(ranks[len(a):]) - len(b) * mean) / math.sqrt(len(a) * len(b) / n / (n - 1) * squares)


def resolution_of(column, values, counts):
    known = [abs(v) for v in values if v is not None]
    if len(set(values)) == 1:
        return 0
    if column.startswith("p") and column[1:].replace(".", "").isdigit():
        mean = int(sum(known) / len(known))
        return 2 ** max(mean.bit_length() - 1 - 7, 0)
    if column in SUMS and len(set(counts)) > 1:
        return max(1, sum(known) / sum(counts))
    return 1


def read(paths, columns):
    """By group and column the values of the runs, None where a run has none."""
    runs = []
    for path in paths:
        with open(path, encoding="utf-8", newline="") as f:
            runs.append({row["name"]: row for row in csv.DictReader(f)})
    groups = {}
    for name in sorted(set().union(*runs)):
        counts = [float(r[name]["count"]) if name in r else 0 for r in runs]
        for column in columns:
            values = [float(r[name][column]) if name in r and r[name][column] else None for r in runs]
            if column in SUMS:
                values = [v or 0 for v in values]
            groups[name, column] = values, resolution_of(column, values, counts)
    return groups


def present(values, runs):
    return [values[i] for i in runs if values[i] is not None]


def p_values(groups, old, new):
    """Westfall and Young's step-down maxT over all divisions."""
    every = range(old + new)

    def all_clear(of_new):
        rest = [i for i in every if i not in of_new]
        return {key: clearness(present(v, rest), present(v, of_new), r) for key, (v, r) in groups.items()}
    real = all_clear(set(range(old, old + new)))
    order = sorted(groups, key=real.get)
    as_clear, ways = dict.fromkeys(groups, 0), 0
    for of_new in itertools.combinations(every, new):
        ways += 1
        clear, most = all_clear(set(of_new)), 0
        for key in order:
            most = max(most, clear[key])
            as_clear[key] += most >= real[key] * (1 - 1e-9)
    p, most = {}, 0
    for key in reversed(order):
        most = p[key] = max(most, as_clear[key] / ways)
    return p


def near(text, value, tolerance):
    return text != "" and abs(float(text) - value) <= tolerance


def check(row, column, values, resolution, old, p):
    a, b = present(values, range(old)), present(values, range(old, len(values)))
    cell = {what: row[f"{column}_{what}"] for what in ("a", "b", "change", "low", "high", "effect", "p")}
    rounded = 0.51 if column != "count" else 0.001
    for side, name in ((a, "a"), (b, "b")):
        if side and not near(cell[name], sum(side) / len(side), rounded):
            return f"mean {name}"
        if not side and cell[name]:
            return f"mean {name} of nothing"
    found = welch(a, b, resolution)
    if not found:
        return cell["p"] and "a test of too few values"
    half = found[1] * t_bound(found[2], 0.05)
    error = 0.001 * half + 1
    for name, value in (("low", found[0] - half), ("high", found[0] + half)):
        if not near(cell[name], value, error):
            return f"{name} is not {value}"
    if not near(cell["change"], found[0], rounded):
        return "change"
    effect = sum((y > x) - (y < x) for x in a for y in b) / len(a) / len(b)
    return not near(cell["effect"], effect, 0.0001) and "effect" or not near(cell["p"], p, 0.001) and f"p is not {p}"


def main(columns, *paths):
    columns, between = columns.split(","), paths.index("--")
    old, new = between, len(paths) - between - 1
    groups = read([path for path in paths if path != "--"], columns)
    p, compared, least = p_values(groups, old, new), 0, 1
    for row in csv.DictReader(sys.stdin):
        for column in columns:
            key = row["name"], column
            wrong = check(row, column, *groups[key], old, p[key])
            if wrong:
                sys.exit(f"{key}: {wrong}: {row}")
            compared += 1
            least = min(least, p[key])
    if compared != len(groups):
        sys.exit(f"{compared} of {len(groups)} statistics")
    print(f"{compared} statistics, least p {least:.3g}")


main(*sys.argv[1:])
