"""Label versions can be added but not changed; a seat is in its own audit's queue."""

from django.db import migrations

FUNCTION = """
CREATE FUNCTION annotation_versions_are_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'label versions are only ever appended' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER annotation_versions_are_final BEFORE UPDATE ON annotation_labelversion
    FOR EACH ROW EXECUTE FUNCTION annotation_versions_are_final();
"""
UNDO_FUNCTION = """
DROP TRIGGER annotation_versions_are_final ON annotation_labelversion;
DROP FUNCTION annotation_versions_are_final();
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_relations")]
    operations = [
        migrations.RunSQL(FUNCTION, UNDO_FUNCTION),
        migrations.RunSQL(
            "ALTER TABLE annotation_queue ADD CONSTRAINT annotation_queue_id_audit UNIQUE (id, audit_id);"
            "ALTER TABLE annotation_seat ADD CONSTRAINT annotation_seat_queue_same_audit "
            "FOREIGN KEY (queue_id, audit_id) REFERENCES annotation_queue (id, audit_id) DEFERRABLE INITIALLY DEFERRED",
            "ALTER TABLE annotation_seat DROP CONSTRAINT annotation_seat_queue_same_audit;"
            "ALTER TABLE annotation_queue DROP CONSTRAINT annotation_queue_id_audit",
        ),
    ]
