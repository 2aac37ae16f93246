"""C4.4: a decision tree grown for its probabilities (Provost & Domingos 2003).

kernels   compiled loops that grow a tree and find the leaves of rows
tree      the `Tree` and its `Node`s, also as text, HTML and dataframe
learner   `C44Classifier`, and `TreePath`: the path of one case through the tree
"""

from weigh.c44.learner import C44Classifier, Step, TreePath
from weigh.c44.tree import Node, Tree
