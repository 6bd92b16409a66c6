# One event whose values make no sense loses these values; the event stays, the first is reported
# with its place and the others as a count, and the status is 1: in every program and encoder.

load lib

# spoil [-z] SCRIPT: the stream with bytes changed by sed; streams through pipes have no checksums
spoil() {
	LC_ALL=C sed "$@" good.trs >bad.trs
	cmp -s good.trs bad.trs && fail "nothing to spoil: $*"
	return 0
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode "$DATA/apitrace/v6.trace" | cat >good.trs
	# tags of two strings
	spoil 's/\x07\x02hi/\x1f\x02hi/; s/\x07\x0bverbose one/\x1f\x0bverbose one/'
}

SAYS='bad.trs: 0x[0-9a-f]+: the values of an event make no sense: they are left out, and those of 1 more event$'

@test "every encoder writes all events, says so once and exits 1" {
	local t
	for t in text ndjson csv tsv parquet arrow chrome firefox perfetto ctf apitrace speedscope folded svg "svg --by-time" dot mermaid pprof callgrind trace-cmd 'lttng --tick 1ns' 'uftrace --tick 1ns' 'apitrace --resynthesize'; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr trencode -t $t -o "out.${t%% *}" bad.trs
		[[ $(grep -cE "$SAYS" <<<"$stderr") == 1 ]] || fail "$t: $stderr"
		[[ -e out.${t%% *} ]] || fail "$t: no output"
		rm -rf "out.${t%% *}"
	done
}

@test "the event stays, and other values do" {
	for f in good bad; do
		trencode -q -t ndjson $f.trs | jq -c 'select(.name != "kinds" and .args.name != 1)' >$f.json || true
	done
	[[ $(wc -l <bad.json) -gt 20 ]]
	# the string that was the result leaves its call alone
	run -0 pipe 'trencode -q -t ndjson bad.trs 2>/dev/null | jq -c "select(.name == \"kinds\") | .args"'
	assert_output '{"call":1,"ret":7,"frame":0}'
	run -0 diff <(grep -v glGetString good.json) <(grep -v glGetString bad.json)
	run -0 pipe 'trencode -q bad.trs 2>/dev/null | grep -c "^[0-9]"'
	assert_output "$(trencode -q good.trs | grep -c '^[0-9]')"
	run -0 pipe 'trencode -q bad.trs 2>/dev/null | grep -F kinds'
	assert_output --regexp '^[0-9]+ kinds\(null = \?, f = \?, .*\) = 7$'
}

@test "a re-encoded trace has all calls, as apitrace counts them" {
	need apitrace
	run -1 trencode -t apitrace -o bad.trace bad.trs
	trencode -q -t apitrace -o good.trace good.trs
	apitrace dump --color=never good.trace | grep -v '\(kinds\|glGetString\)(' >good.txt
	apitrace dump --color=never bad.trace | grep -v '\(kinds\|glGetString\)(' >bad.txt
	run -0 cmp good.txt bad.txt
	[[ $(apitrace dump --color=never bad.trace | grep -c '^[0-9]') == $(apitrace dump --color=never good.trace | grep -c '^[0-9]') ]]
}

@test "keys, columns, conditions and saved streams" {
	for c in 'trstat -q -g arg.str' 'trstat -q -c "count,sum(arg.pos)"' 'trstat -q --slowest=3' "trstat -q --fail-if 'count(name == \"x\") > 5'" \
		"trfilter -c 'arg.str == \"hi\"'" "trfilter -q --drop=arg.neg -o o.trs 1" "trdecode -o o.trs"; do
		run -1 --separate-stderr pipe "$c bad.trs"
		[[ $(grep -cE "$SAYS" <<<"$stderr") == 1 ]] || fail "$c: $stderr"
	done
	# what a filter leaves of the values are sound ones, and its END has the status
	run -1 --separate-stderr trencode -t ndjson o.trs
	[[ $stderr == *'the trace is damaged: the values of an event make no sense'* && $stderr != *'0x'* ]]
	run -0 pipe 'trfilter -c "arg.str == \"hi\"" good.trs'
	assert_output 1
}

@test "programs that read no values pass them on" {
	run -0 trstat -q -g name -c count bad.trs
	run -0 trfilter -o o.trs 1 bad.trs
	run -1 --separate-stderr trencode -t ndjson o.trs
	[[ $stderr == *'make no sense'* ]]
}

@test "one event is one" {
	spoil 's/\x07\x02hi/\x1f\x02hi/'
	run -1 --separate-stderr trencode -t csv bad.trs
	[[ $stderr == *': the values of an event make no sense: they are left out'* && $stderr != *more* ]]
}

@test "kinds of damage: no number of an argument, lengths, flags, nothing" {
	trdecode "$DATA/apitrace/v6.trace" | trfilter 'name == "glGetString"' | cat >good.trs
	for c in 's/\x02\x00\x07\x0bverbose/\x01\x00\x07\x0bverbose/' 's/\x07\x0bverbose/\x07\x7fverbose/' 's/\x02\x00\x07\x0bverbose/\x04\x00\x07\x0bverbose/' \
		's/\x02\x00\x07\x0bverbose/\x03\x00\x07\x0bverbose/' 's/\x07\x0bverbose/\x0b\x7fverbose/' 's/\x07\x0bverbose/\x12\x80verbose/'; do
		spoil "$c"
		run -1 --separate-stderr trencode -t ndjson bad.trs
		[[ $stderr == *'make no sense'* ]] || fail "$c: $stderr"
		run -1 pipe 'trencode -q --all-calls bad.trs'
		assert_output --partial 'glGetString('
	done
}

@test "values whose definitions are missing or of another kind stay" {
	need apitrace
	# an enum, a bitmask and a struct of the definitions that strings name
	trdecode "$DATA/apitrace/v6.trace" | trfilter 'name =~ "^(enums|masks|structs)$"' | cat >good.trs
	trencode -q -t apitrace -o good.trace good.trs
	calls=$(apitrace dump --color=never good.trace | grep -c '^[0-9]')
	for tag in '\x09' '\x0a' '\x0c'; do
		for id in '\x01' '\x7f'; do
			spoil -z "s/${tag}[\\x01-\\x20]\\([\\x01-\\x08]\\)/$tag$id\\1/g"
			run trencode -q -t apitrace -o bad.trace bad.trs
			((status < 2))
			run -0 pipe 'apitrace dump --color=never bad.trace 2>&1 | grep -c "^[0-9]"'
			assert_output "$calls"
		done
	done
}
