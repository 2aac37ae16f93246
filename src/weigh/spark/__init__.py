"""Spark DataFrames: read, counted, dealt into folds and scored where their rows lie.

The only package that imports pyspark. It registers with `frames`, which imports it when a Spark
DataFrame is met; nothing else names it.

    passes    a statistic of every partition, merged in the order of their numbers
    labels    classes and weights of rows, which are columns beside the features
    folds     folds of rows, dealt by class
    table     a DataFrame as a table that the engine can pass over
    rows      rows as levels, which Spark keeps between passes
    levels    the level of each row as native columns
    scores    predictions and reasons as native columns
"""

from weigh.frames import register
from weigh.spark.table import SparkTable

register("pyspark", SparkTable)

__all__ = ["SparkTable"]
