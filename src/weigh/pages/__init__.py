"""Pages for people: a model as one HTML file that needs no network and no other file.

subject     the model that a page is about
questions   what a calculator asks, and when
model       the model as plain data, which `weigh.js` computes from
document    the file: policy, style, script, data
tables      the evidence table without scripts
form        `calculator`
"""

from weigh.pages.form import calculator

__all__ = ["calculator"]
