"""
Add an interaction: a table of two features
===========================================

Sex mattered more in first class than in third. One table per feature cannot say that, because
weights add. By default `EducatedNB` adds
tables of two features where they help; `pairs=1` adds at most one.
"""

import weigh

people = weigh.datasets.titanic()
model = weigh.EducatedNB(pairs=1).fit(people, "Survived")
for pair in model.pairs_:
    print(pair.columns, f"lowers the leave-one-out loss by {pair.gain:.4f} bits a row")

# %%
# The table of the pair. Its weights are added to those of the single features.

name = " & ".join(model.pairs_[0].columns)
display = weigh.EvidenceDisplay.from_estimator(model, features=name)
