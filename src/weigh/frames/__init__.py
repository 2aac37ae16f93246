"""Any table in: each column comes out as numbers, or as codes into a short list of values.

The only package that knows of dataframe libraries.

    values    one value, whatever library held it
    columns   one column as `Numbers` or `Codes`
    tables    dataframes, arrays and lists of dicts as a `Table` of columns
    counts    documents by tokens as a matrix
    native    some rows or columns of a table, in its own library
    files     tables in CSV, TSV and Parquet files
    scans     tables that are read batch by batch
    spool     rows that come once, kept to be read again
    sources   where a scan may come from: `weigh.scan`
    clusters  tables that lie on a Spark cluster
    roles     the labels and weights of such a table
    folders   files that make one table together
    targets   a table with class labels and row weights: a `Sample`
"""

from weigh.frames.clusters import (
    Away,
    Cluster,
    PartSum,
    Roles,
    check_rows,
    gather,
    join_batches,
    part_number,
    stay,
    sum_row,
)
from weigh.frames.columns import (
    OR_CATEGORIES,
    Codes,
    Column,
    Floats,
    Integers,
    Numbers,
)
from weigh.frames.counts import count_matrix
from weigh.frames.files import read_csv, read_file, write_file
from weigh.frames.names import did_you_mean
from weigh.frames.native import collect, count_rows, pick_columns, take_rows
from weigh.frames.roles import check_classes, label_batch, sum_samples
from weigh.frames.scans import Scan, open_scan
from weigh.frames.sources import scan
from weigh.frames.tables import (
    Table,
    as_rows,
    build,
    build_beside,
    is_spark,
    match,
    read,
    set_names,
    vector,
    warn_caller,
    wrap,
)
from weigh.frames.targets import Sample, check_name, label_sample, number_sample, sort_classes
from weigh.frames.values import Value, canonical, key, keys, order, reads_as_number, spell

__all__ = [
    "OR_CATEGORIES",
    "Away",
    "Cluster",
    "Codes",
    "Column",
    "Floats",
    "Integers",
    "Numbers",
    "PartSum",
    "Roles",
    "Sample",
    "Scan",
    "Table",
    "Value",
    "as_rows",
    "build",
    "build_beside",
    "canonical",
    "check_classes",
    "check_name",
    "check_rows",
    "collect",
    "count_matrix",
    "count_rows",
    "did_you_mean",
    "gather",
    "is_spark",
    "join_batches",
    "key",
    "keys",
    "label_batch",
    "label_sample",
    "match",
    "number_sample",
    "open_scan",
    "order",
    "part_number",
    "pick_columns",
    "read",
    "read_csv",
    "read_file",
    "reads_as_number",
    "scan",
    "set_names",
    "sort_classes",
    "spell",
    "stay",
    "sum_row",
    "sum_samples",
    "take_rows",
    "vector",
    "warn_caller",
    "wrap",
    "write_file",
]
