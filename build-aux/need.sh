#!/bin/sh
# need.sh TARGET: installs what `make TARGET` needs and this Debian machine does not have.
# Nothing missing: nothing happens, and neither root nor the network is needed.
set -eu

build="gcc cmake ninja-build make pkg-config libc6-dev libuv1-dev libssl-dev libsqlite3-dev"
case ${1:-} in
  install) packages=$build ;;
  demo) packages="$build nats-server procps" ;;
  bench) packages="$build g++ libcmocka-dev nats-server libnats-dev freetds-bin freetds-dev
                   valgrind procps" ;;
  test) packages="$build g++ clang libclang-rt-14-dev libcmocka-dev nats-server freetds-bin
                  valgrind procps binutils util-linux mandoc libevent-dev libglib2.0-dev" ;;
  fuzz) packages="$build clang libclang-rt-14-dev llvm-14" ;;
  format) packages="clang-format" ;;
  lint) packages="$build g++ clang clang-format clang-tidy libcmocka-dev" ;;
  npm) packages=""; command -v npm >/dev/null 2>&1 || packages="nodejs npm" ;;
  *) echo "need.sh: no package list for '${1:-}'" >&2; exit 2 ;;
esac

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=""
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "make $1 needs these Debian packages or their like:$missing" >&2
  exit 1
elif [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root=sudo
else
  echo "make $1: as root, run: apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

echo "installing:$missing"
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # lists of words
if ! $as_root apt-get -q update >"$log" 2>&1 ||
   ! $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -qy install --no-install-recommends $missing >>"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "make $1: could not install:$missing" >&2
  exit 1
fi
