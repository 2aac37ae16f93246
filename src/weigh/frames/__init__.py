"""Read any table: each column becomes numbers, or codes into a list of distinct values.

No other package imports dataframe libraries.

    values     single values of any library, and levels declared by a column's type
    columns    one column as `Numbers` or `Codes`
    distinct   the distinct cells of a column by their bits
    kernels    the compiled loop of `distinct`
    tables     `Table`: named columns of equal length
    reading    dataframes, arrays and lists of dicts as a `Table`
    native     rows and columns of a table, in its own library
    cells      labels of rows of any type: intervals, periods and dates as text
    names      names of columns: match them with a model's, and list or correct them in errors
    large      tables that are read in batches, or whose rows stay on a cluster
    sources    `weigh.scan` and `weigh.read_file`: files, lazy frames, queries, databases
    folders    many files as one table
    delimited  text files: encodings, separators, quotes, decimal marks, percent signs
    lines      the line of a text file on which a row begins, for errors
    formats    JSON, Excel, Stata, SAS, SPSS, Feather, ZIP
    targets    `Sample`: a table with class labels and row weights
"""

from weigh.arrays import Floats, Integers
from weigh.frames.cells import read_labels
from weigh.frames.columns import OR_CATEGORIES, Codes, Column, Numbers
from weigh.frames.large import (
    ROWS,
    FarTable,
    SampleStep,
    Scan,
    find_far,
    open_scan,
    register,
)
from weigh.frames.names import (
    did_you_mean,
    doubt_names,
    list_names,
    match,
    name_columns,
    rows_with,
    set_names,
)
from weigh.frames.native import (
    add_columns,
    build,
    build_beside,
    collect,
    count_matrix,
    count_rows,
    is_dataframe,
    pick_columns,
    take_rows,
    to_arrow,
)
from weigh.frames.reading import (
    as_rows,
    blank,
    is_sparse,
    keep_reader,
    read,
    refuse_twice,
    vector,
    wrap,
)
from weigh.frames.sources import is_of_files, read_csv, read_file, scan, with_hash, write_file
from weigh.frames.tables import Table, refuse_empty, side_by_side
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
    row_weights,
    sort_classes,
    sort_folds,
    tell_rows,
)
from weigh.frames.values import (
    NOT_KNOWN,
    Declared,
    NotKnown,
    Value,
    canonical,
    is_count,
    is_number,
    key,
    keys,
    order,
    reads_as_number,
    spell,
    spell_unions,
)
