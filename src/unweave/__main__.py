"""``python -m unweave``: the command line."""

import sys

from unweave.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
