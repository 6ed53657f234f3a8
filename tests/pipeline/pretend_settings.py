"""The program's settings with the pretend providers, for processes that tests start."""

from lseval.settings import *  # noqa: F403

LSEVAL_PROVIDERS = {"sandbox": "tests.pipeline.pretend"}
