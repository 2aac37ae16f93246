"""
Monitor drift
=============

`weigh.drift` compares new rows with the training rows, whose counts the model keeps. Here the new
rows come from first class alone.
"""

from matplotlib import pyplot

import weigh

people = weigh.datasets.titanic().to_pandas()
model = weigh.EducatedNB().fit(people, "Survived")
new = people[people["Class"] == "1st"]
found = weigh.drift(model, new, "Survived")
print(found)

# %%
# The shares of the levels, before and now:

shares = {"training": people, "new rows": new}
figure, ax = pyplot.subplots(figsize=(6.5, 3.6), layout="constrained")
for place, (name, rows) in enumerate(shares.items()):
    share = rows["Sex"].value_counts(normalize=True).sort_index()
    ax.barh([level + place * 0.35 for level in range(len(share))], share, height=0.3, label=name)
ax.set_yticks([0.175, 1.175], share.index)
ax.set_xlabel("share of rows")
ax.legend()
