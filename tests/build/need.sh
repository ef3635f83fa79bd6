#!/bin/sh
# need.sh ROOT: build-aux/need.sh asks for just what is missing. Its PATH holds nothing but stand-ins
# for the package tools, which say what they were called with.
set -eu
need=$1/build-aux/need.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/bin
mkdir "$bin"
for tool in sh env mktemp rm tail; do
  ln -s "$(command -v $tool)" "$bin/$tool"
done
stand_in() { # NAME BODY
  printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
have() { # PATTERN of the packages that are installed
  stand_in dpkg-query "for p; do :; done; case \$p in $1) printf installed ;; *) exit 1 ;; esac"
}
expect() { # EXIT-CODE TARGET CALLS OUTPUT-PATTERN
  : >"$work/calls"
  code=0
  said=$(PATH=$bin "$bin/sh" "$need" "$2" 2>&1) || code=$?
  calls=$(paste -sd ';' "$work/calls")
  case $said in
    $4) [ $code = "$1" ] && [ "$calls" = "$3" ] && return ;;
  esac
  echo "need.sh $2: exit $code, called '$calls', said '$said'" >&2
  exit 1
}
root_is() { stand_in id "echo $1"; }
apt() { stand_in apt-get "echo apt-get \"\$@\" >>$work/calls"; }

install='-qy install --no-install-recommends'
root_is 0
apt
have '*'
expect 0 test '' ''
have 'clang-format'
expect 0 format '' ''
have 'nothing'
expect 0 format "apt-get -q update;apt-get $install clang-format" 'installing: clang-format'
have 'gcc|cmake|ninja-build|make|pkg-config|libc6-dev|libuv1-dev|libssl-dev'
expect 0 install "apt-get -q update;apt-get $install libsqlite3-dev" '*'
expect 0 npm "apt-get -q update;apt-get $install nodejs npm" '*'
stand_in npm 'exit 0'
expect 0 npm '' ''
expect 2 nonsense '' "*no package list for 'nonsense'"

stand_in apt-get 'echo broken; exit 100'
expect 1 format '' '*broken*could not install: clang-format'
apt
root_is 1000
expect 1 format '' 'make format: as root, run: apt-get install --no-install-recommends clang-format'
stand_in sudo "echo sudo >>$work/calls; exec \"\$@\""
expect 0 format "sudo;apt-get -q update;sudo;apt-get $install clang-format" '*'
rm "$bin/apt-get" "$bin/dpkg-query"
expect 1 format '' 'make format needs these Debian packages or their like: clang-format'
echo "need.sh asks for what is missing"
