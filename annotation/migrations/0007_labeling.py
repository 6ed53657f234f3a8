"""Flags, reveals, disagreements, what was visible; the run and stage of a slot, empty until the next migration."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_closed_audits_stay"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="labelversion", name="visible", field=models.JSONField(blank=True, default=dict)
        ),
        migrations.AddField(
            model_name="seat",
            name="run",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="lseval.run",
            ),
        ),
        migrations.AddField(
            model_name="slot",
            name="run",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="lseval.run",
            ),
        ),
        migrations.AddField(
            model_name="slot", name="stage", field=models.PositiveSmallIntegerField(editable=False, null=True)
        ),
        migrations.RemoveIndex(model_name="slot", name="open_slots"),
        migrations.AddIndex(
            model_name="slot",
            index=models.Index(
                condition=models.Q(("status", "open")),
                fields=["queue", "stage", "run", "position"],
                name="open_slots_by_run",
            ),
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("number", models.PositiveIntegerField()),
                ("is_raised", models.BooleanField()),
                ("note", models.TextField(blank=True)),
                ("request_key", models.UUIDField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="flags", to="annotation.slot"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["slot_id", "user_id", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("slot", "user", "number"), name="a_flag_is_unique"),
                    models.UniqueConstraint(fields=("user", "request_key"), name="one_flag_per_request"),
                    models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="flag_from_1"),
                    models.CheckConstraint(
                        condition=models.Q(("is_raised", True), ("note", ""), _connector="OR"),
                        name="flag_taken_back_has_no_note",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reveal",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("version", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reveals", to="annotation.slot"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("slot", "user"), name="one_reveal_per_slot_and_user")],
            },
        ),
        migrations.CreateModel(
            name="Disagreement",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                (
                    "between",
                    models.CharField(
                        choices=[("people", "H1 and H2"), ("automatic", "H1 and the automatic verdict")], max_length=9
                    ),
                ),
                ("is_settled", models.BooleanField(default=False)),
                (
                    "slot",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disagreement",
                        to="annotation.slot",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("between__in", ["people", "automatic"])),
                        name="disagreement_is_between_known_sides",
                    )
                ],
            },
        ),
    ]
