"""`python -m agreement`."""

import sys

from agreement.cli import main

sys.exit(main())
