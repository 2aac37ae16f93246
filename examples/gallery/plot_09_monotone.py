"""
Set a monotone constraint
=========================

Where a risk can only rise with a value, say so with `monotonic_cst`. The constrained curve has
flat parts where the free one falls.
"""

import numpy
import pandas
from matplotlib import pyplot

import weigh

# %%
# The simulated risk rises with age. A wave on top stands for a quirk of the sample.

random = numpy.random.default_rng(0)
age = random.uniform(18, 80, 1500)
dose = random.normal(0, 1, 1500)
log_odds = (age - 55) / 15 + 0.8 * numpy.sin(age / 5) + 0.5 * dose
sick = random.random(1500) < 1 / (1 + numpy.exp(-log_odds))
X = pandas.DataFrame({"age": age, "dose": dose})

free = weigh.EducatedNB(pairs=0).fit(X, sick)
rising = weigh.EducatedNB(pairs=0, monotonic_cst={"age": 1}).fit(X, sick)

figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for model, title, ax in zip((free, rising), ("free", "rising"), axes, strict=True):
    weigh.EvidenceDisplay.from_estimator(model, features="age", ax=ax)
    ax.set_title(f"age, {title}", loc="left")
