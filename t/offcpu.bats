#!/usr/bin/env bats
# Off-CPU time by the stack at which threads slept, against a model of the text of perf script.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	gzip -dc "$DATA/perf/offcpu.txt.gz" >text
	gzip -dc "$DATA/perf/offcpu.data.gz" | trdecode -q -o s.trs
}

model() {
	python3 "$ROOT/t/tools/offcpu_stacks.py" "$@" <text | LC_ALL=C sort >theirs
	[ "$(wc -l <theirs)" -gt 5 ]
}

# table OPTION...: rows of a table of pairs
table() {
	trstat -q --pair offcpu -c total,count -t tsv "$@" | tail -n +2 | LC_ALL=C sort
}

# agree: trstat and trencode agree with the model of text in every stack, to the ns
agree() {
	model
	table -g comm,stack s.trs | diff theirs -
	model --waker
	awk -F '\t' '$3' theirs | grep -q .
	table -g comm,stack,w.comm,w.stack s.trs | diff theirs -
	model --folded --waker
	trencode -q -t folded --pair offcpu s.trs | LC_ALL=C sort | diff theirs -
	model --folded
	trfilter -q 'type == "sched_switch"' s.trs | trencode -q -t folded --pair offcpu |
		LC_ALL=C sort | diff theirs -
}

@test "time per stack and waker: trstat and folded, of a recording" {
	agree
}

@test "the same of a fresh recording" {
	need perf
	perf record -q -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -g --kernel-callchains -a \
		-o fresh.data -- sh -c 'for n in 1 2; do sleep 0.01; ls -R /etc 2>&1 | head -c 100000 | wc -l; done' \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i fresh.data --ns --no-inline -F comm,tid,time,event,ip,trace >text 2>/dev/null
	trdecode -q -o s.trs fresh.data
	agree
}

@test "stacks of user and kernel: the functions of perf script" {
	need perf
	perf record -q -e sched:sched_switch -g -a -o both.data -- sh -c 'ls -R /etc 2>&1 | head -c 100000 | wc -l' \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i both.data --ns --no-inline -F comm,tid,time,event,ip,trace 2>/dev/null >text
	model
	# perf prints offsets of user addresses, so the number of frames is compared
	awk -F '\t' -v OFS='\t' '{ $2 = gsub(/;/, ";", $2) } 1' theirs | LC_ALL=C sort >depths
	trdecode -q both.data | table -g comm,stack |
		awk -F '\t' -v OFS='\t' '{ $2 = gsub(/;/, ";", $2) } 1' | LC_ALL=C sort >ours
	sums() {
		awk -F '\t' '{ ns[$1 FS $2] += $3; n[$1 FS $2] += $4 } END { for (k in n) print k, ns[k], n[k] }' "$1" | sort
	}
	diff <(sums depths) <(sums ours)
}

@test "--tree: the total of a frame is that of all stacks through it, self that of its own" {
	model
	awk -F '\t' '{
		n = split($2, f, ";"); path = ""
		for (k = 1; k <= n; k++) { path = path (k > 1 ? ";" : "") f[k]; total[path] += $3; count[path] += $4 }
		if (n) self[$2] += $3
	}
	END { for (p in total) { n = split(p, f, ";"); print n - 1, f[n], total[p], self[p] + 0, count[p] } }' theirs |
		LC_ALL=C sort >rows
	trstat -q --pair offcpu --tree -c total,self,count -t tsv s.trs | tail -n +2 | tr '\t' ' ' | LC_ALL=C sort | diff rows -
	trstat -q --pair offcpu -g comm --tree -c total -t tsv s.trs | awk -F '\t' '$2 == 0 { n += $4 } END { printf "%d\n", n }' >roots
	awk -F '\t' '$2 != "" { n += $3 } END { printf "%d\n", n }' theirs | diff roots -
	# one call chain, seen from its innermost function
	leaf=$(awk -F '\t' '{ n = split($2, f, ";"); if (n) print f[n] }' theirs | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	run -0 trstat -q --pair offcpu --callers "$leaf" -c total -t tsv s.trs
	assert_line --index 1 "0	$leaf	$(awk -F '\t' -v leaf="$leaf" '{ n = split($2, f, ";"); if (f[n] == leaf) s += $3 } END { printf "%d", s }' theirs)"
}

# merged VIEW: the table of x.trs, made of a summary of each of its segments, in any order
merged() {
	rm -f part.*
	for f in segment.*; do
		# shellcheck disable=SC2086
		trstat -q --pair offcpu $1 -c total,self,count --partial -o "part.$f" "$f"
	done
	# shellcheck disable=SC2046
	trstat -q --merge --partial -o both $(ls part.segment.*[13579])
	# shellcheck disable=SC2046
	trstat -q --merge -t tsv both $(ls part.segment.*[02468])
}

@test "parts: stacks of pairs that begin in one segment and end in another" {
	source "$ROOT/t/encode.bash"
	gzip -dc "$DATA/perf/offcpu.data.gz" >offcpu.data
	trdecode -q --segment 512 -o x.trs offcpu.data
	split_segments
	[ "$(find . -name "segment.*" | wc -l)" -gt 20 ]
	model
	merged '-g comm,stack' | tail -n +2 | cut -f 1-3,5 | LC_ALL=C sort | diff theirs -
	for view in --tree '-g comm --callees sh' '-g b.comm,a.stack'; do
		# shellcheck disable=SC2086
		diff <(trstat -q --pair offcpu $view -c total,self,count -t tsv s.trs) <(merged "$view")
	done
	run -2 trstat --pair offcpu -g w.comm --partial -o z.part x.trs
	assert_output --partial 'do not go with --partial'
}

@test "callgrind, pprof and svg have the same time" {
	model
	total=$(awk -F '\t' '$2 != "" { n += $3 } END { printf "%d", n }' theirs)
	run -0 trencode -t callgrind --pair offcpu s.trs
	assert_line --regexp "^totals: $total "
	assert_line 'events: offcpu Samples'
	trencode -q -t svg --pair offcpu -o x.svg s.trs
	trencode -q -t folded --pair offcpu s.trs >x.folded
	python3 "$ROOT/t/tools/flame_widths.py" x.svg x.folded
	need protoc
	trencode -q -t pprof --pair offcpu s.trs | gzip -dc | protoc --decode=m.Profile -I "$ROOT/t/proto" pprof.proto >decoded
	run -0 awk '/^sample \{/ { n = 0 } /^  value:/ && ++n == 2 { sum += $2 } END { printf "%d\n", sum }' decoded
	assert_output "$total"
}

@test "--weight count counts pairs; other presets and pairs have the stack of their first event" {
	model --folded
	run -0 pipe "trencode -q -t folded --pair offcpu --weight count s.trs | awk '{ n += \$NF } END { print n }'"
	assert_output "$(trstat -q --pair offcpu -g kind -c count -t tsv s.trs | awk 'NR == 2 { print $2 }')"
	# the stack of a wakeup is that of the waker; the stack of a thread that ran is where it stopped
	diff <(table --pair wakeup -g stack s.trs) <(table --pair wakeup -g a.stack s.trs)
	diff <(table --pair oncpu -g stack s.trs) <(table --pair oncpu -g b.stack s.trs)
	run -1 diff -q <(table --pair oncpu -g stack s.trs) <(table --pair oncpu -g a.stack s.trs)
	diff <(trstat -q --pair 'sched_waking -> sched_switch on .pid == .next_pid' -g a.stack -c total,count -t tsv s.trs) \
		<(trstat -q --pair wakeup -g a.stack -c total,count -t tsv s.trs)
}

@test "mistakes are named" {
	run -2 trencode -t folded --pair nothing s.trs
	assert_output --partial "one of wakeup offcpu oncpu syscall lock fault irq softirq block block-queue net net-receive frame fs alloc kmem pages"
	run -2 trencode -t folded --pair 'sched_switc -> sched_switch on .prev_pid == .next_pidd' s.trs
	assert_output --partial "no event has a field 'next_pidd'"
	run -2 trencode -t folded --pair offcpu --weight period s.trs
	assert_output --partial '--weight of pairs is dur or count'
	run -2 trencode -t chrome --pair offcpu s.trs
	run -2 trencode -t svg --by-time --pair offcpu s.trs
	run -2 trstat --pair wakeup -g w.comm s.trs
	assert_output --partial 'are of the pairs offcpu'
	run -2 trstat --pair offcpu -g 'w.comm|comm' s.trs
	assert_output --partial 'cannot be an alternative'
	run -0 trencode -t folded --pair irq s.trs
	assert_output --partial 'no pair of irq: the trace has no irq_handler_entry'
}
