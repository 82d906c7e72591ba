"""How long one forecast of the local language model takes, which part of it is products, and what 8 bits change.

    python -m tests.benchmarks.local_forecast [--threads 2] [--tokens 1500] > tests/benchmarks/results/local_forecast.json

Needs the weights (``manage.py fetch_model``). The prompt is made as long as asked by repeating a kernel of our
own. Reported for each way of computing: the first forecast on a task ("cold"; the rules that every prompt
starts with are computed when the weights are loaded), another kernel on the same task ("warm"), and a kernel of
which a few characters in the last line changed. Processor seconds are reported beside the wall clock: on a
machine that does other work too, those divided by the threads are what an idle one would need. The floor is the
float32 products alone, at the rate that this machine multiplies matrices with in the same run.
"""  # noqa: E501 - a command to copy

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

# Threads that spin while they wait make a busy machine look many times slower than it is.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import transformers

from surrogate.contract.forecast import Forecast
from surrogate.fetch import default_weights
from surrogate.forecasters.local import LocalForecaster
from surrogate.forecasters.local_prompt import PromptTokens
from surrogate.forecasters.local_weights import LocalConfig, load
from tests.surrogate_llm.requests import KERNEL, request

LINES = [line for line in KERNEL.splitlines() if not line.startswith("//")]


def sources(prompts: PromptTokens, tokens: int, count: int) -> list[str]:
    """Different kernels whose prompts have about ``tokens`` tokens."""
    found = []
    for index in range(count):
        lines: list[str] = [f"int variant_{index}_{7919 * (index + 1)};"]
        while len(prompts.of(request("\n".join(lines))).all) < tokens:
            lines.append(LINES[len(lines) % len(LINES)])
        found.append("\n".join(lines))
    return found


@dataclass
class Readings:
    """Seconds of one case."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def to_document(self) -> dict[str, object]:
        return {
            "median": round(statistics.median(self.wall), 3),
            "median_processor": round(statistics.median(self.processor), 3),
            "all": [round(item, 3) for item in self.wall],
        }


def timed(forecaster: LocalForecaster, source: str, slug: str, readings: Readings) -> Forecast:
    wall, processor = time.perf_counter(), time.process_time()
    [answer] = forecaster.forecast([request(source, slug=slug)])
    readings.wall.append(time.perf_counter() - wall)
    readings.processor.append(time.process_time() - processor)
    assert isinstance(answer, Forecast), answer
    return answer


def measure(config: LocalConfig, texts: list[str], repeats: int) -> tuple[dict[str, object], list[Forecast]]:
    """The three cases and the answers of the second."""
    forecaster = LocalForecaster(config)
    timed(forecaster, texts[0], "warm-up", Readings())
    cold, warm, typing = Readings(), Readings(), Readings()
    for index in range(repeats):
        timed(forecaster, texts[0], f"softmax-{index}", cold)
    timed(forecaster, texts[0], "softmax", Readings())
    answers = []
    for text in texts[1:]:
        answers.append(timed(forecaster, text, "softmax", warm))
        timed(forecaster, f"{text} int typed;", "softmax", typing)
    cases = {"cold": cold, "warm": warm, "typing": typing}
    return {name: readings.to_document() for name, readings in cases.items()}, answers


def floor(config: LocalConfig, tokens: int, cold: int, warm: int) -> dict[str, float]:
    """Processor seconds of the float32 products of ``cold`` and ``warm`` tokens, and the rate behind them."""
    loaded = load(config)
    embedding = loaded.precise.get_input_embeddings().weight.numel()
    weights = sum(item.numel() for item in loaded.precise.parameters()) - embedding
    x, weight = torch.randn(tokens, 576), torch.randn(1536, 576)
    best = math.inf
    with torch.inference_mode():
        for _ in range(20):
            begun = time.process_time()
            torch.nn.functional.linear(x, weight)
            best = min(best, time.process_time() - begun)
    rate = 2 * tokens * weight.numel() / best
    return {
        "gflop_per_processor_second": round(rate / 1e9, 1),
        "cold": round(2 * weights * cold / rate, 3),
        "warm": round(2 * weights * warm / rate, 3),
    }


def divergence(precise: list[Forecast], rough: list[Forecast]) -> float:
    """Mean Kullback-Leibler divergence over the bins, nats."""
    return statistics.fmean(
        sum(p * math.log(p / q) for p, q in zip(one.probabilities, other.probabilities, strict=True))
        for one, other in zip(precise, rough, strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=1500)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = LocalConfig(str(default_weights()), device="cpu")
    prompts = PromptTokens(load(config).tokenizer)
    texts = sources(prompts, arguments.tokens, arguments.repeats + 1)
    tokens = prompts.of(request(texts[1]))
    load_before = os.getloadavg()[0]
    kept = len(prompts.rules), len(tokens.prefix)
    lowest = floor(config, len(tokens.all), len(tokens.all) - kept[0], len(tokens.all) - kept[1])
    int8, rough = measure(config, texts, arguments.repeats)
    plain = replace(config, quick_attention=False)
    masked, _ = measure(plain, texts, arguments.repeats)
    float32, precise = measure(replace(plain, int8=False), texts, arguments.repeats)
    document = {
        "command": f"python -m tests.benchmarks.local_forecast --threads {arguments.threads}"
        f" --tokens {arguments.tokens} --repeats {arguments.repeats}",
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_average_before": round(load_before, 2),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "model": default_weights().name,
        "threads": arguments.threads,
        "prompt_tokens": len(tokens.all),
        "of_them_rules": kept[0],
        "of_them_in_the_kept_prefix": kept[1],
        "load_average_after": round(os.getloadavg()[0], 2),
        "floor_of_float32_products": lowest,
        "seconds_as_served": int8,
        "seconds_with_masked_attention": masked,
        "seconds_with_masked_attention_in_float32": float32,
        "int8_divergence_from_float32_nats": round(divergence(precise, rough), 4),
        "largest_change_of_mean_log2": round(
            max(abs(one.mean - other.mean) for one, other in zip(precise, rough, strict=True)), 4
        ),
    }
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
