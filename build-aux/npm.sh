#!/bin/sh
# Installs the other languages' clients that tests/interop talks to, into build/npm.
set -eu
mkdir -p build/npm
if cmp -s tests/interop/package.json build/npm/installed.json; then
  exit 0
fi
cp tests/interop/package.json build/npm/package.json
echo "installing the npm packages of tests/interop into build/npm"
(cd build/npm && npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error)
cp tests/interop/package.json build/npm/installed.json
