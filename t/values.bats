# One spelling of a value in rows, keys and conditions: that of the system's own tool.

load lib
load uftrace_fresh

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$DATA/apitrace
}

# key STREAM KEY NAME: what trstat has as KEY of the calls of that name
key() {
	trstat -q -t tsv -g "name,$2" -c count "$1" | sed -n "s/^$3	\(.*\)	[0-9]*$/\1/p"
}

# row STREAM MEMBER NAME: what the rows have
row() {
	trencode -q -t ndjson "$1" | jq -r "select(.name == \"$3\") | .args.$2 |
		if . == null then \"NULL\" else . end"
}

# spelled STREAM NAME ARGUMENT MEMBER TEXT: everywhere as in the text
spelled() {
	assert_equal "$(key "$1" "$3" "$2")" "$5"
	assert_equal "$(row "$1" "$4" "$2")" "$5"
	run -0 trfilter -c "kind == enter && $3 == \"$5\"" "$1"
	assert_output 1
	run -0 trfilter -c "kind == enter && $3 != \"$5\"" "$1"
	assert_output 0
	run -0 trfilter -c "kind == enter && $3 in {\"other\", \"$5\"}" "$1"
	assert_output 1
	run -0 trfilter -c "kind == enter && $3 == \"${5}x\"" "$1"
	assert_output 0
}

@test "values of apitrace are spelled as apitrace dump prints them" {
	trdecode -q "$T/v6.trace" >s
	for name in f t null blob enum ptr; do
		text=$(sed -n "s/^1 @0 kinds(\(.*, \)*$name = \([^,]*\),.*/\2/p" "$T/v6.txt")
		[[ $text ]] || fail "$name"
		spelled s kinds "arg.$name" "$name" "$text"
	done
	# the text has blanks around the bars, which a condition may have too
	text=$(sed -n 's/.* mask = \([^,]*\),.*/\1/p' "$T/v6.txt" | head -n 1)
	spelled s kinds arg.mask mask "${text// /}"
	run -0 trfilter -c "kind == enter && arg.mask == \"$text\"" s
	assert_output 1
	# numbers are numbers
	for pair in f:0 t:1 null:0 ptr:0xdeadbeef enum:4 flt:1.5; do
		run -0 trfilter -c "kind == enter && arg.${pair%:*} == ${pair#*:}" s
		assert_output 1
	done
	run -0 trfilter -c 'kind == enter && arg.ptr =~ "^0xdead"' s
	assert_output 1
	run -0 trfilter -c 'arg.neg == "-1"' s
	assert_output 0
}

@test "floating-point numbers are alike in keys and rows" {
	local call=0
	printf '\005\000\000\000\001f\001\001a' >raw
	for value in '\005\315\314\314\075' '\005\000\000\200\177' '\005\000\000\300\177' \
		'\006\232\231\231\231\231\231\271\077' '\006\000\000\000\000\000\000\360\377'; do
		((call)) && printf '\000\000\000' >>raw
		# shellcheck disable=SC2059 # they are formats
		printf "\\001\\000$value\\000\\001\\00$call\\000" >>raw
		call=$((call + 1))
	done
	gzip -n <raw >x.trace
	trdecode -q x.trace >s
	trencode -q -t ndjson s | jq -r .args.a | LC_ALL=C sort >rows
	trstat -q -t tsv -g arg.a -c count s | awk 'NR > 1 { for (i = 0; i < $2; i++) print $1 }' |
		LC_ALL=C sort | diff - rows
	printf '%s\n' -inf 0.1 0.1 inf nan | diff - rows
	for text in inf nan -inf; do
		run -0 trfilter -c "kind == enter && arg.a == \"$text\"" s
		assert_output 1
	done
}

@test "what a call returns is seen where the trace has it, in the enter too" {
	trdecode -q "$T/odd.trace" >s
	grep -q '^0 @0 retInEnter(.*) = 42$' "$T/odd.txt"
	for condition in 'ret == 42' '42 == ret' 'ret > 41 && arg.x == 1' 'ret in {42}' \
		'has(ret) && name == "retInEnter"'; do
		run -0 pipe "trfilter '$condition' s | trencode -q -t ndjson | jq -r .name"
		assert_output retInEnter
	done
	run -0 pipe "trfilter '!has(ret)' s | trencode -q -t ndjson | jq -r .name"
	refute_line retInEnter
	refute_line twoRets
	run -0 trfilter -c 'ret == 1' s
	assert_output 0
	assert_equal "$(key s ret retInEnter)" 42
	# of a call that never returned: f() = 7 in the enter
	printf '\005\000\000\000\001f\000\002\004\007\000' | gzip -n >x.trace
	trdecode -q x.trace >s
	run -0 trfilter -c 'ret == 7' s
	assert_output 1
	run -0 trfilter -c '!(ret == 7)' s
	assert_output 0
}

replayed() {
	uftrace replay --no-pager -d "$1" 2>/dev/null
}

# values.data: a program's returns and flags, with its text as uftrace replay prints it
record() {
	need uftrace
	fresh_values
	uftrace record -a --no-event -d values.data ./values >/dev/null 2>&1
	replayed values.data >replay
	trdecode -q values.data | trsym -q >s
	trencode -q s | diff replay -
}

# returned NAME: what the calls of that name return in uftrace's text, in order
returned() {
	sed -n "s/.*| *$1(.*) = \(.*\);.*/\1/p" replay
}

# numbers NAME: the same in decimal
numbers() {
	local text

	returned "$1" | while read -r text; do echo $((text)); done
}

@test "flags of uftrace's enums have the names that uftrace prints" {
	record
	returned flags >want
	grep -qx 'F_C|F_A' want
	grep -q '+0x' want
	trencode -q -t ndjson s | jq -r 'select(.name == "flags") | .args.ret' | diff want -
	trencode -q -t ndjson s | jq -r 'select(.name == "flags") | .args.arg2' | diff want -
	for key in ret arg.2; do
		trstat -q -t tsv -g "name,$key" -c count s | sed -n 's/^flags	\(.*\)	1$/\1/p' |
			LC_ALL=C sort | diff <(LC_ALL=C sort want) -
	done
	grep '[A-Z]' want >named
	while read -r text; do
		for condition in "ret == \"$text\"" "arg.2 == \"$text\"" "arg.2 in {\"$text\"}" \
			"arg.2 == \"${text//|/ | }\""; do
			run -0 trfilter -c "name == \"flags\" && ($condition)" s
			assert_output 1
		done
	done <named
	run -0 trfilter -c 'name == "flags" && arg.2 == "F_A"' s
	assert_output 0
	run -0 trfilter -c 'name == "flags" && arg.2 =~ "F_A" && arg.2 == 5' s
	assert_output 1
}

@test "returns are signed where uftrace prints a sign" {
	record
	for name in ints longs; do
		numbers $name >want
		grep -q '^-' want
		trencode -q -t ndjson s | jq -r "select(.name == \"$name\") | .args.ret | tostring" | diff want -
		run -0 trfilter -c "kind == leave && name == \"$name\" && ret < 0" s
		assert_output "$(grep -c '^-' want)"
		trstat -q -t tsv -g "name,ret" -c count s | sed -n "s/^$name	\(.*\)	[0-9]*$/\1/p" |
			sort | diff <(sort -u want) -
	done
}

@test "returns and arguments of explicit specs have the signs that uftrace prints" {
	record
	for spec in i32 i16 i8 u32 u8 d16 d8; do
		uftrace record --no-event -A "ints@arg1/$spec" -R "ints@retval/$spec" -d spec.data ./values \
			>/dev/null 2>&1
		replayed spec.data >replay
		trdecode -q spec.data | trsym -q >s
		numbers ints >want
		[[ $(wc -l <want) -eq 5 ]]
		for name in ret arg1; do
			trencode -q -t ndjson s | jq -r "select(.name == \"ints\") | .args.$name" | diff want -
		done
		run -0 trfilter -c 'kind == leave && ret < 0' s
		assert_output "$(grep -c '^-' want || true)"
	done
}

@test "floating-point arguments have names of their own, and their digits" {
	record
	trencode -q -t ndjson s | jq -c 'select(.name == "real") | .args' >rows
	assert_equal "$(cat rows)" '{"fparg1":0.1,"fparg2":-2.5,"ret":-2.5}'
	grep -q 'real(0.100000, -2.500000) = -2.500000' replay
	assert_equal "$(key s fparg.1 real)" 0.1
	run -0 trfilter -c 'fparg.1 == 0.1 && fparg.2 == -2.5' s
	assert_output 1
}

@test "wide strings, values in two forms and strings with NULs are in rows, keys and conditions" {
	# f(w = L"h\u20ac\U0001f600", r = repr ("shown", {1, 2}), s = "a\0b", e = "", n = 7)
	{
		printf '\005\000\000\000\001f\005\001w\001r\001s\001e\001n'
		printf '\001\000\017\003h\254\101\200\354\007'
		printf '\001\001\016\007\005shown\013\002\004\001\004\002'
		printf '\001\002\007\003a\000b\001\003\007\000\001\004\004\007\000\001\000\000'
	} | gzip -n >x.trace
	trdecode -q x.trace >s
	run -0 pipe "trencode -q -t ndjson s | jq -c '.args | del(.call, .frame)'"
	assert_output '{"w":"h€😀","r":"shown","s":"a\u0000b","e":"","n":7}'
	trencode -q -t csv s | python3 -c '
import csv, json, sys
row = list(csv.DictReader(sys.stdin))[0]
args = json.loads(row["args"])
assert [args[k] for k in "wrsen"] == ["h\u20ac\U0001f600", "shown", "a\0b", "", 7], args'
	for condition in 'arg.w == "h€😀"' 'arg.w.size == 3' 'arg.r == "shown"' 'arg.r =~ "^shown$"' \
		'arg.s == "a\0b"' 'arg.s =~ "b$"' 'arg.s.size == 3' 'arg.e == ""' 'arg.n == 7'; do
		run -0 trfilter -c "kind == enter && $condition" s
		assert_output 1
	done
	for condition in 'arg.s == "a"' 'arg.w == "h"' 'arg.r == 1' 'has(arg.r.1)'; do
		run -0 trfilter -c "kind == enter && $condition" s
		assert_output 0
	done
	run -0 trstat -q -t json -g arg.w,arg.r,arg.s,arg.n -c count s
	run -0 jq -c '.. | objects | select(has("arg.w")) | [."arg.w", ."arg.r", ."arg.s", ."arg.n"]' <<<"$output"
	assert_output '["h€😀","shown","a\u0000b",7]'
}
