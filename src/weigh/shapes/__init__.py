"""What a picture of a table shows, as plain data; figures and pages draw the same.

axis     where the intervals of a number stand on a line: evenly in numbers, in logs, or by rank
outline  the few rows that keep the shape of a long table
"""

from weigh.shapes.axis import NumberAxis, round_numbers
from weigh.shapes.outline import outline, segment, segmentations

__all__ = ["NumberAxis", "outline", "round_numbers", "segment", "segmentations"]
