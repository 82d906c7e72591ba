from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runners", "0006_raw_kept")]

    operations = [
        migrations.AddField(
            model_name="kernel", name="sketch", field=models.JSONField(blank=True, null=True)
        ),
    ]
