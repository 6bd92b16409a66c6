# One vocabulary: the same option and the same field name in all programs.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "an option without effect on the output format is refused" {
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	for line in 'csv --raw' 'chrome --columns time' 'text --no-header' 'text --tick=1ns' 'uftrace --unclosed=drop' \
		'folded --rebase=none' 'uftrace --compress=gzip' 'apitrace --file-version=6' 'ndjson -D3' \
		'parquet --no-header' 'tsv --resynthesize' 'perfetto --json-int64=string'; do
		# shellcheck disable=SC2086
		run -2 trencode -o out -t $line s.trs
		assert_line --regexp "^trencode: --[a-z0-9-]* has no effect on ${line%% *}; it is for "
		assert [ ! -e out ]
	done
	run -2 trencode -o out.csv --raw s.trs
	run -2 trstat --width=0 -t csv s.trs
	assert_line 'trstat: --width has no effect on csv; it is for table'
	run -0 trstat --width=0 -t table s.trs
	# a format takes each option that --help lists for it
	for format in text csv chrome; do
		run -0 trencode -q -t "$format" -o out s.trs
	done
	run -0 trencode -q -t csv --no-header --unclosed=drop --json-int64=string -c dur -o out s.trs
}

@test "trdecode reads standard input without operands and lists its formats" {
	tar -C "$DATA/uftrace" -c fib >fib.tar
	trdecode fib.tar | trstat -t tsv >want
	trdecode <fib.tar | trstat -t tsv | diff want -
	trdecode -f uftrace <fib.tar | trstat -t tsv | diff want -
	run -0 trdecode --formats
	assert_line uftrace
	assert_line trace-cmd
	[ "$(trdecode --complete-options | grep '^-f ' | cut -f 3 | tr ' ' '\n')" = "$output" ]
}

@test "-c +LIST adds to the default columns" {
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	run -0 trstat -q -t csv -c +p90,uniq\(tid\) -n 1 s.trs
	assert_line --index 0 'name,total,self,count,avg,p50,p99,max,p90,uniq(tid)'
	run -0 trstat -q --tree -t csv -c +max -n 1 s.trs
	assert_line --index 0 'depth,name,total,self,count,max'
	run -0 trencode -q -t csv -c +kind s.trs
	assert_line --index 0 --regexp ',args,kind$'
	run -0 pipe "trstat --partial -c +p90 s.trs | trstat -q --merge -t csv -n 1"
	assert_line --index 0 'name,total,self,count,avg,p50,p99,max,p90'
}

# table SECTION: the rows of a table of trutils(7), cells separated by tabs
table() {
	sed -n "/^\.Sh $1/,/^\.Sh /p" "$ROOT/man7/trutils.7" | sed -n 's/^\.It \(.*\)/\1/p' | grep -v '^Sy ' | sed 's/ Ta /\t/g'
}

# options PROGRAM: names and metavariable of each, as the table spells them: -o, --output FILE
options() {
	"$1" --complete-options | awk -F '\t' '{ sub(" ", ", ", $1); print $1 ($2 == "-" ? "" : " " $2) }'
}

PROGRAMS='trdecode trfilter trsym trstat trencode'

@test "an option means the same in all programs, and trutils(7) says so" {
	table 'OPTIONS IN COMMON' | awk -F '\t' -v all="$PROGRAMS" '{ sub(/^all$/, all, $2); sub(/^all but trsym$/, "trdecode trfilter trstat trencode", $2); print $1 ": " $2 }' >page
	[ "$(wc -l <page)" -gt 20 ]
	# those of several programs, and those with a letter
	for program in $PROGRAMS; do
		options "$program" | sed "s/\$/\t$program/"
	done | awk -F '\t' '
		{ programs[$1] = programs[$1] (programs[$1] == "" ? "" : " ") $2 }
		END { for (o in programs) if (o !~ /^--/ || programs[o] ~ / /) print o ": " programs[o] }' | sort >code
	sort page | diff - code
	# one metavariable and letter for each long name, one name for each letter but -c and -i
	for program in $PROGRAMS; do options "$program"; done | sort -u >all
	sed -n 's/.*--\([a-z0-9-]*\).*/\1/p' all | sort | uniq -d >twice
	# trdecode sorts rows by time, trstat by keys; a stream has a method of its own
	assert_equal "$(xargs <twice)" 'compress sort'
	assert_equal "$(sed -n 's/^-\([A-Za-z]\),.*/\1/p' all | sort | uniq -d | xargs)" 'c i'
}

@test "each option is in --help and in its page" {
	for program in $PROGRAMS; do
		"$program" --help=all >help
		options "$program" | sed -n 's/.*--\([a-z0-9-]*\).*/\1/p' | while read -r name; do
			grep -q -e "--$name\b" help || echo "$program --help=all: $name"
			case $name in verbose | progress | quiet | help | version) continue ;; esac
			grep -q -e "Fl -$name\b" "$ROOT/man1/$program.1" || echo "$program(1): $name"
		done
	done >missing
	assert_equal "$(cat missing)" ''
}

# fields PROGRAM: the fields that trutils(7) lists for it
fields() {
	table FIELDS | awk -F '\t' -v p="$1" '$2 ~ p { n = split($1, names, ", "); for (i = 1; i <= n; i++) print names[i] }' | sort
}

@test "a field has one name in expressions, keys and columns, and trutils(7) lists it" {
	trfilter --explain 1 | sed -n 's/^  \([a-z][a-z.A-Z]*\) .*/\1/p' >names
	{ cat names && echo arg.NAME; } | sort | diff <(fields trfilter) -
	run -2 trstat -g 'a(b'
	{ grep -o 'keys are [a-z ]*' <<<"$output" | tr ' ' '\n' | sed '1,2d; /^bucket$/d; /^$/d' && printf '%s\n' arg.N arg.NAME fparg.N ret; } |
		sort | diff <(fields trstat) -
	{ trencode --complete-options | grep '^-c ' | cut -f 3 | tr ' ' '\n' | grep -v -x -e none -e all && printf '%s\n' arg.N arg.NAME fparg.N ret; } |
		sort | diff <(fields trencode) -
	# the words that complete -c are those that are taken
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	columns=time,dur,type,pid,tid,cpu,comm,name,depth,file,line,args,kind,self,caller,recursive,unfinished,group,module,class,input
	run -0 pipe "trencode -q -t csv -c $columns s.trs | head -n 1"
	assert_output "$columns"
	run -0 pipe "trencode -q -t ndjson -c $columns s.trs | head -n 1 | jq -r 'keys_unsorted | join(\",\")'"
	assert_output "$columns"
	run -0 pipe "trstat -q -t csv --slowest 1 s.trs | head -n 1"
	assert_output 'dur,self,time,end,tid,pid,comm,cpu,name,args,ret,stack'
	for key in time dur self name type group kind tid pid comm cpu module file line depth caller input; do
		run -0 trstat -q -g "$key" -c count s.trs
		run -0 trfilter -c "has($key)" s.trs
	done
}

@test "no old name of a field remains" {
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	for column in ts src duration task addr arguments source; do
		run -2 trencode -t csv -c "$column" s.trs
		run -2 trencode -c "$column" s.trs
	done
	run -2 trstat -q -t csv -g source -c count s.trs
	assert_output "trstat: no event has a field 'source'; did you mean 'input'?"
	run -0 trfilter -q -c 'has(source)' s.trs
	assert_output 0
}

@test "a time has one syntax in expressions and options" {
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	at=$(trencode -q -t tsv --no-header -c time,kind s.trs | sort -n | awk '{ t[NR] = $1 } END { print t[int(NR / 2)] }')
	seconds=$((at / 1000000000)).$(printf %09d $((at % 1000000000)))
	[[ $seconds == *.*[1-9]* ]]
	at+=ns
	want=$(trfilter -c "time >= $at" s.trs)
	[ "$want" -gt 100 ]
	[ "$(trfilter -c 1 s.trs)" -gt "$want" ]
	for condition in "time >= $seconds" "time >= ${seconds}s" "$seconds <= time" "!(time < $seconds)"; do
		run -0 trfilter -c "$condition" s.trs
		assert_output "$want"
	done
	assert_equal "$(trfilter -c "time in {$seconds}" s.trs)" "$(trfilter -c "time in {$at}" s.trs)"
	# the rows of the clock, whose calls --since keeps whole
	trdecode --since "$at" "$DATA/uftrace/fib" | trfilter -c 1 >ns
	trdecode --since "$seconds" "$DATA/uftrace/fib" | trfilter -c 1 | diff ns -
	trdecode --since "${seconds}s" "$DATA/uftrace/fib" | trfilter -c 1 | diff ns -
	for duration in 0.00001 10us 10000ns; do
		trfilter -c "dur > $duration" s.trs
		trfilter "self >= $duration" s.trs | trstat -q -c count -t tsv -g '' | tail -n 1
		trfilter -c --within "$duration" 'name == "main"' s.trs
		trstat -q -t tsv -g "bucket(time,$duration)" -c count s.trs | tail -n +2 | wc -l
		trstat -q -t tsv -i "$duration" -c count s.trs | tail -n +2 | wc -l
		trstat -q --fail-if "p50 > $duration" s.trs >/dev/null || echo "status $?"
		trstat -q --fail-if "count(dur > $duration) > 30" s.trs >/dev/null || echo "status $?"
	done >said
	[ "$(wc -l <said)" -ge 15 ]
	n=$(($(wc -l <said) / 3))
	head -n $n said >first
	tail -n +$((n + 1)) said | head -n $n | diff first -
	tail -n $n said | diff first -
	# a number that is compared with a quotient of times, or with another field, has no unit
	assert_equal "$(trfilter -c 'dur / 1us > 0.5' s.trs)" "$(trfilter -c 'dur / 1us > 0' s.trs)"
	assert_equal "$(trfilter -c 'tid > 0.5' s.trs)" "$(trfilter -c 'tid > 0' s.trs)"
}

@test "an expression is in a file, with comments and lines" {
	trdecode "$DATA/uftrace/fib" | trsym -o s.trs
	printf '# slow\ndur > 10us # not short\r\n\n\t&& name !~ "^lin#x" # "\n#' >slow.expr
	want=$(trfilter -c 'dur > 10us && name !~ "^lin#x"' s.trs)
	[ "$want" -gt 3 ]
	assert_equal "$(trfilter -c @slow.expr s.trs)" "$want"
	assert_equal "$(trfilter @slow.expr s.trs | trencode -t ndjson)" "$(trfilter 'dur > 10us && name !~ "^lin#x"' s.trs | trencode -t ndjson)"
	assert_equal "$(trstat --where @slow.expr s.trs)" "$(trstat --where 'dur > 10us && name !~ "^lin#x"' s.trs)"
	printf 'kind == "enter" &&\nname == "fib"' >from.expr
	printf '# the end\nkind == "leave"\n' >to.expr
	assert_equal "$(trfilter -q -c --between @from.expr @to.expr 1 s.trs)" "$(trfilter -q -c --between 'kind == "enter" && name == "fib"' 'kind == "leave"' 1 s.trs)"
	# an editor may begin a text with a mark of its byte order
	printf '\xef\xbb\xbf%s\r\n' 'name == "fib"' >marked.expr
	assert_equal "$(trfilter -c @marked.expr s.trs)" "$(trfilter -c 'name == "fib"' s.trs)"
	# alarms and pairs; an expression of --where is joined with the alarm's
	printf 'count(name == "fib") # calls\n > 10' >alarm.expr
	run -3 --separate-stderr trstat --fail-if @alarm.expr s.trs
	assert_equal "$stderr" 'trstat: @alarm.expr is true: 599'
	run -3 --separate-stderr trstat --where @slow.expr --fail-if @alarm.expr s.trs
	assert_equal "$stderr" "trstat: @alarm.expr is true: $(trfilter -c 'dur > 10us && name == "fib"' s.trs)"
	printf '# from\nname == "fib" && kind == "enter" # a -> b\n\t->\nname == "fib" &&\nkind == "leave" on\ntid == tid' >fib.pair
	pair='name == "fib" && kind == "enter" -> name == "fib" && kind == "leave" on tid == tid'
	assert_equal "$(trstat -q --pair @fib.pair s.trs)" "$(trstat -q --pair "$pair" s.trs)"
	assert_equal "$(trencode -q -t folded --pair @fib.pair s.trs)" "$(trencode -q -t folded --pair "$pair" s.trs)"
	printf '# one of the names\noffcpu # times\n' >named.pair
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o sched.trs
	assert_equal "$(trstat -q --pair @named.pair sched.trs)" "$(trstat -q --pair offcpu sched.trs)"
	# the file is read once: a pipe may be its end
	run -0 trstat -q --pair @<(echo offcpu) --fail-if 'count > 1e9' sched.trs
	assert_output "$(trstat -q --pair offcpu sched.trs)"
}

@test "an error in an expression has its file, line and column" {
	trdecode "$DATA/uftrace/fib" | trsym -o s.trs
	printf '# x\n  name == "fib"\n  and dur > 1ms' >and.expr
	printf '"a\n\\"#b" == name &&\n x ==' >end.expr
	printf 'dur > 1xs' >unit.expr
	printf '\n\n# only a comment' >empty.expr
	printf 'tid > 1 &&\ndur > 5' >time.expr
	printf 'name == "fib"\n->\nname = "x"' >a.pair
	printf 'name == "fib"\n' >b.pair
	printf 'a\0b' >binary.expr
	while IFS='@' read -r command message; do
		eval "words=(${command//%/@})"
		run -2 --separate-stderr "${words[@]}"
		assert_equal "$(head -n 1 <<<"$stderr")" "${words[0]}: ${message//%/@}"
	done <<-'X'
		trfilter -c %and.expr s.trs@and.expr, line 3, column 3: '&&', '||' or the end expected, not 'and'; did you mean '&&'?
		trfilter -c --between 1 %and.expr 1 s.trs@and.expr, line 3, column 3: '&&', '||' or the end expected, not 'and'; did you mean '&&'?
		trstat --where %and.expr s.trs@and.expr, line 3, column 3: '&&', '||' or the end expected, not 'and'; did you mean '&&'?
		trfilter -c %end.expr s.trs@end.expr, line 3, column 6: a field, a number or a string expected, not the end
		trfilter -c %unit.expr s.trs@unit.expr, line 1, column 7: unknown unit 'xs'; units are ns us ms s m min h and K M G T kB MB GB TB
		trfilter -c %empty.expr s.trs@empty.expr, line 1, column 1: the condition is empty
		trfilter -c %time.expr s.trs@expression, line 2, column 7: a time needs a unit: 5ns or 5s?
		trstat --pair %a.pair s.trs@a.pair, line 3, column 6: '=' is not a comparison: use '=='
		trstat --pair %b.pair s.trs@'->' is missing in the pair '%b.pair' (a pair is 'A -> B on .x == .y', or one of wakeup offcpu oncpu syscall lock fault irq softirq block block-queue net net-receive frame fs alloc kmem pages)
		trencode -t folded --pair %a.pair s.trs@a.pair, line 3, column 6: '=' is not a comparison: use '=='
		trfilter -c %binary.expr s.trs@expression in binary.expr: is not a text
		trfilter -c %missing.expr s.trs@expression in missing.expr: cannot open: No such file or directory
		trfilter -c %. s.trs@expression in .: cannot read: Is a directory
		trfilter -c %/dev/zero s.trs@expression in /dev/zero: is longer than 1048576 bytes
	X
	run -2 --separate-stderr trfilter -c 'ñame == 1' s.trs
	assert_equal "$stderr" "trfilter: expression, column 1: unexpected 'ñ'"
	run -2 --separate-stderr trfilter -c $'dur > 1ms &&\n name = 3' s.trs
	assert_equal "$stderr" "trfilter: expression, line 2, column 7: '=' is not a comparison: use '=='"
}
