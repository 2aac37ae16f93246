"""The Hessian of the loss alone, from the tables of each two columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.educated.passes import Look
from weigh.frames import Floats, Integers
from weigh.newton.ties import add_tied


@dataclass(frozen=True)
class Curvature:
    """Class by class: the block of the weights that share one matrix, and the diagonal.

    `across` has the block of each two classes, where a pass gave them.
    """

    joint: tuple[Floats, ...]
    diagonal: Floats
    across: dict[tuple[int, int], Floats]

    @classmethod
    def of(cls, look: Look, diagonals: Floats, tables: Floats, ties: Integers | None) -> Curvature:
        """What a look has found; weights whose ties are equal are one."""
        entries = np.ascontiguousarray(look.view.design.unpad(diagonals))
        found = {}
        for pair, diagonal, numbers in zip(look.pairs, entries.T, tables, strict=True):
            found[pair] = _join(look, diagonal, numbers, ties)
        n = look.view.target.n_totals
        joint = tuple(found.pop((k, k)) for k in range(n))
        return cls(joint, add_tied(entries[:, :n], ties), found)

    def bend(self, direction: Floats) -> Floats:
        """The whole Hessian times a direction, where there is no weight beside the joint ones."""
        bent = np.column_stack([own @ direction[:, k] for k, own in enumerate(self.joint)])
        for (k, other), block in self.across.items():
            bent[:, k] += block @ direction[:, other]
            bent[:, other] += block @ direction[:, k]
        return bent


def _join(look: Look, diagonal: Floats, numbers: Floats, ties: Integers | None) -> Floats:
    """The tables of some columns as one symmetric matrix, the intercept first."""
    from weigh.educated.kernels import join_tables

    spans = [look.view.design.spans[j] for j in look.columns]
    places = np.concatenate([[0], *(np.arange(span.start, span.stop) for span in spans)])
    places = places.astype(np.intp)
    ends = np.cumsum([1, *(span.stop - span.start for span in spans)])
    own, whole = diagonal[places], np.zeros((len(places), len(places)))
    for i, b in enumerate(look.columns):
        strip = look.tables.strip(b)
        join_tables(numbers, strip.starts, strip.widths, strip.height, ends[i], ends[:i], whole)
    whole[0] = whole[:, 0] = own
    np.fill_diagonal(whole, own)
    if ties is None:
        return whole
    tied = ties[places]
    return add_tied(add_tied(whole, tied).T, tied)
