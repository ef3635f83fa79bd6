#!/bin/sh
# man_lint.sh ROOT: mandoc has no warning about any page. 77 (skipped) without mandoc.
set -u
root=$1
command -v mandoc >/dev/null 2>&1 || { echo "no mandoc: the man pages are not checked"; exit 77; }
set -- "$root"/man/*.[13]
mandoc -Tlint -W warning "$@" >&2 || exit 1
echo "$# pages"
