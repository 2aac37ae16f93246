"""Spark DataFrames: counts, folds and scores, computed on the cluster.

No other package imports pyspark. This package registers with `frames`, which imports it when a
Spark DataFrame is first used.

    passes    sums of a statistic over partitions, merged in a fixed order
    labels    columns of class labels, weights and folds
    table     `SparkTable`: a DataFrame as a table for the engine
    rows      coded rows, which Spark persists between passes, and their stratified folds
    levels    the level of each row in each feature, as native columns
    scores    predictions and reasons, as native columns
"""

from weigh.frames import register
from weigh.spark.table import SparkTable

register("pyspark", SparkTable)
