#!/usr/bin/env bats
# The README's examples print what it says they print.

load lib

@test "the README's examples" {
	local line command='' got=$BATS_TEST_TMPDIR/got want=$BATS_TEST_TMPDIR/want n=0
	mkdir -p "$BATS_TEST_TMPDIR/t"
	ln -s "$ROOT/t/data" "$BATS_TEST_TMPDIR/t/data"
	cd "$BATS_TEST_TMPDIR"
	while IFS= read -r line || [[ -n $command ]]; do
		if [[ -n $command && $line != '    '* ]]; then
			bash -c "$command" >"$got" 2>&1
			diff "$want" "$got"
			command=''
			((n += 1))
		elif [[ -n $command ]]; then
			echo "${line#    }" >>"$want"
		fi
		if [[ $line == '    $ '* ]]; then
			command=${line#    \$ }
			: >"$want"
		fi
	done <"$ROOT/README.md"
	[[ $n -ge 5 ]]
}

@test "the README names every program and both commands" {
	for program in trdecode trfilter trsym trstat trencode 'make demo' 'make check'; do
		grep -q "$program" "$ROOT/README.md"
	done
}
