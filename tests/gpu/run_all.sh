#!/usr/bin/env bash
# Measures KernelHub's CUDA engine on a machine with an NVIDIA GPU: bash tests/gpu/run_all.sh [phase …]
#
# On a machine with several GPUs, phases on both sides of a "/" run side by side.
# Needs python3 with torch (CUDA), numpy and psutil, and nvcc. What else is missing is taken from the folder CARRIED
# (default .gpu): wheels/*.whl, bin/bwrap and its libraries in lib/. Results go to $OUT, a short table to the screen.
# They name the commit: $COMMIT where the files come without the repository's history.
set -uo pipefail
cd "$(dirname "$0")/../.."
export OUT="${OUT:-tests/benchmarks/results}" PYTHONUNBUFFERED=1
CARRIED="${CARRIED:-.gpu}"
mkdir -p "$OUT"

if ! command -v bwrap >/dev/null && [ -e "$CARRIED/bin/bwrap" ]; then
    install -m 755 "$CARRIED/bin/bwrap" /usr/local/bin/bwrap
    for library in "$CARRIED"/lib/*; do
        ldconfig -p | grep -q "$(basename "$library")" || install -m 755 "$library" /usr/local/lib/
    done
    ldconfig
fi
if compgen -G "$CARRIED/wheels/*.whl" >/dev/null; then
    site="$(mktemp -d)"
    python3 -m pip install -q --no-index --no-deps --no-compile --target "$site" "$CARRIED"/wheels/*.whl || exit 1
    export PYTHONPATH="$site${PYTHONPATH:+:$PYTHONPATH}"
fi
exec python3 -m tests.gpu.run "$@"
