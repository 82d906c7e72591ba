"""Refusals: what was asked can't be done, and the sentence that says why."""

#: Which form field a rule is about; pages put the message there, the API names it.
FIELD_OF = {
    "empty": "source",
    "too_large": "source",
    "not_utf8": "source",
    "nul_byte": "source",
    "syntax_error": "source",
    "entry_point_missing": "source",
    "language_unknown": "language",
    "language_mismatch": "language",
    "language_not_on_device": "language",
    "language_not_in_task": "language",
    "device_unknown": "device",
    "device_closed": "device",
    "task_unknown": "task",
    "task_closed": "task",
    "mode_unknown": "mode",
    "over_budget": "mode",
    "tier_too_low": "mode",
    "too_many_checks": "mode",
    "scope_unknown": "scopes",
    "name_missing": "name",
    "name_too_long": "name",
    "expiry_past": "expires_at",
    "too_many_tokens": "name",
}


class Refusal(Exception):
    """A rule was broken. Nothing was stored. Rules beside those of FIELD_OF are about no field:
    too_many_queued, site_read_only, site_budget_spent.

    ``rule`` is a stable word for programs, ``message`` one sentence for people, ``line`` the source's line
    at fault, counted from 1, where there is one.
    """

    def __init__(self, rule: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.line = line

    @property
    def field(self) -> str | None:
        return FIELD_OF.get(self.rule)


class Busy(Refusal):
    """Not now. The same may be asked again after so many seconds.

    ``is_own``: by what whoever asks has under way himself, not by what others have.
    """

    def __init__(self, rule: str, message: str, retry_after: int, *, is_own: bool) -> None:
        super().__init__(rule, message)
        self.retry_after = retry_after
        self.is_own = is_own
