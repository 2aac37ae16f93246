"""
Explain one prediction
======================

A balance sheet lists the weights for and against the outcome. The figure walks from the prior to
the total.
"""

import weigh

people = weigh.datasets.titanic()
model = weigh.EducatedNB().fit(people, "Survived")
girl = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
print(model.balance_sheet(girl))

# %%
# The same sheet as a figure:

display = weigh.BalanceSheetDisplay.from_estimator(model, girl)
