"""C4.4: a tree grown for its probabilities (Provost & Domingos 2003).

kernels   growing and descending, compiled
tree      the `Tree` and its `Node`s
path      one case on its way down: a `TreePath`
show      both as text, HTML and dataframe
learner   the `C44Classifier`
"""

from weigh.c44.learner import C44Classifier
from weigh.c44.path import Step, TreePath
from weigh.c44.tree import Node, Tree

__all__ = ["C44Classifier", "Node", "Step", "Tree", "TreePath"]
