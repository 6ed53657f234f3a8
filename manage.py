#!/usr/bin/env python
"""The command line of the program."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
    try:
        from django.core.management import execute_from_command_line
        from django.db import ProgrammingError

        from lseval.errors import LsevalError
    except ImportError as error:
        sys.exit(f"{error}. Run `make setup` and use .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except LsevalError as error:
        sys.exit(f"error: {error}")
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") not in ("42P01", "42703"):  # undefined table, undefined column
            raise
        sys.exit("error: the database lacks tables of this version. Run `manage.py migrate`, then this again.")


if __name__ == "__main__":
    main()
