# After a program that failed the later programs of the pipe exit 2 and leave no file. Each terminal, here each
# file that is the stderr of programs, shows the cause once.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode -o s.trs "$DATA/apitrace/v6.trace"
}

# after COMMAND CAUSE [some]: COMMAND fails, after some events, and so does all that reads its output
after() {
	local p
	for p in trstat 'trstat --fail-if "count > 0"' 'trencode' 'trencode -t ndjson' 'trfilter -c 1' \
		'trsym | trstat' 'trfilter 1 | trsym | trencode'; do
		run -2 --separate-stderr pipe "$1 2>own | $p"
		[[ ${3-} ]] || assert_output ''
		[[ $stderr == tr*': <stdin>: the program that wrote this failed: '*"$2"* ]]
		[[ ${3-} ]] || ! grep -v ': <stdin>: the program that wrote this failed: ' <<<"$stderr"
	done
	echo old >old.file
	cp old.file want
	for p in 'trfilter 1' trsym trstat trencode 'trencode -t chrome' 'trencode -t trace-cmd' 'trencode -t parquet' \
		'trdecode -'; do
		run -2 pipe "$1 | $p -o old.file"
		run -2 pipe "$1 | $p -o new.file"
		assert [ ! -e new.file ]
		cmp old.file want
	done
	for p in uftrace lttng ctf; do
		run -2 pipe "$1 | trencode -t $p -o new.dir"
		assert [ ! -e new.dir ]
	done
}

@test "an expression that is none" {
	after "trfilter 'cpuu == ' s.trs" 'trfilter: expression, column 9: a field, a number or a string expected, not the end'
}

@test "an option that is none" {
	after 'trfilter --bogus 1 s.trs' "trfilter: unknown option '--bogus'"
	after 'trsym --bogus s.trs' "trsym: unknown option '--bogus'"
	after 'trdecode --bogus' "trdecode: unknown option '--bogus'"
}

@test "inputs that cannot be opened, or are no traces" {
	after 'trdecode /none' 'trdecode: /none: cannot open: No such file or directory'
	after 'trfilter 1 /none' 'trfilter: /none: cannot open: No such file or directory'
	after 'trsym s.trs /none' 'trsym: /none: cannot open: No such file or directory' some
	after 'trsym --kallsyms=/none s.trs' 'trsym: /none: cannot open: No such file or directory'
	echo 'a text, and nothing else' >text
	after 'trfilter 1 text' 'trfilter: text: is not an event stream; if it is a trace: trdecode text | trsym | trfilter 1'
}

@test "clocks that do not meet" {
	trdecode -o u.trs "$DATA/uftrace/fib"
	run -2 errors trdecode -q s.trs u.trs
	after 'trdecode s.trs u.trs' 'align them with --offset FILE=TIME' some
}

@test "summaries" {
	run -2 --separate-stderr pipe 'trstat --partial /none 2>own | trstat --merge'
	assert_equal "$stderr" 'trstat: <stdin>: the program that wrote this failed: trstat: /none: cannot open: No such file or directory'
	assert_output ''
	run -2 pipe 'trfilter "a ==" s.trs 2>own | trstat --partial 2>own | trstat --merge 2>&1'
	assert_output --partial 'trfilter: expression, column 5'
	run -2 pipe 'trdecode /none | trstat --partial -o new.part'
	assert [ ! -e new.part ]
}

@test "what is saved of it says so, too" {
	trfilter 'cpuu == ' s.trs >failed.trs || true
	for p in trdecode 'trfilter 1' trsym trstat trencode 'trdecode --info'; do
		run -2 pipe "$p failed.trs 2>&1 >/dev/null"
		assert_output --partial 'failed.trs: the program that wrote this failed: trfilter: expression, column 9'
	done
}

# refused INPUT WHY PROGRAM...: a program that refuses a stream writes nothing, and no file of -o
refused() {
	local input=$1 why=$2 status=0
	shift 2
	"$@" <"$input" >out 2>err || status=$?
	[[ $status == 2 && ! -s out && $(<err) == *"$why"* && $(wc -l <err) == 1 ]] ||
		fail "$* <$input: status $status, $(wc -c <out) bytes, $(<err)"
	"$@" -q -o new.file <"$input" 2>/dev/null || status=$?
	[[ $status == 2 && ! -e new.file ]] || fail "$* -o new.file <$input: status $status"
}

@test "a refused input leaves no byte, in any format" {
	local input format
	: >empty
	echo 'a text, and nothing else' >text
	cp "$DATA/trace-cmd/v6-date.dat" trace
	trdecode -o u.trs "$DATA/uftrace/fib"
	trdecode nosuch >failed 2>own || true
	trdecode s.trs u.trs >late 2>own || true # after META
	declare -A why=([empty]='no input: did the previous command fail?' [text]='is not an event stream'
		[trace]='is not an event stream' [failed]='the program that wrote this failed'
		[late]='the program that wrote this failed')
	for input in "${!why[@]}"; do
		for format in $(trencode --formats | cut -d ' ' -f 1); do
			refused $input "${why[$input]}" trencode -t "$format"
		done
		for format in table tsv csv json ndjson prom; do
			refused $input "${why[$input]}" trstat -t $format
		done
		refused $input "${why[$input]}" trstat --tree
		refused $input "${why[$input]}" trstat -t csv -i 1ms
		refused $input "${why[$input]}" trfilter -c 1
	done
}

@test "an option that the first events refuse leaves no byte, in any format" {
	local format day='2026-11-21 10:00'
	for format in $(trencode --formats | cut -d ' ' -f 1); do
		refused s.trs 'has no wall time' trencode -t "$format" --since "$day"
	done
	for format in table tsv csv json ndjson; do
		refused s.trs 'has no wall time' trstat -c count -t $format --since "$day"
	done
}

@test "a stream without events is a whole document of any format" {
	trfilter -o none.trs 'type == "none"' s.trs
	for format in csv chrome parquet svg pprof; do
		run -0 trencode -q -t $format -o "x.$format" none.trs
		assert [ -s "x.$format" ]
	done
	[[ $(<x.csv) == time,* && $(wc -l <x.csv) == 1 ]]
	python3 -m json.tool x.chrome >/dev/null
	[[ $(head -c 4 x.parquet) == PAR1 && $(tail -c 4 x.parquet) == PAR1 ]]
}

@test "nothing but a stream goes where one is expected" {
	run -2 --separate-stderr trfilter -c 'cpuu == ' s.trs
	assert_output ''
	run -2 --separate-stderr trdecode --info /none
	assert_output ''
	run -2 --separate-stderr trstat --bogus s.trs
	assert_output ''
	run -2 --separate-stderr trfilter --bogus 1 s.trs -o x.trs
	assert_output ''
	assert [ ! -e x.trs ]
}

# on_one COMMAND: stderr of a whole pipe, in one file
on_one() {
	status=0
	bash -o pipefail -c "$1" 2>all >out || status=$?
}

@test "a failure is printed once on one stderr" {
	on_one 'trdecode nosuch | trsym | trfilter "dur > 1ms" | trstat'
	assert_equal "$status" 2
	assert_equal "$(<all)" 'trdecode: nosuch: cannot open: No such file or directory'
	on_one 'trdecode -f bogus nosuch | trsym | trencode -t ndjson'
	assert_equal "$status" 2
	assert_equal "$(grep -c 'no such format' all)" 1
	assert_equal "$(wc -l <all)" 2
	on_one 'trdecode nosuch | trdecode - | trstat --partial | trstat --merge'
	assert_equal "$status" 2
	assert_equal "$(<all)" 'trdecode: nosuch: cannot open: No such file or directory'
	on_one 'trfilter "cpuu ==" s.trs | trfilter 1 | trsym | trencode -t chrome'
	assert_equal "$(wc -l <all)" 1
}

@test "damage is printed once on one stderr" {
	printf '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1e300,"name":"f"}' >damaged.json
	trdecode damaged.json 2>want >damaged.trs || [ $? = 1 ]
	assert [ -s want ]
	for p in trstat 'trsym | trfilter 1 | trstat' 'trstat --partial | trstat --merge' 'trdecode - | trencode -t text'; do
		on_one "trdecode damaged.json | $p"
		assert_equal "$status" 1
		diff want all
	done
	head -c -8 s.trs >cut.trs
	on_one 'trfilter 1 cut.trs | trsym | trstat'
	assert_equal "$status" 1
	assert_equal "$(grep -c 'without its end mark' all)" 1
}

@test "a program with another stderr prints the cause too, once on each" {
	run -2 pipe 'trdecode nosuch 2>>a | trsym 2>>b | trfilter 1 2>>b | trstat 2>>a'
	assert_equal "$(<a)" 'trdecode: nosuch: cannot open: No such file or directory'
	assert_equal "$(<b)" "trsym: <stdin>: the program that wrote this failed: $(<a)"
	run -2 pipe 'trdecode nosuch 2>/dev/null | trstat 2>a'
	assert_equal "$(<a)" 'trstat: <stdin>: the program that wrote this failed: trdecode: nosuch: cannot open: No such file or directory'
	run -2 pipe 'trdecode nosuch 2>&- | trstat 2>a'
	assert_equal "$(wc -l <a)" 1
}

@test "across ssh the program that has the terminal prints the cause, whatever becomes of ssh's stderr" {
	local cause='trdecode: nosuch: cannot open: No such file or directory'
	# as sshd runs a command: a session of its own, pipes, and what comes from its stderr is passed on
	printf '#!/bin/bash\n%s\n' 'shift; { SSH_CONNECTION="::1 5 ::1 22" setsid bash -c "$*" </dev/null 2>&1 >&3 | cat >&2; exit "${PIPESTATUS[0]}"; } 3> >(exec cat)' >ssh
	chmod +x ssh
	on_one './ssh host trdecode nosuch | trstat'
	assert_equal "$status" 2
	assert_equal "$(sort all)" "$(printf '%s\n' "$cause" "trstat: <stdin>: the program that wrote this failed: $cause")"
	for c in "./ssh host 'trdecode nosuch 2>/dev/null' | trsym | trstat" './ssh host trdecode nosuch 2>/dev/null | trsym | trstat'; do
		on_one "$c"
		assert_equal "$status" 2
		assert_equal "$(<all)" "trsym: <stdin>: the program that wrote this failed: $cause"
	done
	# where no program reads the stream, the remote report is the only report
	on_one './ssh host trdecode nosuch | cat >f'
	assert_equal "$status" 2
	assert_equal "$(<all)" "$cause"
	# a pipe on the other host is one pipe
	on_one "./ssh host 'trdecode nosuch | trsym' | trstat"
	assert_equal "$(grep -c "^$cause" all) $(grep -c '^trs' all)" '1 1'
}

@test "the cause in a stored stream is printed again" {
	on_one 'trdecode nosuch >failed.trs'
	on_one 'cat failed.trs | trstat'
	assert_equal "$(<all)" 'trstat: <stdin>: the program that wrote this failed: trdecode: nosuch: cannot open: No such file or directory'
	# a stream that cat stored has the marks of its terminal
	on_one 'trdecode nosuch | cat >failed.trs; trstat failed.trs'
	assert_equal "$(grep -c 'trstat: failed.trs: the program that wrote this failed' all)" 1
	# a minute later they are no longer valid
	python3 - failed.trs <<-'END'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at = data.rindex(b"TRS\x1a\x05") + 24
		message, marks = struct.unpack_from("<II", data, at + 48)
		assert marks == 1
		at += 56 + (message + 7) // 8 * 8
		mark = struct.unpack_from("<Q", data, at)[0]
		for age, name in (30, "young.trs"), (90, "old.trs"):
		    struct.pack_into("<Q", data, at, (mark - (age << 32)) % (1 << 64))
		    open(name, "wb").write(data)
	END
	status=0
	{ cat young.trs | trstat; } 2>>all || status=$?
	assert_equal "$status" 2
	assert_equal "$(grep -c 'trstat: <stdin>: the program that wrote this failed' all)" 0
	{ cat old.trs | trstat; } 2>>all || status=$?
	assert_equal "$(grep -c 'trstat: <stdin>: the program that wrote this failed' all)" 1
}

@test "lines of the programs of a pipe are not mixed" {
	printf '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1e300,"name":"f"}' >damaged.json
	trdecode damaged.json 2>want >damaged.trs || [ $? = 1 ]
	for _ in {1..60}; do
		on_one 'trdecode damaged.json | trstat'
		diff want all
	done
}

@test "damage is said by each program that has another stderr" {
	head -c -8 s.trs >cut.trs
	trfilter -o damaged.trs 1 cut.trs 2>own || [ $? = 1 ]
	for p in 'trfilter 1' trsym; do
		run -1 pipe "$p -o x.trs damaged.trs 2>&1"
		assert_output --regexp 'damaged.trs: the trace is damaged: cut.trs: 0x[0-9a-f]*: the stream ends without its end mark'
		run -1 pipe "$p damaged.trs 2>own | trstat 2>&1 >/dev/null"
		assert_output --partial 'trstat: <stdin>: the trace is damaged: '
		assert_regex "$(<own)" "^${p% 1}: damaged.trs: the trace is damaged: [^"$'\n'"]*\$"
	done
}

@test "damage after the last end is passed on" {
	{ cat s.trs; echo 'what is no stream'; } >junk.trs
	trstat -q s.trs >want
	for p in 'trfilter 1' trsym 'trfilter 1 | trsym'; do
		run -1 pipe "{ cat junk.trs | $p | trstat -q; } 2>err"
		assert_output "$(<want)"
		assert_equal "$(grep -c 'not part of an event stream' err)" 1
	done
}

@test "no input" {
	run -2 pipe ': | trstat 2>&1 >/dev/null'
	assert_output 'trstat: <stdin>: no input: did the previous command fail?'
}

@test "a flipped bit anywhere in a saved stream is found by every program" {
	local program size at
	trstat --partial -g name -o s.part s.trs
	flipped() { # FILE STEP PROGRAM...
		local file=$1 step=$2
		shift 2
		size=$(($(stat -c %s "$file") * 8))
		for ((bit = RANDOM % step; bit < size; bit += step)); do
			at=$((bit / 8))
			cp "$file" x
			printf '%b' "$(printf '\\x%02x' $(($(od -An -tu1 -j $at -N 1 "$file") ^ 1 << bit % 8)))" |
				dd of=x bs=1 seek=$at conv=notrunc status=none
			for program; do
				$program x >/dev/null 2>&1 && status=0 || status=$?
				[[ $status == [12] ]] || {
					echo "$file: bit $bit: $program: status $status"
					return 1
				}
			done
		done
	}
	trdecode -o a.trs "$DATA/apitrace/values.trace"
	flipped a.trs 700 trdecode 'trfilter 1' 'trfilter -c 1' trsym trstat trencode 'trstat --partial'
	flipped s.part 200 'trstat --merge' 'trstat --partial --merge'
}

# FLIP_STEP=1 flips every bit.
@test "a flipped bit of a small stream is found by each of the five programs" {
	echo '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"f"}]' >one.json
	trdecode -o one.trs one.json
	run -0 perl "$ROOT/t/tools/flip_bits.pl" one.trs "${FLIP_STEP:-41}" "$(nproc)" \
		'trfilter 1' trsym trstat 'trencode -t ndjson' trdecode
	assert_output ''
}

@test "a wrong value of any option of any program that writes a stream reaches the end of the pipe" {
	local p option words n=0
	for p in trdecode trfilter trsym; do
		[[ $p != trfilter ]] && words=s.trs || words='1 s.trs'
		# lines of --complete-options: names, argument, what completes it, help
		while IFS=$'\t' read -r option words_of; do
			option=${option##* }
			case $option in -h | --help | --version | --complete-options | --output) continue ;; esac
			[[ $words_of == -* ]] && option+="=none" || option+="=@none@" # one that takes no argument, or a wrong one
			$p "$option" $words >stream 2>err && continue
			((++n))
			run -2 --separate-stderr trstat <stream
			assert_output ''
			[[ $stderr == *"trstat: <stdin>: the program that wrote this failed: $p: "* ]] || {
				echo "$p $option: $stderr" && false
			}
		done < <($p --complete-options)
	done
	((n > 40))
	run -2 --separate-stderr pipe 'trdecode --offset=2s s.trs | trstat'
	assert_output ''
	run -2 --separate-stderr pipe 'trdecode --bogus -qo x s.trs | trstat'
	[[ $stderr == *'no input'* ]]
}
