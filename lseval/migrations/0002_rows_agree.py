"""Foreign keys over two columns, so that a row cannot point into another study or another run."""

from django.db import migrations

PAIRS = [
    # table, column, referred table, column that both share
    ("lseval_run", "task_id", "lseval_task", "study_id"),
    ("lseval_run", "model_id", "lseval_evaluatedmodel", "study_id"),
    ("lseval_page", "run_id", "lseval_run", "study_id"),
    ("lseval_turn", "round_id", "lseval_round", "run_id"),
    ("lseval_citation", "group_id", "lseval_answergroup", "run_id"),
    ("lseval_referencelabel", "round_id", "lseval_round", "run_id"),
    ("lseval_failurenode", "round_id", "lseval_round", "run_id"),
    ("lseval_link", "node_id", "lseval_failurenode", "run_id"),
    ("lseval_link", "round_id", "lseval_round", "run_id"),
    ("lseval_link", "group_id", "lseval_answergroup", "run_id"),
]


def _operations():
    for table, shared in dict.fromkeys((table, shared) for _, _, table, shared in PAIRS):
        name = f"{table}_id_{shared}"
        yield migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE (id, {shared})",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
    for table, column, referred, shared in PAIRS:
        name = f"{table}_{column}_same_{shared}"
        yield migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}, {shared}) "
            f"REFERENCES {referred} (id, {shared}) DEFERRABLE INITIALLY DEFERRED",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )


class Migration(migrations.Migration):
    dependencies = [("lseval", "0001_initial")]
    operations = list(_operations())
