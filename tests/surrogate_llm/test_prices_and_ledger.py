"""Money: what tokens cost, and that it is never promised twice."""

from decimal import Decimal

import pytest

from surrogate.llm.config import DEFAULT_MODELS
from surrogate.llm.ledger import MemoryLedger, OverBudget
from surrogate.llm.prices import PRICES, UnknownPrice, price_of, upper_bound
from surrogate.llm.usage import TokenUsage

MILLION = 1_000_000


def test_a_million_tokens_of_each_kind():
    price = price_of("claude-opus-5-5")
    each = {"input": "4", "cache_read": "0.2", "cache_write_5m": "5", "cache_write_1h": "8", "output": "20"}
    for kind, dollars in each.items():
        assert price.cost(TokenUsage(**{kind: MILLION})) == Decimal(dollars)


def test_haiku_costs_five_times_as_much_past_100_000_prompt_tokens_cached_ones_included():
    price = price_of("claude-haiku-5-5")
    short = TokenUsage(input=40_000, cache_read=60_000, output=1000)
    long = TokenUsage(input=40_001, cache_read=60_000, output=1000)
    assert price.cost(short) == Decimal("0.0051")
    assert price.cost(long) == (Decimal("0.0051") + Decimal("0.0000001")) * 5


def test_a_dated_name_costs_what_the_undated_one_does():
    assert price_of("claude-haiku-4-5-20251001") == PRICES["claude-haiku-4-5"]


@pytest.mark.parametrize("model", ["claude-fable-5-2", "claude-opus-5-5-fast", ""])
def test_an_unlisted_model_has_no_price(model):
    with pytest.raises(UnknownPrice, match="cannot be bounded"):
        price_of(model)


def test_the_default_models_have_prices():
    for model in DEFAULT_MODELS:
        assert price_of(model).output > 0


def test_the_bound_covers_code_at_two_bytes_a_token_written_to_the_cache_for_an_hour():
    worst = price_of("claude-sonnet-5-5").cost(TokenUsage(cache_write_1h=5000, output=200))
    assert upper_bound("claude-sonnet-5-5", prompt_bytes=10_000, max_tokens=200) >= worst


def test_the_bound_covers_a_text_made_to_take_a_token_a_byte():
    """Nothing of it is written to the cache, but it makes the prompt a long one, which Haiku charges for."""
    worst = price_of("claude-haiku-5-5").cost(TokenUsage(input=150_000, output=200))
    assert upper_bound("claude-haiku-5-5", prompt_bytes=150_000, max_tokens=200) >= worst
    short = price_of("claude-haiku-5-5").cost(TokenUsage(cache_write_1h=45_500, output=200))
    assert upper_bound("claude-haiku-5-5", prompt_bytes=90_000, max_tokens=200) == short


async def test_reservations_count_until_they_are_settled():
    ledger = MemoryLedger(Decimal(1))
    first = await ledger.reserve(Decimal("0.6"), purpose="a")
    with pytest.raises(OverBudget, match=r"\$0\.6000.*\$0\.4000 is left"):
        await ledger.reserve(Decimal("0.6"), purpose="b")
    await ledger.settle(first, Decimal("0.1"))
    await ledger.reserve(Decimal("0.6"), purpose="b")
    assert (ledger.spent, ledger.reserved) == (Decimal("0.1"), Decimal("0.6"))


async def test_a_call_may_cost_more_than_was_reserved_and_then_the_limit_is_felt():
    ledger = MemoryLedger(Decimal(1))
    await ledger.settle(await ledger.reserve(Decimal("0.5"), purpose="a"), Decimal("1.2"))
    with pytest.raises(OverBudget, match=r"only \$0\.0000 is left"):
        await ledger.reserve(Decimal("0.01"), purpose="b")


async def test_a_reservation_is_settled_once():
    ledger = MemoryLedger(None)
    reservation = await ledger.reserve(Decimal(1), purpose="a")
    await ledger.settle(reservation, Decimal(0))
    with pytest.raises(ValueError, match="is not open"):
        await ledger.settle(reservation, Decimal(1))
