"""A local server that plays the Messages API, its rules and its failures, over real sockets."""

from tests.fake_claude.replies import Reply, answer, error, paused, refusal, stopped, tool_use
from tests.fake_claude.server import FakeClaude

__all__ = ["FakeClaude", "Reply", "answer", "error", "paused", "refusal", "stopped", "tool_use"]
