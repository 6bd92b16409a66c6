# trstat --partial and --merge: parts of a trace, through the engines that spread work, give the
# table of a single run.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode --segment 2K "$DATA/uftrace/fib" | trsym >rec.trs
	cp -r "$DATA/uftrace/fib" rec1
	cp "$DATA/trace-cmd/v6-fgraph.dat" rec2
	cp "$DATA/apitrace/threads.trace" rec3
	mkdir seg
	segments rec.trs
	for f in seg/*; do trstat --partial -o "parts.${f#seg/}" "$f" || return; done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# segments STREAM: each a file in seg/
segments() {
	local marker at=0 next n=0 size
	marker=$(head -c 16 "$1")
	size=$(stat -c %s "$1")
	for next in $(grep -abo "$marker" "$1" | cut -d: -f1 | tail -n +2) "$size"; do
		tail -c +$((at + 1)) "$1" | head -c $((next - at)) >"seg/$((100 + n))"
		at=$next
		n=$((n + 1))
	done
}

# The file names of the summaries through a filter, into the array some.
some() {
	mapfile -t some < <(printf '%s\n' parts.* | "$@")
}

# quiet COMMAND...: without the remarks
quiet() {
	"$@" 2>/dev/null
}

table() {
	trstat -q -t tsv "$@" rec.trs
}

@test "the table of a single run, in any order, in one step or in several" {
	table >want
	run -0 quiet trstat -t tsv --merge parts.*
	assert_output "$(<want)"
	some tac
	run -0 quiet trstat -t tsv --merge "${some[@]}"
	assert_output "$(<want)"
	some sed -n 'n;p'
	trstat --merge --partial -o a "${some[@]}"
	some sed -n 'p;n'
	trstat --merge --partial -o b "${some[@]}"
	run -0 quiet pipe 'cat b a | trstat -t tsv --merge'
	assert_output "$(<want)"
}

@test "the summary records its columns; --merge can print them in another order and format" {
	for f in seg/*; do trstat --partial -g tid,name -c count,total,p90 -s count -o "t${f#seg/}" "$f"; done
	run -0 quiet trstat -t tsv --merge t1*
	assert_output "$(table -g tid,name -c count,total,p90 -s count)"
	run -0 quiet trstat -t json --merge -c p90 -s total -n 3 t1*
	assert_output "$(trstat -q -t json -g tid,name -c p90 -s total -n 3 rec.trs)"
	run -2 trstat --merge -c 'p99,uniq(size)' t1*
	assert_output --partial "from which these columns cannot be calculated"
}

@test "columns that need nothing that was not kept can be asked of a summary" {
	local pair
	for f in seg/*; do trstat --partial -c 'self,p7,count,p50,last,sum(tid),uniq(cpu)' -o "c${f#seg/}" "$f"; done
	for pair in 'parts.* count' 'parts.* total' 'parts.* self' 'parts.* max' 'parts.* min' \
		'parts.* total,self,count,avg' 'parts.* p50' 'c1* p50,p7' 'c1* sum(tid)' 'c1* first,count' \
		'c1* avg(tid),uniq(cpu)' 'c1* total'; do
		# shellcheck disable=SC2086
		run -0 quiet trstat -t tsv --merge -c "${pair#* }" ${pair% *}
		assert_output "$(table -c "${pair#* }")"
	done
	run -2 trstat --merge -c 'uniq(tid)' c1*
	assert_output --partial "the summary has the columns 'self,p7,count,p50,last,sum(tid),uniq(cpu)', from which these columns cannot be calculated"
	# summaries of different columns, if both have the requested ones
	some sed 1d
	run -0 quiet trstat -t tsv --merge -c total,count c100 "${some[@]}"
	assert_output "$(table -c total,count)"
	trstat --partial -q -o whole.part rec.trs
	trstat --partial -q -c total,count,p7 -o other.part rec.trs
	run -0 quiet trstat -t tsv --diff -c total,count whole.part other.part
	assert_output "$(quiet trstat -t tsv --diff -c total,count rec.trs rec.trs)"
	run -0 quiet trstat -t tsv --diff -c total,count other.part whole.part
	run -2 trstat --diff -c last whole.part other.part
}

@test "keys of which the first that there is counts" {
	for key in 'caller|name' 'stack|tid' 'caller|arg.1|name,stack|type,depth'; do
		for f in seg/*; do trstat --partial -g "$key" -c count,total,self -o "k${f#seg/}" "$f"; done
		run -0 quiet trstat -t tsv --merge k1*
		assert_output "$(table -g "$key" -c count,total,self)"
		quiet trstat --merge --partial -o some k1*[13579]
		run -0 quiet trstat -t tsv --merge some k1*[02468]
		assert_output "$(table -g "$key" -c count,total,self)"
	done
}

@test "views of a summary" {
	for view in '--timeline 1ms' '--hist' '--hist=self'; do
		# shellcheck disable=SC2086
		for f in seg/*; do trstat --partial $view -o "v${f#seg/}" "$f"; done
		run -0 quiet trstat --merge v1*
		# shellcheck disable=SC2086
		assert_output "$(trstat -q $view rec.trs)"
	done
}

@test "trees of summaries: calls that straddle the cuts, in any order" {
	local asked
	for asked in --tree '--callers usleep' '--callees pause_a_while' '-g tid --tree' '-g stack' \
		'-g name,stack,depth -c count,total,self'; do
		# shellcheck disable=SC2086
		for f in seg/*; do trstat --partial $asked -o "s${f#seg/}" "$f"; done
		# shellcheck disable=SC2086
		trstat -q -t tsv $asked rec.trs >want
		assert [ "$(wc -l <want)" -gt 3 ]
		run -0 quiet trstat -t tsv --merge s1*
		assert_output "$(<want)"
		trstat --merge --partial -o some s1*[02468]
		run -0 quiet trstat -t tsv --merge s1*[13579] some
		assert_output "$(<want)"
	done
}

@test "another tree of the summary of one" {
	for f in seg/*; do trstat --partial --tree -o "s${f#seg/}" "$f"; done
	run -0 quiet trstat --merge --callers usleep s1*
	assert_output "$(trstat -q --callers usleep rec.trs)"
	run -0 quiet trstat --merge -g stack -c total,self,count s1*
	assert_output "$(trstat -q -g stack -c total,self,count rec.trs)"
	run -2 trstat --merge --tree parts.*
	assert_output --partial "the summary has the keys 'name', not 'stack'"
}

@test "differences of summaries by stack" {
	local ask=(-g stack -c 'total,count,p50')
	for f in seg/*; do trstat --partial "${ask[@]}" -o "d${f#seg/}" "$f"; done
	trstat --merge --partial -o whole d1*
	trdecode --until +4ms rec.trs >half.trs
	run -0 quiet trstat -t tsv --diff whole half.trs
	assert_output "$(quiet trstat -t tsv --diff "${ask[@]}" rec.trs half.trs)"
	assert_output --partial 'worker;pause_a_while'
}

@test "pairs, slowest calls and intervals of summaries, in any order" {
	local ask
	for ask in "--pair 'kind == \"enter\" -> kind == \"leave\" on name == name' -g name,tid" \
		'--slowest 5' '-i 1ms' '-i 1ms -g name,depth -c count,total'; do
		for f in seg/*; do eval "trstat --partial $ask -o o${f#seg/} $f"; done
		eval "trstat -t tsv $ask rec.trs" >want 2>remarks
		assert [ "$(wc -l <want)" -gt 3 ]
		run -0 --separate-stderr trstat -t tsv --merge o1*
		assert_output "$(<want)"
		assert_equal "$stderr" "$(<remarks)"
		quiet trstat --merge --partial -o some o100 o102
		rm o100 o102
		run -0 --separate-stderr trstat -t tsv --merge some o1*
		assert_output "$(<want)"
		rm o1*
	done
}

@test "pairs of a scheduling trace by fields of both events, merged" {
	local ask
	mkdir sched && cd sched && mkdir seg
	trdecode --segment 1K "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	segments s.trs
	assert [ "$(find seg -type f | wc -l)" -gt 10 ]
	# the last has a field that only some of the first events have
	for ask in '--pair offcpu -g a.prev_comm,b.cpu,a.cpu,prev_state' '--pair oncpu' \
		"--pair offcpu -g 'cpu,bucket(time,1ms)' -c count,busy,util" \
		"--pair 'kind == \"instant\" -> kind == \"instant\" on tid == tid' -g prev_state,id,pid,b.prev_state"; do
		rm -f part.*
		for f in seg/*; do eval "trstat --partial $ask -o part.${f#seg/} $f"; done
		eval "trstat -t tsv $ask s.trs" >want 2>remarks
		assert [ "$(wc -l <want)" -gt 3 ]
		run -0 --separate-stderr trstat -t tsv --merge part.*
		assert_output "$(<want)"
		assert_equal "$stderr" "$(<remarks)"
	done
}

@test "what is not in a summary is refused" {
	run -2 trstat --partial -i 1s --wall rec.trs
	assert_output --partial '--wall does not go with --partial'
	run -2 trstat --merge --slowest 3 parts.*
	assert_output --partial 'a summary without the slowest calls'
	run -2 trstat --merge -i 1s parts.*
	assert_output --partial "a summary without -i, and not with -i 1s"
	run -2 trstat --merge --pair wakeup parts.*
	assert_output --partial "and not"
	trstat -q --partial --slowest 3 -o slow rec.trs
	run -2 trstat --merge --slowest 4 slow
	assert_output --partial 'the summary has the 3 slowest calls, not 4'
	run -0 trstat -q --merge --slowest 2 slow
	assert_output "$(trstat -q --slowest 2 rec.trs)"
}

@test "a segment without a snapshot is counted with a warning" {
	# as an older filter leaves it: a block of an unknown kind that may be skipped
	run -0 --separate-stderr trstat --partial seg/101
	assert_equal "$stderr" ''
	perl -e 'local $/; $_ = <STDIN>; my $at = 16;
		while ($at < length) {
			my ($kind, $flags, $n) = unpack("x4vvV", substr($_, $at, 16));
			$kind == 6 ? substr($_, $at, 24 + $n, "") : ($at += 24 + $n);
		} print' <seg/101 >without
	[[ $(stat -c %s without) -lt $(stat -c %s seg/101) ]] || fail 'no snapshot was removed'
	run -1 --separate-stderr trstat --partial without
	[[ $stderr == *'segment 1 has no snapshot: calls opened before it are unknown'* ]]
}

@test "conditions and metrics of summaries" {
	run -3 --separate-stderr trstat -t prom --merge --fail-if 'max(name == "main") > 1us' parts.*
	assert_output "$(trstat -q -t prom rec.trs)"
	assert_equal "$stderr" "$(trstat --fail-if 'max(name == "main") > 1us' rec.trs 2>&1 >/dev/null)"
	run -0 quiet trstat --merge --fail-if 'max(name == "main") > 1h' parts.*
	run -2 trstat --merge --fail-if 'count(tid == 1) > 1' parts.*
	assert_output --partial "the summaries are not by its key 'tid'; write them with -g"
	run -2 trstat --merge --fail-if 'max(arg.1) > 1' parts.*
	assert_output --partial 'from which these columns cannot be calculated'
	run -2 trstat --partial --fail-if 'count > 1' rec.trs
	assert_output --partial '--fail-if does not go with --partial'
	run -2 trstat --merge --partial --fail-if 'count > 1' parts.*
	assert_output --partial '--fail-if does not go with --partial'
}

@test "a segment that is missing, or there twice" {
	some sed 2d
	run -1 trstat --merge "${some[@]}"
	assert_output --regexp 'segment 1 of the stream [0-9a-f]{16} is missing'
	some sed '$d'
	run -1 trstat --merge "${some[@]}"
	assert_output --partial 'has no end'
	run -2 trstat --merge parts.* parts.102
	assert_output --regexp 'segment 2 of the stream [0-9a-f]{16} is counted twice'
	run -2 trstat --merge a a
	assert_output --partial 'is counted twice'
}

@test "calls in the kernel outside any call are reported as by a single run" {
	outside() {
		"$@" 2>&1 >/dev/null | grep 'outside any call'
	}
	for size in 4K 64K; do
		trdecode -q --segment $size "$RECORDED/uftrace/kernel-sched" | trsym -q >kernel.trs
		want=$(outside trstat kernel.trs)
		[[ $want == 'trstat: 2303 calls'* ]]
		rm -rf seg.saved && mv seg seg.saved && mkdir seg
		segments kernel.trs
		for f in seg/*; do trstat -q --partial -o "$f.part" "$f"; done
		assert_equal "$(outside trstat --merge seg/*.part)" "$want"
		trstat -q --merge --partial -o a seg/*1.part
		assert_equal "$(outside trstat --merge a seg/*[!1].part)" "$want"
		rm -r seg && mv seg.saved seg
	done
}

@test "what does not go together is named" {
	trstat --partial -g tid -o by.tid seg/101
	run -2 trstat --merge parts.100 by.tid
	assert_output --partial "by.tid: the summary has the keys 'tid', not 'name'"
	run -2 trstat --merge rec.trs
	assert_output --partial 'is an event stream, no summary; trstat --partial makes one of it'
	run -2 trstat parts.100
	assert_output --partial 'is a summary, no event stream; trstat --merge reads it'
	run -2 trencode parts.100
	assert_output --partial 'trstat --merge reads it'
}

# flip FILE AT: a byte of it
flip() {
	printf '%b' "\\0$(printf %o $((255 - $(od -An -tu1 -j "$2" -N 1 "$1"))))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "a part that is damaged is as one that is missing" {
	local at size
	some sed 2d
	want=$(quiet trstat -t tsv --merge "${some[@]}") || true
	size=$(stat -c %s parts.101)
	for at in 20 60 $((size / 3)) $((size / 2)) $((size - 40)); do
		cp parts.101 bad
		flip bad "$at"
		run -1 --separate-stderr trstat -t tsv --merge bad "${some[@]}"
		assert_equal "$output" "$want"
		[[ $stderr == *'bad: 0x'* ]]
		[[ $stderr == *'segment 1 of the stream'*'is missing'* ]]
		run -1 --separate-stderr quiet pipe "cat parts.100 bad parts.10[2-9] | trstat -t tsv --merge"
		assert_equal "$output" "$want"
	done
	for at in 8 40 600 $((size - 8)); do
		head -c "$at" parts.101 >bad
		run -1 --separate-stderr trstat -t tsv --merge "${some[@]}" bad
		assert_equal "$output" "$want"
	done
	# of a summary of several parts nothing counts: their groups are together
	trstat -q --merge --partial -o bad parts.100 parts.102
	size=$(stat -c %s bad)
	some sed '3d;5d;8d'
	want=$(quiet trstat -t tsv --merge "${some[@]}") || true
	flip bad $((size - 60))
	run -1 --separate-stderr trstat -t tsv --merge "${some[@]}" bad
	assert_equal "$output" "$want"
	run -1 --separate-stderr trstat -t tsv --merge bad "${some[@]}"
	assert_equal "$output" "$want"
	run -2 trstat --merge bad
	assert_output --partial 'no complete summary'
}

@test "parts of one trace that was decoded in different ways" {
	local way f
	for way in --segment=3K --clock=wall '--max-value 1K' '--tid 1' '--offset rec3=3'; do
		# shellcheck disable=SC2086
		trdecode -q --segment 2K $way rec3 >way.trs || continue
		assert [ "$(head -c 16 way.trs)" != "$(trdecode --segment 2K rec3 | head -c 16)" ]
	done
	# a copy is the same trace, wherever it is, and by whatever name
	cp -r rec1 copy1
	touch copy1/*
	assert_equal "$(trdecode copy1 | head -c 16)" "$(trdecode rec1 | head -c 16)"
	assert_equal "$(trdecode - <rec3 | head -c 16)" "$(trdecode rec3 | head -c 16)"
	assert_equal "$(tail -c +1 rec3 | trdecode - | head -c 16)" "$(tail -c +1 rec3 | trdecode - | head -c 16)"
	assert_equal "$(trdecode rec.trs | head -c 16)" "$(trdecode rec.trs | head -c 16)"
	# one changed byte makes a different file, after the first 4 KiB too
	for f in 1 2; do
		{
			echo '[' && for i in {1..200}; do
				echo "{\"name\":\"f$((i == 150 ? f : 0))\",\"ph\":\"X\",\"ts\":$i,\"dur\":1,\"pid\":1,\"tid\":1},"
			done && echo '{"name":"x","ph":"i","ts":300,"pid":1,"tid":1}]'
		} >chrome$f.json
		quiet trdecode chrome$f.json | quiet trstat --partial -o chrome$f.part
	done
	run -0 quiet trstat --merge -t tsv -c count chrome1.part chrome2.part
	assert_line $'f0\t398'
	# one stream is never joined of two
	trdecode -q --segment 3K "$DATA/uftrace/fib" | trsym >other.trs
	mv seg seg.saved && mkdir seg
	segments other.trs
	quiet trstat --partial -o other.part seg/101
	rm -r seg && mv seg.saved seg
	run -1 trstat --merge parts.100 other.part
	assert_output --partial 'is missing'
}

@test "parts that went through different filters" {
	local n=0 f
	for f in 'cat' 'trfilter dur>1us' 'trfilter dur>2us' 'trfilter -v dur>2us' 'trfilter dur>1us --quiet -' \
		'trfilter --strict dur>1us' 'trsym' 'trsym --report' 'trsym --demangle=no'; do
		n=$((n + 1))
		# status 1: other segments are missing
		$f <seg/101 2>err >f.trs || true
		$f <seg/102 2>err >g.trs || true
		trstat -q --partial -o f$n.part f.trs || true
		trstat -q --partial -o g$n.part g.trs || true
		run -1 quiet trstat --merge f$n.part g$n.part
		assert_output --regexp 'name'
	done
	run -2 trstat --merge f1.part g2.part
	assert_output --regexp "g2.part: is of the stream [0-9a-f]{16} after 'trsym \| trfilter dur>1us', f1.part after 'trsym'"
	for f in 'f2 g3' 'f3 g4' 'f1 g9'; do
		run -2 trstat --merge "${f% *}.part" "${f#* }.part"
		assert_output --partial 'is of the stream'
	done
	for f in 'f2 g5' 'f2 g6' 'f7 g8'; do
		run -1 quiet trstat --merge "${f% *}.part" "${f#* }.part"
	done
	trfilter 'tid == 1' rec.trs | quiet trstat --partial -o t1.part
	trfilter 'tid == 2' rec.trs | quiet trstat --partial -o t2.part
	run -2 trstat --merge t1.part t2.part
	assert_output --partial "after 'trsym | trfilter tid == 2', t1.part after 'trsym | trfilter tid == 1'"
	trsym --demangle=no <seg/101 >f.trs 2>err || true
	run -2 trstat --partial f.trs seg/102
	assert_output --partial "f.trs after 'trsym | trsym --demangle=no'"
}

@test "what is wrong with a trace, and where, reaches the table of its summaries" {
	cp -r rec1 hurt
	f=$(printf '%s\n' hurt/[0-9]*.dat | head -n 1)
	truncate -s -3 "$f"
	quiet trdecode hurt >hurt.trs || true
	run -1 quiet trstat --partial -o hurt.part hurt.trs
	run -1 trstat --merge hurt.part
	assert_output --regexp "hurt.part: the trace is damaged: $f: 0x[0-9a-f]+: the file ends inside of a record"
	head -c 3000 rec.trs >cut.trs
	run -1 quiet trstat --partial -o cut.part cut.trs
	run -1 quiet trstat --merge --partial -o both.part cut.part hurt.part
	run -1 trstat --merge both.part
	assert_output --regexp "cut.trs: 0x[0-9a-f]+: .*; $f: 0x[0-9a-f]+: the file ends"
}

@test "damage and loss reach the table of the summaries" {
	head -c 30000 rec.trs >cut.trs
	run -1 trstat --partial -o cut.part cut.trs
	run -1 trstat --merge cut.part
	assert_output --partial 'is damaged: cut.trs: 0x'
	trdecode "$DATA/trace-cmd/v7-zstd-split-lost.dat" 2>/dev/null | trstat -q --partial -g type >lost.part
	run -0 trstat --merge lost.part
	assert_output --partial 'events were lost by the recorder'
	run -1 trstat --merge --strict lost.part
}

@test "gaps are reported as by a single run" {
	# calls with a blob that is left out
	for f in f g; do
		{
			printf '\005\000\000\000\001%s\001\001a\001\000\010\200\001' $f
			head -c 128 /dev/zero
			printf '\000\001\000\000'
		} | gzip -n >$f.trace
		trdecode -q --max-value=100 $f.trace >$f.trs
		trstat -q --partial -o $f.part $f.trs
	done
	want=$(trstat f.trs 2>&1 >/dev/null)
	assert_equal "$want" 'trstat: 1 gap, where something is missing (trencode shows them)'
	run -0 --separate-stderr trstat --merge f.part
	assert_equal "$stderr" "$want"
	want=$(trstat f.trs g.trs 2>&1 >/dev/null)
	[[ $want == 'trstat: 2 gaps'* ]]
	run -0 --separate-stderr trstat --merge g.part f.part
	assert_equal "$stderr" "$want"
	run -0 --separate-stderr pipe 'trstat -q --merge --partial g.part f.part | trstat --merge'
	assert_equal "$stderr" "$want"
	run -0 --separate-stderr pipe 'trstat -q --partial f.trs g.trs | trstat --merge'
	assert_equal "$stderr" "$want"
}

@test "trutils-scale: a saved stream on all processors" {
	need parallel
	run -0 quiet pipe 'parallel --pipepart -a rec.trs --block 20K \
	    --recstart "$(head -c 16 rec.trs)" "trstat --partial" |
	    trstat -t tsv --merge'
	assert_output "$(table)"
	trdecode --segment 2K rec2 >other.trs 2>/dev/null
	run -0 quiet pipe 'cat rec.trs other.trs |
	    parallel --pipe --block 20K --recstart trstrm1: "trstat --partial" |
	    trstat -t tsv --merge'
	assert_output "$(quiet trstat -t tsv rec.trs other.trs)"
}

@test "trutils-scale: the call tree of a saved stream" {
	need parallel
	run -0 quiet pipe 'parallel --pipepart -a rec.trs --block 20K \
	    --recstart "$(head -c 16 rec.trs)" "trstat --partial --tree" >all.part
	trstat --merge all.part
	trstat --merge --callers usleep all.part'
	assert_output "$(trstat -q --tree rec.trs; trstat -q --callers usleep rec.trs)"
}

@test "trutils-scale: one recording a job" {
	need parallel
	for f in rec1 rec2; do quiet trdecode $f | trsym >"$f.trs"; done
	run -0 quiet pipe "parallel 'trdecode {} | trsym | trstat --partial' ::: rec1 rec2 |
	    trstat -t tsv --merge"
	assert_output "$(quiet trstat -t tsv rec1.trs rec2.trs)"
}

@test "trutils-scale: a worker that is killed is replaced" {
	need parallel
	cat >worker <<-'END'
		#!/bin/sh
		# the first three jobs die, the last of them having written half of its summary
		if mkdir "died.1" 2>/dev/null; then kill -9 $$; fi
		if mkdir "died.2" 2>/dev/null; then trstat --partial >half; head -c 700 half; kill -9 $$; fi
		if mkdir "died.3" 2>/dev/null; then cat >/dev/null; kill -9 $$; fi
		exec trstat --partial
	END
	chmod +x worker
	run -0 quiet pipe 'parallel --retries 4 --pipe --block 20K \
	    --recstart "$(head -c 16 rec.trs)" ./worker <rec.trs >all.part'
	assert [ -d died.3 ]
	run -0 quiet trstat -t tsv --merge all.part
	assert_output "$(table)"
}

@test "trutils-scale: many hosts" {
	need parallel
	need rsync
	[[ -x /usr/sbin/sshd ]] || skip "no sshd"
	need ip
	unshare -nm true 2>/dev/null || skip "no network namespaces may be made here"
	quiet trdecode rec1 | trsym >rec1.trs
	quiet trdecode rec2 | trsym >rec2.trs
	run -0 --separate-stderr timeout 60 unshare -nm "$ROOT/t/hosts.sh" 2 bash -c '
		parallel -S host1,host2 --retries 3 --pipe --block 50K \
		    --recstart "$(head -c 16 rec.trs)" \
		    "trstat --partial" <rec.trs >all.part
		trstat -q -t tsv --merge all.part
		lose_host 2
		export HOME="$PWD/home"
		mkdir "$HOME"
		parallel -S host1,host2 --workdir ... --transferfile {} --cleanup \
		    --retries 3 "trdecode {} | trsym | trstat --partial" ::: rec2 rec1 |
		    trstat -q -t tsv --merge
		find ~root/.parallel/tmp ~root/rec[12] -newer rec2.trs -name "rec[12]" >left 2>/dev/null || true'
	assert [ ! -s left ]
	assert_output "$(table; quiet trstat -q -t tsv rec1.trs rec2.trs)"
}

@test "trutils-scale: a Slurm array" {
	sed -n '/^#!\/bin\/sh/,/^\.Ed/p' "$ROOT/man7/trutils-scale.7" | sed '$d' >trstat.sbatch
	run -0 bash -n trstat.sbatch
	# what Slurm does with it, but for Slurm
	rm -f part.*
	for i in 0 1; do
		mkdir -p array
		rm -rf array/rec*
		cp -r rec1 rec2 array
		run -0 bash -c "cd array && SLURM_ARRAY_TASK_ID=$i sh ../trstat.sbatch 2>/dev/null"
	done
	run -0 quiet pipe 'cd array && trstat -t tsv --merge part.*'
	assert_output "$(quiet trdecode rec1 | trsym >r1; quiet trdecode rec2 | trsym >r2; quiet trstat -t tsv r1 r2)"
}

@test "calls that go from one segment to the next keep pseudonyms and the fields that are left" {
	local how
	cd "$BATS_TEST_TMPDIR"
	for how in '--scrub=names,args --key=k' '--scrub=args --key=k' --drop=dpy,ret --keep=ret,arg.mode; do
		trdecode --segment 2K "$DATA/apitrace/threads.trace" | trfilter -q $how 1 >cut.trs
		trdecode "$DATA/apitrace/threads.trace" | trfilter -q $how 1 >whole.trs
		for f in cut whole; do
			trstat -q -t tsv -g name,stack,arg.dpy,arg.mode,ret -c count,total,self $f.trs >$f
		done
		diff cut whole
	done
}

