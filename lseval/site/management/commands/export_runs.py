"""`manage.py export_runs STUDY OUT`: a study's runs for other programs, or for this one elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.text import slugify

from lseval.formats import write_run
from lseval.formats.inspect_writer import LogHeading, inspect_log
from lseval.models import EvaluatedModel, Study
from lseval.pipeline.export_runs import exported_keys, exported_models, one_moment, run_records
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.whole_files import write_whole

LSEVAL, INSPECT = "lseval", "inspect"
FORMATS: Final = (LSEVAL, INSPECT)


class Command(PagelessCommand):
    help = (
        "Write a study's runs, as they were at one moment: as JSONL in our own format, which imports again without "
        "loss, or as Inspect AI logs in JSON, one for each model. A file is written whole or not at all."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("out", type=Path, help="the file to write; with --format inspect, the folder")
        parser.add_argument("--format", choices=FORMATS, default=LSEVAL, help="default: %(default)s")
        parser.add_argument("--model", default="", help="only the runs of the model of this name; default: all")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        out: Path = options["out"]
        with one_moment():
            model = find_model(study, options["model"]) if options["model"] else None
            if options["format"] == LSEVAL:
                written = {out: write_whole(out, run_lines(study, model))}
            else:
                written = write_logs(study, [model] if model else list(exported_models(study)), out)
        for path, runs in written.items():
            self.stdout.write(f"{runs:,} run{'' if runs == 1 else 's'} written to {path}")


def run_lines(study: Study, model: EvaluatedModel | None) -> Iterator[str]:
    """The study's runs as lines of our own format."""
    return (write_run(record) + "\n" for record in run_records(study, model))


def write_logs(study: Study, models: list[EvaluatedModel], folder: Path) -> dict[Path, int]:
    """Write one Inspect log for each model into `folder`; returns each file's number of runs."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file; name a folder, since there is one log for each model.")
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, int] = {}
    now = timezone.now()
    for model in models:
        keys = exported_keys(study, model)
        path = folder / f"{_file_stem(study, model, written)}.json"
        write_whole(path, inspect_log(LogHeading(study.slug, model.name, now, keys), run_records(study, model)))
        written[path] = len(keys)
    return written


def find_model(study: Study, name: str) -> EvaluatedModel:
    """The study's model of that name. Raises CommandError, naming those there are, where there is none."""
    found = study.models.filter(name=name).first()
    if found is None:
        known = ", ".join(study.models.values_list("name", flat=True)) or "none"
        raise CommandError(f"{study.slug} has no model {name!r}. It has: {known}.")
    return found


def _file_stem(study: Study, model: EvaluatedModel, taken: dict[Path, int]) -> str:
    """A file's name from the model's, told apart where two models' names come to the same."""
    stem = f"{study.slug}-{slugify(model.name.replace('/', '-'))[:100] or model.pk}"
    return f"{stem}-{model.pk}" if stem in {path.stem for path in taken} else stem
