"""The database counts a queue's slots by stage and status, as they come, change and go."""

import django.db.models.deletion
from django.db import migrations, models

# The counts go to the row of this connection's shard. `added` and `removed` are the slots after and before the
# statement; what did not change in what is counted cancels out, and then no row is touched.
FUNCTION = """
CREATE FUNCTION annotation_add_slot_counts(counted bigint, at integer, more integer, more_open integer, more_skipped integer)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO annotation_slotcount AS kept (queue_id, stage, shard, total, still_open, skipped)
    VALUES (counted, at, pg_backend_pid() % 16, more, more_open, more_skipped)
    ON CONFLICT (queue_id, stage, shard) DO UPDATE SET total = kept.total + excluded.total,
        still_open = kept.still_open + excluded.still_open, skipped = kept.skipped + excluded.skipped
$$;

CREATE FUNCTION annotation_count_slots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR found IN
            SELECT queue_id, stage, count(*)::integer AS total,
                (count(*) FILTER (WHERE status = 'open'))::integer AS still_open,
                (count(*) FILTER (WHERE status = 'skipped'))::integer AS skipped
            FROM added GROUP BY queue_id, stage ORDER BY queue_id, stage
        LOOP
            PERFORM annotation_add_slot_counts(
                found.queue_id, found.stage, found.total, found.still_open, found.skipped);
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        FOR found IN
            SELECT queue_id, stage, count(*)::integer AS total,
                (count(*) FILTER (WHERE status = 'open'))::integer AS still_open,
                (count(*) FILTER (WHERE status = 'skipped'))::integer AS skipped
            FROM removed GROUP BY queue_id, stage ORDER BY queue_id, stage
        LOOP
            PERFORM annotation_add_slot_counts(
                found.queue_id, found.stage, -found.total, -found.still_open, -found.skipped);
        END LOOP;
    ELSE
        FOR found IN
            SELECT queue_id, stage, sum(one)::integer AS total,
                (sum(one) FILTER (WHERE status = 'open'))::integer AS still_open,
                (sum(one) FILTER (WHERE status = 'skipped'))::integer AS skipped
            FROM (
                SELECT queue_id, stage, status, 1 AS one FROM added
                UNION ALL
                SELECT queue_id, stage, status, -1 FROM removed
            ) changed
            GROUP BY queue_id, stage ORDER BY queue_id, stage
        LOOP
            IF found.total <> 0 OR COALESCE(found.still_open, 0) <> 0 OR COALESCE(found.skipped, 0) <> 0 THEN
                PERFORM annotation_add_slot_counts(found.queue_id, found.stage, found.total,
                    COALESCE(found.still_open, 0), COALESCE(found.skipped, 0));
            END IF;
        END LOOP;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER slots_are_counted_in AFTER INSERT ON annotation_slot REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION annotation_count_slots();
CREATE TRIGGER slots_are_counted_on AFTER UPDATE ON annotation_slot REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION annotation_count_slots();
CREATE TRIGGER slots_are_counted_out AFTER DELETE ON annotation_slot REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION annotation_count_slots();

CREATE FUNCTION annotation_counts_end_with_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM annotation_slotcount WHERE queue_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER counts_end_with_queue AFTER DELETE ON annotation_queue
    FOR EACH ROW EXECUTE FUNCTION annotation_counts_end_with_queue();
"""
UNDO_FUNCTION = """
DROP FUNCTION annotation_counts_end_with_queue() CASCADE;
DROP FUNCTION annotation_count_slots() CASCADE;
DROP FUNCTION annotation_add_slot_counts(bigint, integer, integer, integer, integer);
"""

COUNT_WHAT_IS_THERE = """
INSERT INTO annotation_slotcount (queue_id, stage, shard, total, still_open, skipped)
SELECT queue_id, stage, 0, count(*), count(*) FILTER (WHERE status = 'open'),
    count(*) FILTER (WHERE status = 'skipped')
FROM annotation_slot GROUP BY queue_id, stage;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_adjudication_is_logged")]
    operations = [
        migrations.CreateModel(
            name="SlotCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stage", models.PositiveSmallIntegerField()),
                ("shard", models.PositiveSmallIntegerField()),
                ("total", models.IntegerField()),
                ("still_open", models.IntegerField()),
                ("skipped", models.IntegerField()),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="annotation.queue",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("queue", "stage", "shard"), name="one_count_per_queue_stage_and_shard"
                    )
                ],
            },
        ),
        migrations.RunSQL(
            f"LOCK TABLE annotation_slot IN SHARE ROW EXCLUSIVE MODE; {FUNCTION} {COUNT_WHAT_IS_THERE}",
            UNDO_FUNCTION,
        ),
    ]
