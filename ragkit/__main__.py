"""``python -m ragkit`` is the same as ``ragkit``."""

from ragkit.surfaces.cli import main

if __name__ == "__main__":
    main()
