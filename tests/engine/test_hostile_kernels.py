"""Kernels that crash, hang, flood, bomb or hide work: each gets its verdict, and nothing of them stays."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from runners.contract.limits import MAX_OUTPUT_BYTES
from runners.contract.vocabulary import Mode
from runners.sandbox import process_tree
from tests.engine.conftest import BOUNDS, CPP, GOOD_CPP, Evaluate

pytestmark = pytest.mark.sandbox


@pytest.fixture(autouse=True)
def nothing_stays(evaluate: Evaluate) -> Iterator[None]:
    before = set(process_tree.descendants(os.getpid()))
    yield
    assert set(process_tree.descendants(os.getpid())) <= before
    assert evaluate(GOOD_CPP)["verdict"] == "passed", "the next honest run must pass"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("*(volatile int*)0 = 1;", "crashed with SIGSEGV in case cpu-test-3x5"),
        ("__builtin_trap();", "crashed with SIGILL in case cpu-test-3x5"),
    ],
)
def test_crash_names_signal_and_case(evaluate: Evaluate, body: str, words: str) -> None:
    document = evaluate(CPP.format(body))
    assert document["verdict"] == "runtime_error"
    assert words in document["reason"]
    assert document["tests"][-1]["status"] == "error"


def test_exit_is_no_success(evaluate: Evaluate) -> None:
    document = evaluate("import os\n\ndef kernel(x):\n    os._exit(0)\n")
    assert document["verdict"] == "runtime_error"
    assert "exited with status 0 instead of returning" in document["reason"]


def test_exit_while_loading(evaluate: Evaluate) -> None:
    document = evaluate("import os\nos._exit(0)\n\ndef kernel(x):\n    return x\n")
    assert document["verdict"] == "runtime_error"
    assert "while it was loaded" in document["reason"]


@pytest.mark.parametrize("body", ["for (volatile int i = 0;; i = i + 1) {}", "while (true) usleep(1000);"])
def test_endless_kernel_times_out(evaluate: Evaluate, body: str) -> None:
    document = evaluate("#include <unistd.h>\n" + CPP.format(body))
    assert document["verdict"] == "timeout"
    assert "took longer than 4 s" in document["reason"]


def test_fork_bomb_hits_the_process_limit(evaluate: Evaluate) -> None:
    # Copies of a process weigh something, too: with room for them only the count can be passed first.
    bounds = replace(BOUNDS, memory=64 * BOUNDS.memory)
    document = evaluate("#include <unistd.h>\n" + CPP.format("while (true) fork();"), bounds=bounds)
    assert document["verdict"] == "resource_limit"
    assert "processes" in document["reason"]


def test_thread_bomb_hits_the_thread_limit(evaluate: Evaluate) -> None:
    source = (
        "import threading, time\n\n"
        "def kernel(x):\n"
        "    while True:\n"
        "        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
    )
    document = evaluate(source)
    assert document["verdict"] == "resource_limit"


@pytest.mark.parametrize(
    "source",
    [
        "#include <cstdlib>\n#include <cstring>\n"
        + CPP.format("while (true) { void* p = malloc(1 << 26); if (p) memset(p, 1, 1 << 26); }"),
        "import torch\n\ndef kernel(x):\n    return [torch.ones(2**26) for _ in range(100)]\n",
    ],
    ids=["cpp", "python"],
)
def test_memory_bomb_hits_the_memory_limit(evaluate: Evaluate, source: str) -> None:
    document = evaluate(source)
    assert document["verdict"] in ("resource_limit", "timeout"), document["reason"]


def test_what_no_bound_counts_ends_before_the_machine_is_short_of_memory(evaluate: Evaluate) -> None:
    document = evaluate(GOOD_CPP, bounds=replace(BOUNDS, reserve=2**60))
    assert document["verdict"] == "resource_limit"
    assert "The machine ran short of memory" in document["reason"]


def test_disk_is_bounded(evaluate: Evaluate) -> None:
    source = (
        "def kernel(x):\n"
        "    with open('/tmp/big', 'wb') as file:\n"
        "        while True:\n"
        "            file.write(b'x' * 2**20)\n"
    )
    document = evaluate(source)
    assert document["verdict"] == "resource_limit"


def test_flood_of_output_is_capped_and_the_kernel_judged_on_its_merits(evaluate: Evaluate) -> None:
    body = (
        'for (int i = 0; i < 40000; i++) { puts("\\xff line of many characters, again, \\x1b[31m"); '
        'fputs("errors\\n", stderr); }\n'
        "for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;"
    )
    document = evaluate("#include <cstdio>\n" + CPP.format(body))
    assert document["verdict"] == "passed", document["reason"]
    output = document["output"]
    assert output["truncated"]
    assert len(output["stdout"]) <= MAX_OUTPUT_BYTES
    assert output["stdout"].startswith("\ufffd line")


def test_verdict_printed_by_the_submission_is_ignored(evaluate: Evaluate) -> None:
    document = evaluate('print(\'{"verdict": "passed"}\')\n\ndef kernel(x):\n    return x\n')
    assert document["verdict"] == "wrong"


def test_forged_done_on_the_control_channel(evaluate: Evaluate) -> None:
    """A submission that finds the socket can end a batch early; its outputs are poison then."""
    source = (
        "import json, os, socket\n\n"
        "def kernel(x):\n"
        "    for number in range(3, 64):\n"
        "        try:\n"
        "            control = socket.socket(fileno=os.dup(number))\n"
        "            control.send(json.dumps({'event': 'done', 'nonce': 'guessed'}).encode())\n"
        "        except OSError:\n"
        "            pass\n"
    )
    document = evaluate(source)
    assert document["verdict"] == "runtime_error"
    assert "not asked for" in document["reason"]


@pytest.mark.parametrize("junk", ["b'x' * 100", "b'[' * 60000", "b'[1]'", "b'\\xff'"])
def test_junk_on_the_control_channel(evaluate: Evaluate, junk: str) -> None:
    source = (
        "import os, socket\n\n"
        "def kernel(x):\n"
        "    for number in range(3, 64):\n"
        "        try:\n"
        f"            socket.socket(fileno=os.dup(number)).send({junk})\n"
        "        except OSError:\n"
        "            pass\n"
    )
    document = evaluate(source)
    assert document["verdict"] == "runtime_error"
    assert "protocol" in document["reason"]


def test_side_thread_that_finishes_after_the_return_is_caught(evaluate: Evaluate) -> None:
    body = (
        "std::thread([=] { for (int64_t i = 0; i < rows * cols; i++) { y[i] = 2 * x[i] + 1; "
        "if (i % 64 == 0) usleep(100); } }).detach();"
    )
    document = evaluate("#include <thread>\n#include <unistd.h>\n" + CPP.format(body), Mode.BENCHMARK)
    assert document["verdict"] == "wrong"


def test_thread_that_computes_ahead_sees_no_inputs(evaluate: Evaluate) -> None:
    """A helper thread solves every slot it finds as early as it can; frozen, it has nothing to solve."""
    source = (
        "import threading, time\n\n"
        "seen, ready = {}, {}\n\n"
        "def ahead():\n"
        "    while True:\n"
        "        for key, x in list(seen.items()):\n"
        "            ready[key] = 2 * x + 1\n"
        "        time.sleep(0)\n\n"
        "threading.Thread(target=ahead, daemon=True).start()\n\n"
        "def kernel(x):\n"
        "    key = x.data_ptr()\n"
        "    seen[key] = x\n"
        "    return ready.pop(key, None) if key in ready else 2 * x + 1\n"
    )
    document = evaluate(source)
    assert document["verdict"] in ("wrong", "runtime_error")


@pytest.mark.parametrize("key", ["x.data_ptr()", "tuple(x.shape)", "0"])
def test_answers_remembered_by_address_or_shape_are_wrong(evaluate: Evaluate, key: str) -> None:
    source = (
        "known = {}\n\n"
        "def kernel(x):\n"
        f"    key = {key}\n"
        "    if key not in known:\n"
        "        known[key] = 2 * x + 1\n"
        "    return known[key]\n"
    )
    assert evaluate(source)["verdict"] == "wrong"


def test_dawdling_in_short_batches_gains_nothing(evaluate: Evaluate) -> None:
    """A kernel that waits in the short batches would flatten the slope to nothing."""
    source = (
        "import sys, time\n\n"
        "def kernel(x):\n"
        "    if x.numel() > 1000:\n"
        "        calls = sys._getframe(2).f_locals.get('calls', [])\n"
        "        time.sleep(0.002 if len(calls) > 2 else 0.02)\n"
        "    return 2 * x + 1\n"
    )
    document = evaluate(source, Mode.BENCHMARK)
    if document["verdict"] == "passed":
        assert document["benchmarks"][0]["seconds"] > 0.001


def test_compile_bomb_ends(evaluate: Evaluate) -> None:
    document = evaluate('#include "/dev/zero"\n' + GOOD_CPP)
    assert document["verdict"] in ("compile_error", "resource_limit", "timeout")
    assert document["failed_stage"] == "compile"
