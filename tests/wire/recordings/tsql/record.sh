#!/bin/sh
# record.sh ALOFT: records what FreeTDS's tsql and ALOFT's `lite` say to each other, into
# NAME.client.tds and NAME.server.tds in this folder. Then run test_tds_conversation with
# ALOFT_RECORD=1 and read the difference in NAME.txt.
set -eu
cd "$(dirname "$0")"
aloft=${1:?usage: record.sh PATH/OF/aloft}
work=$(mktemp -d)
trap 'kill "$lite" 2>/dev/null || :; rm -rf "$work"' EXIT
cc -o "$work/record" record.c

ALOFT_LITE_PASSWORD=pass-word "$aloft" lite :memory: --user sa >"$work/address" &
lite=$!
while ! grep -q listening "$work/address"; do sleep 0.05; done
port=$(sed 's/.*://' "$work/address")

record() { # NAME, the script on standard input
  rm -f "$work/port"
  "$work/record" "$port" "$1" >"$work/port" &
  recorder=$!
  while ! [ -s "$work/port" ]; do sleep 0.05; done
  TDSVER=7.4 timeout 20 tsql -H 127.0.0.1 -p "$(cat "$work/port")" -U sa -P pass-word >/dev/null 2>&1 || :
  wait "$recorder"
}

printf 'SELECT 1 AS a, N%s AS b, CAST(1.50 AS decimal(9,2)) AS c, NULL AS d\nGO\nPRINT %s\nGO\nSELECT 1/0\nGO\nquit\n' \
  "'日本語'" "'hello'" | record types
printf 'CREATE TABLE t(id int NOT NULL PRIMARY KEY, v varchar(40) NULL, w nvarchar(max) NULL)\nGO\nINSERT t VALUES (1, %s, N%s), (2, NULL, NULL)\nSELECT * FROM t ORDER BY id\nSELECT COUNT(*) FROM t\nGO\nBEGIN TRAN\nUPDATE t SET v = %s\nROLLBACK\nGO\nSELECT * FROM absent\nGO\nSELEC 1\nGO\nquit\n' \
  "'one'" "'eins'" "'x'" | record statements
