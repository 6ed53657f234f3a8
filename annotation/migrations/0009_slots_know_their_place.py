"""The database fills in a slot's run and stage; flags and reveals are only added to, and not in closed audits."""

import django.db.models.deletion
from django.db import migrations, models

FUNCTION = """
CREATE FUNCTION annotation_slot_has_its_items_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT item.run_id, CASE item.kind WHEN 'group' THEN 0 WHEN 'round' THEN 1 ELSE 2 END
    INTO NEW.run_id, NEW.stage
    FROM annotation_item item WHERE item.id = NEW.item_id;
    RETURN NEW;
END $$;
CREATE TRIGGER slot_has_its_items_place BEFORE INSERT OR UPDATE OF item_id, run_id, stage ON annotation_slot
    FOR EACH ROW EXECUTE FUNCTION annotation_slot_has_its_items_place();
"""
UNDO_FUNCTION = "DROP FUNCTION annotation_slot_has_its_items_place() CASCADE;"

OF_A_SLOT = ("annotation_flag", "annotation_reveal", "annotation_disagreement")
ADDED_TO = ("annotation_flag", "annotation_reveal")


def _triggers():
    for table in OF_A_SLOT:
        yield (
            f"CREATE TRIGGER closed_audits_stay BEFORE INSERT OR UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION annotation_closed_audits_stay('slot');"
        )
        yield (
            f"CREATE CONSTRAINT TRIGGER closed_audits_lose_nothing AFTER DELETE ON {table} "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION annotation_closed_audits_stay('slot');"
        )
    for table in ADDED_TO:
        yield (
            f"CREATE TRIGGER only_added_to BEFORE UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION annotation_only_added_to();"
        )


def _undo():
    for table in OF_A_SLOT:
        yield f"DROP TRIGGER closed_audits_stay ON {table}; DROP TRIGGER closed_audits_lose_nothing ON {table};"
    for table in ADDED_TO:
        yield f"DROP TRIGGER only_added_to ON {table};"


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_fill_places")]
    operations = [
        migrations.AlterField(
            model_name="slot",
            name="run",
            field=models.ForeignKey(
                editable=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="lseval.run"
            ),
        ),
        migrations.AlterField(
            model_name="slot", name="stage", field=models.PositiveSmallIntegerField(editable=False)
        ),
        migrations.RunSQL(FUNCTION, UNDO_FUNCTION),
        migrations.RunSQL("\n".join(_triggers()), "\n".join(_undo())),
    ]
