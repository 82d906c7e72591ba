"""Entries of runs that ended before submissions told by themselves that a search had found them."""

from typing import Any

from django.db import migrations


def mark(apps: Any, schema_editor: Any) -> None:
    submissions = apps.get_model("leaderboard", "Submission")
    entered = apps.get_model("search", "SearchRun").objects.exclude(entered=None).values("entered")
    submissions.objects.filter(pk__in=entered).update(machine_written=True)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0005_machine_written"),
        ("search", "0001_initial"),
    ]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
