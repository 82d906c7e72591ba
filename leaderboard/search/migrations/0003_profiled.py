from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0002_mark_entries"),
    ]

    operations = [
        migrations.AlterField(
            model_name="searchevent",
            name="kind",
            field=models.CharField(
                choices=[
                    ("started", "Started"),
                    ("generation", "Generation"),
                    ("measured", "Measured"),
                    ("dropped", "Dropped"),
                    ("profiled", "Profiled"),
                    ("paused", "Paused"),
                    ("resumed", "Resumed"),
                    ("extended", "Extended"),
                    ("entered", "Entered"),
                    ("finished", "Finished"),
                ],
                max_length=16,
            ),
        ),
    ]
