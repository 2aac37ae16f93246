"""Any table in: each column comes out as numbers, or as codes into a short list of values.

The only package that knows of dataframe libraries.

    values    one value, whatever library held it
    columns   one column as `Numbers` or `Codes`
    declared  the levels that a column's type names
    tables    dataframes, arrays and lists of dicts as a `Table` of columns
    native    some rows or columns of a table, in its own library
    scans     tables that are read batch by batch
    sources   where a scan may come from: `weigh.scan`
    registry  which package opens such tables
    folders   files that make one table together
    delimited  text files: encodings, separators, quotes, decimal marks
    amounts   numbers with separators and percent signs
    formats   files of other programs
    targets   a table with class labels and row weights: a `Sample`
"""

from weigh.frames.cluster import FarTable, SampleStep
from weigh.frames.columns import (
    OR_CATEGORIES,
    Codes,
    Column,
    Floats,
    Integers,
    Numbers,
)
from weigh.frames.declared import Declared
from weigh.frames.names import did_you_mean, list_names
from weigh.frames.native import (
    add_columns,
    collect,
    count_matrix,
    count_rows,
    is_dataframe,
    pick_columns,
    take_rows,
    to_arrow,
)
from weigh.frames.registry import find_far, register
from weigh.frames.scans import ROWS, Scan, open_scan
from weigh.frames.sources import read_csv, read_file, scan, write_file
from weigh.frames.tables import (
    Table,
    as_rows,
    blank,
    build,
    build_beside,
    match,
    read,
    refuse_empty,
    set_names,
    vector,
    warn_caller,
    wrap,
)
from weigh.frames.targets import (
    Sample,
    check_name,
    check_weight,
    label_sample,
    number_sample,
    place_folds,
    place_labels,
    read_classes,
    read_numbers,
    sort_classes,
    sort_folds,
)
from weigh.frames.values import (
    NOT_KNOWN,
    NotKnown,
    Value,
    canonical,
    key,
    keys,
    order,
    reads_as_number,
    spell,
)

__all__ = [
    "NOT_KNOWN",
    "OR_CATEGORIES",
    "ROWS",
    "Codes",
    "Column",
    "Declared",
    "FarTable",
    "Floats",
    "Integers",
    "NotKnown",
    "Numbers",
    "Sample",
    "SampleStep",
    "Scan",
    "Table",
    "Value",
    "add_columns",
    "as_rows",
    "blank",
    "build",
    "build_beside",
    "canonical",
    "check_name",
    "check_weight",
    "collect",
    "count_matrix",
    "count_rows",
    "did_you_mean",
    "find_far",
    "is_dataframe",
    "key",
    "keys",
    "label_sample",
    "list_names",
    "match",
    "number_sample",
    "open_scan",
    "order",
    "pick_columns",
    "place_folds",
    "place_labels",
    "read",
    "read_classes",
    "read_csv",
    "read_file",
    "read_numbers",
    "reads_as_number",
    "refuse_empty",
    "register",
    "scan",
    "set_names",
    "sort_classes",
    "sort_folds",
    "spell",
    "take_rows",
    "to_arrow",
    "vector",
    "warn_caller",
    "wrap",
    "write_file",
]
