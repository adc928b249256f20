"""``python -m swarmtest`` is the command ``swarmtest``."""

from swarmtest.cli import main

if __name__ == "__main__":
    main()
