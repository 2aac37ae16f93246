"""Newton's method, for all that is fitted by minimising a smooth loss.

A problem is a point: it has a loss and a gradient, and other points can be reached from it. How it
gets its Hessian, as a matrix, in pieces or by products, is its own affair.

    descent      damped steps; conjugate gradients, where the Hessian is known by its products
    ball         a limit on the norm of the unknowns: an exact trust region
    regression   few unknowns: a design, a loss, and the coefficients; the losses of labels and of
                 numeric targets: gaussian, Poisson, gamma, Tweedie
"""
