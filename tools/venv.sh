#!/bin/sh
# Makes the project's own environment: tools/venv.sh DIR LOCK...
# Needs python3 >= 3.11 and a package index that pip can reach; asks for nothing else.
set -eu
dir=$1; shift
python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "standfast needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }

# Debian ships venv without ensurepip. Each way is tried in turn, the plain one first.
make_venv() {
    if "$python" -c 'import ensurepip' 2>/dev/null; then "$python" -m venv --clear "$dir"
    elif "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --clear --without-pip "$dir" && "$python" -m pip --python "$dir/bin/python" install --quiet pip
    elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "python3-venv is missing: installing it" >&2
        { apt-get update -qq && apt-get install -y -qq python3-venv; } >/dev/null && "$python" -m venv --clear "$dir"
    else
        echo "python3 has neither venv nor pip: install the package python3-venv and try again" >&2; return 1
    fi
}

[ -x "$dir/bin/pip" ] || make_venv
for lock; do "$dir/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$lock"; done
"$dir/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
touch "$dir/.ready"
