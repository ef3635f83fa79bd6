#!/bin/sh
# hygiene.sh ROOT: what must not be in the repository: work left over, large binary files, places of
# one machine.
set -u
cd "$1" || exit 1
failed=0
files=$(mktemp)
trap 'rm -f "$files"' EXIT
if ! git ls-files -z --cached --others --exclude-standard >"$files" 2>/dev/null || [ ! -s "$files" ]; then
  find . \( -name .git -o -name build -o -name node_modules \) -prune -o -type f -print0 >"$files"
fi

forbid() { # WHY PATTERN
  # shellcheck disable=SC2016
  found=$(xargs -0 grep -sInE "$2" <"$files" | cut -c 1-160)
  [ -z "$found" ] || { printf '%s:\n%s\n' "$1" "$found" >&2; failed=1; }
}

forbid 'work left over' "(^|[^A-Za-z])(TO""DO|FIX""ME|X""XX)([^A-Za-z]|\$)"
forbid 'a home of one machine' '(^|[^A-Za-z0-9_.}$])/(home|root|Users)/[A-Za-z]'

# The place of this checkout, and the folder around it unless that has a name as we have them.
here=$(pwd -P)
around=$(dirname "$here")
case $around in / | /tmp | /usr/src | /opt | /srv) around=$here ;; esac
[ ! -e "$(basename "$around")" ] || around=$here
around=$(printf %s "$around" | sed 's/[][\\.*^$+?(){}|]/\\&/g')
forbid 'a place of this machine' "(^|[^A-Za-z0-9_.}\$])$around/"

large=$(xargs -0 -n 1 sh -c '
  [ -f "$1" ] && [ "$(wc -c <"$1")" -gt 65536 ] && ! grep -qI . "$1" && echo "  $1"' sh <"$files")
[ -z "$large" ] || { printf 'binary files over 64 KiB:\n%s\n' "$large" >&2; failed=1; }

echo "$(tr '\0' '\n' <"$files" | wc -l) files"
exit $failed
