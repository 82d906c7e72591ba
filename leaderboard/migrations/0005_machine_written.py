from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0004_work"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="machine_written",
            field=models.BooleanField(
                default=False,
                help_text="Whether a search found the kernel and entered it in its owner's name.",
            ),
        ),
    ]
