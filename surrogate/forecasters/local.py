"""A language model on this machine as a forecaster: the bins are read from its next-token logits.

Nothing is generated: one pass over the prompt gives the probability of each bin's letter. What comes before
the kernel (rules, task, device, anchor) is computed once and kept, and while somebody types, so is the part
of the kernel that did not change. On the CPU the rules are computed in float32 and all else in int8.
"""

import copy
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast, Usage
from surrogate.contract.request import ForecastRequest
from surrogate.fetch import default_weights
from surrogate.forecasters import prompt
from surrogate.forecasters.local_prompt import PromptTokens, Tokens
from surrogate.forecasters.local_weights import Loaded, LocalConfig, WeightsError, load
from surrogate.forecasters.prefix_cache import PrefixCache, beginning, common_length

#: Prefixes of tasks kept, besides the rules, which are computed as the weights are loaded; 1,000 tokens of
#: the default model take about 46 MB.
PREFIXES = 6
#: A source is not even tokenised when it has more bytes than this per token allowed.
_BYTES_PER_TOKEN = 8


@dataclass
class _Last:
    """The newest single request, all of it, for the next key stroke."""

    tokens: tuple[int, ...]
    prefix: int  # how many of them were the prefix
    cache: Any


class LocalForecaster:
    """Loads its weights on first use; when they cannot be loaded, every forecast is an abstention."""

    name = "local"

    def __init__(self, config: LocalConfig) -> None:
        self.config = config
        self._lock = threading.Lock()  # one computation at a time: more would only share the same cores
        self._loaded: Loaded | None = None
        self._prompts: PromptTokens | None = None
        self._problem = ""
        self._prefixes = PrefixCache(PREFIXES)
        self._rules: Any = None  # the key-value cache of what every prompt starts with
        self._last: _Last | None = None

    @property
    def version(self) -> str:
        """Loads the weights, since it names them."""
        with self._lock:
            self._load()
            return self._version()

    def _version(self) -> str:
        digest = self._loaded.digest if self._loaded is not None else "not-loaded"
        model = self.config.model.rstrip("/").rsplit("/", 1)[-1]
        return f"{model}/{digest}/prompt-{prompt.VERSION}"

    def load(self) -> str:
        """Load the weights unless they are; the reason in one sentence when that fails, else nothing."""
        with self._lock:
            return self._load()

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        with self._lock:
            if self._load():
                return [self._abstain(AbstentionReason.UNAVAILABLE, self._problem) for _ in requests]
            answers: dict[int, Forecast | Abstention] = {}
            waiting: dict[tuple[int, ...], list[tuple[int, Tokens]]] = {}
            for index, request in enumerate(requests):
                tokens = self._tokens(request)
                if isinstance(tokens, Abstention):
                    answers[index] = tokens
                else:
                    waiting.setdefault(tokens.prefix, []).append((index, tokens))
            for prefix, items in waiting.items():
                for group in self._groups(items):
                    answers |= self._compute(prefix, group)
        return [answers[index] for index in range(len(requests))]

    def _load(self) -> str:
        if self._loaded is None and not self._problem:
            try:
                loaded = load(self.config)
                self._prompts = PromptTokens(loaded.tokenizer)
                self._loaded = loaded
                with torch.inference_mode():
                    self._rules = DynamicCache(config=loaded.precise.config)
                    self._extend(loaded.precise, self._rules, self._prompts.rules)
            except WeightsError as error:
                # Kept: trying again at every request would cost seconds each time.
                self._problem = f"No local model: {error}."
        return self._problem

    def _tokens(self, request: ForecastRequest) -> Tokens | Abstention:
        assert self._prompts is not None and self._loaded is not None  # noqa: S101, PT018 - after _load
        most = min(self.config.max_prompt_tokens, self._loaded.context)
        texts = (request.kernel.source, request.task.reference, request.anchor.source)
        size = sum(len(text) for text in texts)
        if size > most * _BYTES_PER_TOKEN:
            return self._abstain(
                AbstentionReason.TOO_LONG, f"The sources have {size} characters, too many for {most} tokens."
            )
        tokens = self._prompts.of(request)
        if len(tokens.all) > most:
            return self._abstain(
                AbstentionReason.TOO_LONG, f"The prompt has {len(tokens.all)} tokens, more than {most}."
            )
        return tokens

    def _groups(self, items: list[tuple[int, Tokens]]) -> list[list[tuple[int, Tokens]]]:
        """Requests of like length together, so that padding wastes little."""
        groups: list[list[tuple[int, Tokens]]] = []
        for item in sorted(items, key=lambda pair: len(pair[1].kernel), reverse=True):
            widest = len(groups[-1][0][1].kernel) if groups else 0
            if groups and widest * (len(groups[-1]) + 1) <= self.config.batch_tokens:
                groups[-1].append(item)
            else:
                groups.append([item])
        return groups

    @torch.inference_mode()
    def _compute(
        self, prefix: tuple[int, ...], group: list[tuple[int, Tokens]]
    ) -> dict[int, Forecast | Abstention]:
        """One pass over the kernels of ``group``, which share their prefix."""
        assert self._loaded is not None and self._prompts is not None  # noqa: S101, PT018 - after _load
        started = time.perf_counter()
        cache, known, computed = self._start(prefix, group)
        rows = [tokens.all[known:] for _, tokens in group]
        width = max(map(len, rows))
        # Padding stands behind: attention looks back only, so it changes nothing before it.
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
        ends = [len(tokens) - 1 for tokens in rows]
        wanted = sorted(set(ends))
        logits = self._loaded.model(
            input_ids=ids.to(self._loaded.device),
            cache=cache,
            use_cache=True,
            logits_to_keep=torch.tensor(wanted, device=self._loaded.device),
        ).logits
        if len(group) == 1:
            self._last = _Last(group[0][1].all, len(prefix), cache)
            if prefix not in self._prefixes:
                self._prefixes.put(prefix, beginning(cache, len(prefix)))
        # Shares of all next tokens: their sum, kept as the raw sum, says whether the model answers at all.
        letters = torch.tensor(self._prompts.letters, device=logits.device)
        shares = (
            logits[range(len(rows)), [wanted.index(end) for end in ends]]
            .double()
            .softmax(dim=-1)[:, letters]
            .tolist()
        )
        seconds = (time.perf_counter() - started) / len(group)
        return {
            index: self._answer(masses, Usage(seconds, len(row) + computed, known - computed))
            for (index, _), masses, row in zip(group, shares, rows, strict=True)
        }

    def _start(self, prefix: tuple[int, ...], group: list[tuple[int, Tokens]]) -> tuple[Any, int, int]:
        """A key-value cache to go on from, how many tokens are in it, and how many had to be computed now."""
        assert self._prompts is not None  # noqa: S101 - after _load
        last = self._last
        if len(group) == 1 and last is not None and last.tokens[: last.prefix] == prefix:
            tokens = group[0][1].all
            # The last token is always computed: its logits are the answer.
            shared = min(common_length(last.tokens, tokens), len(tokens) - 1)
            if shared >= len(prefix):
                self._last = None  # the computation extends this cache in place
                if surplus := len(last.tokens) - shared:
                    last.cache.crop(-surplus)
                return last.cache, shared, 0
        if len(group) == 1 and prefix not in self._prefixes:
            # One pass over task and kernel together takes less than two.
            return copy.deepcopy(self._rules), len(self._prompts.rules), 0
        kept, computed = self._kept(prefix)
        cache = copy.deepcopy(kept)
        if len(group) > 1:
            cache.batch_repeat_interleave(len(group))
        return cache, len(prefix), computed

    def _kept(self, prefix: tuple[int, ...]) -> tuple[Any, int]:
        """The cache of ``prefix``, and how many of its tokens had to be computed for it now."""
        kept = self._prefixes.get(prefix)
        if kept is not None:
            return kept, 0
        assert self._loaded is not None and self._prompts is not None  # noqa: S101, PT018 - after _load
        rules = len(self._prompts.rules)
        cache = copy.deepcopy(self._rules)
        self._extend(self._loaded.model, cache, prefix[rules:])
        self._prefixes.put(prefix, cache)
        return cache, len(prefix) - rules

    def _extend(self, model: Any, cache: Any, tokens: tuple[int, ...]) -> None:
        """Add ``tokens`` to ``cache``."""
        assert self._loaded is not None  # noqa: S101 - after _load
        ids = torch.tensor([tokens], device=self._loaded.device)
        model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)

    def _answer(self, masses: list[float], usage: Usage) -> Forecast | Abstention:
        try:
            return Forecast.of(masses, forecaster=self.name, version=self._version(), usage=usage)
        except ValueError as error:  # weights that compute NaN
            return self._abstain(
                AbstentionReason.MALFORMED, f"The model's answer is no distribution: {error}."
            )

    def _abstain(self, reason: AbstentionReason, message: str) -> Abstention:
        return Abstention(reason, message, self.name, self._version())


def build(environ: Mapping[str, str] = os.environ) -> LocalForecaster:
    """From KERNELHUB_LOCAL_MODEL, _ADAPTER and _DEVICE, else with what ``fetch_model`` brings."""
    model = environ.get("KERNELHUB_LOCAL_MODEL", "").strip() or str(default_weights(environ))
    adapter = environ.get("KERNELHUB_LOCAL_ADAPTER", "").strip()
    device = environ.get("KERNELHUB_LOCAL_DEVICE", "").strip() or "auto"
    return LocalForecaster(LocalConfig(model, adapter, device))
