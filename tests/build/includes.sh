#!/bin/sh
# includes.sh ROOT: which headers the sources name. The include paths of the layers (layers.sh) keep
# most of the order; this keeps what no path can: public and system headers are seen by all.
set -u
cd "$1" || exit 1
failed=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# FILE<blank>HEADER for each include, HEADER with its quotes or brackets.
grep -rHnE '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]' bench examples fuzz include src \
  tests | sed -E 's/^([^:]*):[0-9]*:[[:space:]]*#[[:space:]]*include[[:space:]]*([<"][^>"]*[>"]).*/\1 \2/' >"$list"

forbid() { # WHY FILES INCLUDES [ALLOWED]: extended patterns of file, include and exception
  found=$(awk -v files="^($2)" -v includes="$3" -v allowed="${4:-^$}" \
    '$1 ~ files && $2 ~ includes && $2 !~ allowed { print "  " $1 " includes " $2 }' "$list")
  [ -z "$found" ] || { printf '%s:\n%s\n' "$1" "$found" >&2; failed=1; }
}

own_headers() { # FOLDER...: a pattern of the headers in them
  find "$@" -name '*.h' | sed 's|.*/||; s|\.|[.]|' | paste -sd '|' - | sed 's/.*/^"(&)"$/'
}

general='^<aloft/(base|inflight|json|loop|op|status|version)[.]h>$'
plain='^<(assert|float|inttypes|limits|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|string)[.]h>$'
vector='^<(emmintrin|immintrin|smmintrin|tmmintrin|arm_neon)[.]h>$'

forbid 'a path upwards' '.*' '[.][.]/'
forbid 'libuv is only for src/io' 'src/(core|wire|nats|tds|lite|gateway|cli)/|include/' '<uv'
forbid 'OpenSSL is only for src/io and tests' \
  '(src/(core|wire|nats|tds|lite|gateway|cli)|bench|examples)/|include/' '<openssl'
forbid 'core and wire have no system under them' 'src/(core|wire)/' '^<' "$plain|$vector|^<aloft/"
forbid 'core and io know no client' 'src/(core|io)/' '^<aloft/' "$general"
forbid 'the NATS protocol knows its own types' 'src/wire/nats/' '^<aloft/' "$general|^<aloft/nats[.]h>"
forbid 'the TDS protocol knows its own types' 'src/wire/tds/' '^<aloft/' "$general|^<aloft/tds[.]h>"
forbid 'the NATS client knows no SQL' 'src/nats/' '^<aloft/tds'
forbid 'the SQL client knows no NATS' 'src/(tds|lite)/' '^<aloft/nats'
forbid 'a public header needs only public headers' 'include/' '^"'
forbid 'a public header needs only C' 'include/aloft/[^/]*$' '^<' "^<aloft/|$plain"
for adapter in 'epoll[.]h:sys/epoll[.]h' 'libevent[.]h:event2/event[.]h|sys/time[.]h' 'glib[.]h:glib[.]h'; do
  forbid 'an adapter needs the loop and the library that it is for' \
    "include/aloft/adapters/${adapter%%:*}" '^<' "^<(aloft/loop[.]h|poll[.]h|string[.]h|${adapter#*:})>"
done
forbid 'adapters are included by those who want them' '(include/aloft/[^/]*$|src/)' '^<aloft/adapters/'
forbid 'the gateway uses the public interface' 'src/gateway/' '^"' "$(own_headers src/gateway)"
forbid 'the command uses the public interface, the mains of lite and gateway, and durations' \
  'src/cli/' '^"' "$(own_headers src/cli)|^\"(lite|gateway|duration)[.]h\"$"
forbid 'benchmarks use the public interface, their own parts, what commands have, and the wire' \
  'bench/' '^"' \
  "$(own_headers bench src/wire/tds)|^\"((exit_status|interrupt|nearest|option|report)|(apart|heap|utf16|nats_client|tds_connection|tls))[.]h\"$"
forbid 'examples use the public interface' 'examples/' '^"'

if grep -rn --include='*.c' own_flags src; then
  echo "includes: the reader's flags are reached through alo_tds_flag and alo_tds_set_flag only" >&2
  failed=1
fi

echo "$(wc -l <"$list") includes"
exit $failed
