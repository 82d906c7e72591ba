"""Names of new accounts are plain ASCII and mean nothing in an address."""

import pytest
from allauth.account.adapter import get_adapter
from django.core.exceptions import ValidationError


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["ab", "Ada", "7of9", "a.b", "octo-cat", "a_", "a" * 39])
def test_plain_names_are_taken(name: str) -> None:
    assert get_adapter().clean_username(name) == name


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [".", "..", ".a", "a.", "-a", "_a", "\u0430dmin", "a\u0301b", "a b", "a/b", "a@b", "ab\n", "a" * 40, "a"],
)
def test_names_that_mislead_are_not(name: str) -> None:
    with pytest.raises(ValidationError):
        get_adapter().clean_username(name)
