"""The page of `benchmarks.papers.weighted`: the paper's figures beside ours, and who wins."""
FOLDS = 5
METHODS = {
    "NB": None,
    "G": {"method": "gain_ratio"},
    "HC": {"method": "hill_climbing"},
    "MC": {"method": "monte_carlo"},
    "MCMC": {"method": "mcmc"},
    "G-HC": {"method": "gain_ratio+hill_climbing"},
    "G-MCMC": {"method": "gain_ratio+mcmc"},
    "C4.4": None,
    "BW": {"method": "hill_climbing_both_ways"},
    "HC cv": {"method": "hill_climbing", "choose_on": "cv"},
    "G-HC cv": {"method": "gain_ratio+hill_climbing", "choose_on": "cv"},
    "BW cv": {"method": "hill_climbing_both_ways", "choose_on": "cv"},
    "APMR": None,
}
SETS = "abalone australian_credit breast_cancer_wisconsin car_evaluation dermatology ecoli hepatitis imports_85 iris lung_cancer pima_diabetes segment vehicle house_votes_84".split()
FURTHER = ()
WAYS = (("whole set","as printed"),("whole set","ours"),("training part","as printed"),("training part","ours"))
write=None
