"""Where Claude is and how patient we are."""

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Asked in this order: the next one when a model is overloaded, gone or out of its own rate limit.
DEFAULT_MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5")
NO_KEY = "Claude is not asked: neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set"


@dataclass(frozen=True)
class Config:
    """``api_key`` or ``auth_token`` is a secret: neither is ever shown or logged."""

    api_key: str = field(default="", repr=False)
    auth_token: str = field(default="", repr=False)
    base_url: str | None = None  # None: the vendor's own
    models: tuple[str, ...] = DEFAULT_MODELS
    connect_seconds: float = 5.0
    first_byte_seconds: float = 120.0  # a model that thinks sends events meanwhile, so silence is a fault
    stall_seconds: float = 60.0  # longest silence within a stream; keep-alive pings do not break it
    max_continuations: int = 4  # of a paused turn

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Config":
        """Reads ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL and KERNELHUB_CLAUDE_MODELS."""
        models = tuple(environ.get("KERNELHUB_CLAUDE_MODELS", "").replace(",", " ").split())
        key = environ.get("ANTHROPIC_API_KEY", "").strip()
        return cls(
            api_key=key,
            auth_token="" if key else environ.get("ANTHROPIC_AUTH_TOKEN", "").strip(),
            base_url=environ.get("ANTHROPIC_BASE_URL", "").strip() or None,
            models=models or DEFAULT_MODELS,
        )

    @property
    def has_key(self) -> bool:
        return bool(self.api_key or self.auth_token)
