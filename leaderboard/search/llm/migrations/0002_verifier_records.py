from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search_llm", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="VerifierRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("verifier", models.CharField(max_length=16)),
                ("model", models.CharField(max_length=120)),
                ("family", models.CharField(max_length=64)),
                ("warned", models.PositiveIntegerField(default=0)),
                ("right", models.PositiveIntegerField(default=0)),
                ("due", models.PositiveIntegerField(default=0)),
                ("caught", models.PositiveIntegerField(default=0)),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["verifier", "model", "family"], name="search_llm_record_once"
                    )
                ],
            },
        ),
    ]
