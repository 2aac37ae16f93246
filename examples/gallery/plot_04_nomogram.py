"""
Draw a nomogram
===============

A nomogram is a model on paper. Read the points of each answer on its scale, add them up, and read
the probability below the total.
"""

import weigh

people = weigh.datasets.titanic()
model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
display = weigh.NomogramDisplay.from_estimator(model)
