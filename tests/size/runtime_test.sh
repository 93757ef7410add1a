#!/usr/bin/env bash
# runtime_test.sh ARCHIVE NM OBJDUMP MOST
set -euo pipefail
text=0
while read -r bytes; do text=$((text + 16#$bytes)); done < <("$3" -h "$1" | awk '$2 ~ /^\.text/ {print $3}')
echo "$text bytes of code, at most $4"
[ "$text" -gt 0 ]
[ "$text" -le "$4" ] || { "$2" -S --size-sort -r "$1" | grep -i -e ' t ' -e ':$'; exit 1; }
bad=$("$2" "$1" | grep -E ' [WVwvBbDdC] ' | grep -v -e ' d statuses$' -e ' b known\.[0-9]*$' -e ' b kiln_cpu_sets\.known$' || true)
[ -z "$bad" ] || { echo "weak symbols or mutable data: $bad"; exit 1; }
