"""Model files, CSV files and requests that were changed at random, the same for the same number."""

import copy
import hashlib
import json
import math
import random

ODD = [
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e-320, 1e308, -1e308, 10**20, 10**400, "", "a",
    [], {}, [None], [[]], [0, 1], {"number": "inf"}, {"number": "x"}, {"pairs": []}, "\0", "inf",
    "é" * 300,
]  # fmt: skip


# ---------------------------------------------------------------- model files


def find_slots(value, found=None):
    """Every container of a file with every key or place in it."""
    found = [] if found is None else found
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            find_slots(value[key], found)
    return found


def change_number(rng, value):
    """A number near to another, or far from it."""
    kind = rng.randrange(6)
    if kind == 0:
        return -value
    if kind == 1:
        return value + rng.choice([-1, 1, 0.5])
    if kind == 2:
        return math.nextafter(value, math.inf) if isinstance(value, float) else value + 10**6
    return value * rng.choice([0, 2, 0.001, 1e6, 10**6])


def mutate_model(data, number, kept=()):
    """A copy of a file's data with one to three changes, and a checksum that fits them.

    What stands under the keys of `kept` is not changed.
    """
    rng, data = random.Random(number), copy.deepcopy(data)
    data.pop("checksum", None)
    same = {key: data.pop(key) for key in kept if key in data}
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutate_slot(rng, find_slots(data))
    data |= same
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return data | {"checksum": "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()}


def mutate_slot(rng, slots):
    """One change somewhere in a file."""
    slots = [slot for slot in slots if rng.random() < 0.2] or slots  # not the long lists alone
    home, key = rng.choice(slots)
    value, kind = home[key], rng.randrange(7)
    if kind == 0:
        home[key] = copy.deepcopy(rng.choice(ODD))
    elif kind == 1 and isinstance(value, int | float) and not isinstance(value, bool):
        home[key] = change_number(rng, value)
    elif kind == 2 and isinstance(value, list) and value:
        value.insert(rng.randrange(len(value)), copy.deepcopy(rng.choice(value)))
    elif kind == 3 and isinstance(value, list) and len(value) > 1:
        i, j = rng.sample(range(len(value)), 2)
        value[i], value[j] = value[j], value[i]
    elif kind == 4:
        del home[key]
    elif kind == 5:
        other, there = rng.choice(slots)
        home[key] = copy.deepcopy(other[there])
    elif isinstance(value, str):
        home[key] = value + rng.choice(["", "x", value, "\0"])
    else:
        home[key] = copy.deepcopy(rng.choice(ODD))


# ---------------------------------------------------------------- CSV files

PIECES = [
    b",", b";", b"\t", b"|", b'"', b'""', b"\n", b"\r\n", b"\r", b"\0", b" ", b"1,5", b"1.234,5",
    b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", "Größe".encode(), b"NaN", b"-", b"1e999", b"=1+1", b"'",
    b"%", b"",
]  # fmt: skip


def mutate_bytes(data, number):
    """Bytes with one to four changes: pieces put in, left out, given twice, or other bytes."""
    rng, data = random.Random(number), bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([0, 0, 1, 2, 9]))
        kind = rng.randrange(5)
        if kind == 0:
            data[start:end] = rng.choice(PIECES)
        elif kind == 1:
            data[start:end] = data[start:end] * 2
        elif kind == 2:
            data[start:end] = bytes([rng.randrange(256)])
        elif kind == 3:
            data[start:end] = b""
        else:
            data[start:start] = rng.choice(PIECES) * rng.choice([1, 2, 50])
    return bytes(data)
