"""Newton's method, for every model that is fitted by minimising a smooth loss.

A problem is represented by a point, with its loss and gradient and a method to move to another
point. Each problem chooses how to represent its Hessian: as a matrix, in blocks, or by products.

    descent      damped steps; conjugate gradients, where the Hessian is known by its products
    ball         a limit on the norm of the unknowns: an exact trust region
    regression   few unknowns: a design, a loss, and the coefficients; the losses of labels and of
                 numeric targets: gaussian, Poisson, gamma, Tweedie
"""
