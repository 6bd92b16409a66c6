# What calls are given and give back, in trfilter and trstat: values.trace and sides.trace have all
# sorts of values, some on both sides of a call.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	for name in values sides v6 threads; do
		trdecode "$DATA/apitrace/$name.trace" >"$name.trs"
	done
}

# calls STREAM NUMBERS EXPRESSION: these calls are kept, with both rows of each
calls() {
	local numbers=$2

	run -0 trfilter -c "$3" "$1.trs"
	assert_equal "$3: $output" "$3: $(wc -w <<<"$numbers")"
	run -0 pipe "trfilter '${3//\'/\'\\\'\'}' $1.trs | trencode -q --all-calls | sed -n 's/^\([0-9]*\) .*/\1/p'"
	assert_equal "$3: ${lines[*]}" "$3: $numbers"
}

# rows STREAM COUNT EXPRESSION
rows() {
	assert_equal "$3: $(rows_of "$3" "$1.trs")" "$3: $2"
}

@test "arguments by number, arguments by name and returned values are looked into alike" {
	calls values 0 'arg.1.x == 5 && arg.2 == -3'
	calls values 0 'arg.a.in.q == "w"'
	calls values 6 'arg.1.x == 6'
	calls values 6 'arg.v.x == 6 && arg.v.q == "z"'
	calls values 1 'arg.1 == "human"'
	calls values 1 'arg.r == "human" && arg.r.size == 5'
	calls values 1 'ret == "BAD"'
	calls values 1 'ret == 5'
	calls values 6 'ret.size == 7'
	calls sides "0 1 2" 'arg.1 == "BAD" || ret == "BAD" && !has(arg.1)'
	calls sides 3 'ret == "human" && ret.size == 5 && arg.r.size == 5'
	calls sides 6 'ret.x == 5'
	run -0 trstat -t tsv -g 'ret,ret.x' -c count sides.trs
	assert_line $'BAD\t\t2'
	assert_line $'5\t5\t1' || assert_line $'\t5\t1'
}

@test "members of a struct without a name are the outer one's, as texts show them" {
	calls values 0 'arg.a.p == 1'
	calls values 0 'arg.a.q == "hello" && arg.a.in.p == 7'
	calls values 6 'arg.v.p == 2'
	rows values 0 'has(arg.a.z)'
	run -0 trstat -t tsv -g arg.a.p -c count values.trs
	assert_line $'1\t1'
}

@test "of an argument given at enter and leave the later value holds, everywhere" {
	calls sides 6 'arg.n == 3'
	calls sides 6 'arg.1 == 3'
	rows sides 0 'arg.n == 1'
	rows sides 16 '!(arg.n == 1)'
	calls values 8 'name == "dup" && arg.1 == 3'
	run -0 trstat -t tsv -g arg.n -c 'count,sum(arg.n),min(arg.n),uniq(arg.n)' sides.trs
	assert_line $'3\t1\t3\t3\t1'
	refute_line --regexp $'^1\t'
	run -0 trstat -t tsv -g name -c 'sum(arg.n)' sides.trs
	assert_line $'fG\t3'
	# and of a part that ends in between
	trdecode --segment 64 "$DATA/apitrace/sides.trace" >cut.trs
	run -0 pipe "trstat --partial -g name -c 'sum(arg.n),uniq(arg.r)' cut.trs | trstat --merge -t tsv"
	assert_equal "$output" "$(trstat -t tsv -g name -c 'sum(arg.n),uniq(arg.r)' sides.trs)"
	# f(n) gets 5 and gives nothing back, the second call never returns
	printf '\004\000\000\000\001f\001\001n\001\000\004\005\000\001\000\000\000\000\000\001\000\004\007\000' | gzip >x.trace
	run -0 pipe "trdecode x.trace | trstat -q -t tsv -g name -c 'sum(arg.n),max(arg.n)'"
	assert_line $'f\t12\t7'
}

@test "what parts of a trace give of arguments is what the whole gives" {
	need parallel
	for name in threads v6; do
		trdecode --segment 2K "$DATA/apitrace/$name.trace" >cut.trs
		size='sum(arg.x)'
		[[ $name != v6 ]] || size='sum(arg.blob.size)'
		for how in '-g name' '-g arg.mode|module,ret' '-g tid'; do
			options=("${how% *}" "${how#* }" -c "count,$size,max(arg.1),uniq(arg.1)")
			trstat -q -t tsv "${options[@]}" "$name.trs" >whole
			parallel --pipepart -a cut.trs --block 3K --recstart "$(head -c 16 cut.trs)" \
				trstat -q --partial -g "'${how#* }'" -c "'count,$size,max(arg.1),uniq(arg.1)'" \
				2>/dev/null | trstat -q --merge -t tsv >merged
			cmp whole merged
		done
	done
}

@test "with kind a row has the arguments and the value of its own side" {
	rows sides 1 'kind == leave && arg.n == 3'
	rows sides 0 'kind == leave && arg.n == 1'
	rows sides 1 'kind == enter && arg.n == 1'
	rows sides 0 'kind == enter && has(ret)'
	rows sides 2 'kind == leave && ret == "BAD"'
	rows sides 14 '!(kind == leave && ret == "BAD")'
	rows threads "$(trfilter -c 'kind == enter' threads.trs)" 'kind == enter && (has(arg.1) || !has(arg.1))'
}

# every EXPRESSION STREAM: its rows, each by its input, time and type
every() {
	trfilter "$1" "$2" | trstat -q -t tsv -g input,time,type -c count | tail -n +2 | sort
}

@test "rows and their complements: X and !(X) are all, and so are X and -v" {
	# together they have all arguments
	cat sides.trs v6.trs threads.trs >three.trs
	local stream=three
	all=$(rows_of 1 $stream.trs)
	while IFS= read -r e; do
		n=$(rows_of "$e" $stream.trs)
		assert_equal "$stream $e $((n + $(rows_of "!($e)" $stream.trs)))" "$stream $e $all"
		assert_equal "$stream $e $((n + $(rows_of -v "$e" $stream.trs)))" "$stream $e $all"
		every "$e" $stream.trs >a
		every "!($e)" $stream.trs | sort - a | uniq -d >twice
		[ ! -s twice ] || fail "$e: $(cat twice)"
	done <<-'END'
		kind == leave && arg.1 > 0
		kind == leave && ret != 0
		kind == enter || arg.n == 3
		kind == leave && dur > 0
		kind == enter || dur > 0 && arg.1 > 0
		kind == leave && (children == 0 || ret == 0)
		type == "leave" || over(name =~ "^gl") || arg.mode == "GL_TRIANGLES"
		arg.1 > 0 || ret != 0
		arg.mode == "GL_TRIANGLES" && dur > 0
		kind == enter && arg.1 > 0 || kind == leave && has(ret)
	END
}

# two STREAM CONDITION...: two filters in a pipe keep what one filter with both conditions keeps
two() {
	local stream=$1 a b

	shift
	for a; do
		trfilter "$a" "$stream" >first.trs
		for b; do
			every "$b" first.trs >two
			every "($a) && ($b)" "$stream" >one
			cmp one two || fail "$a && $b"
		done
	done
}

@test "E | E2 is E && E2, of rows with arguments and of calls with them" {
	cat sides.trs v6.trs threads.trs >three.trs
	local stream=three
	two $stream.trs 'kind == leave' 'kind == leave && arg.n == 3' 'kind == enter && arg.1 > 0' \
		'kind == leave && ret != 0' '!(kind == enter && has(arg.1))' 'name =~ "^[fgk]"'
	two $stream.trs 'arg.1 > 0' 'has(arg.1) || dur > 0' 'ret != 0' 'arg.n == 3' 'name =~ "^[fgk]"' \
		'!(arg.1 > 0)'
}

@test "a number with a fraction is that of the float or double that it meets" {
	for e in 'arg.d == 0.1' 'arg.d <= 0.1' 'arg.d >= 0.1' 'arg.d in {0.2, 0.1}' '!(arg.d != 0.1) && has(arg.d)' \
		'arg.d == 0.10000000000000001' 'arg.d == 0.1000000000000000055511151231257827' 'arg.d == 1e-1'; do
		calls sides 4 "$e"
	done
	for e in 'arg.d > 0.1' 'arg.d < 0.1' 'arg.d != 0.1' 'arg.d == 0.1000000000000001'; do
		rows sides 0 "$e"
	done
	calls sides 5 'arg.v.1 == 0.1 && arg.v.2 == 2.5e-1'
	run -3 trstat -q --fail-if 'count(arg.d == 0.1) == 1' -g name,arg.d -c count sides.trs
	run -3 trstat -q --fail-if 'count(arg.d <= 1e-1 && arg.d in {0.1}) == 1' -g name,arg.d -c count sides.trs
	run -0 trstat -q --fail-if 'count(arg.d > 0.1) > 0' -g name,arg.d -c count sides.trs
}

@test "a float of 4 bytes, too" {
	# f(x = 0.1f)
	printf '\004\000\000\000\001f\001\001x\001\000\005\315\314\314\075\000\001\000\000' | gzip >x.trace
	trdecode x.trace >x.trs
	for e in 'arg.x == 0.1' 'arg.x == 0.10000000149011612' '!(arg.x > 0.1) && arg.x >= 0.1'; do
		rows x 2 "$e"
	done
	run -3 trstat -q --fail-if 'count(arg.x == 0.1) == 1' -g arg.x -c count x.trs
}

@test "NULL, true and false are values as texts show them" {
	calls values 2 'arg.n == NULL && arg.t == true && ret == false'
	rows values 0 'arg.t == false'
	run -3 trstat -q --fail-if 'count(arg.t == true && arg.n == NULL) == 1' -g arg.t,arg.n -c count values.trs
	run -3 trstat -q --fail-if 'count(arg.t && !arg.n) == 1' -g arg.t,arg.n -c count values.trs
	run -3 trstat -q --fail-if 'count(arg.t == "true") == 1' -g arg.t,arg.n -c count values.trs
	run -0 trfilter --explain 'arg.t == true'
	assert_line --index 0 'keep arg.t == 1'
}

@test "hundreds of conditions on arguments" {
	e=$(printf ' || arg.n == %d' {3..700})
	calls sides 6 "${e# || }"
	rows sides 14 "!(${e# || })"
	e=$(printf ' || arg.n == %d' {1..3000})
	run -2 errors trfilter -c "${e# || }" sides.trs
	assert_output 'trfilter: expression: more than 2048 conditions joined with such on whole calls'
}

@test "the name of an argument alone is the argument, in conditions, keys and columns" {
	cat >trace.json <<-'END'
		{"traceEvents":[
		{"pid":1,"tid":1,"ph":"X","ts":0,"dur":900,"name":"f","args":{"detail":"vector","n":40}},
		{"pid":1,"tid":1,"ph":"X","ts":10,"dur":500,"name":"g","args":{"tid":9}},
		{"pid":1,"tid":1,"ph":"X","ts":20,"dur":10,"name":"g","args":{"detail":"list","n":2}}]}
	END
	trdecode -q trace.json >s.trs
	for name in detail arg.detail; do
		assert_equal "$(trfilter -c "$name =~ \"o\"" s.trs)" 1
		assert_equal "$(trfilter -c "has($name)" s.trs)" 2
		run -0 trstat -t tsv -g "$name" -c count --where "has($name)" s.trs
		assert_line $'list\t1'
		assert_line $'vector\t1'
		run -0 trstat -t tsv -c "uniq($name)" --where "$name == \"list\"" s.trs
		assert_line $'g\t1'
		run -0 trencode -t tsv -c "dur,$name" s.trs
		assert_line $'10000\tlist'
	done
	run -3 trstat -t tsv -c 'sum(n)' --fail-if 'sum(n) > 39' s.trs
	# the names of the table come first, then the fields of the event
	assert_equal "$(trfilter -c 'tid == 9' s.trs) $(trfilter -c 'field("tid") == 9' s.trs)" '0 1'
	run -0 trstat -t tsv -g tid -c count s.trs
	assert_line $'1\t3'
	run -0 trstat -t tsv -g .tid -c count s.trs
	assert_line $'9\t1'
	# the name of an argument is not that of a field
	trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	for name in id args[0]; do
		for run in "trfilter -c 'arg.$name == 3'" "trstat -g 'arg.$name'" "trencode -t csv -c 'arg.$name'"; do
			run -2 bash -c "$run -q s.trs"
			assert_output --partial "no event has a field 'arg.$name'; did you mean '$name'?"
		done
	done
	# of an argument of both sides the enter's
	calls sides 6 'n == 1'
	calls sides "" 'n == 3'
}

@test "elements of arrays by [N]: fields of events, arguments, returned values" {
	cat >text <<-'END'
		# tracer: nop
		#
		            bash-100     [001] ..... 10.000100: sys_enter: NR 0 (3, 7ffe0010, 1000, 0, 22, ffffffffffffffff)
		            bash-100     [001] ..... 10.000150: sys_exit: NR 0 = 5
		            bash-100     [001] ..... 10.000200: sys_enter: NR 1 (4, 7ffe0020, 1001, 0, 22, 1)
		            bash-100     [001] ..... 10.000290: sys_exit: NR 1 = 4
	END
	trdecode -q text >s.trs
	rows s 1 'args[0] == 3'
	rows s 1 'args[5] == 0xffffffffffffffff'
	rows s 2 'args[0] in {3, 4} && args[1] - args[0] > 0x7ffe0000'
	rows s 0 'has(args[6])'
	run -0 trstat -t tsv -g 'args[2]' -c 'count,sum(args[0])' --where 'args[4] == 0x22' s.trs
	assert_line $'0x1000\t1\t3'
	assert_line $'0x1001\t1\t4'
	run -3 trstat --fail-if 'sum(args[0]) > 6' s.trs
	run -0 trencode -t tsv -c 'time,args[5],args[6]' s.trs
	assert_line $'10000100000\t0xffffffffffffffff\t'
	assert_line $'10000290000\t\t'
	run -0 --separate-stderr trstat -t tsv --pair 'sys_enter -> sys_exit on .args[0] == .ret' -g 'a.args[0]' -c count,max s.trs
	assert_line $'0x4\t1\t90000'
	# what is no array has no elements
	for name in 'id[0]' 'foo[1]'; do
		run -0 trfilter -c "$name == 0" s.trs
		assert_output --partial "no event has a field '$name'"
	done
	run -2 trstat -g 'args[' s.trs
	run -2 trfilter 'args[1 == 0' s.trs

	# the numbers of trace-cmd report -R, in both orders of bytes
	trdecode -q "$DATA/trace-cmd/v7-zstd-split-lost.dat" >s.trs
	rows s 450 'type == "sys_enter" && args[2] == 0x40'
	trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	rows s 42 'type == "sys_enter" && args[2] == 10'

	calls sides 5 'arg.v[1] == 0.1 && arg.v.1 == arg.v[1]'
	calls sides "" 'has(arg.v[99])'
	run -0 trstat -t tsv -g 'arg.v[1]' -c count sides.trs
	assert_line $'0.1\t1'
	run -0 trencode -t tsv -c 'arg.v[1]' sides.trs
	assert_line 0.1
}
