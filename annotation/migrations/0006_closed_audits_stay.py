"""A closed audit stays as it is, its log and its codebooks are only added to, and no label version is taken away."""

from django.db import migrations

# A writer shares a lock on its audit until it commits, and closing takes that lock for itself: it waits for what is
# being written, and whatever is written later finds the audit closed. What is deleted is looked at again at commit,
# when an audit that is deleted as a whole is gone.
FUNCTIONS = """
CREATE FUNCTION annotation_audit_lock(audit bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT (audit % 2147483647)::integer $$;

CREATE FUNCTION annotation_closed_audits_stay() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    written record;
    found bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN written := OLD; ELSE written := NEW; END IF;
    IF TG_ARGV[0] = 'audit' THEN
        found := written.audit_id;
    ELSIF TG_ARGV[0] = 'queue' THEN
        SELECT audit_id INTO found FROM annotation_queue WHERE id = written.queue_id;
    ELSE
        SELECT queue.audit_id INTO found
        FROM annotation_slot slot JOIN annotation_queue queue ON queue.id = slot.queue_id
        WHERE slot.id = written.slot_id;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(24942, annotation_audit_lock(found));
    IF EXISTS (SELECT FROM annotation_audit WHERE id = found AND status = 'closed') THEN
        RAISE EXCEPTION 'audit % is closed', found
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'closed_audits_stay';
    END IF;
    RETURN written;
END $$;

CREATE FUNCTION annotation_closing_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'closed' AND to_jsonb(NEW) - 'created_by_id' IS DISTINCT FROM to_jsonb(OLD) - 'created_by_id' THEN
        RAISE EXCEPTION 'audit % is closed', OLD.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'closed_audits_stay';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION annotation_only_added_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is only ever added to', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION annotation_no_version_is_taken_away() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM annotation_slot WHERE id = OLD.slot_id) THEN
        RAISE EXCEPTION 'label versions are only ever appended' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
"""

OF_AN_AUDIT = {
    "annotation_item": "audit",
    "annotation_queue": "audit",
    "annotation_seat": "audit",
    "annotation_extension": "audit",
    "annotation_slot": "queue",
    "annotation_labelversion": "slot",
}
# Of a seat not the run that its person is working through, which is emptied when a study is deleted.
COLUMNS = {"annotation_seat": " OF audit_id, queue_id, user_id"}
ADDED_TO = ["annotation_auditevent", "annotation_extension", "annotation_codebookversion"]


def _triggers():
    for table, by in OF_AN_AUDIT.items():
        yield (
            f"CREATE TRIGGER closed_audits_stay BEFORE INSERT OR UPDATE{COLUMNS.get(table, '')} ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION annotation_closed_audits_stay('{by}');"
        )
        yield (
            f"CREATE CONSTRAINT TRIGGER closed_audits_lose_nothing AFTER DELETE ON {table} "
            f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION annotation_closed_audits_stay('{by}');"
        )
    for table in ADDED_TO:
        yield (
            f"CREATE TRIGGER only_added_to BEFORE UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION annotation_only_added_to();"
        )
    yield (
        "CREATE TRIGGER closing_is_final BEFORE UPDATE ON annotation_audit "
        "FOR EACH ROW EXECUTE FUNCTION annotation_closing_is_final();"
    )
    yield (
        "CREATE CONSTRAINT TRIGGER no_version_is_taken_away AFTER DELETE ON annotation_labelversion "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION annotation_no_version_is_taken_away();"
    )


UNDO = """
DROP FUNCTION annotation_no_version_is_taken_away() CASCADE;
DROP FUNCTION annotation_only_added_to() CASCADE;
DROP FUNCTION annotation_closing_is_final() CASCADE;
DROP FUNCTION annotation_closed_audits_stay() CASCADE;
DROP FUNCTION annotation_audit_lock(bigint);
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_administration")]
    operations = [migrations.RunSQL(FUNCTIONS + "\n".join(_triggers()), UNDO)]
