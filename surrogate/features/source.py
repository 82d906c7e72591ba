"""Numbers read from a source text: how often it uses what matters for speed."""

import math
import re

from surrogate.features.cache import remembered
from surrogate.features.text import strip_comments, tokens

_PATTERNS = {
    "kernels": r"__global__|@triton\.jit",
    "launches": r"<<<|\]\s*\(",
    "shared_memory": r"__shared__",
    "barriers": r"__syncthreads|tl\.debug_barrier",
    "vector_access": r"\b(?:float|double|int|half|uint)[248]\b|reinterpret_cast",
    "unrolling": r"#pragma unroll|tl\.static_range",
    "restrict": r"__restrict__|\brestrict\b",
    "atomics": r"\batomic\w*|tl\.atomic",
    "warp_primitives": r"__shfl|__ballot|__reduce|cooperative_groups",
    "tensor_cores": r"wmma|\bmma\b|tl\.dot|cutlass|cublas",
    "low_precision": r"\bhalf\b|__half|bfloat16|float16|autocast|\.half\(",
    "tf32": r"allow_tf32|tf32",
    "intrinsics": r"__(?:expf|logf|fdividef|ldg|fmaf)|rsqrtf?\b|fast_math|intrin\.h|_mm\d*_",
    "cuda_graph": r"CUDAGraph|cuda\.graph",
    "streams": r"\bStream\(|cudaStream|\.stream\(",
    "torch_compile": r"torch\.compile|torch\.jit|script\(",
    "cudnn_flags": r"cudnn\.\w+",
    "load_inline": r"load_inline|cpp_extension",
    "loops": r"\bfor\b|\bwhile\b",
    "branches": r"\bif\b|\?",
    "threads": r"std::thread|#pragma omp|parallel_for|at::parallel",
    "allocations": r"\bempty\w*\(|\bzeros\w*\(|\bones\w*\(|malloc|\bnew\b",
    "copies": r"\.contiguous\(|\.clone\(|\.to\(|memcpy|\.copy_\(",
    "in_place": r"\w_\(|inplace\s*=\s*True|out\s*=",
    "memoised": r"cache|_last_|data_ptr",
    "products": r"\bmatmul|\bmm\(|\bbmm\(|addmm|baddbmm|einsum|Linear|F\.linear",
    "convolutions": r"[Cc]onv\w*\d?d?",
    "norms": r"[Nn]orm\w*",
    "softmaxes": r"softmax|logsumexp",
    "pools": r"[Pp]ool\w*",
    "activations": r"[Rr]e[Ll][Uu]|[Gg]e[Ll][Uu]|sigmoid|tanh|swish|[Ss]i[Ll][Uu]|hardtanh",
    "recurrence": r"\bLSTM|\bGRU|\bRNN|cumsum|cumprod",
    "reductions": r"\.sum\(|\.mean\(|\.max\(|\.min\(|torch\.(?:sum|mean|max|min)\(",
    "attention": r"attention|scaled_dot_product",
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}

SOURCE_FEATURES = ("tokens", "vocabulary", "largest_number", *_PATTERNS)


@remembered(2048)
def source_features(language: str, source: str) -> tuple[float, ...]:
    """One number per name in ``SOURCE_FEATURES``: log2(1 + count)."""
    stripped = strip_comments(language, source)
    words = tokens(language, source)
    numbers = [int(item) for item in re.findall(r"(?<![\w.])\d{1,9}(?![\w.])", stripped)]
    counts: list[int] = [len(words), len(set(words)), max(numbers, default=0)]
    counts += [sum(1 for _ in pattern.finditer(stripped)) for pattern in _COMPILED.values()]
    return tuple(math.log2(1 + count) for count in counts)
