# What every test file loads first: load lib
bats_require_minimum_version 1.5.0
if [[ -s $BATS_SUITE_TMPDIR/assertions.bash ]]; then
	# shellcheck source=/dev/null # of setup_suite.bash
	source "$BATS_SUITE_TMPDIR/assertions.bash"
else
	bats_load_library bats-support
	bats_load_library bats-assert
fi

# bats 1.8 walks the stack before every command of a test, in 0.3 ms: a third of the time of all tests.
# Bash 5 knows in its ERR trap where a command failed, and one walk there is enough.
bats_debug_trap() {
	trap - DEBUG
}

bats_error_trap() {
	bats_check_status_from_trap
	bats_capture_stack_trace
	# shellcheck disable=SC2034 # of bats
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

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

# Test whether the programs are built with a sanitizer
sanitized() {
	nm "$BIN/trdecode" | grep -q __asan_init
}

# unsanitized WHY: skip where they are; not for setup_file, in which a skip is a failure
unsanitized() {
	! sanitized || skip "a sanitizer: $1"
}

# Skip where a command cannot be run on a terminal: no script(1), or no pseudo-terminals, as in a chroot.
need_terminal() {
	need script
	script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "no pseudo-terminal"
}

# page_examples PAGE: the commands in the examples of a page, as a reader sees them, each on one line: of a
# program those at the beginning and in EXAMPLES, of section 7 those of DESCRIPTION. A line goes on after
# "|", "&&" or a backslash.
page_examples() {
	local page=$ROOT/man1/$1.1 lines='/^   First examples/,/^   [A-Z]/p; /^EXAMPLES/,/^[A-Z]/p'
	[[ -e $page ]] || page=$ROOT/man7/$1.7 lines='/^DESCRIPTION/,/^[A-Z]/p'
	mandoc -Tutf8 -O width=500 "$page" | sed 's/.\x08//g' | sed -n "$lines" | sed -n 's/^ \{11\}//p' |
		sed -e ':a' -e '/\(|\|&&\)$/{N;s/\n */ /;ba' -e '}' -e '/\\$/{N;s/\\\n *//;ba' -e '}'
}

# terminal WIDTH COMMAND...: its output on a terminal of that width that shows UTF-8; after need_terminal
terminal() {
	LC_ALL=C.UTF-8 COLUMNS=$1 script -qec "${*:2}" /dev/null </dev/null | tr -d '\r'
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
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; my $size = -s $f; srand $ARGV[2];
		for (1 .. $ARGV[1]) {
			my $at = int rand $size;
			seek $f, $at, 0; read $f, my $byte, 1;
			seek $f, $at, 0; print $f chr(ord($byte) ^ 1 << rand 8);
		}' "$1" "$2" "$RANDOM"
}
