"""A person's own versions are found newest first; two indexes that others hold already are dropped."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0011_slots_are_counted'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='labelversion',
            name='slot',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='annotation.slot'),
        ),
        migrations.AlterField(
            model_name='labelversion',
            name='user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='label_versions', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='labelversion',
            index=models.Index(fields=['user', '-id'], name='versions_by_person'),
        ),
    ]
