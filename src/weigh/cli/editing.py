"""The command that opens the editor in the browser. It imports what it needs when it runs."""

from __future__ import annotations

import atexit
import os
import tempfile
import webbrowser
from typing import TYPE_CHECKING

import click

from weigh.cli import options
from weigh.cli.data import (
    check_output,
    find_class,
    is_card,
    keep_apart,
    read_any,
    read_cut_off,
    read_like,
    read_with_target,
)
from weigh.cli.group import hint, main, say

if TYPE_CHECKING:
    from weigh.workbench import Session


def open_privately(address: str) -> None:
    """Open a page through a file that only this user can read.

    Other users could read the secret address in the command line of the browser.
    """
    number, path = tempfile.mkstemp(prefix="weigh-edit-", suffix=".html")
    with os.fdopen(number, "w") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={address}">')
    atexit.register(os.unlink, path)
    webbrowser.open(f"file://{path}")


def _beside(model: str, draft: str) -> str:
    """The default output: a new file beside the model, or the one whose draft is continued."""
    stem, ending = os.path.splitext(model)
    output = f"{stem}-edited{ending}"
    if os.path.exists(output) and not os.path.exists(output + draft):
        raise click.UsageError(f"{output} exists: name the file to write with -o")
    say(f"note: the edited model will be written to {output}; -o names another file")
    return output


def _tell_end(session: Session) -> str:
    """What the session leaves behind: a draft, a saved model, or nothing."""
    from weigh.layout import count_of

    changes = count_of(session.n_changes, "change")
    if session.draft.exists():
        return f"the draft {session.draft} holds {changes}; the same command continues it"
    if session.output.exists():
        return f"{session.output} holds {changes}"
    return "no changes, nothing written"


@main.command()
@options.model
@options.data
@options.option(
    "-o --output FILE",
    "Where to write the edited model (default: model-edited.json beside model.json).",
)
@options.target
@options.option(
    "--train DATA",
    "Training rows, for refits and for counts after a cut point moves (default: DATA).",
)
@options.option("--by COL", "Show the effect on each group of this column.")
@options.option(
    "--cut-off P|SCORE",
    "Probability above which a row counts as positive, or lowest approved score of a scorecard; "
    "the page shows the share of such rows (default: probability 0.5).",
    type=float,
)
@options.option(
    "--adverse CLASS",
    "The class that is declined: the page then shows the approval rate at the cut-off.",
)
@options.option("--who NAME", "The name to record (default: the login name).")
@options.option(
    "--port",
    "Port of the page.",
    show_default="any free port",
    type=click.IntRange(0, 65535),
    default=0,
)
@options.option("--open", "Open the page in the default browser.", to="show", is_flag=True)
def edit(
    model: str,
    data: str,
    output: str | None,
    target: str | None,
    train: str | None,
    by: str | None,
    cut_off: float | None,
    adverse: str | None,
    who: str | None,
    port: int,
    show: bool,
) -> None:
    """Edit a model or a scorecard on a page in the browser.

    The page shows at once what each change does. A scorecard shows points.

    Changes are judged by the rows of DATA: use hold-out rows. Only this machine can reach the page,
    and only with the printed address. Ctrl-C ends the program. Accepted changes that were not saved
    stay in a draft: run the same command again to continue.

    Example: weigh edit model.json rest.csv --target Survived --train train.csv -o edited.json
    """
    import weigh
    from weigh.layout import count_of
    from weigh.workbench import DRAFT, LOG, Session, edit_in_browser

    output = output or _beside(model, DRAFT)
    if output == "-":
        raise click.UsageError("-o must name a file: the changes are written beside it")
    for written in (output, output + LOG, output + DRAFT):
        keep_apart(written, model, data, *([train] if train else []))
    check_output(output)
    fitted = read_any(model)
    if hasattr(fitted, "no_classes") and not hasattr(fitted, "dispersion_"):
        raise ValueError(
            f"the page edits classifiers and EducatedRegressor, but {model} is of type "
            f"{type(fitted).__name__}"
        )
    table, target = read_with_target(fitted, data, target)
    rows = None if train is None else (read_like(fitted, train, target), target)
    editor = weigh.edit(fitted, table, target, train=rows, who=who)
    declined = find_class(fitted, adverse)
    if declined is None and is_card(fitted):
        declined = fitted.adverse
    decides = read_cut_off(fitted, cut_off, getattr(fitted, "pos_label", None))
    session = Session(editor, table, output, 0.5 if decides is None else decides, by, declined)
    if session.continued:
        say(f"continued the draft {session.draft} with {count_of(session.continued, 'change')}")

    def tell(address: str) -> None:
        say(f"edit {os.path.basename(model)} at {address}")
        hint("press Ctrl-C to end")
        if show:
            open_privately(address)

    edit_in_browser(session, port, f"Edit {os.path.basename(model)}", tell=tell)
    say(_tell_end(session))
