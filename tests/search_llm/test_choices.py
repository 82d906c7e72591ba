"""Whom to ask, what to ask for, when to stop, whom to believe and what to show: pure and repeatable."""

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from leaderboard.search.generators.base import Operator, Parent
from leaderboard.search.llm import moves
from leaderboard.search.llm.arms import Arm, cheapest, parse_arms
from leaderboard.search.llm.bandit import Bandit, reward_of
from leaderboard.search.llm.breaker import Breaker
from leaderboard.search.llm.examples import Example, Use, retrieve, uses_of
from leaderboard.search.llm.outcomes import Outcome, read_outcome
from leaderboard.search.llm.prompts import Brief
from leaderboard.search.llm.votes import Record, Verifier, Vote, lower_bound, records_of, vetoing
from leaderboard.search.outlook import Seen
from leaderboard.search.text_outlook import TextOutlook
from runners.contract.vocabulary import Language
from surrogate.contract.request import DeviceFacts, KernelText
from surrogate.llm.outcome import Failure, FailureKind
from tests.search_llm.conftest import HAIKU, SONNET, TASK, document, kernel


def test_arms_are_models_with_efforts() -> None:
    arms = parse_arms(f"{SONNET}:high, {HAIKU} {HAIKU}")
    assert arms == (Arm(SONNET, "high"), Arm(HAIKU))
    assert [arm.name for arm in arms] == [f"{SONNET}:high", HAIKU]
    assert cheapest(arms) == Arm(HAIKU)
    assert Arm(SONNET, "max").expected_cost > Arm(SONNET).expected_cost


@pytest.mark.parametrize("text", ["", " , ", f"{SONNET}:huge", "gpt-9"])
def test_what_is_no_arm_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no model is named|effort must be|no price is known"):
        parse_arms(text)


def pulls(rewards: dict[str, float], costs: dict[str, float], rounds: int, seed: int = 1) -> dict[str, int]:
    bandit, random = Bandit(), Random(seed)
    counts = dict.fromkeys(rewards, 0)
    for _ in range(rounds):
        arm = bandit.choose(costs, random)
        counts[arm] += 1
        bandit.paid(arm, costs[arm])
        bandit.rewarded(arm, rewards[arm])
    return counts


def test_the_bandit_buys_reward_for_money() -> None:
    """Equal rewards: the cheap arm. Ten times the reward at twice the price: the dear one."""
    counts = pulls({"dear": 0.5, "cheap": 0.5}, {"dear": 2.0, "cheap": 1.0}, 200)
    assert counts["cheap"] > 150
    counts = pulls({"dear": 1.0, "cheap": 0.0}, {"dear": 2.0, "cheap": 1.0}, 200)
    assert counts["dear"] > 150


def test_equal_seeds_choose_equally_and_unknown_arms_are_no_matter() -> None:
    bandit = Bandit()
    bandit.paid("gone", 1.0)
    costs = {"a": 1.0, "b": 1.0}
    first = [bandit.choose(costs, Random(seed)) for seed in range(20)]
    assert first == [bandit.choose(costs, Random(seed)) for seed in range(20)]
    assert set(first) == {"a", "b"}


def test_a_call_without_its_outcome_costs_but_is_no_failure() -> None:
    bandit = Bandit()
    before = bandit.mean("a")
    bandit.paid("a", 3.0)
    assert bandit.mean("a") == before
    assert bandit.cost_of("a", 1.0) == 2.0


def test_rewards_count_octaves_gained() -> None:
    assert reward_of(None, -7.0) == 0
    assert 0 < reward_of(-6.0, -7.0) < reward_of(-8.0, -7.0) < reward_of(-9.0, -7.0) == 1
    assert reward_of(-6.0, math.inf) == 0.5


def test_the_breaker_trips_on_failures_in_a_row() -> None:
    breaker, busy = Breaker(), Failure(FailureKind.OVERLOADED, "529")
    assert not breaker.heard(busy)
    assert not breaker.heard(busy)
    assert not breaker.heard(None)
    assert not breaker.heard(busy)
    assert not breaker.heard(Failure(FailureKind.REFUSED, "no"))  # somebody answered
    assert [bool(breaker.heard(busy)) for _ in range(3)] == [False, False, True]


def test_the_breaker_trips_at_once_on_what_waiting_does_not_cure() -> None:
    for kind in (FailureKind.SPEND_LIMIT, FailureKind.UNAUTHORISED, FailureKind.NO_KEY):
        assert "can't be asked" in Breaker().heard(Failure(kind, "no"))


def parents(*seconds: float) -> list[Parent]:
    return [
        Parent(f"p{place}", KernelText("cpp", kernel(f"p{place}")), value)
        for place, value in enumerate(seconds)
    ]


def written(repairs: int = 0, repairs_of: str = "") -> dict[str, Any]:
    return {"repairs": repairs, "repairs_of": repairs_of}


FAILED, WORKED = Outcome("wrong", error="no"), Outcome("passed", -8.0)


def test_the_first_kernel_is_translated_and_repaired() -> None:
    starter = parents(-7.0)
    assert moves.choose({}, {}, starter, Random(0)).operator == Operator.TRANSLATE
    move = moves.choose({"a": written()}, {"a": FAILED}, starter, Random(0))
    assert (move.operator, move.repairs) == (Operator.REPAIR, "a")
    # A kernel is repaired by one at a time, and not for ever.
    again = moves.choose({"a": written()}, {"a": FAILED}, starter, Random(0), taken=["a"])
    assert again.operator == Operator.TRANSLATE
    worn = moves.choose({"a": written(moves.MOST_REPAIRS)}, {"a": FAILED}, starter, Random(0))
    assert worn.operator == Operator.TRANSLATE


def test_translation_is_given_up_for_the_starter() -> None:
    many = {f"a{number}": written(moves.MOST_REPAIRS) for number in range(moves.MOST_TRANSLATIONS)}
    move = moves.choose(many, dict.fromkeys(many, FAILED), parents(-7.0), Random(0))
    assert move.operator in (Operator.DIFF, Operator.REWRITE, Operator.DIFFERENT)


def test_what_works_is_varied_in_every_way() -> None:
    found = [
        moves.choose(
            {"a": written(), "b": written()}, {"a": WORKED, "b": FAILED}, parents(-9, -8), Random(seed)
        )
        for seed in range(200)
    ]
    assert {move.operator for move in found} == {
        Operator.DIFF,
        Operator.REWRITE,
        Operator.COMBINE,
        Operator.DIFFERENT,
        Operator.REPAIR,
    }
    both = next(move for move in found if move.operator == Operator.COMBINE)
    assert both.parents[0] != both.parents[1]


def test_a_record_justifies_a_refusal_only_with_enough_in_it() -> None:
    fails = Vote(Verifier.COMPILE, True)
    assert vetoing([fails], {}) is None
    assert vetoing([fails], {Verifier.COMPILE: Record(warned=10, right=10)}) is None
    sure = {Verifier.COMPILE: Record(warned=40, right=40)}
    assert vetoing([fails], sure) == fails
    assert vetoing([Vote(Verifier.COMPILE, False), Vote(Verifier.MEMORY, True)], sure) is None
    assert vetoing([fails], {Verifier.COMPILE: Record(warned=40, right=36)}) is None
    assert lower_bound(0, 0) == 0
    # Exact: the share at which as many right ones or more have a chance of 5 %.
    assert lower_bound(40, 40) == pytest.approx(0.05 ** (1 / 40))
    assert lower_bound(9, 10) == pytest.approx(0.6058, abs=1e-4)
    assert lower_bound(28, 28) < 0.9 <= lower_bound(29, 29)
    assert lower_bound(0, 10) == 0


def test_precision_is_of_any_failure_and_recall_of_ones_own_kind() -> None:
    compile_, numerics = Verifier.COMPILE, Verifier.NUMERICS
    records = records_of(
        [
            (Vote(compile_, True), "compile_error"),
            (Vote(compile_, True), "wrong"),
            (Vote(compile_, True), "passed"),
            (Vote(compile_, False), "compile_error"),
            (Vote(numerics, False), "wrong"),
        ]
    )
    assert records[compile_] == Record(warned=3, right=2, due=2, caught=1)
    assert (records[compile_].precision, records[compile_].recall) == (2 / 3, 0.5)
    assert (records[numerics].precision, records[numerics].recall) == (None, 0.0)
    assert records[Verifier.MEMORY].recall is None


def example(key: str, reference: str, source: str, language: str = "cpp") -> Example:
    return Example(key, key, reference, KernelText(language, source))


def test_examples_of_like_tasks_come_first_and_teach_different_things() -> None:
    softmax = "def reference(x):\n    e = torch.exp(x - x.amax(-1, keepdim=True))\n    return e / e.sum(-1)\n"
    near = example("near", softmax, "void kernel(float* a) { for (int i = 0; i < 9; ++i) a[i] = exp(a[i]); }")
    twin = example("twin", softmax, near.kernel.source)
    far = example(
        "far", "def reference(a, b):\n    return a @ b\n", "void kernel(int* p) { while (*p) ++p; }"
    )
    foreign = example("foreign", softmax, "def kernel(x): pass", "python")
    library = [far, foreign, twin, near]
    found = retrieve(softmax, "cpp", None, library, {})
    assert [item.key for item in found] == ["twin", "far"]
    # What was shown often and never helped gives way.
    uses = {"twin": Use(shown=30, helped=0)}
    assert retrieve(softmax, "cpp", None, library, uses)[0].key == "near"
    assert retrieve(softmax, "cuda", None, library, {}) == []


def test_usefulness_is_counted() -> None:
    uses = uses_of([(["a", "b"], True), (["a"], False)])
    assert uses == {"a": Use(2, 1), "b": Use(1, 1)}
    assert uses["b"].usefulness > uses["a"].usefulness == Use().usefulness == 0.5


def test_an_outcome_tells_what_a_repair_needs() -> None:
    from runners.contract.vocabulary import Verdict

    found = read_outcome(document(Verdict.COMPILE_ERROR, reason="It does not compile.", log="error: no type"))
    assert not found.worked
    assert found.error == "It does not compile.\nerror: no type"
    found = read_outcome(document(Verdict.PASSED, 2**-8))
    assert (found.log2_seconds, found.cases) == (-8.0, (("rows=4", 2**-8, None),))
    wrong: Any = {
        "verdict": "wrong",
        "reason": "Wrong.",
        "tests": [
            {"case": "h", "hidden": True, "status": "failed", "message": "hidden"},
            {
                "case": "t",
                "description": "rows=2",
                "hidden": False,
                "status": "failed",
                "message": "y differs",
                "outputs": [
                    {
                        "output": "y",
                        "mismatches": 2,
                        "elements": 8,
                        "worst_index": [1],
                        "got": "1",
                        "want": "2",
                    }
                ],
            },
        ],
    }
    assert "rows=2: y differs\nOutput y: 2 of 8 elements differ; at [1] it is 1" in read_outcome(wrong).error
    assert "hidden" not in read_outcome(wrong).error


def test_text_forecasts_follow_what_is_alike() -> None:
    fast, slow = KernelText("cpp", kernel("fast")), KernelText("cpp", "int kernel() { return 1 + 2 * 3; }")
    broken = KernelText("cpp", "void kernel(int* p) { while (*p) ++p; }")
    seen = [Seen(fast, -10.0), Seen(slow, -6.0), Seen(broken, None)]
    like_fast = KernelText("cpp", fast.source + "static int more = 1;\n")
    like_broken = KernelText("cpp", broken.source + "int x;")
    view = TextOutlook().look(seen, [like_fast, slow, like_broken])
    assert view.mean[0] < view.mean[2]
    assert view.mean[0] < view.mean[1]
    assert view.p_works[2] < view.p_works[0]
    assert view.spread[0] < view.spread[2]
    before = TextOutlook().look([], [fast])
    assert before.spread[0] > 1
    assert TextOutlook().look(seen, []).mean.shape == (0,)


def test_a_prompt_says_what_the_task_forbids() -> None:
    facts = DeviceFacts("cpu-test", "cpu", "a CPU", {}, {})
    brief = Brief(replace(TASK.spec, forbids=("library_call",)), TASK.title, Language.CPP, facts)
    assert "The task refuses a kernel that\n- calls …, which is a library's kernel\n" in brief.system[1].text
    assert "refuses a kernel" not in replace(brief, spec=TASK.spec).system[1].text
