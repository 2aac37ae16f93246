"""Table 1 and Figure 1 of Hong, Hosking & Natarajan (2002) again.

    WEIGH_DATA=... python -m benchmarks.papers.apm measure [repetitions] [set ...]
    WEIGH_DATA=... python -m benchmarks.papers.apm

The first measures and adds to measured.json; the second writes docs/papers/apm.md from it.

printed    Table 1 as the paper prints it
measure    NB, APM and APMR, fold by fold
variants   other exponents, and the correction as printed
figure     Figure 1
page       the page, with a verdict on every printed cell
"""
