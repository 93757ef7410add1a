#!/usr/bin/env bash
# runtime_notes_test.sh READELF ARCHIVE...: every object says that it supports control-flow protection (IBT, SHSTK).
set -euo pipefail
readelf=$1
shift
for archive in "$@"; do
  objects=$("$readelf" -h "$archive" | grep -c '^ *Magic:')
  notes=$("$readelf" -n "$archive" | grep -c 'x86 feature: IBT, SHSTK' || true)
  echo "$archive: $objects objects, $notes notes"
  [ "$objects" -gt 0 ] && [ "$objects" -eq "$notes" ]
done
