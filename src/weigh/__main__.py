"""`python -m weigh` is the command line."""

from weigh.cli import main

if __name__ == "__main__":
    main()
