"""The commands levers and letter, and the texts of reason codes."""

from __future__ import annotations

from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import (
    check_output,
    find_class,
    is_card,
    label_text,
    read_any,
    read_labels,
    read_like,
    take_row,
)
from weigh.cli.group import hint, main, print_found, say

texts_option = options.option(
    "--texts FILE",
    "Texts of the reason codes (JSON): texts by feature, level_texts by feature and level.",
)


may_change_option = options.option(
    "--may-change COL[:up|:down]",
    "A column that may change, and in which direction (repeatable).",
    multiple=True,
)


@main.command()
@options.model
@options.data
@options.row
@may_change_option
@options.option(
    "--cut-off P|SCORE",
    "Lowest accepted probability of the positive class, or lowest accepted score of a scorecard "
    "(default: even odds).",
    type=float,
)
@options.pos_label
@options.option("-n", "Maximum number of changes to list.", least=1, default=3)
@options.as_json
def levers(
    model: str, data: str, row: int, may_change: tuple[str, ...], as_json: bool, **asked: Any
) -> None:
    """List the smallest changes of a row that cross a cut-off.

    Example: weigh levers card.json loans.csv --row 3 --may-change income:up --cut-off 600
    """
    import weigh

    fitted = read_any(model)
    case = take_row(read_like(fitted, data), row)
    asked["pos_label"] = find_class(fitted, asked["pos_label"])
    found = weigh.levers(fitted, case, _read_changes(may_change, fitted), **asked)
    print_found(found, as_json)
    if found.crossed and asked["pos_label"] is None and not is_card(fitted):
        other = label_text(fitted.classes_.tolist()[0])
        hint(f"--pos-label {quote(other)} looks for changes that make {other} more probable")


@main.command()
@click.argument("card", metavar="CARD")
@options.data
@options.row
@options.option(
    "--cut-off SCORE",
    "The lowest score that is accepted (a score, not a probability).",
    type=int,
    required=True,
)
@options.option("--reasons", "Number of reasons.", to="n", least=1, default=4)
@may_change_option
@texts_option
@options.labels
@options.option("-o --output FILE", "Text, or HTML (.html).", default="-")
def letter(
    card: str,
    data: str,
    row: int,
    cut_off: int,
    may_change: tuple[str, ...],
    texts: str | None,
    labels: str | None,
    output: str,
    **asked: Any,
) -> None:
    """Write an adverse-action letter with the main reasons.

    It is for an applicant whose score is below a cut-off.

    With --may-change it lists the smallest changes that reach the cut-off, with the names of
    --labels. The file of --texts may also hold the parts of the letter: sender, recipient, date,
    title and closing.

    Example: weigh letter card.json loans.csv --row 3 --cut-off 600 -o letter.html
    """
    from weigh.writing import write_text

    check_output(output, card, data, *filter(None, (texts, labels)))
    fitted = read_any(card)
    if not is_card(fitted):
        raise ValueError(
            f"{card} is a model, not a scorecard; weigh scorecard makes a card from it"
        )
    changes = _read_changes(may_change, fitted) if may_change else None
    given = read_texts(texts, parts=True)
    worded = fitted.with_texts(given.pop("texts", None), given.pop("level_texts", None))
    case = take_row(read_like(fitted, data), row)
    asked |= {"may_change": changes, "labels": read_labels(labels)}
    made = worded.letter(case, cut_off, **asked, **given.pop("letter", {}))
    if changes and not made.changes:
        names = ", ".join(map(repr, changes))
        say(f"note: no change of {names} reaches the cut-off, so the letter lists no changes")
    if plain := [repr(text) for text in made.reasons if worded.texts.get(text) == text]:
        say(f"note: the reasons {', '.join(plain)} are names of columns")
        hint("--texts texts.json words them for the applicant")
    if output == "-":
        click.echo(made.to_text(), nl=False)
        return
    write_text(made.to_html() if output.endswith(".html") else made.to_text(), output)
    say(f"Letter: {output}")


REASONS = ("texts", "level_texts")
LETTER = ("sender", "recipient", "date", "title", "closing")


def read_texts(path: str | None, parts: bool = False) -> dict[str, Any]:
    """Read a file of reason-code texts, and with `parts` also the parts of a letter."""
    from weigh.store import read_json

    if path is None:
        return {}
    found = read_json(path, "a file of texts")
    known = (*REASONS, "letter")
    if not isinstance(found, dict):
        raise ValueError(f"{path} must hold an object with {', '.join(known)}, as the docs show")
    for name, part in found.items():
        _check_key(path, name, part, known)
    letter = found.pop("letter", {})
    if not isinstance(letter, dict) or not all(map(_is_part, letter.items())):
        raise ValueError(
            f"{path}: letter must hold texts of {', '.join(LETTER)} (closing: a list of paragraphs)"
        )
    if "closing" in letter:
        letter["closing"] = tuple(letter["closing"])
    return found | ({"letter": letter} if parts else {})


def _check_key(path: str, name: str, part: Any, known: tuple[str, ...]) -> None:
    from weigh.frames import did_you_mean

    if name not in known:
        meant = did_you_mean(name, known)
        if name in LETTER:
            meant = f"; put {name} into the object letter"
        raise ValueError(f"{path} has the key {name!r}, but it may hold {', '.join(known)}{meant}")
    if not isinstance(part, dict):
        raise ValueError(f"{path}: {name} must be an object, got {part!r:.80}")


def _is_part(item: tuple[str, Any]) -> bool:
    """Whether an item is a known part of a letter with text; the closing is a list of texts."""
    name, text = item
    lines = text if name == "closing" and isinstance(text, list) else [text]
    right = isinstance(text, list) == (name == "closing")
    return name in LETTER and right and all(isinstance(line, str) for line in lines)


def _read_changes(given: tuple[str, ...], model: Any) -> dict[str, str]:
    """Columns and directions; a column whose name ends in :up or :down is taken as a name."""
    if not given:
        raise click.UsageError("give --may-change COL for each column that may change")
    found = {}
    for text in given:
        name, colon, direction = text.rpartition(":")
        whole = not colon or direction not in ("up", "down") or text in model._column_names()
        found[text if whole else name] = "any" if whole else direction
    return found
