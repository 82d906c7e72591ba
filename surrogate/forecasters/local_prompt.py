"""A forecast's prompt as tokens of a local model: a kept prefix, a kernel part, and the bins' tokens."""

from dataclasses import dataclass
from typing import Any

from surrogate.contract import bins
from surrogate.contract.request import ForecastRequest
from surrogate.forecasters import prompt
from surrogate.forecasters.local_weights import WeightsError

_QUESTION = "\n\nWhich bin holds the speed-up of this kernel? Answer with its letter."
_ANSWER = "Bin:"
_KERNEL_HERE = "\ue000kernel\ue000"  # private use: no template or task has it


@dataclass(frozen=True)
class Tokens:
    """The prefix is the same for every kernel of a task, device and anchor, and it starts with the rules,
    which are the same for everything (``PromptTokens.rules``)."""

    prefix: tuple[int, ...]  # the rules included
    kernel: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        return self.prefix + self.kernel


class PromptTokens:
    """Tokenises requests the way one tokenizer wants them."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.letters = self._letter_tokens()
        before, _ = self._frame(_KERNEL_HERE, prompt.RULES)
        self._rules_text = before
        self.rules = tuple(self._ids(before, special=True))

    def of(self, request: ForecastRequest) -> Tokens:
        parts = prompt.build(request)
        before, after = self._frame(f"{parts.task}\n\n{_KERNEL_HERE}{_QUESTION}", parts.rules)
        # Only what the template wrote itself may hold special tokens: a task's or a kernel's text that
        # spells one stays text. So the frame and the texts are tokenised apart.
        task = before.removeprefix(self._rules_text)
        return Tokens(
            (*self.rules, *self._ids(task, special=False)),
            (*self._ids(parts.kernel, special=False), *self._ids(after, special=True)),
        )

    def _frame(self, user: str, rules: str) -> tuple[str, str]:
        """The text before and after the kernel, in the model's own chat template where it has one."""
        if getattr(self._tokenizer, "chat_template", None):
            messages = [{"role": "system", "content": rules}, {"role": "user", "content": user}]
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        else:
            bos = getattr(self._tokenizer, "bos_token", None) or ""
            text = f"{bos}{rules}\n\n{user}\n\n"
        before, _, after = text.partition(_KERNEL_HERE)
        return before, after + _ANSWER

    def _ids(self, text: str, *, special: bool) -> list[int]:
        if not text:
            return []
        ids: list[int] = self._tokenizer(
            text, add_special_tokens=False, split_special_tokens=not special
        ).input_ids
        return ids

    def _letter_tokens(self) -> tuple[int, ...]:
        """The one token that follows the answer's opening for each bin. Raises WeightsError."""
        opening = self._ids(_ANSWER, special=False)
        found = []
        for letter in bins.LETTERS:
            ids = self._ids(f"{_ANSWER} {letter}", special=False)
            if ids[:-1] != opening:
                raise WeightsError(f"the model's tokenizer has no single token for the bin {letter}")
            found.append(ids[-1])
        if len(set(found)) != bins.COUNT:
            raise WeightsError("the model's tokenizer does not tell the bins' letters apart")
        return tuple(found)
