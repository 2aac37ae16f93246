"""Table 1 of the paper, as printed."""

from __future__ import annotations

# (error %, its deviation, loss, its deviation, m, its deviation, negatives, their deviation)
PAPER: dict[str, dict[tuple[str, str], tuple[float | None, ...]]] = {
    "dna": {
        ("1", "NB"): (3.63, None, 0.13, None, None, None, None, None),
        ("1", "APM"): (2.70, None, 0.12, None, 156, None, 11, None),
        ("1", "APMR"): (2.50, None, 0.10, None, 21, None, 8.0, None),
        ("2", "NB"): (3.12, None, 0.19, None, None, None, None, None),
        ("2", "APM"): (4.22, None, 0.20, None, 209, None, 12, None),
        ("2", "APMR"): (3.51, None, 0.17, None, 18, None, 7.8, None),
        ("3", "NB"): (8.09, None, 0.32, None, None, None, None, None),
        ("3", "APM"): (6.49, None, 0.24, None, 114, None, 11, None),
        ("3", "APMR"): (6.41, None, 0.23, None, 27, None, 10.0, None),
        ("All", "NB"): (5.40, None, 0.25, None, None, None, None, None),
        ("All", "APM"): (3.96, None, 0.24, None, None, None, None, None),
        ("All", "APMR"): (3.49, None, 0.24, 0.00, None, None, None, None),
    },
    "splice": {
        ("1", "NB"): (3.12, 0.97, 0.13, 0.05, None, None, None, None),
        ("1", "APM"): (2.65, 0.93, 0.13, 0.06, 127, 57, 10.9, 1.5),
        ("1", "APMR"): (2.50, 0.75, 0.12, 0.05, 23, 9, 7.5, 1.6),
        ("2", "NB"): (2.99, 0.89, 0.18, 0.08, None, None, None, None),
        ("2", "APM"): (3.27, 0.85, 0.17, 0.08, 77, 27, 11.5, 1.6),
        ("2", "APMR"): (2.87, 0.77, 0.16, 0.07, 14, 4, 9.0, 1.5),
        ("3", "NB"): (7.78, 1.46, 0.30, 0.05, None, None, None, None),
        ("3", "APM"): (6.28, 1.48, 0.24, 0.05, 100, 20, 11.7, 1.6),
        ("3", "APMR"): (6.12, 1.36, 0.23, 0.03, 29, 8, 9.6, 1.8),
        ("All", "NB"): (4.36, 1.05, 0.25, 0.09, None, None, None, None),
        ("All", "APM"): (4.27, 1.09, 0.25, 0.09, None, None, None, None),
        ("All", "APMR"): (3.90, 1.09, 0.24, 0.08, None, None, None, None),
    },
    "mushroom": {
        ("", "NB"): (0.45, 0.23, 0.02, 0.01, None, None, None, None),
        ("", "APM"): (0.0, 0.0, 0.0, 0.0, 19816, 927, 7.4, 0.9),
        ("", "APMR"): (0.0, 0.0, 0.0, 0.0, 5714, 2732, 5.1, 0.4),
    },
    "breast": {
        ("", "NB"): (27.59, 7.36, 0.93, 0.23, None, None, None, None),
        ("", "APM"): (28.53, 7.54, 0.85, 0.13, 6.0, 1.3, 0.04, 0.2),
        ("", "APMR"): (27.97, 6.27, 0.82, 0.11, 2.2, 1.4, 0.0, None),
    },
    "vote": {
        ("", "NB"): (9.72, 4.27, 0.94, 0.48, None, None, None, None),
        ("", "APM"): (4.66, 2.89, 0.29, 0.33, 1002, 3425, 6.6, 0.8),
        ("", "APMR"): (4.25, 2.75, 0.20, 0.16, 446, 3280, 6.1, 0.9),
    },
    "lymph": {
        ("1", "NB"): (2.00, 4.50, 0.13, 0.25, None, None, None, None),
        ("1", "APM"): (0.67, 2.11, 0.16, 0.47, 26, 12, 7.5, 1.6),
        ("1", "APMR"): (0.67, 2.11, 0.02, 0.04, 17, 8, 11.6, 1.1),
        ("2", "NB"): (15.52, 11.58, 0.58, 0.45, None, None, None, None),
        ("2", "APM"): (19.62, 7.49, 0.93, 0.81, 278, 191, 4.9, 0.9),
        ("2", "APMR"): (18.24, 11.90, 0.53, 0.30, 16, 10, 3.5, 1.4),
        ("3", "NB"): (12.14, 8.36, 0.57, 0.46, None, None, None, None),
        ("3", "APM"): (16.33, 16.25, 0.77, 0.79, 8893, 22211, 3.9, 1.0),
        ("3", "APMR"): (14.24, 14.59, 0.57, 0.42, 1069, 2799, 3.8, 1.8),
        ("4", "NB"): (2.00, 3.22, 0.07, 0.12, None, None, None, None),
        ("4", "APM"): (0.67, 2.11, 0.02, 0.04, 7.3, 3.3, 6.4, 0.7),
        ("4", "APMR"): (0.0, 0.0, 0.01, 0.02, 5.1, 2.2, 8.6, 1.7),
        ("All", "NB"): (12.81, 11.64, 0.64, 0.55, None, None, None, None),
        ("All", "APM"): (19.62, 10.94, 0.88, 0.66, None, None, None, None),
        ("All", "APMR"): (14.90, 11.01, 0.57, 0.36, None, None, None, None),
    },
}
