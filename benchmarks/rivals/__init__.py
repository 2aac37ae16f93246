"""One rival a file, each with a dictionary `RIVALS` of names and `fit(X, y) -> Fitted`.

`X` is a pandas frame of floats and of categories (text), both with gaps; `y` holds 0 and 1. What a
library needs the frame turned into is part of its fit, as it is of ours. A file imports its
library in its functions or has nothing else at the top: it is run in the library's environment.
"""
