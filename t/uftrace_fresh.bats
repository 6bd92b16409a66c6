# Programs recorded with the uftrace that is installed: text and tables are those of uftrace.

load lib
load uftrace_fresh

setup_file() {
	command -v uftrace >/dev/null || return 0
	cd "$BATS_FILE_TMPDIR" || return
	fresh_calls
	fresh_forks
	uftrace record -a --no-event -d calls.data ./calls >/dev/null 2>&1
	uftrace record --no-event -N leaf -D 3 -d some.data ./calls >/dev/null 2>&1
	uftrace record --no-event -d forks.data ./forks >/dev/null 2>&1
	for name in calls some forks; do
		trdecode -q $name.data | trsym -q >$name.trs
	done
}

setup() {
	need uftrace
	cd "$BATS_FILE_TMPDIR" || return
}

@test "the text of fresh recordings is that of uftrace replay" {
	for name in calls some forks; do
		diff <(uftrace replay --no-pager -d $name.data 2>/dev/null) <(trencode -q $name.trs)
		diff <(uftrace replay --no-pager -d $name.data 2>/dev/null) <(trfilter -q 1 $name.trs | trencode -q)
	done
}

# as uftrace report prints times, from ns
times() {
	awk -F '\t' -v OFS='\t' '
		function text(ns) {
			if (ns < 1000000) return sprintf("%d.%03d us", ns / 1000, ns % 1000)
			if (ns < 1000000000) return sprintf("%d.%03d ms", ns / 1000000, int(ns / 1000) % 1000)
			return sprintf("%d.%03d s", ns / 1000000000, int(ns / 1000000) % 1000)
		}
		NR > 1 { print $1, text($2), text($3), $4 }' | LC_ALL=C sort
}

@test "the tables of fresh recordings are those of uftrace report" {
	# of a filtered recording with longjmp() uftrace closes other frames: trstat-calls(7)
	uftrace report --no-pager -f total,self,call -d calls.data 2>/dev/null |
		awk -v OFS='\t' 'NR > 2 && NF { print $6, $1 " " $2, $3 " " $4, $5 }' | LC_ALL=C sort >want
	[[ $(wc -l <want) -gt 5 ]]
	trstat -q -t tsv -c total,self,count calls.trs | times | diff want -
}

@test "enums and negative numbers are the same in rows, filters and keys as in text" {
	[[ $(trfilter -c 'name == "turned" && arg.1 < 0' calls.trs) -eq 2 ]]
	[[ $(trfilter -c 'arg.2 == "MINUS"' calls.trs) -eq 2 ]]
	[[ $(trfilter -c 'arg.2 == -5' calls.trs) -eq 2 ]]
	[[ $(trfilter -c 'ret == "PLUS"' calls.trs) -eq 2 ]]
	[[ $(trfilter -c 'arg.1 == "BIG" && arg.2 == "HIGH"' calls.trs) -eq 1 ]]
	trstat -q -t tsv -c count -g arg.1,arg.2 calls.trs >table
	grep -q -- "^-1	MINUS	1$" table
	grep -q -- "^-32768	NONE	1$" table
	grep -q "^BIG	HIGH	1$" table
	trencode -q -t ndjson calls.trs | jq -c 'select(.name == "turned" or .name == "named") | .args | del(.ret)' >rows
	diff - rows <<-'END'
		{"arg1":-1,"arg2":"MINUS"}
		{"arg1":-32768,"arg2":"NONE"}
		{"arg1":70000,"arg2":"MINUS"}
		{"arg1":"BIG","arg2":"HIGH","arg3":-3,"arg4":-9,"arg5":200,"arg6":-7}
		{"arg1":"SMALL","arg2":"LOW","arg3":3,"arg4":9,"arg5":20,"arg6":700000000000}
	END
	trencode -q -t chrome calls.trs | grep -q '"arg2":"MINUS"'
}

# as uftrace v0.19 writes: numbers of enums are unsigned where none is negative
@test "enums of recent recordings have the numbers that their definitions have" {
	cp -r calls.data recent.data
	# a feature of them: symbols have sizes
	printf '\x16' | dd of=recent.data/info bs=1 seek=17 conv=notrunc status=none
	find recent.data -name '*.sym' ! -name calls.sym -delete
	mapfile -t lines <recent.data/calls.sym
	for ((i = 0; i < ${#lines[@]}; i++)); do
		read -r address rest <<<"${lines[i]}"
		if [[ $address == '#' ]]; then
			echo "${lines[i]}"
		else
			next=${lines[i + 1]:-$address}
			printf '%s %08x %s\n' "$address" $((16#${next%% *} - 16#$address)) "$rest"
		fi
	done >recent.data/calls.sym
	sed -i 's/BIG=-2147483648/BIG=2147483648/; s/HIGH=-65536/HIGH=4294901760/' recent.data/calls.dbg
	trdecode -q recent.data | trsym -q >recent.trs
	[[ $(trfilter -c 'arg.1 == "BIG" && arg.2 == "HIGH"' recent.trs) -eq 1 ]]
	[[ $(trfilter -c 'arg.2 == "MINUS" && arg.2 == -5' recent.trs) -eq 2 ]]
	trencode -q recent.trs | grep -q 'named(BIG, HIGH, -3'
}

@test "an exec that fails, and what called it, have the times of the tables" {
	cat >failing.c <<-'END'
		#include <unistd.h>

		int trying(void)
		{
			char *arguments[] = {"none", NULL};

			return execv("/no/such/program", arguments) + execv("/no/other", arguments);
		}

		int main(void)
		{
			return trying() + 2;
		}
	END
	gcc -O0 -pg -o failing failing.c
	uftrace record --no-event -d failing.data ./failing >/dev/null 2>&1
	trdecode -q failing.data | trsym -q >failing.trs
	trencode -q failing.trs >text
	refute grep -q ' h \[' text
	assert_equal "$(sed 's/.*| //; s/^ *//' text | tail -n 8 | tr '\n' ' ')" \
		'main() { trying() { execv() { } /* execv */ execv() { } /* execv */ } /* trying */ } /* main */ '
	# indentation, and times as in the table
	grep -q '|   trying() {' text
	grep -q '|   } /\* trying \*/' text
	trstat -q -t tsv -c max failing.trs | awk -F '\t' '$1 ~ /^(main|trying)$/ {
		printf "%d.%03d us \\[ *[0-9]*\\] | *} /\\* %s\n", $2 / 1000, $2 % 1000, $1 }' >patterns
	while read -r pattern; do
		grep -q -e "$pattern" text || fail "$pattern"
	done <patterns
}

@test "a depth limit above a longjmp leaves the times of the frames below" {
	for depth in 1 2 3; do
		trencode -q --depth $depth calls.trs >text
		refute grep -q ' h \[' text
	done
	trencode -q --depth 1 calls.trs | grep -q ' us \[ *[0-9]*\] | main();\|main() {'
}

# rows FILE: three calls within each other, of functions 1 to 3, in the place of what it has
rows() {
	local i=0 row time
	time=$(od -An -v -tu8 -N 8 "$1" | tr -d ' ')
	for row in '0 0 1' '0 1 2' '0 2 3' '1 2 3' '1 1 2' '1 0 1'; do
		read -r kind depth address <<<"$row"
		for n in $((time + 100 * i++)) $((kind | 5 << 3 | depth << 6 | address << 16)); do
			for byte in 0 8 16 24 32 40 48 56; do
				printf '%b' "$(printf '\\x%02x' $((n >> byte & 255)))"
			done
		done
	done >new.dat
	mv new.dat "$1"
}

@test "calls of function objects, and watched CPUs, are as uftrace prints them" {
	need g++
	cat >objects.cc <<-'END'
		struct X {
			int operator()() { return 1; }
			int operator()(int n) { return n; }
		};

		int main()
		{
			auto lambda = [](int n) { return n; };
			X x;

			return x() + x(3) + lambda(-4);
		}
	END
	g++ -O0 -pg -o objects objects.cc
	uftrace record -W cpu -d objects.data ./objects >/dev/null 2>&1
	uftrace replay --no-pager -d objects.data 2>/dev/null >want
	[[ $(grep -c 'X::operator' want) -eq 2 ]]
	grep -q '/\* watch:cpu (cpu=' want
	trdecode -q objects.data | trsym -q >objects.trs
	trencode -q objects.trs | diff want -
	# also as another system's trace would be, and without arguments
	trencode -q --resynthesize -t uftrace -o watched.data objects.trs
	grep -q ' watch:cpu$' watched.data/events.txt
	uftrace replay --no-pager -d watched.data 2>/dev/null >want
	trdecode -q watched.data | trsym -q | trencode -q | diff want -
	trfilter -q --drop arg,ret 1 objects.trs | trencode -q >text
	grep -q '/\* watch:cpu (cpu=' text
	refute grep -q 'uftrace:watch' text want
}

@test "the functions of Python programs have their names" {
	cp -r failing.data python.data 2>/dev/null || skip
	rm -f python.data/failing.sym
	cat >python.data/python.fake.sym <<-'END'
		# symbols: 4
		# path name: python
		# build-id:
		0000000000000001 T __main__.<module>
		0000000000000002 T module.function
		0000000000000003 T builtins.print
		0000000000000004 ? __sym_end
	END
	rows python.data/*.dat
	run -0 pipe "trdecode -q python.data | trsym -q | trstat -q -t tsv -c total,count"
	assert_line '__main__.<module>	500	1'
	assert_line 'module.function	300	1'
	assert_line 'builtins.print	100	1'
}

@test "events keep one group when a recording is converted" {
	uftrace record -d events.data ./forks >/dev/null 2>&1
	trdecode -q events.data | trsym -q | trencode -q --resynthesize -t uftrace -o again.data
	grep -q ' linux:task-exit$' again.data/events.txt
	refute grep -q 'linux:linux:' again.data/events.txt
}

@test "text without arguments and return values has no semicolon after a block" {
	trfilter -q --drop arg,ret 1 calls.trs | trencode -q >text
	grep -q '} /\* main \*/' text
	refute grep -q '};' text
}
