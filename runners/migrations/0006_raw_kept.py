from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("runners", "0005_profile_trace")]

    operations = [
        migrations.AddField(
            model_name="evaluation", name="raw_kept", field=models.BooleanField(default=True)
        ),
        migrations.AddIndex(
            model_name="evaluation",
            index=models.Index(
                condition=Q(status="finished", raw_kept=True),
                fields=["finished_at"],
                name="evaluation_raw",
            ),
        ),
    ]
