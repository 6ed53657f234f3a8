"""`python -m bench [NAME]`: run every benchmark, or one, and print one JSON object a line."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys

import bench


def main(only: str = "") -> int:
    """Print the results as they come; returns the exit code."""
    names = [module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")]
    if only in ("-h", "--help"):
        print(f"{__doc__}\n\nNAME is one of {', '.join(names)}.")
        return 0
    if only and only not in names:
        print(f"there is no benchmark {only!r}; there is: {', '.join(names)}", file=sys.stderr)
        return 2
    for name in [only] if only else names:
        for result in importlib.import_module(f"bench.{name}").run():
            print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
