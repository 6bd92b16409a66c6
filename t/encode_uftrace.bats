# trencode -t uftrace: the recording back out of the stream, as the real uftrace reads it.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# round X Y [FILTER]: X through the pipe into Y
round() {
	pipefail "trdecode '$1' | ${3:+$3 |} trencode -t uftrace -o '$2'"
}

# same X Y: byte for byte, but for what pads arguments: the recorder leaves there what was in memory.
same() {
	local f
	diff <(ls -A "$1") <(ls -A "$2") || return 1
	for f in "$1"/*; do
		cmp -s "$f" "$2/${f##*/}" && continue
		[[ $f == *.dat ]] || { echo "differs: $f"; return 1; }
		[[ $(stat -c %s "$f") == "$(stat -c %s "$2/${f##*/}")" ]] || { echo "size: $f"; return 1; }
		cmp -l "$f" "$2/${f##*/}" | awk -v f="$f" '$3 != 0 { print f, $0; bad = 1 } END { exit bad }' ||
			return 1
	done
}

# uftrace_output COMMAND X: what the real uftrace prints of X, without X's name and age
uftrace_output() {
	# shellcheck disable=SC2086
	uftrace ${1%% *} --no-pager ${1#* } -d "$2" 2>&1 | sed "s|$2|DIR|; /^# recorded on/d; /recorded_time/d"
	echo "status ${PIPESTATUS[0]}"
}

# alike X Y: the real uftrace says the same of both
alike() {
	local c
	for c in 'report -f all' 'report --task' 'info -q' 'graph -q' 'dump -q' \
		'replay -f time,delta,elapsed,duration,tid,task,module,addr'; do
		diff <(uftrace_output "$c" "$1") <(uftrace_output "$c" "$2") >diff.txt || {
			echo "uftrace $c differs: $1"
			head diff.txt
			return 1
		}
	done
}

@test "recordings come back byte for byte, but for padding; uftrace says the same of the copy" {
	for d in $(good); do
		round "$U/$d" "$d"
		same "$U/$d" "$d"
		# of the same bytes it says the same
		diff -r "$U/$d" "$d" >/dev/null && continue
		[[ $d == new-* ]] || ! command -v uftrace >/dev/null || alike "$U/$d" "$d"
		echo "$d"
	done >compared
	[ -s compared ]
}

@test "fresh recordings: threads, forks, arguments" {
	need uftrace
	need gcc
	S=$U/src
	gcc -O1 -g -pg -o threads "$S/threads.c" -lpthread
	gcc -O1 -g -pg -o forkexec "$S/forkexec.c"
	gcc -O0 -g -pg -o basic "$S/basic.c"
	gcc -O0 -g -pg -o args "$S/args.c"
	uftrace record -d threads.data ./threads >/dev/null 2>&1 || skip "uftrace cannot record here"
	uftrace record -d forkexec.data ./forkexec ./basic >/dev/null 2>&1
	uftrace record -a -d args.data ./args >/dev/null 2>&1
	for d in threads forkexec args; do
		round $d.data $d.copy
		same $d.data $d.copy
		alike $d.data $d.copy
	done
}

@test "a recording of file version 3 stays one" {
	cp -r "$U/basic-nopie" three
	chmod -R u+w three
	printf '\3' | dd of=three/info bs=1 seek=8 conv=notrunc status=none
	round three copy
	same three copy
}

@test "segments of one stream make one recording" {
	source "$ROOT/t/many.bash"
	records 2000 >each
	many long 40 each
	round long one
	pipefail 'trdecode --segment 64K long | trencode -t uftrace -o many'
	same one many
}

@test "without -o: a tar, the same for the same stream" {
	trdecode "$U/args-spec" >x.trs
	trencode -t uftrace x.trs >1.tar
	pipe 'trencode -t uftrace x.trs | cat >2.tar'
	cmp 1.tar 2.tar
	run -0 tar tf 1.tar
	assert_line --index 0 uftrace.data/
	assert_line --index 1 uftrace.data/info
	run -0 tar tvf 1.tar --full-time --numeric-owner --utc
	assert_line --index 1 --regexp '^-rw-r--r-- 0/0 +[0-9]+ 1970-01-01 00:00:00 '
	tar xf 1.tar
	same "$U/args-spec" uftrace.data
	# and trdecode reads it
	pipefail 'trdecode 1.tar | trencode -t uftrace | cmp - 1.tar'
}

@test "no tar on a terminal" {
	need_terminal
	trdecode "$U/threads" >x.trs
	run -2 script -qec 'trencode -t uftrace x.trs' /dev/null
	assert_output --partial 'a tar is not written to a terminal; use -o DIR'
}

@test "-o takes a new or an empty directory" {
	trdecode "$U/threads" >x.trs
	mkdir -m 700 empty full
	touch full/mine
	before=$(stat -c %i empty)
	trencode -t uftrace -o empty/ x.trs
	same "$U/threads" empty
	assert_equal "$(stat -c %i,%a empty)" "$before,700"
	trencode -t uftrace -o new/ x.trs
	same "$U/threads" new
	run -2 trencode -t uftrace -o full x.trs
	assert_output 'trencode: full: is a directory that is not empty: remove it, or use another name'
	assert_equal "$(ls -A full)" mine
	run -2 trencode -t uftrace -o full/mine x.trs
	assert_output --partial 'trencode: full/mine: '
	run -2 trencode -t uftrace -o no/such/place x.trs
	assert_equal "$(ls -A | tr '\n' ' ')" 'empty full new x.trs '
}

@test "one directory contains one recording, two concatenated ones are refused" {
	cp -r "$U/threads" a
	cp -r "$U/basic-pg" b
	trdecode a >a.trs
	trdecode b >b.trs
	run -2 pipe 'cat a.trs b.trs | trencode -t uftrace -o both'
	assert_output --partial "contains one recording, and the stream has 'a' and 'b'"
	assert_output --partial "use --resynthesize"
	[[ ! -e both && -z $(ls -d .tr* 2>/dev/null) ]]
}

@test "a stream without the recording's info is refused" {
	trdecode "$U/threads" >x.trs
	run -2 pipe 'head -c 600 x.trs | trencode -t uftrace -o y'
	assert_output --partial "the recording's 'info' is missing"
	run -2 pipe 'trfilter 0 x.trs | head -c 200 | trencode -t uftrace -o y'
	assert_output --partial 'the stream has no calls'
	[[ ! -e y ]]
}

@test "an output that fails is status 2" {
	trdecode "$U/threads" >x.trs
	run -2 pipe 'trencode -t uftrace x.trs >/dev/full'
	assert_output --partial 'standard output: cannot write: No space left on device'
	run -2 pipe 'TMPDIR=/no/such trencode -t uftrace x.trs | cat; exit ${PIPESTATUS[0]}'
	assert_output --partial '/no/such: cannot create a temporary file'
}

@test "damage: what could be read, a remark, status 1" {
	for d in bad-rec-magic bad-trunc-dat bad-trunc-args; do
		run -1 pipe "trdecode -q '$U/$d' 2>/dev/null | trencode -t uftrace -o $d"
		assert_line 'trencode: 1 gap left out: uftrace has no record for damaged or unread input'
		trdecode "$d" >/dev/null # it is whole now
		if command -v uftrace >/dev/null; then
			run -0 uftrace report --no-pager -d $d
			assert_output --partial main
			refute_output --partial WARN
		fi
	done
	run -1 pipe "head -c 100000 <(trdecode '$U/threads') | trencode -t uftrace -o cut"
	[[ -s cut/info ]]
}

@test "after a filter: only its tasks, with their depths" {
	need uftrace
	trdecode "$U/threads" >x.trs
	trfilter 'tid == 13268' x.trs | trencode -t uftrace -o one
	assert_equal "$(cd one && ls [0-9]*.dat)" 13268.dat
	cmp one/info "$U/threads/info"
	cmp one/13268.dat "$U/threads/13268.dat"
	diff <(uftrace report --no-pager -f all -d one) \
		<(uftrace report --no-pager -f all --tid 13268 -d "$U/threads")
}

@test "after a filter: the calls that are left stand closer" {
	need uftrace
	trdecode "$U/basic-pg" | trsym | trfilter 'name =~ "^(main|leaf|strlen)$"' | trencode -t uftrace -o some
	run -0 uftrace report --no-pager -f call -s func -d some
	assert_output --regexp ' 1 +main'
	assert_equal "$(grep -cE '^ +[0-9]+ ' <<<"$output")" 3
	for f in leaf strlen; do
		assert_equal "$(grep -E " $f\$" <<<"$output")" \
			"$(uftrace report --no-pager -f call -s func -d "$U/basic-pg" | grep -E " $f\$")"
	done
	run -0 pipe 'uftrace replay --no-pager -f none -d some | sed "s/ *$//"'
	assert_line 'main() {'
	assert_line '  leaf();'
	assert_line '  strlen();'
	refute_output --partial 'remaining functions'
}

@test "after a filter: external data that is left, and perf's records" {
	trdecode "$U/extern-data" >x.trs
	trfilter 'type == "external-data"' x.trs | trencode -t uftrace -o all
	diff <(grep -v '^#' "$U/extern-data/extern.dat" | grep .) all/extern.dat
	trfilter 'type != "external-data"' x.trs | trencode -t uftrace -o none
	[[ ! -s none/extern.dat ]]
	cmp "$U/extern-data/perf-cpu0.dat" none/perf-cpu0.dat
}

@test "leaves whose enter is elsewhere stay" {
	trdecode "$U/forkexec" >x.trs
	run -0 pipe "trfilter 'tid == 13296' x.trs | trencode -t uftrace -o child"
	assert_output ''
	cmp child/13296.dat "$U/forkexec/13296.dat"
	run -0 pipe "trfilter 'type == \"entry\" || type == \"exit\"' x.trs | trencode -t uftrace -o calls"
	assert_output ''
	cmp calls/13296.dat "$U/forkexec/13296.dat"
	run -0 pipe "trencode -t uftrace -o whole x.trs"
	assert_output ''
}

@test "thousands of tasks with few descriptors and little memory" {
	source "$ROOT/t/many.bash"
	records 100 >each
	many many 2048 each
	pipefail 'trdecode many | (ulimit -n 32; trencode -t uftrace -o copy)'
	diff -r many copy | grep -v '^Only in copy: perf-cpu' >rest || true
	[[ ! -s rest ]]
	pipefail 'trdecode many | (ulimit -n 32; trencode -t uftrace) | tar x'
	diff -r copy uftrace.data
}

@test "one recording twice in a stream is no directory" {
	cd "$BATS_TEST_TMPDIR"
	trdecode "$DATA/uftrace/fib" >s.trs
	run -2 pipe 'cat s.trs s.trs | trencode -t uftrace -o two'
	assert_output --partial 'the stream has two named'
	[ ! -e two ]
}

@test "names of threads come back from uftrace's directories, whatever bytes and length they have" {
	cat >names.json <<-'END'
		{"traceEvents":[
		{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"a\tb\"c\n'd\\x09e/é \\"}},
		{"ph":"X","name":"f\tg \"x\" \\x09","ts":1,"dur":5,"pid":1,"tid":1},
		{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"x\ty of a long name"}},
		{"ph":"X","name":"g","ts":2,"dur":5,"pid":1,"tid":2}]}
	END
	trdecode -q names.json | trencode -q -t uftrace -o names.data
	jq -c '.traceEvents | map(select(.ph == "M").args.name)' names.json >want
	trdecode -q names.data | trencode -q -t ndjson | jq -c -s 'map(.comm)' | diff want -
	jq -c '.traceEvents | map(select(.ph == "X").name)' names.json >want
	trdecode -q names.data | trsym -q | trencode -q -t ndjson | jq -c -s 'map(.name)' | diff want -
	# and once more
	trdecode -q names.data | trsym -q | trencode -q --resynthesize -t uftrace -o again.data
	diff <(trdecode -q names.data | trsym -q | trencode -q -t ndjson) \
		<(trdecode -q again.data | trsym -q | trencode -q -t ndjson)
	# the names of a recording of uftrace are as they are
	sed 's/sid=7472656e636f6465/sid=0123456789abcdef/' names.data/task.txt >task.txt
	cp -r names.data real.data
	cp task.txt real.data/task.txt
	mv real.data/sid-7472656e636f6465.map real.data/sid-0123456789abcdef.map
	run -0 pipe "trdecode -q real.data | trencode -q -t ndjson | jq -r .comm"
	assert_line --index 0 'a\x09b\x22c\x0a'
}

@test "to uftrace: values that a function's first call does not have are left out and counted" {
	need uftrace
	cd "$BATS_TEST_TMPDIR"
	call() { echo "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":$1,\"dur\":2,\"name\":\"f\",\"args\":{$2}}"; }
	echo "[$(call 1 '"a":1'),$(call 5 '"a":2,"b":3'),$(call 9 '"b":4,"a":5')]" >x.json
	run -0 --separate-stderr bash -c "trdecode x.json | trencode -t uftrace -o x"
	[ "$stderr" = "trencode: 2 calls are written without the values that the function's first call lacks" ]
	run -0 uftrace replay --no-pager -d x
	assert_line --regexp '\| f\(1\);$'
	assert_line --regexp '\| f\(2\);$'
	assert_line --regexp '\| f\(5\);$'
}
