"""The log of an audit tells when disagreements were queued."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0009_slots_know_their_place'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='auditevent',
            name='audit_action_is_known',
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='action',
            field=models.CharField(choices=[('drawn', 'Drawn'), ('seated', 'gave a place'), ('seat_ended', 'ended a place'), ('lease_released', 'released an item'), ('paused', 'Paused'), ('resumed', 'Resumed'), ('extended', 'Extended'), ('codebook', 'put a codebook in force'), ('imported', 'imported labels'), ('adjudication', 'queued disagreements'), ('closed', 'Closed')], max_length=14),
        ),
        migrations.AddConstraint(
            model_name='auditevent',
            constraint=models.CheckConstraint(condition=models.Q(('action__in', ['drawn', 'seated', 'seat_ended', 'lease_released', 'paused', 'resumed', 'extended', 'codebook', 'imported', 'adjudication', 'closed'])), name='audit_action_is_known'),
        ),
    ]
