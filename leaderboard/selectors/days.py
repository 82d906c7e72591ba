"""Budget days are UTC days, the same for everyone."""

from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def refill_time(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), UTC)
