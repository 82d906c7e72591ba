"""Tokens as the API bills them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one call or of several added up. The three input kinds do not overlap."""

    input: int = 0  # neither read from nor written to the cache
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0  # thinking included
    thinking: int = 0  # the part of ``output`` that is reasoning; for the record only

    @property
    def prompt(self) -> int:
        """Every token of the prompt, cached or not."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.output + other.output,
            self.thinking + other.thinking,
        )
