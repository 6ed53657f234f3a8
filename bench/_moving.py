"""`python -m bench._moving TASKS`: a study of sixteen simulated models on so many tasks, with all that moves."""

from __future__ import annotations

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")

SLUG = "moving"


def make(tasks: int) -> dict[str, int]:
    """Make the study in a fresh database; how many runs and calls it has."""
    from django.core.management import call_command

    from annotation.sampling import Plan
    from lseval.models import Call
    from lseval.sandbox.profiles import PROFILES
    from lseval.site.demo.build import build_demo
    from lseval.site.demo.sizes import DemoSize

    call_command("migrate", verbosity=0)
    half = max(1, tasks // 2)
    plan = Plan(tasks=tasks, responses_per_task=2, h2_tasks=half, link_trajectories=tasks, round_trajectories=half)
    demo = build_demo(DemoSize(SLUG, "Moving", "For a benchmark.", PROFILES, tasks, plan, processes=2))
    return {"runs": demo.study.runs.count(), "calls": Call.objects.filter(study=demo.study).count()}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(make(int(sys.argv[1]))))
