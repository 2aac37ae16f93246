"""Compiled loops that several packages share: plain functions on arrays, compiled by numba.

They are compiled at the first call. Importing this module loads numba, so callers import it where
they use it.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

from weigh import errors, numpy_kernels
from weigh.numpy_kernels import BYTE_TABLE


class _Compiling(event.Listener):
    """Passes on that numba compiles a function: it has not found it in its cache."""

    def on_start(self, event: Any) -> None:
        if errors.on_compile is not None:
            errors.on_compile()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Compiling())


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function to run without the interpreter lock, cached on disk if possible."""
    try:
        return njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba has no writable folder for its cache
        return njit(nogil=True)(function)  # type: ignore[no-any-return]


@compiled
def split_mix(bits: Any) -> Any:
    """Hash 64 bits by the finaliser of splitmix64; the same on every machine."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def count(codes: Any, classes: Any, out: Any) -> None:
    """Add one to out[code, class] for each row."""
    for i in range(codes.shape[0]):
        out[codes[i], classes[i]] += 1


@compiled
def count_weighted(codes: Any, classes: Any, weight: Any, out: Any) -> None:
    """Add the row's weight to out[code, class] for each row."""
    for i in range(codes.shape[0]):
        out[codes[i], classes[i]] += weight[i]


LANES = 4
"""Rows counted at a time, each in its own array, so that no addition waits for the one before."""


@compiled
def count_codes(codes: Any, out: Any) -> None:
    """Add one to out[lane, code] for each row; the sum over lanes counts the codes."""
    n_rows = codes.shape[0]
    for i in range(0, n_rows - 3, LANES):
        for lane in range(LANES):
            out[lane, codes[i + lane]] += 1
    for i in range(n_rows - n_rows % LANES, n_rows):
        out[0, codes[i]] += 1


BATCH, WIDTH, FEW_CODES, FEW_CLASSES = 240, 32, 8, 4
"""Rows and columns that are compared with each of the few codes at once. The counts of a batch fit
into bytes, of which a vector register holds as many as there are columns."""


@compiled
def count_bytes(
    cells: Any, step: int, n_columns: int, classes: Any, n_classes: int, out: Any
) -> None:
    """Add one to out[class, column, code] for each cell of a matrix of codes below 256.

    `cells` are the bytes of the matrix, in which a row starts every `step` bytes. `out` is flat,
    with BYTE_TABLE counters for each class and column.
    """
    n_parts = (n_columns + WIDTH - 1) // WIDTH
    suits = n_classes <= FEW_CLASSES and 4 * n_columns >= WIDTH
    found = np.zeros((n_classes, n_parts, FEW_CODES * WIDTH), dtype=np.uint32)
    for first in range(0, classes.shape[0], BATCH):
        own, start = classes[first : first + BATCH], first * step
        last = start + (own.shape[0] - 1) * step
        whole = suits and last + n_parts * WIDTH <= cells.shape[0]
        if whole and _join_bits(cells[start : last + n_columns]) < FEW_CODES:
            _compare_batch(cells[start:], step, own, found)
        else:
            _count_batch(cells[start:], step, n_columns, own, out)
    for k in range(n_classes if suits else 0):
        for j in range(n_columns):
            for code in range(FEW_CODES):
                at = code * WIDTH + j % WIDTH
                out[(k * n_columns + j) * BYTE_TABLE + code] += found[k, j // WIDTH, at]


@compiled
def _join_bits(cells: Any) -> Any:
    """Bits that any byte has: no byte is larger."""
    bits = np.uint8(0)
    for i in range(cells.shape[0]):
        bits = np.uint8(bits | cells[i])  # numba's |= would widen each byte to 64 bits
    return bits


@compiled
def _count_batch(cells: Any, step: int, n_columns: int, classes: Any, out: Any) -> None:
    """Count cells one by one.

    Unsigned numbers and steps of a constant spare the check of negative positions and a
    multiplication in each cell.
    """
    for i in range(classes.shape[0]):
        at = np.uint64(i) * np.uint64(step)
        table = np.uint64(classes[i]) * np.uint64(n_columns) * np.uint64(BYTE_TABLE)
        for j in range(n_columns):
            out[table + np.uint64(cells[at + np.uint64(j)])] += np.uint32(1)
            table += np.uint64(BYTE_TABLE)


@compiled
def _compare_batch(cells: Any, step: int, classes: Any, found: Any) -> None:
    """Count cells below FEW_CODES: found[class, part of the columns, code * WIDTH + column].

    The rows of a class are listed, and compared with each code four at a time; the compiler makes
    one vector instruction of the comparisons of WIDTH columns.
    """
    starts, counts = np.empty(BATCH, np.uint64), np.empty(FEW_CODES * WIDTH, np.uint8)
    one, four, width = np.uint64(1), np.uint64(4), np.uint64(WIDTH)
    for k in range(found.shape[0]):
        n, start = np.uint64(0), np.uint64(0)
        for i in range(classes.shape[0]):
            starts[n] = start
            n += np.uint64(classes[i] == k)
            start += np.uint64(step)
        for part in range(found.shape[1]):
            shift = np.uint64(part) * width
            counts[:] = 0
            s = np.uint64(0)
            while s + four <= n:
                a, b = starts[s] + shift, starts[s + one] + shift
                c, d = starts[s + one + one] + shift, starts[s + four - one] + shift
                for j in range(WIDTH):
                    p = np.uint64(j)
                    in_a, in_b, in_c, in_d = cells[a + p], cells[b + p], cells[c + p], cells[d + p]
                    for code in range(FEW_CODES):
                        counts[code * WIDTH + j] += (
                            np.uint8(in_a == code)
                            + np.uint8(in_b == code)
                            + np.uint8(in_c == code)
                            + np.uint8(in_d == code)
                        )
                s += four
            while s < n:
                a = starts[s] + shift
                for j in range(WIDTH):
                    in_a = cells[a + np.uint64(j)]
                    for code in range(FEW_CODES):
                        counts[code * WIDTH + j] += np.uint8(in_a == code)
                s += one
            for at in range(counts.shape[0]):
                found[k, part, at] += counts[at]


@compiled
def look_up(codes: Any, table: Any, out: Any) -> None:
    """Look up codes in a table: out[i] = table[codes[i]]."""
    for i in range(codes.shape[0]):
        out[i] = table[codes[i]]


@compiled
def sum_codes(codes: Any, weight: Any, out: Any) -> None:
    """Add each row's weight to out[code]; a single weight applies to all rows."""
    step = 1 if weight.shape[0] == codes.shape[0] else 0
    for i in range(codes.shape[0]):
        out[codes[i]] += weight[i * step]


@compiled
def count_tokens(starts: Any, tokens: Any, times: Any, classes: Any, weight: Any, out: Any) -> None:
    """Add weight times count to out[token, class] for each token of each row.

    Row i has tokens[starts[i]:starts[i + 1]]. A single weight applies to all rows.
    """
    step = 1 if weight.shape[0] == classes.shape[0] else 0
    for i in range(classes.shape[0]):
        label, w = classes[i], weight[i * step]
        for p in range(starts[i], starts[i + 1]):
            out[tokens[p], label] += w * times[p]


@compiled
def add_one(totals: Any, codes: Any, weights: Any) -> None:
    """Add weights[code] to the total of each row, in one column."""
    for i in range(codes.shape[0]):
        totals[i, 0] += weights[codes[i], 0]


@compiled
def add_many(totals: Any, codes: Any, weights: Any) -> None:
    """Add weights[code] to the totals of each row, in one column per class."""
    for i in range(codes.shape[0]):
        code = codes[i]
        for k in range(weights.shape[1]):
            totals[i, k] += weights[code, k]


def add_bytes(totals: Any, matrix: Any, weights: Any) -> None:
    """Add weights[column, code] to the total of each row, for a matrix of codes below 256.

    Each row adds its columns in order. Eight codes are read at once, as one number of 64 bits.
    The words may be unaligned. numba takes them for aligned, which x86-64 and ARM64 do not mind.
    """
    joined = matrix.shape[1] // 8 * 8 if sys.byteorder == "little" else 0
    _add_words(totals, matrix[:, :joined].view(np.uint64), matrix[:, joined:], weights.ravel())


@compiled
def _add_words(totals: Any, words: Any, rest: Any, weights: Any) -> None:
    """Add the weights of codes, eight a word at first. Four rows at a time keep the adder busy."""
    byte, n_rows = np.uint64(255), words.shape[0]
    for i in range(0, n_rows - 3, 4):
        a, b, c, d = totals[i, 0], totals[i + 1, 0], totals[i + 2, 0], totals[i + 3, 0]
        table = np.uint64(0)
        for j in range(words.shape[1]):
            p, q, r, s = words[i, j], words[i + 1, j], words[i + 2, j], words[i + 3, j]
            for bit in range(0, 64, 8):
                shift = np.uint64(bit)
                a += weights[table + ((p >> shift) & byte)]
                b += weights[table + ((q >> shift) & byte)]
                c += weights[table + ((r >> shift) & byte)]
                d += weights[table + ((s >> shift) & byte)]
                table += np.uint64(BYTE_TABLE)
        for j in range(rest.shape[1]):
            a += weights[table + np.uint64(rest[i, j])]
            b += weights[table + np.uint64(rest[i + 1, j])]
            c += weights[table + np.uint64(rest[i + 2, j])]
            d += weights[table + np.uint64(rest[i + 3, j])]
            table += np.uint64(BYTE_TABLE)
        totals[i, 0], totals[i + 1, 0], totals[i + 2, 0], totals[i + 3, 0] = a, b, c, d
    for i in range(n_rows - n_rows % 4, n_rows):
        table = np.uint64(0)
        for j in range(8 * words.shape[1]):
            code = (words[i, j // 8] >> np.uint64(8 * (j % 8))) & byte
            totals[i, 0] += weights[table + code]
            table += np.uint64(BYTE_TABLE)
        for j in range(rest.shape[1]):
            totals[i, 0] += weights[table + np.uint64(rest[i, j])]
            table += np.uint64(BYTE_TABLE)


_exponential = compiled(numpy_kernels.exponential)


@compiled
def exponentials(x: Any) -> None:
    """Replace numbers up to 0 by their exponentials: without branches, several at once."""
    flat = x.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = _exponential(flat[i])


AT_ONCE = 512
"""Rows whose exponentials are computed at once."""


@compiled
def logistic(totals: Any, out: Any) -> None:
    """Turn log odds into the probabilities of both classes, without overflow or cancellation."""
    likely, rare = np.zeros(AT_ONCE), np.zeros(AT_ONCE)
    for start in range(0, totals.shape[0], AT_ONCE):
        own, part = totals[start : start + AT_ONCE, 0], out[start : start + AT_ONCE]
        for i in range(own.shape[0]):
            rare[i] = -abs(own[i])
        exponentials(rare)
        for i in range(AT_ONCE):  # np.divide spares the branch for a division by zero
            likely[i] = np.divide(1.0, 1.0 + rare[i])
            rare[i] = np.divide(rare[i], 1.0 + rare[i])
        for i in range(own.shape[0]):
            winner = 1 if own[i] >= 0 else 0
            part[i, winner], part[i, 1 - winner] = likely[i], rare[i]


@compiled
def ovr(totals: Any, out: Any) -> None:
    """Turn the log odds of each class against the rest into probabilities that sum to one."""
    n_classes = totals.shape[1]
    for start in range(0, totals.shape[0], AT_ONCE):
        own, part = totals[start : start + AT_ONCE], out[start : start + AT_ONCE]
        small = -np.abs(own)
        exponentials(small)
        for i in range(own.shape[0]):
            top = min(own[i].max(), 0.0)  # avoids underflow if all are far below 0
            for k in range(n_classes):
                part[i, k] = -top if own[i, k] >= 0 else own[i, k] - top
        exponentials(part)
        part /= 1.0 + small
        _share(part)


@compiled
def softmax(totals: Any, out: Any) -> None:
    """Turn one total per class into probabilities."""
    for start in range(0, totals.shape[0], AT_ONCE):
        own, part = totals[start : start + AT_ONCE], out[start : start + AT_ONCE]
        for i in range(own.shape[0]):
            top = own[i].max()
            for k in range(own.shape[1]):
                part[i, k] = own[i, k] - top
        exponentials(part)
        _share(part)


@compiled
def _share(parts: Any) -> None:
    """Divide by the sum of each row, added from the first class to the last."""
    for i in range(parts.shape[0]):
        norm = 0.0
        for k in range(parts.shape[1]):
            norm += parts[i, k]
        for k in range(parts.shape[1]):
            parts[i, k] = np.divide(parts[i, k], norm)


SEARCHED = 64
"""Numbers whose bins are searched at once, step by step: no step depends on a guessed branch."""


@compiled
def digitize(values: Any, cuts: Any, specials: Any, missing: int, out: Any) -> None:
    """Code numbers by the number of cuts below them; special values get the codes after these.

    NaN gets the code `missing`. The search halves the cuts that are left, for all numbers alike.
    """
    n_cuts, n_rows, one = cuts.shape[0], values.shape[0], np.uint64(1)
    found = np.empty(SEARCHED, np.uint64)
    for first in range(0, n_rows, SEARCHED):
        own = values[first : first + SEARCHED]
        below, left = found[: own.shape[0]], np.uint64(n_cuts)
        below[:] = np.uint64(0)
        while left > 0:
            half = (left + one) >> one
            for i in range(own.shape[0]):
                below[i] += half * np.uint64(cuts[below[i] + half - one] < own[i])
            left -= half
        for i in range(own.shape[0]):
            code = np.int64(below[i])
            for s in range(specials.shape[0]):
                if own[i] == specials[s]:
                    code = n_cuts + 1 + s
            out[first + i] = missing if np.isnan(own[i]) else code


@compiled
def logistic_moments(
    totals: Any,
    target: Any,
    weight: Any,
    groups: Any,
    roles: Any,
    slope: Any,
    curvature: Any,
    sums: Any,
) -> None:
    """Derivatives of the log loss in nats by the total of each row; sums of losses.

    target is 0, 1 or, if a row stands for several, the share of ones. roles[group] is 1 for
    training rows, 2 for hold-out rows and 0 for others. To sums are added the training loss, the
    number of misclassified training rows, and the hold-out loss. A single weight or group applies
    to all rows.
    """
    of_weight, of_group = int(weight.shape[0] > 1), int(groups.shape[0] > 1)
    loss, products, n_factors = np.zeros(3), np.ones(3), np.zeros(3)
    wrong = 0
    for i in range(totals.shape[0]):
        role, w = roles[groups[i * of_group]], weight[i * of_weight]
        slope[i] = curvature[i] = 0.0
        if role == 0:
            continue
        total, share = totals[i], target[i]
        small = np.exp(-abs(total))
        wrong_share = share if total < 0 else 1.0 - share
        loss[role] += w * abs(total) * wrong_share
        if small < 1e-4:  # ln(1 + small)
            loss[role] += w * small * (1.0 - small * (0.5 - small / 3.0))
        elif of_weight:
            loss[role] += w * np.log1p(small)
        else:  # one logarithm of a product in place of many
            products[role] *= 1.0 + small
            n_factors[role] += 1
            if n_factors[role] == 256:
                loss[role] += w * np.log(products[role])
                products[role], n_factors[role] = 1.0, 0.0
        if role == 2:
            continue
        wrong += wrong_share > 0 or total == 0
        inverse = 1.0 / (1.0 + small)
        slope[i] = w * ((1.0 if total >= 0 else small) * inverse - share)
        curvature[i] = w * small * inverse * inverse
    sums[0] += loss[1] + weight[0] * np.log(products[1])
    sums[1] += wrong
    sums[2] += loss[2] + weight[0] * np.log(products[2])


@compiled
def softmax_moments(
    totals: Any,
    labels: Any,
    weight: Any,
    groups: Any,
    roles: Any,
    slope: Any,
    probability: Any,
    sums: Any,
) -> None:
    """Probabilities, derivatives of the log loss in nats by each total, and sums of losses.

    Weights, groups, roles and sums are those of `logistic_moments`.
    """
    of_weight, of_group = int(weight.shape[0] > 1), int(groups.shape[0] > 1)
    n_classes = totals.shape[1]
    loss, wrong = np.zeros(3), 0
    for i in range(totals.shape[0]):
        role, w, own = roles[groups[i * of_group]], weight[i * of_weight], labels[i]
        top = totals[i].max()
        norm, others, n_top = 0.0, 0.0, 0
        for k in range(n_classes):
            probability[i, k] = np.exp(totals[i, k] - top)
            norm += probability[i, k]
            n_top += totals[i, k] >= totals[i, own]
            if k != own:
                others += probability[i, k]
        for k in range(n_classes):
            probability[i, k] /= norm
            slope[i, k] = w * probability[i, k] if role == 1 else 0.0
        if role == 1:
            slope[i, own] = -w * others / norm  # p - 1 would lose digits for p near 1
            wrong += n_top > 1
        if totals[i, own] == top:
            loss[role] += w * np.log1p(others)
        else:
            loss[role] += w * (top + np.log(norm) - totals[i, own])
    sums[0] += loss[1]
    sums[1] += wrong
    sums[2] += loss[2]


@compiled
def multiplier(target: Any, values: Any, norm: float) -> float:
    """Solve sum (target/(values + lambda))^2 = norm for lambda >= 0; 0 if the sum at 0 is smaller.

    Newton steps on 1/length, which is nearly linear in lambda, so they converge from the left.
    """
    low, total = 0.0, 0.0
    for i in range(values.shape[0]):
        if target[i] != 0.0:
            total += (target[i] / values[i]) ** 2
    if total <= norm:
        return 0.0
    for _ in range(100):
        length2, slope = 0.0, 0.0
        for i in range(values.shape[0]):
            if target[i] != 0.0:
                part = target[i] / (values[i] + low)
                length2 += part * part
                slope += part * part / (values[i] + low)
        length = np.sqrt(length2)
        step = length2 / slope * (length / np.sqrt(norm) - 1.0)
        low += step
        if abs(step) <= 1e-15 * low or length2 <= norm:
            break
    return low
