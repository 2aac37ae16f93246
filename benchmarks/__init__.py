"""Measurements beside rivals, as ratios of the same run."""
