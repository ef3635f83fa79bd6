#!/bin/sh
# docs.sh ROOT: every link between the project's documents leads to a file, and docs/README.md names
# every document.
set -u
root=$1
cd "$root" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for document in *.md docs/*.md; do
  grep -oE '\]\([^)#:]+\)' "$document" | sed 's/^](//; s/)$//' | while read -r link; do
    echo "$link" >>"$work/links"
    [ -e "$(dirname "$document")/$link" ] || echo "$document: $link"
  done
done >"$work/broken"
for document in *.md docs/*.md; do
  case $document in docs/README.md) continue ;; docs/*) link=${document#docs/} ;; *) link=../$document ;; esac
  grep -qF "($link)" docs/README.md || echo "docs/README.md does not name $document"
done >>"$work/broken"
grep . "$work/broken" >&2 && exit 1
echo "$(wc -l <"$work/links") links"
