"""Text is stored as it came, or not at all, or with what can't be stored replaced."""

import pytest
from django.db import connection

from runners.contract.storable import first_unstorable, is_storable, storable

ODD = ["\0", "a\0b", "\ud800", "a\udfff"]


@pytest.mark.parametrize("text", ODD)
def test_what_postgresql_does_not_take(text: str) -> None:
    assert not is_storable(text)
    assert first_unstorable(text) == len(text.rstrip("b")) - 1
    assert storable(text) == text.translate(dict.fromkeys((0, 0xD800, 0xDFFF), "\ufffd"))


@pytest.mark.django_db
def test_every_other_character_comes_back_as_it_went() -> None:
    text = "".join(map(chr, (*range(1, 0x800), 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF)))
    assert is_storable(text)
    assert first_unstorable(text) is None
    assert storable(text) is text
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text", [text])
        assert cursor.fetchone() == (text,)
