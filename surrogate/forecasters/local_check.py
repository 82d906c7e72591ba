"""A smoke test of a model's weights: quantised and converted files can load without error and be noise."""

import json
import math
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from surrogate.fetch import PERPLEXITY_FILE, known_perplexity
from surrogate.forecasters.local_weights import WeightsError

#: Plain prose of our own, so that nothing has learned it by heart.
TEXT = (
    "A kernel reads numbers from memory, does a little arithmetic with them, and writes the results back. "
    "If it reads each number only once and the numbers lie next to each other, the memory sets the pace. "
    "If it does much arithmetic on each number, the arithmetic units do. Most of the work of making a kernel "
    "fast is finding out which of the two it is waiting for, and then waiting less."
)
#: The default model has 52 on this short text, one with a broken layer thousands.
HIGHEST = 150.0


def perplexity(folder: Path) -> float:
    """Perplexity of the model in ``folder`` on TEXT, kept beside it. Raises WeightsError when too high."""
    if (known := known_perplexity(folder)) is not None:
        return known
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    model: Any = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32)
    model.eval()
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        found = math.exp(min(50.0, float(model(input_ids=ids, labels=ids).loss)))
    if not found < HIGHEST:
        raise WeightsError(f"the model in {folder} is noise: perplexity {found:.0f} where about 50 is usual")
    (folder / PERPLEXITY_FILE).write_text(json.dumps({"perplexity": found}))
    return found
