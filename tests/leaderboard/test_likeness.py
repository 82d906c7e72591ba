"""Copies of a kernel are known under other names; other kernels for the same task are not copies."""

import re
from collections.abc import Callable

from django.contrib.auth.models import User

from leaderboard.catalog.loader import load_all
from leaderboard.likeness import ALIKE, alike, originals, sketch
from leaderboard.models import Submission, TaskVersion
from leaderboard.selectors import boards
from runners.models import Device

KERNEL = """
#include <cstdint>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = x + row * cols;
        float* out = y + row * cols;
        float peak = in[0];
        for (int64_t col = 1; col < cols; ++col) peak = in[col] > peak ? in[col] : peak;
        float total = 0;
        for (int64_t col = 0; col < cols; ++col) total += out[col] = expf(in[col] - peak);
        for (int64_t col = 0; col < cols; ++col) out[col] /= total;
    }
}
"""
RENAMED = "// mine alone\n" + re.sub(
    r"\b(in|out|peak|total|row|col)\b",
    lambda match: f"my_{match[1]}",
    KERNEL.replace("float total = 0;", "float total=0 ;"),
)
PADDED = KERNEL.replace("float total = 0;", "float total = 0;\n        int64_t unused = rows + 7;")


def test_renaming_and_comments_change_nothing() -> None:
    assert RENAMED != KERNEL
    assert " peak" not in RENAMED
    assert alike(sketch("cpp", KERNEL), sketch("cpp", RENAMED)) == 1


def test_a_line_put_in_between_changes_little() -> None:
    assert ALIKE <= alike(sketch("cpp", KERNEL), sketch("cpp", PADDED)) < 1


def test_different_kernels_for_one_task_are_no_copies() -> None:
    close = []
    for task in load_all():
        texts = [(item, sketch(item.language, item.source())) for item in task.good]
        close += [
            (one[0].path, two[0].path)
            for at, one in enumerate(texts)
            for two in texts[:at]
            if one[0].language == two[0].language and alike(one[1], two[1]) >= ALIKE
        ]
    assert not close


def test_a_text_of_a_few_tokens_is_like_none() -> None:
    short = sketch("python", "def f(): pass")
    assert alike(short, short) in (0, 1)
    assert alike([], []) == 0


def test_the_first_of_another_entrant_is_the_original() -> None:
    one, two = sketch("cpp", KERNEL), sketch("cpp", PADDED)
    other = sketch("cpp", KERNEL.replace("expf", "cosf").replace("/=", "*=").replace("peak", "x")[:400])
    entries = [("a", "alice", one), ("a2", "alice", one), ("b", "bob", two), ("c", "carol", other)]
    assert originals([*entries, ("d", "dora", one)]) == {"b": "a", "d": "a"}


def test_a_board_says_whose_kernel_an_entry_is_like(
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    outsider: User,
    version: TaskVersion,
    device: Device,
) -> None:
    finish(submit(owner, source=KERNEL, language="cpp"), 3e-3)
    finish(submit(outsider, source=RENAMED, language="cpp"), 2e-3)
    finish(submit(User.objects.create_user("third")), 4e-3)
    rows = {row.username: row.like for row in boards.board(version, device).rows}
    assert rows == {"owner": None, "outsider": "owner", "third": None}
