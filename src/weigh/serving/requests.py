"""Parsing and validation of requests: JSON rows, or an error that names the field."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from weigh.formula import Input, Row, Scorer
from weigh.frames import NOT_KNOWN

MOST_SHOWN = 60
"""Most characters of a value or a name in an error message."""

MOST_COMPARED = 4000
"""Most characters of all names together for which an error suggests a similar name."""


class RefusalError(Exception):
    """A request that cannot be answered, with the message, the field, the row and the status."""

    def __init__(
        self, error: str, field: str | None = None, *, row: int | None = None, status: int = 422
    ) -> None:
        super().__init__(error)
        self.error, self.field, self.row, self.status = error, field, row, status

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        where = {} if self.row is None else {"row": self.row}
        return {"error": self.error, "field": self.field, **where}


@dataclass(frozen=True)
class RequestedRows:
    """The rows of a request; if `single`, the response is an object and not a list.

    `ids` holds the ids of the rows; None if no row has one.
    """

    rows: Sequence[Row]
    single: bool
    ids: Sequence[Any] | None = None


def parse(body: bytes) -> Any:
    """Parse strict JSON: NaN, Infinity, huge numbers and deep nesting are errors."""
    try:
        return _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RefusalError(f"the body is not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise RefusalError("the body is nested too deeply; a row is one flat object") from None
    except ValueError as error:
        raise RefusalError(f"the body is not JSON: {shorten(str(error))}") from None


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not valid JSON; send null where a value is missing")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a duplicate name is an error, because either value may be meant."""
    row = dict(pairs)
    if len(row) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise RefusalError(f"{_show(name)} occurs twice in one object", shorten(name))
    return row


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_read_object)


def read_rows(body: bytes, scorer: Scorer, most_rows: int) -> RequestedRows:
    """Read a row (an object) or {"rows": [...]}, and check each against the model's columns."""
    data = parse(body)
    if not isinstance(data, dict):
        raise RefusalError(
            f'the body is {_say(data)}; send a row as an object, or {{"rows": [...]}}'
        )
    listed = data.get("rows")
    if isinstance(listed, list):
        rows = _read_many(data, listed, scorer, most_rows)
        return RequestedRows(rows, False, _take_ids(rows, scorer))
    if "rows" in data and "rows" not in scorer.types:
        raise RefusalError(f"rows must be a list of objects, not {_say(listed)}", "rows")
    check_row(data, scorer)
    return RequestedRows((data,), True, _take_ids([data], scorer))


ID = "id"
"""The field that is passed through, unless the model has a column of that name."""


def _take_ids(rows: Sequence[dict[str, Any]], scorer: Scorer) -> list[Any] | None:
    """Remove and return the ids of the rows; None if `id` is a column or no row has one."""
    if ID in scorer.types or not any(ID in row for row in rows):
        return None
    return [row.pop(ID, None) for row in rows]


def _read_many(data: Row, rows: list[Any], scorer: Scorer, most_rows: int) -> list[dict[str, Any]]:
    beside = next((name for name in data if name != "rows"), None)
    if beside is not None:
        raise RefusalError(f"{_show(beside)} is outside rows; put it into each row", beside)
    if len(rows) > most_rows:
        raise RefusalError(
            f"{len(rows):,} rows were sent, but at most {most_rows:,} are allowed", "rows"
        )
    for i, row in enumerate(rows):
        try:
            if not isinstance(row, dict):
                raise RefusalError(f"a row must be an object, not {_say(row)}", "rows")
            check_row(row, scorer)
        except RefusalError as refusal:
            refusal.row = i
            raise
    return rows


def check_row(row: Row, scorer: Scorer) -> None:
    """Raise an error for columns that the model does not have, and for values of other types."""
    for name, value in row.items():
        types = scorer.types.get(name)
        if types is None:
            if name == ID:
                if type(value) not in (str, int, type(None)):
                    told = f"id must be text or a whole number, not {_say(value)}"
                    raise RefusalError(told, ID)
                continue
            raise _unknown(name, scorer)
        if value is not None and type(value) not in types:
            raise _wrong(next(f for f in scorer.formula.inputs if f.name == name), value)
        if _is_too_large(value):
            raise RefusalError(f"{_show(name)} is a number that no float can hold", name)
    for column in scorer.formula.offsets:
        value = row.get(column.name)
        if not column.allows(value):
            limit = "above 0, or left out for one unit" if column.role == "exposure" else "finite"
            raise RefusalError(
                f"{_show(column.name)}, the {column.role}, must be {limit}, not {_say(value)}",
                column.name,
            )


def _unknown(name: str, scorer: Scorer) -> RefusalError:
    known = [*scorer.types]
    few = sum(map(len, known)) <= MOST_COMPARED
    near = get_close_matches(name[:MOST_SHOWN], known, 1) if few else []
    more = f", ... ({len(known)} in all)" if len(known) > 5 else ""
    meant = (
        f"did you mean {_show(near[0])}?"
        if near
        else (f"there are {', '.join(map(_show, known[:5]))}{more}")
    )
    return RefusalError(f"the model has no field {_show(name)}; {meant}", shorten(name))


def _wrong(field: Input, value: Any) -> RefusalError:
    wanted = " or ".join(kind.singular for kind in field.accepted)
    return RefusalError(
        f"{_show(field.name)} must be {wanted}, or left out where it is not known, not "
        f"{_say(value)}",
        field.name,
    )


def _is_too_large(value: Any) -> bool:
    """Whether no float can hold a JSON number, such as the integer 10**400 or the float 1e400."""
    if type(value) is int:
        return value.bit_length() > 1000 and abs(value) > sys.float_info.max
    return type(value) is float and math.isinf(value)


def _say(value: Any) -> str:
    """A description of a JSON value for an error message."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    kind = "text" if isinstance(value, str) else "true or false" if value in (True, False) else ""
    return f"{'the ' + kind + ' ' if kind == 'text' else ''}{_show(value)}"


def _show(value: Any) -> str:
    """A value as JSON, shortened."""
    return shorten(json.dumps(value, ensure_ascii=False))


def shorten(text: str) -> str:
    """A text cut to `MOST_SHOWN` characters."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def fill_row(row: Row, scorer: Scorer) -> dict[str, Any]:
    """The row with every column of the model; absent fields are not known."""
    return {name: row.get(name, NOT_KNOWN) for name in scorer.features}


@dataclass(frozen=True)
class Wish:
    """Optional parts of a response: the number of reasons, and notes on the fields.

    Notes are of all fields without evidence if True, of none if False, and by default of values
    that training did not have: a client that misspells a category must notice.
    """

    reasons: int = 0
    notes: bool | None = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wish:
        """Read the query parameters of a request; unknown ones are an error."""
        for name in query:
            if name not in ("reasons", "notes"):
                raise RefusalError(f"{_show(name)} is not reasons or notes", shorten(name))
        reasons, notes = query.get("reasons", "0"), query.get("notes")
        if not (reasons.isascii() and reasons.isdecimal() and len(reasons) <= 4):
            raise RefusalError(f"reasons must be a whole number, not {_show(reasons)}", "reasons")
        if notes not in (None, "true", "false"):
            raise RefusalError(f"notes must be true or false, not {_show(notes)}", "notes")
        return cls(int(reasons), None if notes is None else notes == "true")


NOTHING = Wish()


def find_class(name: str | None, classes: Mapping[str, Any], role: str) -> Any:
    """A class by its display name; an unknown name is an error."""
    if name is None:
        return None
    if name not in classes:
        known = ", ".join(map(_show, [*classes][:10]))
        told = f"these are {known}" if classes else "it estimates a number"
        raise RefusalError(f"{role}={_show(name)} is no class of the model; {told}", role)
    return classes[name]
