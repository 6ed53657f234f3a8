"""The log, draws, codebooks, flags and shown verdicts are not deleted, nor is a slot with its label versions.

As label versions, they go with the study, audit or slot that they belong to, when that is deleted as a whole: what is
deleted is looked at again at commit.
"""

from django.db import migrations

FUNCTIONS = """
CREATE FUNCTION annotation_history_is_not_taken_away() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    stays boolean;
BEGIN
    IF TG_ARGV[0] = 'audit' THEN
        SELECT EXISTS (SELECT FROM annotation_audit WHERE id = OLD.audit_id) INTO stays;
    ELSIF TG_ARGV[0] = 'study' THEN
        SELECT EXISTS (SELECT FROM lseval_study WHERE id = OLD.study_id) INTO stays;
    ELSE
        SELECT EXISTS (SELECT FROM annotation_slot WHERE id = OLD.slot_id) INTO stays;
    END IF;
    IF stays THEN
        RAISE EXCEPTION '% is only ever added to', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION annotation_decided_slots_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM annotation_queue WHERE id = OLD.queue_id) THEN
        RAISE EXCEPTION 'an item that somebody has decided stays in its queue' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
"""

# By what a row is a part of.
ADDED_TO = {
    "annotation_auditevent": "audit",
    "annotation_extension": "audit",
    "annotation_codebookversion": "study",
    "annotation_flag": "slot",
    "annotation_reveal": "slot",
}


def _triggers():
    for table, by in ADDED_TO.items():
        yield (
            f"CREATE CONSTRAINT TRIGGER nothing_is_taken_away AFTER DELETE ON {table} "
            f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION annotation_history_is_not_taken_away('{by}');"
        )
    yield (
        "CREATE CONSTRAINT TRIGGER decided_slots_stay AFTER DELETE ON annotation_slot "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.version > 0) "
        "EXECUTE FUNCTION annotation_decided_slots_stay();"
    )


UNDO = """
DROP FUNCTION annotation_decided_slots_stay() CASCADE;
DROP FUNCTION annotation_history_is_not_taken_away() CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_versions_by_person")]
    operations = [migrations.RunSQL(FUNCTIONS + "\n".join(_triggers()), UNDO)]
