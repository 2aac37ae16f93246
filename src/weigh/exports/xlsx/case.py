"""The sheet Case: the questions, the balance sheet, the total and the prediction."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from math import exp
from typing import Any

from weigh.bins import Kind, label
from weigh.evidence import BOUND, Curve
from weigh.evidence.exposure import OffsetColumn
from weigh.exports.xlsx.cells import (
    AS_OTHER,
    BIG,
    NO_NUMBER,
    UNSEEN,
    CellRange,
    Lookup,
    address,
    choices,
    is_missing,
    look_of,
    missing_word,
    openpyxl,
    put,
    put_formula,
    spell_boolean,
    words_of,
)
from weigh.formula import Formula, Input, Term

SHEET = "Case"
FIRST = 5
ANSWER = 2
NAMES, LEVELS, WEIGHTS = 1, 2, 3
TINY = 1e-300  # the least exposure that a cell takes
LONGEST = 225  # characters that a spreadsheet shows of a validation message
EMPTY = "An empty cell is not known and weighs nothing."


def _tell_empty(columns: Iterable[Input]) -> str:
    """What an empty cell means, and which word stands for a missing value."""
    words = {column.name: missing_word(column) for column in columns if column.has_missing}
    if not words:
        return EMPTY
    usual = label(None)
    other = [f"In {name} the word is {word}." for name, word in words.items() if word != usual]
    told = f"Where missing is a level, write or choose {usual} for a missing value."
    return " ".join([EMPTY, told, *other])


def prediction_cells(formula: Formula) -> list[str]:
    """The names of the cells that hold the predictions."""
    if formula.estimates:
        return ["estimate"]
    return [f"probability_{k + 1}" for k in range(len(formula.classes))]


class CaseSheet:
    """The sheet that people fill in; the cells of answers and results have names."""

    def __init__(
        self, book: Any, formula: Formula, lookup: Lookup, blocks: list[CellRange]
    ) -> None:
        self.book, self.sheet, self.formula = book, book[SHEET], formula
        self.lookup, self.blocks = lookup, blocks
        self.words = words_of(formula)
        self.answers = {c.name: address(FIRST + j, ANSWER) for j, c in enumerate(formula.inputs)}
        self.read = dict(self.answers)  # `_hide` changes it for conditional questions
        self.row = FIRST + len(formula.inputs) + 1

    def fill(self) -> None:
        """Write the whole sheet from top to bottom."""
        self._ask()
        self._hide()
        self._weigh()
        totals = self._attenuate(self._add())
        if self.formula.curve is not None:
            apply = self._mean if self.formula.score_name else self._apply
            totals = [apply(self.formula.curve, totals[0])]
        named = self.words.totals
        look = "0.0000" if self.formula.score_name else self.words.look  # points are whole
        cells = [
            self.line(name, total, f"total_{k + 1}", look)
            for k, (name, total) in enumerate(zip(named, totals, strict=True))
        ]
        found, look = self._share, "0.0000"
        if self.formula.estimates:
            found, look = self._estimate, self._look
        told = zip(self.words.predictions, found(cells), strict=True)
        for name, (text, cell) in zip(prediction_cells(self.formula), told, strict=True):
            self.line(text, cell, name, look)
        self.sheet.print_area = f"A1:{address(self.row, self._far - 2).replace('$', '')}"

    def line(self, text: str, formula: str, name: str = "", look: str = "0.0000") -> str:
        """Write a label and a formula in the next row, and return the address of the formula."""
        put(self.sheet, self.row, NAMES, text).font = self.bold
        put_formula(self.sheet, self.row, WEIGHTS, formula, look)
        cell = address(self.row, WEIGHTS)
        if name:
            self.name(name, cell)
        self.row += 1
        return cell

    def name(self, name: str, cell: str) -> None:
        """Define a name for a cell."""
        made = openpyxl.workbook.defined_name.DefinedName(name, attr_text=f"{SHEET}!{cell}")
        self.book.defined_names[name] = made

    @property
    def bold(self) -> Any:
        """The font of headings."""
        return openpyxl.styles.Font(bold=True)

    @property
    def left(self) -> Any:
        """The alignment of numbers in a column of text."""
        return openpyxl.styles.Alignment(horizontal="left")

    def _ask(self) -> None:
        styles = openpyxl.styles
        put(
            self.sheet, 1, 1, f"{self.formula.model_name}: fill in the yellow cells"
        ).font = self.bold
        put(self.sheet, 2, 1, _tell_empty(self.formula.inputs))
        if self.formula.costs is not None:
            put(self.sheet, 3, 1, f"{self.formula.costs.about}.")
        for place, head in ((1, "Question"), (ANSWER, "Answer")):
            put(self.sheet, FIRST - 1, place, head).font = self.bold
        known = {column.name: column for column in self.formula.offsets}
        for j, column in enumerate(self.formula.inputs):
            put(self.sheet, FIRST + j, 1, column.name)
            cell = self.sheet.cell(FIRST + j, ANSWER)
            cell.fill = styles.PatternFill("solid", fgColor="FFF2B3")
            cell.number_format = "@" if column.kind is Kind.TEXT else "General"
            self.name(f"answer_{j + 1}", self.answers[column.name])
            if column.name in known:
                self._ask_offset(known[column.name], cell)
            elif column.is_numeric:
                self._ask_number(column, cell)
            else:
                self._offer(column, cell)

    def _ask_number(self, column: Input, cell: Any) -> None:
        """Restrict a cell to numbers, or the word for missing where that is a level.

        A note beside it reports other values that are pasted in.
        """
        answer, rest = self.answers[column.name], "leave the cell empty where it is not known."
        sound = f"ISNUMBER({answer})"
        if column.has_missing:
            sound = f"IF({sound},TRUE,{is_missing(column, answer)})"
            words = f"{column.name} is a number, or the word {missing_word(column)}; {rest}"
            self._guard(cell, words, type="custom", formula1=sound, prompt=words[:LONGEST])
        else:
            words = f"{column.name} is a number; {rest}"
            self._guard(cell, words, type="decimal", formula1=f"{-BIG!r}", formula2=f"{BIG!r}")
        self._note(cell, sound, NO_NUMBER)

    def _ask_offset(self, column: OffsetColumn, cell: Any) -> None:
        """Restrict the cell of an exposure to numbers above 0, and that of an offset to numbers."""
        sound, least = f"ISNUMBER({self.answers[column.name]})", -BIG
        words = f"{column.name} is an offset: a number; an empty cell means 0."
        if column.role == "exposure":
            words = f"{column.name} is an exposure: a number above 0; an empty cell means 1."
            sound, least = f"IF({sound},{self.answers[column.name]}>0,FALSE)", TINY
        self._guard(cell, words, type="decimal", formula1=f"{least!r}", formula2=f"{BIG!r}")
        self._note(cell, sound, words.replace('"', '""'))

    def _offer(self, column: Input, cell: Any) -> None:
        """Add a drop-down list, which warns of other values but allows them."""
        offered = choices(column)
        if not offered:
            return
        block = self.lookup.list(f"{column.name}: choices", offered)
        words = AS_OTHER if column.other else UNSEEN
        self._guard(cell, words, type="list", formula1=block.range, errorStyle="warning")
        answer = self.answers[column.name]
        text = spell_boolean(answer) if column.kind is Kind.BOOLEANS else answer
        number = column.kind is Kind.NUMBERS
        same = f"{block.range}={text}" if number else f"EXACT({block.range},{text})"
        self._note(cell, f"SUMPRODUCT(({same})*1)>0", words)

    def _guard(self, cell: Any, words: str, **rule: str) -> None:
        kind = openpyxl.worksheet.datavalidation.DataValidation
        made = kind(allow_blank=True, showErrorMessage=True, error=words[:LONGEST], **rule)
        made.showInputMessage = "prompt" in rule
        self.sheet.add_data_validation(made)
        made.add(cell)

    def _note(self, cell: Any, holds: str, words: str) -> None:
        """Add a note that appears beside an answer that is not understood."""
        empty = f'{address(cell.row, ANSWER)}=""'
        made = put_formula(
            self.sheet, cell.row, ANSWER + 1, f'IF({empty},"",IF({holds},"","{words}"))'
        )
        made.font = openpyxl.styles.Font(color="B00020")

    def _hide(self) -> None:
        """Copy the answers to conditional questions to the far right, empty where not asked."""
        for j, column in enumerate(self.formula.inputs):
            tests = []
            for i, ask in enumerate(column.asked):
                place = self.lookup.place(ask.feature, self.answers[ask.feature.name])
                put_formula(self.sheet, FIRST + j, self._far + 1 + i, place)
                at = address(FIRST + j, self._far + 1 + i)
                tests.append("+".join(f"({at}={place + 1})" for place in ask.places))
            if tests:
                answer, asked = self.answers[column.name], "*".join(f"({test})" for test in tests)
                formula = f'IF({asked}>0,IF({answer}="","",{answer}),"")'
                put_formula(self.sheet, FIRST + j, self._far, formula)
                self.read[column.name] = address(FIRST + j, self._far)

    def _weigh(self) -> None:
        for column, head in enumerate(("Feature", "Level", *self.words.heads), 1):
            put(self.sheet, self.row, column, head).font = self.bold
        self.row += 1
        self.first = self.row
        put(self.sheet, self.row, NAMES, self.words.prior)
        for k in range(len(self.formula.prior)):
            start = f"{self.words.table}!{address(2, WEIGHTS + k)}"
            put_formula(self.sheet, self.row, WEIGHTS + k, start, self.words.look)
        self._sides()
        self.row += 1
        shares = self.formula.not_known or repeat(0.0)
        for term, block, share in zip(self.formula.terms, self.blocks, shares, strict=False):
            self._term(term, block, share)
            self._sides()
            self.row += 1
        for own in self.formula.offsets:
            self._add_offset(own)
            self._sides()
            self.row += 1

    def _add_offset(self, column: OffsetColumn) -> None:
        """Write what exposure or offset add to the total: #N/A if it is not a valid number."""
        cell = self.answers[column.name]
        added = cell if column.role == "offset" else f"IF({cell}>0,LN({cell}),NA())"
        put(self.sheet, self.row, NAMES, f"{column.name} ({column.role})")
        shown = f'IF({cell}="",{column.neutral!r},{cell})'
        put_formula(self.sheet, self.row, LEVELS, shown).alignment = self.left
        weight = f'IF({cell}="",0,IF(ISNUMBER({cell}),{added},NA()))'
        put_formula(self.sheet, self.row, WEIGHTS, weight, self.words.look)

    def _sides(self) -> None:
        """Write evidence for and against beside a weight, or the factor for a logarithmic link."""
        if self.formula.estimates:
            if self.formula.link == "log":
                factor = f"EXP({address(self.row, WEIGHTS)})"
                put_formula(self.sheet, self.row, WEIGHTS + 1, factor, "0.000")
        elif len(self.formula.prior) == 1 and not self.formula.score_name:
            weight = address(self.row, WEIGHTS)
            for column, sign in ((WEIGHTS + 1, ">"), (WEIGHTS + 2, "<")):
                formula = f'IF({weight}{sign}0,100*{weight},"")'
                put_formula(self.sheet, self.row, column, formula, "+0;-0;0")

    def _term(self, term: Term, block: CellRange, share: float) -> None:
        """Write a feature's level and weights; the index of the level is at the far right."""
        put(self.sheet, self.row, NAMES, term.name)
        far = self._far
        places = [self.lookup.place(c, self.read[c.name]) for c in term.columns]
        for i, place in enumerate(places):
            put_formula(self.sheet, self.row, far + i, place)
        at = address(self.row, far)
        if len(places) > 1 and term.places:
            width = term.columns[1].no_level + 1
            key = f"({at}-1)*{width}+{address(self.row, far + 1)}-1"
            found = f"MATCH({key},{self.lookup.pairs(term).range},0)"
            put_formula(self.sheet, self.row, far + 2, f"IF(ISNA({found}),{block.size},{found})")
            at = address(self.row, far + 2)
        elif len(places) > 1:
            at = "1"
        put_formula(self.sheet, self.row, LEVELS, f"INDEX({block.range},{at})")
        for k in range(len(self.formula.prior)):
            weight = f"INDEX({block.beside(1 + k).range},{at})"
            put_formula(self.sheet, self.row, WEIGHTS + k, weight, self.words.look)
        if self.formula.not_known:
            put_formula(self.sheet, self.row, far + 3, f"IF({at}={block.size},{share!r},0)")
        elif self.formula.attenuation is not None:
            put_formula(self.sheet, self.row, far + 3, self._answered(term))

    @property
    def _far(self) -> int:
        """The first column of the intermediate results, which people need not read."""
        return WEIGHTS + max(len(self.formula.prior), 3) + 2

    def _add(self) -> list[tuple[str, str]]:
        """The prior and the sum of weights of every total, as addresses and formulas."""
        pairs = []
        for k in range(len(self.formula.prior)):
            prior, last = address(self.first, WEIGHTS + k), address(self.row - 1, WEIGHTS + k)
            pairs.append((prior, f"SUM({address(self.first + 1, WEIGHTS + k)}:{last})"))
        self.row += 1
        return pairs

    def _attenuate(self, pairs: list[tuple[str, str]]) -> list[str]:
        rule = self.formula.attenuation
        if rule is None:
            totals = [f"{prior}+{weights}" for prior, weights in pairs]
            if self.formula.score_name:
                return [self.line("Score", totals[0], "score", "0")]
            return totals
        ends = (self.first + 1, self.first + len(self.formula.terms))
        counted = ":".join(address(row, self._far + 3) for row in ends)
        if rule.form == "known":
            n = self.line("Share of the evidence not known", f"SUM({counted})", look="0%")
            e = self.line("Weights multiplied by", f"1/SQRT(1+({rule.k!r})*{n})", look="0.000")
        else:
            n = self.line("Answers", f"SUM({counted})", look="0")
            base = f"{n}+1" if rule.form == "root" else n
            e = self.line("Multiplied by", f"{rule.k!r}/MAX({base},{rule.k!r})")
        shifts = [f"+({float(shift)!r})" for shift in rule.shift]
        if rule.form == "root":
            return [f"({p}+{w})*{e}{s}" for (p, w), s in zip(pairs, shifts, strict=True)]
        return [f"{p}+{w}*{e}{s}" for (p, w), s in zip(pairs, shifts, strict=True)]

    def _answered(self, term: Term) -> str:
        """A formula that is 1 if a table counts as answered, and 0 otherwise."""
        given = [f'({self.read[column.name]}<>"")' for column in term.columns]
        return f"IF({'*'.join(given)},1,0)"

    def _mean(self, curve: Curve, score: str) -> str:
        """The log odds of a score: the curve is a straight line, so any of its pieces will do."""
        piece = curve.pieces[-1]
        level, slope = piece.cubic[0] + curve.shift, piece.cubic[1]
        return f"({score}-({piece.start!r}))*({slope!r})+({level!r})"

    def _apply(self, curve: Curve, total: str) -> str:
        before = self.line("Before recalibration", total)
        block = self.lookup.curve(curve)
        place = self.line("Piece", f"MATCH({before},{block.range},-1)", look="0")
        start, *powers = (f"INDEX({block.beside(1 + i).range},{place})" for i in range(5))
        d = self.line("Distance", f"{before}-{start}")
        value = f"{powers[0]}+{d}*({powers[1]}+{d}*({powers[2]}+{d}*{powers[3]}))"
        if curve.steps:
            p = self.line("Share", f"MAX(MIN({value},{1 - BOUND!r}),{BOUND!r})")
            value = f"LN({p}/(1-{p}))"
        return f"{value}+({curve.shift!r})"

    def _estimate(self, cells: list[str]) -> list[str]:
        """The predicted number: the total, or its exponential if the link is a logarithm."""
        return [f"EXP({cells[0]})" if self.formula.link == "log" else cells[0]]

    @property
    def _look(self) -> str:
        """The number format of an estimate."""
        if self.formula.link == "log":
            return look_of(exp(min(self.formula.prior[0], 700.0)))
        return self.words.look

    def _share(self, cells: list[str]) -> list[str]:
        """Formulas of the probabilities from the cells of totals; no exponential overflows."""
        if len(cells) == 1:
            (t,) = cells
            small = self.line(self.words.small, f"EXP(-MIN(ABS({t}),700))")
            return [f"IF({t}<0,1,{small})/(1+{small})", f"IF({t}<0,{small},1)/(1+{small})"]
        top = f"MAX({cells[0]}:{cells[-1]})"  # the cells are consecutive rows
        ovr = self.formula.link == "ovr"
        top = self.line("Largest", f"MIN({top},0)" if ovr else top)
        powers = []
        for t, name in zip(cells, self.formula.class_names, strict=True):
            low = f"MIN({t},0)" if ovr else t
            rise = f"EXP(MAX({low}-{top},-700))"
            part = f"{rise}/(1+EXP(-MIN(ABS({t}),700)))" if ovr else rise
            powers.append(self.line(f"Power of {name}", part))
        return [f"{power}/SUM({powers[0]}:{powers[-1]})" for power in powers]
