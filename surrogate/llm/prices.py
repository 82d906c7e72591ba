"""What a model costs. The one place with prices; money is US dollars as Decimal.

Read on 27 November 2026 from the vendor's pricing and model pages. A model that is not listed has no price we
know, and a call whose cost cannot be bounded is not made.
"""

from dataclasses import dataclass
from decimal import Decimal

from surrogate.llm.usage import TokenUsage

READ_ON = "2026-11-27"
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens. Past ``long_prompt`` prompt tokens all cost ``long_factor`` times."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    long_prompt: int | None = None
    long_factor: Decimal = Decimal(1)

    def cost(self, usage: TokenUsage) -> Decimal:
        """The price of ``usage`` as one request: the long-prompt rule looks at a single prompt."""
        total = (
            usage.input * self.input
            + usage.cache_read * self.cache_read
            + usage.cache_write_5m * self.cache_write_5m
            + usage.cache_write_1h * self.cache_write_1h
            + usage.output * self.output
        ) / _MILLION
        if self.long_prompt is not None and usage.prompt > self.long_prompt:
            total *= self.long_factor
        return total


def _price(
    input_: str, output: str, read_share: str, long_prompt: int | None = None, long_factor: str = "1"
) -> Price:
    """Cache writes cost 1.25 (five minutes) and 2 (one hour) times the input on every model; reads vary."""
    base = Decimal(input_)
    return Price(
        input=base,
        output=Decimal(output),
        cache_read=base * Decimal(read_share),
        cache_write_5m=base * Decimal("1.25"),
        cache_write_1h=base * 2,
        long_prompt=long_prompt,
        long_factor=Decimal(long_factor),
    )


PRICES: dict[str, Price] = {
    "claude-fable-5-1": _price("10", "50", "0.025"),
    "claude-fable-5": _price("10", "50", "0.1"),
    "claude-opus-5-5": _price("4", "20", "0.05"),
    "claude-opus-5": _price("5", "25", "0.1"),
    "claude-opus-4-8": _price("5", "25", "0.1"),
    "claude-opus-4-7": _price("5", "25", "0.1"),
    "claude-opus-4-6": _price("5", "25", "0.1"),
    "claude-sonnet-5-5": _price("2", "10", "0.05"),
    "claude-sonnet-5": _price("2", "10", "0.1"),
    "claude-haiku-5-5": _price("0.10", "0.50", "0.1", long_prompt=100_000, long_factor="5"),
    "claude-haiku-4-5": _price("1", "5", "0.1"),
}


class UnknownPrice(LookupError):
    """The model is not in the table; the message says so in one sentence."""


def price_of(model: str) -> Price:
    """The price of ``model``, a dated name counting as the undated one. Raises UnknownPrice."""
    name, _, tail = model.rpartition("-")
    undated = name if len(tail) == 8 and tail.isdigit() else model
    try:
        return PRICES[undated]
    except KeyError:
        raise UnknownPrice(
            f"no price is known for the model {model!r}, so its cost cannot be bounded"
        ) from None


def upper_bound(model: str, prompt_bytes: int, max_tokens: int) -> Decimal:
    """The most that one call should cost: nothing read from the cache, everything written to it for an hour.

    Tokens are taken to be half the bytes of the prompt: source code takes about 2.5 bytes a token with the
    newest tokenizer. A text made to take one token a byte costs no more as long as it is not written to the
    cache, which costs twice as much; but it may be a long prompt. Raises UnknownPrice.
    """
    price = price_of(model)
    extra = 500  # tokens that the API adds for structured output and tools
    usage = TokenUsage(cache_write_1h=prompt_bytes // 2 + extra, output=max_tokens)
    is_long = price.long_prompt is not None and usage.prompt <= price.long_prompt < prompt_bytes + extra
    return price.cost(usage) * (price.long_factor if is_long else 1)
