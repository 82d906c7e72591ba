import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runners", "0001_initial"),
        ("search", "0003_profiled"),
        ("search_llm", "0002_verifier_records"),
    ]

    operations = [
        migrations.CreateModel(
            name="ParentProfile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("reserved_seconds", models.FloatField()),
                ("is_settled", models.BooleanField(default=False)),
                (
                    "evaluation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="search_profile",
                        to="runners.evaluation",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="profiles",
                        to="search.searchrun",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["run", "digest"], name="search_llm_profile_once")
                ],
            },
        ),
    ]
