"""Admission of the built-in tasks: tolerances, sizes, starters, and submissions of known verdict.

The numbers are checked on the CPU, in this process, also for CUDA cases that are small enough.
"""

import ast
import random
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from leaderboard.catalog.loader import CATALOG, STARTER_FILES, CatalogTask, load_all
from runners.contract.entry_point import declaration
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import CaseRole, DeviceKind, Language
from runners.supervisor.hidden import hidden_cases
from tests.catalog import trial

TASKS = load_all()
_MOST_BYTES = 2**21  # of a case tried here; larger ones are left to the engine
_LAST_LEVEL_CACHE = {DeviceKind.CPU: 32 * 2**20, DeviceKind.CUDA: 50 * 10**6}

each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.slug)


@pytest.fixture(autouse=True)
def _one_thread():
    """The cases are small: a second thread costs more than it brings, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


def small_cases(spec: TaskSpec) -> list[Case]:
    return [
        case for case in spec.cases if case.role == CaseRole.TEST and spec.case_bytes(case) <= _MOST_BYTES
    ]


def telling_cases(spec: TaskSpec) -> list[Case]:
    """Cases on which a coarse kernel cannot be right by luck: ordinary values, more than one of them."""
    return [case for case in small_cases(spec) if not case.fills and max(case.sizes.values()) > 1]


def as_declared(spec: TaskSpec, outputs: trial.Outputs) -> trial.Outputs:
    pairs = zip(spec.outputs, outputs, strict=True)
    return tuple(output.to(trial.dtype_of(tensor.dtype)) for tensor, output in pairs)


@each_task
def test_reference_in_its_own_precision_passes_with_margin(task: CatalogTask):
    spec = task.spec
    reference = trial.reference_of(spec)
    # A result rounded to bfloat16 is off by up to half the tolerance whatever computed it.
    most = 0.6 if spec.slug == "matmul-bf16" else 0.5
    for case in small_cases(spec):
        inputs = trial.inputs_of(spec, case)
        error = trial.excess(spec, trial.apply(reference, inputs), trial.wanted(spec, case, inputs))
        assert error <= most, f"{case.name}: {error:.3g} of the tolerance"


@each_task
def test_reference_in_a_lower_precision_fails(task: CatalogTask):
    spec = task.spec
    if not any("float" in tensor.dtype for tensor in spec.outputs):
        pytest.skip("whole numbers have no lower precision")
    reference = trial.reference_of(spec)
    lower = (torch.float16, torch.bfloat16) if spec.outputs[0].dtype == "float32" else (torch.float8_e4m3fn,)
    for case in telling_cases(spec):
        inputs = trial.inputs_of(spec, case)
        want = trial.wanted(spec, case, inputs)
        for dtype in lower:
            coarse = trial.in_dtype(inputs, dtype)
            if dtype == torch.float8_e4m3fn:  # no arithmetic of its own
                coarse = trial.in_dtype(coarse, torch.bfloat16)
            got = as_declared(spec, trial.apply(reference, coarse))
            assert trial.excess(spec, got, want) > 1, f"{case.name} passes in {dtype}"


@each_task
@pytest.mark.parametrize("null", ["zeros", "ones", "input", "uninitialised"])
def test_null_kernels_fail(task: CatalogTask, null: str):
    spec = task.spec
    for case in telling_cases(spec):
        inputs = trial.inputs_of(spec, case)
        poisoned = trial.empty_outputs(spec, case.sizes)
        match null:
            case "zeros":
                got = tuple(torch.zeros_like(output) for output in poisoned)
            case "ones":
                got = tuple(torch.ones_like(output) for output in poisoned)
            case "input":
                flat = inputs[0].flatten()
                got = tuple(
                    flat.to(o.dtype)[torch.arange(o.numel()) % flat.numel()].view(o.shape) for o in poisoned
                )
            case _:
                got = poisoned
        assert trial.excess(spec, got, trial.wanted(spec, case, inputs)) > 1, case.name


@each_task
def test_bytes_are_those_of_inputs_and_outputs(task: CatalogTask):
    spec = task.spec
    for case in spec.cases:
        tensors = (*spec.inputs, *spec.outputs)
        assert spec.case_bytes(case) == sum(tensor.nbytes(case.sizes) for tensor in tensors), case.name


@each_task
def test_benchmarks_overflow_the_cache_or_say_why_not(task: CatalogTask):
    spec = task.spec
    for kind in spec.device_kinds:
        for case in spec.cases_for(kind, CaseRole.BENCHMARK):
            overflows = spec.case_bytes(case) >= 2 * _LAST_LEVEL_CACHE[kind]
            assert overflows or case.fits_in_cache, f"{case.name}: {spec.case_bytes(case)} bytes"


@each_task
def test_starters_define_the_entry_point(task: CatalogTask):
    for key, source in task.starters.items():
        if key in ("cpp", "cuda"):
            wanted = declaration(task.spec, Language(key)).removesuffix(";")
            assert wanted in re.sub(r"\s+", " ", source), f"{STARTER_FILES[key]}: no {wanted}"
        else:
            functions = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
            names = [argument.arg for argument in functions["kernel"].args.args]
            assert names == [tensor.name for tensor in task.spec.inputs], STARTER_FILES[key]


@each_task
def test_statement_is_there_for_reading(task: CatalogTask):
    lines = task.statement.splitlines()
    assert 15 <= len(lines) <= 45
    for tensor in (*task.spec.inputs, *task.spec.outputs):
        assert re.search(rf"\b{tensor.name}\b", task.statement), f"{tensor.name} is not mentioned"


@each_task
def test_there_are_fixtures_of_every_kind(task: CatalogTask):
    on_cpu = DeviceKind.CPU in task.spec.device_kinds
    good = {(fixture.language, fixture.device_kinds) for fixture in task.good}
    assert any(language == Language.CUDA for language, _ in good)
    assert any(fixture.path.stem.endswith("_triton") for fixture in task.good)
    assert any(language == Language.PYTHON and DeviceKind.CUDA in kinds for language, kinds in good)
    assert len(task.wrong) >= 2
    assert Language.CUDA in {fixture.language for fixture in task.wrong}
    if on_cpu:
        for fixtures in (task.good, task.wrong):
            languages = {item.language for item in fixtures if DeviceKind.CPU in item.device_kinds}
            assert languages == {Language.PYTHON, Language.CPP}


@each_task
def test_good_submissions_and_starters_pass_public_and_hidden_cases(task: CatalogTask, build: Path):
    spec = task.spec
    cases = [case for case in small_cases(spec) if case.device_kind == DeviceKind.CPU]
    if cases:
        for seed in range(3):
            chance = random.Random(seed)
            cases += hidden_cases(spec, DeviceKind.CPU, strided=True, source=chance)
    kernels = {
        str(item.path): trial.load(item.language, item.path, build)
        for item in task.good
        if DeviceKind.CPU in item.device_kinds
    }
    for language in (Language.PYTHON, Language.CPP):
        path = CATALOG / task.slug / "starter" / STARTER_FILES[language]
        if cases:
            kernels[str(path)] = trial.load(language, path, build)
    for case in cases:
        inputs = trial.inputs_of(spec, case, seed=1)
        want = trial.wanted(spec, case, inputs)
        for name, kernel in kernels.items():
            error = trial.excess(spec, kernel(spec, case, inputs), want)
            assert error <= 1, f"{name}, {case.describe()}: {error:.3g} of what is allowed"


@each_task
def test_hidden_cases_have_ragged_sizes_and_every_departure(task: CatalogTask):
    """A hundred evaluations: sizes that no public case has, odd ones among them, within the largest case."""
    spec = task.spec
    for kind in spec.device_kinds:
        public = spec.cases_for(kind, CaseRole.TEST)
        drawn = [case for seed in range(100) for case in hidden_cases(spec, kind, source=random.Random(seed))]
        assert max(map(spec.case_bytes, drawn)) <= max(map(spec.case_bytes, public))
        for name, draw in spec.hidden.sizes[kind].items():
            found = {case.sizes[name] for case in drawn}
            assert found <= (set(draw.choices) or set(range(draw.least, draw.most + 1))), name
            if draw.most - draw.least > 20:
                assert len(found - {case.sizes[name] for case in public}) > len(public), name
                assert sum(value % 2 for value in found) > len(found) / 4, name
        for tensor in spec.inputs:
            allowed = set(spec.hidden.fills.get(tensor.name, ())) - {tensor.fill}
            assert {case.fills[tensor.name] for case in drawn if tensor.name in case.fills} >= allowed


@each_task
def test_wrong_submissions_fail(task: CatalogTask, build: Path):
    spec = task.spec
    for fixture in task.wrong:
        if fixture.language == Language.CUDA or fixture.path.stem.endswith("_triton"):
            continue
        kernel = trial.load(fixture.language, fixture.path, build)
        errors = []
        for case in small_cases(spec):
            inputs = trial.inputs_of(spec, case)
            errors.append(trial.excess(spec, kernel(spec, case, inputs), trial.wanted(spec, case, inputs)))
        assert max(errors) > 1, f"{fixture.path}: worst is {max(errors):.3g} of the tolerance"


def test_triton_files_are_python():
    for path in CATALOG.glob("*/*/*_triton.py"):
        functions = {n.name for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)}
        assert "kernel" in functions, path


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_cuda_files_compile_without_warnings(tmp_path: Path):
    """To PTX only: everything the compiler has to say about the source is said by then."""

    def compile_one(path: Path) -> str:
        target = tmp_path / f"{path.parts[-3]}-{path.parts[-2]}-{path.stem}.ptx"
        flags = ["-arch=sm_90", "-std=c++17", "-ptx", "-Werror", "all-warnings"]
        run = subprocess.run(
            ["nvcc", *flags, "-o", str(target), str(path)], capture_output=True, text=True, check=False
        )
        return "" if run.returncode == 0 else f"{path}:\n{run.stderr}"

    attacks = (CATALOG.parents[1] / "tests" / "attacks").glob("*/*.cu")
    paths = sorted([*CATALOG.glob("*/*/*.cu"), *attacks])
    with ThreadPoolExecutor(2) as pool:
        failures = list(filter(None, pool.map(compile_one, paths)))
    assert not failures, "\n".join(failures)
