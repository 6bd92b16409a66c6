#!/bin/bash
# Open our reports with the programs that people use, and compare numbers with trstat's.
# usage: t/interop/run.sh BIN DIR, DIR being where npm's packages are installed
BIN=$(realpath "$1")
mkdir -p "$2" || exit
INTEROP=$(realpath "$2")
export BIN INTEROP
cd "$(dirname "$0")/../.." || exit

tests=(t/interop/*.bats)
if ! why=$(t/interop/install.sh "$INTEROP"); then
	echo "skipped: $why"
	tests=(t/interop/{analyses,python}.bats)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bats --setup-suite-file t/setup_suite.bash --formatter tap "${tests[@]}" 2>&1 | tee "$log"
skipped=$(grep -ci '^ok .*# skip' "$log") failed=$(grep -c '^not ok ' "$log")
passed=$(($(grep -c '^ok ' "$log") - skipped))
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0 && passed + skipped > 0))
