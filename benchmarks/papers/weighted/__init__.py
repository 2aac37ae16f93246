"""Tables 1 to 4 of Zhang & Sheng (2004) again: seven ways to weigh features, and C4.4.

data       the data sets, under two readings of the class
methods    what is compared, and in which ways
measure    the figures of one data set
readings   other classes that the paper may have had
contrasts  who wins
printed    the paper's figures
page       docs/papers/weighted.md
"""
