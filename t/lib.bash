# What every test file loads first: load lib
bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
DATA=$ROOT/t/data
BIN=${BIN:-$ROOT/build/bin}
export ROOT DATA BIN
PATH=$BIN:$PATH

# need_shared TRACE: skip where this public trace is not beside the project. $RECORDED has the project's
# own recordings (t/data/recorded) and those public ones.
need_shared() {
	[[ -e $RECORDED/$1 ]] || skip "public traces: no $1 in ../shared/traces"
}

# Skip where a tool of the peers is not installed.
need() {
	command -v "$1" >/dev/null || skip "no $1"
}

# errors COMMAND: its stderr alone; a program that fails writes the cause into its stream, on stdout
errors() {
	{ "$@" >/dev/null; } 2>&1
}

# rows_of OPTION... EXPRESSION STREAM: the number of rows that trfilter keeps, two of a whole call
rows_of() {
	local kept
	kept=$(mktemp -p "$BATS_TEST_TMPDIR")
	trfilter -q "$@" >"$kept"
	echo $(($(trfilter -q -c 'kind == enter' "$kept") + $(trfilter -q -c 'kind != enter' "$kept")))
	rm "$kept"
}

# pipe 'a | b': the status of the last alone, as at a prompt; pipefail 'a | b': of any.
pipe() {
	bash -c "$1"
}

pipefail() {
	bash -o pipefail -c "$1"
}

# flip FILE N: change N bits of it, by RANDOM
flip() {
	local size at byte n
	size=$(stat -c %s "$1")
	for ((n = $2; n > 0; n--)); do
		at=$(((RANDOM * 32768 + RANDOM) % size))
		byte=$(od -An -tu1 -j $at -N 1 "$1")
		printf '%b' "$(printf '\\x%02x' $((byte ^ 1 << RANDOM % 8)))" |
			dd of="$1" bs=1 seek=$at conv=notrunc status=none
	done
}
