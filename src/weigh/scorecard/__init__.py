"""Integer points in place of weights."""
