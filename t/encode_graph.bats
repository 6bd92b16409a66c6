#!/usr/bin/env bats
# trencode -t dot and -t mermaid: the edges of uftrace's call graphs, and of samples those of a model.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

edges() {
	python3 "$ROOT/t/tools/call_edges.py" "$@"
}

# compare STREAM WANT OPTION...: the edges of both languages are those of WANT
compare() {
	local language
	for language in dot mermaid; do
		trencode -q -t $language "${@:3}" -o x.$language "$1"
		diff "$2" <(edges $language x.$language)
	done
}

# uftrace's graph is ours where it reads the recording, one task runs, and no stack is deeper than 1024.
@test "the edges and numbers of calls of uftrace dump --graphviz and --mermaid" {
	need uftrace
	for name in "$DATA/uftrace/fib" "$RECORDED"/uftrace/{args-spec2,basic-pg,basic-cyg,basic-nopie,be-synth,depth-filter,dlopen,exc-cyg,exc-pg,exit-mid,kill-segv,libcall-only,signal,srcline,tailcall,nest-libcall,time-filter}; do
		trdecode -q "$name" | trsym -q >x.trs
		uftrace dump --no-pager --mermaid -d "$name" >theirs.mermaid
		edges uftrace-mermaid theirs.mermaid >want
		[ -s want ]
		compare x.trs want
		# in DOT the program is a node like the function of its name
		uftrace dump --no-pager --graphviz -d "$name" >theirs.dot
		program=$(sed -n 's/^digraph "\(.*\)" {.*/\1/p' theirs.dot)
		diff <(edges uftrace-dot theirs.dot) <(edges dot x.dot "$program")
	done
}

@test "--weight dur: the times of calls, a recursion once" {
	trdecode -q "$DATA/uftrace/fib" | trsym -q >fib.trs
	need uftrace
	uftrace dump --no-pager -d "$DATA/uftrace/fib" | grep '\[' | sort -s -n -k 1,1 |
		perl -ne '
			($s, $ns, $tid, $what, $name) = /^(\d+)\.(\d+) +(\d+): \[(\w+) *\] (.*?)\([0-9a-f]+\)/ or next;
			$now = $s * 1e9 + $ns;
			$stack = $open{$tid} //= [];
			$what = @$stack ? "entry" : "none", $name = "linux:schedule" if $name =~ /^linux:sched-out/;
			$what = @$stack && $stack->[-1][0] eq "linux:schedule" ? "exit" : "none" if $name eq "linux:sched-in";
			if ($what eq "entry") {
				$edge = (@$stack ? $stack->[-1][0] : "all") . "\t$name";
				push @$stack, [$name, $now, $edge, $in{$tid}{$edge}++];
			} elsif ($what eq "exit") {
				($name, $begin, $edge, $again) = @{pop @$stack};
				$in{$tid}{$edge}--;
				$sum{$edge} += $now - $begin unless $again;
			}
			END { print "$_\t$sum{$_}\n" for sort keys %sum }' | LC_ALL=C sort >want
	[ -s want ]
	compare fib.trs want --weight dur
	# the recursion is in it
	grep -q "^fib	fib	[1-9]" want
}

@test "samples: the weights of the stacks that have an edge" {
	for seed in 1 2; do
		python3 "$ROOT/t/tools/random_samples.py" $seed >x.trs
		python3 "$ROOT/t/tools/sample_totals.py" edges x.trs >want
		compare x.trs want
	done
	trdecode -q -o x.trs "$DATA/perf/zstd.data"
	python3 "$ROOT/t/tools/sample_totals.py" edges x.trs >want
	compare x.trs want
	# an edge of two stacks of three, one of which has it twice
	printf 'a;b;a;b 5\na;b 2\nc 1\n' | trdecode -q -f folded -o x.trs -
	printf 'a\tb\t7\nall\ta\t7\nall\tc\t1\nb\ta\t5\n' >want
	compare x.trs want
	printf 'a\tb\t2\nall\ta\t2\nall\tc\t1\nb\ta\t1\n' >want
	compare x.trs want --weight count
}

@test "names with the characters of the languages, and a trace without calls" {
	echo '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"a\"b\\c#<&>`\u00e9\n;quot;"},
		{"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"end"}]' | trdecode -q -f chrome -o x.trs -
	printf 'a"b\\c#<&>`\303\251\\x0a:quot:\tend\t1\nall\ta"b\\c#<&>`\303\251\\x0a:quot:\t1\n' >want
	compare x.trs want
	trfilter -q 'tid == 2' x.trs >none.trs
	: >want
	compare none.trs want
	# the ends of names choose the formats
	trencode -q -o y.gv x.trs
	cmp x.dot <(trencode -q -t dot none.trs)
	trencode -q -t dot x.trs | cmp - y.gv
	trencode -q -o y.mmd x.trs
	trencode -q -t mermaid x.trs | cmp - y.mmd
}
