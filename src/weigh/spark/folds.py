"""Stratified folds of the rows of a DataFrame, stored in a column."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import IntegerType, StructField, StructType

from weigh.folds import Dealer
from weigh.frames import Integers, Sample
from weigh.spark.labels import Roles, join_batches, label_batch
from weigh.spark.passes import part_number

MOST_FOLDS = 255


class CountRows:
    """Pass over labels that counts rows by partition and class."""

    def begin(self) -> dict[int, Integers]:
        """Empty counts."""
        return {}

    def add(self, found: dict[int, Integers], sample: Sample) -> dict[int, Integers]:
        """Add the counts of more rows."""
        rows = np.bincount(sample.labels, minlength=len(sample.classes))
        return self.merge(found, {part_number(): rows})

    def merge(self, one: dict[int, Integers], other: dict[int, Integers]) -> dict[int, Integers]:
        """Add two counts."""
        return one | {part: rows + one.get(part, 0) for part, rows in other.items()}


def deal_parts(
    numbers: dict[int, Integers], cv: Any, random_state: Any, of: int | None = None
) -> Dealer:
    """Make a dealer of folds, from the number of rows by partition and class."""
    # Not at start-up: executors import this module and need no scikit-learn, which takes longest.
    from sklearn.utils import check_random_state

    if not isinstance(cv, int | np.integer) or cv > MOST_FOLDS:
        raise ValueError(
            f"cv={cv!r}: rows on a cluster have no row numbers, so splits cannot be used; set cv "
            f"to a number of folds up to {MOST_FOLDS}, or to the name of a column of folds"
        )
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    n_rows = int(sum(rows.sum() for rows in numbers.values()))
    return Dealer.of_numbers(numbers, min(int(cv), n_rows), seed, of)


def add_folds(frame: Any, names: tuple[str, ...], roles: Roles, dealer: Dealer) -> Any:
    """Add the fold of each row as a last column."""
    fields = [StructField(f"c{j}", field.dataType) for j, field in enumerate(frame.schema)]
    schema = StructType([*fields, StructField(f"c{len(fields)}", IntegerType())])
    sent = pickle.dumps((names, roles, dealer))
    return frame.mapInArrow(partial(_fold_part, sent), schema)


def _fold_part(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Add folds to the rows of a partition; rows of weight 0 get fold 0 and are ignored."""
    names, roles, dealer = pickle.loads(sent)
    earlier = np.zeros(len(roles.classes), dtype=np.int64)
    for batch in batches:
        folds = np.zeros(batch.num_rows, dtype=np.int32)
        for _, table in join_batches([batch], names):
            sample = label_batch(table, roles)
            folds[sample.kept] = dealer.deal(part_number(), sample.labels, earlier)
            earlier += np.bincount(sample.labels, minlength=len(earlier))
        columns = [*batch.columns, pa.array(folds)]
        yield pa.RecordBatch.from_arrays(columns, names=[f"c{j}" for j in range(len(columns))])
