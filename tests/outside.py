"""A reader of model files that knows nothing but docs/model.schema.json: plain Python, no NumPy."""

import math
from itertools import pairwise

BOUND = 1e-10
LARGEST = 700.0  # whose exponential is a number


def read_value(value):
    """A category or number as the file spells it."""
    return float(value["number"]) if isinstance(value, dict) else value


def is_missing(value):
    return value is None or value != value


def find_level(feature, value):
    """The place of a value's level among the feature's, or None for no level."""
    values, cuts = [read_value(v) for v in feature["values"]], feature["cuts"]
    places = feature.get("groups", range(len(values)))
    n_own = len({*places})
    intervals = 0 if cuts is None else len(cuts) + 1
    joins = "other" in feature
    if is_missing(value):
        return intervals + n_own + joins if feature["has_missing"] else None
    for place, known in zip(places, values, strict=True):
        if known == value and isinstance(known, bool) is isinstance(value, bool):
            return intervals + place
    if joins:
        return intervals + n_own
    if cuts is None or isinstance(value, bool | str):
        return None
    return sum(cut < value for cut in cuts)


def find_own(feature, row):
    """The level of a row in one column; a column that the row lacks is not known."""
    known = feature["name"] in row and is_asked(feature, row)
    return find_level(feature, row[feature["name"]]) if known else None


def is_asked(feature, row):
    """Whether the question is asked of a row."""
    return all(find_own(ask["feature"], row) in ask["levels"] for ask in feature.get("asked", []))


def find_place(feature, row):
    """The level of a row in a feature or a cross of two."""
    if "parts" not in feature:
        return find_own(feature, row)
    pair = [find_own(part, row) for part in feature["parts"]]
    return feature["pairs"].index(pair) if pair in feature["pairs"] else None


def find_margin(feature, row):
    """The weights of a cross of which a row has one level only, if it has such weights."""
    pair = [find_own(part, row) for part in feature.get("parts", [])]
    known = [side for side, place in enumerate(pair) if place is not None]
    if "margins" not in feature or len(known) != 1:
        return None
    return feature["margins"][known[0]][pair[known[0]]]


def has_answer(feature, row):
    """Whether a row tells anything of a feature, for the exponent."""
    return not any(
        part["skip_missing"] and (is_missing(row.get(part["name"])) or not is_asked(part, row))
        for part in feature.get("parts", [feature])
    )


def add_weights(evidence, row):
    """The totals of a row before any recalibration."""
    n_totals = len(evidence["prior"])
    sums = [0.0] * n_totals
    for feature in evidence["features"]:
        place = find_place(feature, row)
        own = find_margin(feature, row) if place is None else feature["weights"][place]
        if own is not None:
            sums = [t + w for t, w in zip(sums, own, strict=True)]
    rule, prior = evidence.get("attenuation"), evidence["prior"]
    if rule is None:
        return [p + t for p, t in zip(prior, sums, strict=True)]
    if rule["form"] == "known":
        lacking = [f["name"] for f in evidence["features"] if find_place(f, row) is None]
        unknown = sum(rule["shares"][name] for name in lacking)
        share = (1 + rule["k"] * unknown) ** -0.5
        totals = [p + share * t for p, t in zip(prior, sums, strict=True)]
        return [t + s for t, s in zip(totals, rule["shift"], strict=True)]
    n = sum(has_answer(feature, row) for feature in evidence["features"])
    if rule["form"] == "root":
        share = min(1.0, rule["k"] / (n + 1))
        totals = [share * (p + t) for p, t in zip(prior, sums, strict=True)]
    else:
        share = min(1.0, rule["k"] / n) if n else 1.0
        totals = [p + share * t for p, t in zip(prior, sums, strict=True)]
    return [t + s for t, s in zip(totals, rule["shift"], strict=True)]


def recalibrate(curve, total):
    """What a total is worth on a curve."""
    points, levels, slopes = curve["points"], curve["levels"], curve["slopes"]
    if curve["method"] == "isotonic":
        p = levels[0] if total <= points[0] else levels[-1]
        for (left, low), (right, high) in pairwise(zip(points, levels, strict=True)):
            if left < total <= right:
                p = low + (high - low) / (right - left) * (total - left)
        p = min(max(p, BOUND), 1 - BOUND)
        return math.log(p / (1 - p)) + curve["shift"]
    if total <= points[0]:
        return levels[0] + slopes[0] * (total - points[0]) + curve["shift"]
    if total > points[-1]:
        return levels[-1] + slopes[-1] * (total - points[-1]) + curve["shift"]
    k = next(k for k, point in enumerate(points[1:]) if total <= point)
    h = points[k + 1] - points[k]
    s, r = (total - points[k]) / h, (levels[k + 1] - levels[k]) / h
    a, b = slopes[k], slopes[k + 1]
    return levels[k] + h * s * (a + s * (3 * r - 2 * a - b + s * (a + b - 2 * r))) + curve["shift"]


def rise(total):
    """The probability of log odds."""
    if total < 0:
        return math.exp(max(total, -LARGEST)) / (1 + math.exp(max(total, -LARGEST)))
    return 1 / (1 + math.exp(-min(total, LARGEST)))


def grow(total):
    """The number of a total with a log link, which may be beyond all doubles."""
    return math.exp(total) if total < LARGEST else math.inf


def link_totals(link, totals):
    """Probabilities of the classes, or the estimate of a number."""
    if link in ("identity", "log"):
        return [totals[0] if link == "identity" else grow(totals[0])]
    if link == "logistic":
        return [rise(-totals[0]), rise(totals[0])]
    parts = [math.exp(max(t - max(totals), -LARGEST)) for t in totals]
    if link == "ovr":
        parts = [rise(t) for t in totals]
    return [part / sum(parts) for part in parts]


def score_evidence(evidence, row):
    totals = add_weights(evidence, row)
    if "recalibration" in evidence:
        totals = [recalibrate(evidence["recalibration"], totals[0])]
    return link_totals(evidence["link"], totals)


def score_tree(tree, row, node=0):
    """The probabilities of a row from a node downwards."""
    below = [k for k, parent in enumerate(tree["parent"]) if parent == node]
    feature = tree["feature"][node]
    place = find_place(tree["features"][feature], row) if feature >= 0 else None
    if feature >= 0 and place is None and below:
        total = sum(sum(tree["counts"][k]) for k in below)
        shares = [sum(tree["counts"][k]) / total for k in below]
        ends = [score_tree(tree, row, k) for k in below]
        return [sum(s * e for s, e in zip(shares, p, strict=True)) for p in zip(*ends, strict=True)]
    there = [k for k in below if tree["level"][k] == place]
    if there:
        return score_tree(tree, row, there[0])
    counts, s = tree["counts"][node], tree["smoothing"]
    return [(count + s) / (sum(counts) + s * len(counts)) for count in counts]


def score_estimate(estimate, row):
    """The smallest number whose level on the curve is at least the total."""
    total = add_weights(estimate["evidence"], row)[0]
    points, levels = estimate["points"], [read_value(v) for v in estimate["levels"]]
    if total <= levels[0]:
        return [points[0]]
    if total > levels[-1]:
        return [points[-1]]
    k = next(k for k, level in enumerate(levels) if level >= total)
    low, high = levels[k - 1], levels[k]
    if estimate["steps"] or math.isinf(high):
        return [points[k]] if estimate["steps"] else [points[k - 1]]
    return [points[k - 1] + (points[k] - points[k - 1]) * (total - low) / (high - low)]


def score(data, row):
    """What a file says of a row: probabilities in the order of its classes, or an estimate."""
    if "evidence" in data:
        return score_evidence(data["evidence"], row)
    return (
        score_tree(data["tree"], row) if "tree" in data else score_estimate(data["estimate"], row)
    )
