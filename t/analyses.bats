# trutils-analyses(7): its commands have the numbers that lttng-analyses printed of the same trace, and those of a script
# for the programs of bcc.

load lib

setup_file() {
	tar -xJf "$DATA/analyses/kernel.tar.xz" -C "$BATS_FILE_TMPDIR"
	# the commands of each section of the page, a line each, with what lines before them assign
	sed -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\(ha/^/g' -e 's/\\e$/\\/' "$ROOT/man7/trutils-analyses.7" |
		awk -v RS='\n[$] ' -v ORS='\0' '
			{ sub(/\n[^>].*/, ""); gsub(/\\\n> +/, ""); gsub(/\n> +/, " ") }
			/^[a-z]+=/ { print; next }
			/^tr/ { print }' >"$BATS_FILE_TMPDIR/commands"
	sed -n '/^\.Sh BCC/,/^\.Sh D/p' "$ROOT/man7/trutils-analyses.7" | sed -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' >"$BATS_FILE_TMPDIR/bcc"
	sed -n '/^type in/,/^->/p' "$BATS_FILE_TMPDIR/bcc" >"$BATS_FILE_TMPDIR/runq"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# ours PATTERN [SED-SCRIPT]: run the command of the page that the pattern matches, edited, and print the rows of tsv. A
# thread has one row, as in lttng-analyses, also if its name changes.
ours() {
	local line command=
	while IFS= read -r -d '' line; do
		if [[ $line =~ ^[a-z]+= ]]; then
			eval "$line"
		elif [[ $line == *$1* ]]; then
			[ -z "$command" ] || fail "two commands match $1: $command, $line"
			command=$line
		fi
	done <commands
	[ -n "$command" ] || fail "no command matches $1"
	command=$(sed "s/tid,\(next_\)*comm/tid/; s/^trdecode kernel/trdecode -q ${KERNEL:-kernel}/; ${2:-}" <<<"$command")
	eval "$command -q -t tsv" | sed 1d
}

# theirs NAME CLASS [TITLE]
theirs() {
	python3 "$ROOT/t/tools/lttng_analyses.py" "${REFERENCE:-reference}/$1.json" "${@:2}"
}

# same WHAT: theirs and ours have the same rows, in any order, and there are some
same() {
	[ -s theirs ] || fail "$1: no numbers"
	diff <(sort theirs) <(sort ours) || fail "$1"
}

# pairs: the columns begin, end, time and CPU of a list of --slowest
pairs() {
	awk -F '\t' -v OFS='\t' '{ print $2, $9, $1, $13 }'
}

# same_waits: the waits after wakeups of each thread, and the longest ones
same_waits() {
	theirs schedstats per_tid_stats | cut -f 1-6 >theirs
	ours '$waits*-g next_tid' >ours
	same waits
	theirs schedtop top | cut -f 1-3,5 >theirs
	ours '$waits*--slowest 10' | pairs >ours
	same 'the longest waits'
}

# the rows of tsv whose last cell is not 0
some() {
	awk -F '\t' '$NF != 0'
}

@test "lttng-cputop, memtop: tasks, CPUs, migrations, priorities and pages" {
	since=$(jq '.results[0]["time-range"].begin.value' reference/cputop.json)
	theirs cputop per-process | cut -f 1,4 | some >theirs
	ours 'oncpu -g tid' "s/\$/ --since ${since}ns/" | cut -f 1,2 | some >ours
	same tasks
	theirs cputop per-cpu >theirs
	ours 'oncpu -g cpu' "s/\$/ --since ${since}ns/" | cut -f 1,2 >ours
	same CPUs
	# the tasks of the range, and their priorities; a task that runs first has none in lttng-cputop
	theirs cputop per-process | cut -f 1,2 | some >theirs
	ours migrate_task "s/\$/ --since ${since}ns/" | cut -f 1,3 >ours
	same migrations
	theirs cputop per-process | cut -f 1,3 | tr -d '[]' | awk -F '\t' '$2 != ""' >theirs
	ours next_prio | cut -f 1,2 | sort | uniq >ours
	[ "$(join -t $'\t' <(sort theirs) <(sort ours) | awk -F '\t' '$2 != $3' | wc -l)" = 0 ]
	[ "$(join -t $'\t' <(sort theirs) <(sort ours) | wc -l)" = "$(wc -l <theirs)" ]
	theirs memtop allocd | some >theirs
	ours tid,comm,type | sed -n '/alloc/p' | cut -f 1,3 >ours
	same allocations
	# lttng-memtop leaves out pages that were allocated before; babeltrace lists all
	ours tid,comm,type | sed -n '/free/p' | awk -F '\t' '{ n += $3 } END { print n }' >ours
	grep -c ' kmem_mm_page_free: ' kernel.txt >theirs
	same frees
}

@test "lttng-cputop, irqstats, schedstats, schedtop: a recording of a machine that is idle at times" {
	python3 "$ROOT/t/tools/lttng_kernel.py" kernel.idle <"$RECORDED/trace-cmd/v6-sched-irq-timer.raw.txt"
	REFERENCE=idle KERNEL=kernel.idle
	since=$(jq '.results[0]["time-range"].begin.value' idle/cputop.json)
	# the idle task is no task, and a CPU is not busy before its first switch
	theirs cputop per-process | cut -f 1,4 | some >tasks
	idle=$(awk -F '\t' '$1 == 0 { print $2 }' tasks)
	[ "$idle" -gt 0 ]
	grep -v '^0	' tasks >theirs
	ours 'oncpu -g tid' "s/\$/ --since ${since}ns/" | cut -f 1,2 >ours
	same tasks
	theirs cputop per-cpu | awk -F '\t' -v OFS='\t' -v idle="$idle" '$1 == 0 { $2 -= idle } 1' >theirs
	ours 'oncpu -g cpu' "s/\$/ --since ${since}ns/" | cut -f 1,2 >ours
	same CPUs
	theirs irqstats soft-stats | cut -f 1-6 >theirs
	ours 'softirq -g vec -c' >ours
	same softirqs
	# but for 9, which is raised while it runs
	theirs irqstats soft-stats | cut -f 1,7- | grep -v '^9	' >theirs
	ours '$raises' | grep -v '^9	' >ours
	same raises
	same_waits
}

@test "lttng-irqstats, irqlog, irqfreq: interrupts, softirqs, and how late they ran" {
	theirs irqstats hard-stats >theirs
	ours 'pair irq*total_stdev' | cut -f 1,3- >ours
	same interrupts
	theirs irqstats soft-stats | cut -f 1-6 >theirs
	ours 'softirq -g vec -c' >ours
	same softirqs
	theirs irqstats soft-stats | cut -f 1,7- >theirs
	ours '$raises' >ours
	same raises
	theirs irqlog log | awk -F '\t' '$5 != 36' | cut -f 1,2,4 >theirs
	ours 'softirq --slowest' | pairs | cut -f 1,2,4 >ours
	same log
	for vec in 1 3 4 7 9; do theirs irqfreq freq "_SOFTIRQ ($vec)" | awk -F '\t' -v OFS='\t' -v vec=$vec '$3 { print vec, $1, $3 }'; done >theirs
	ours 'bucket(dur,2us)' >ours
	same histogram
}

@test "lttng-schedstats, schedtop, schedlog, schedfreq: waits after wakeups" {
	same_waits
	theirs schedlog log | cut -f 1-3,5 >theirs
	ours '$waits*--slowest 10' 's/slowest 10/slowest 1000000/' | pairs >ours
	same log
	theirs schedfreq freq | some | cut -f 1,3 >theirs
	ours '$waits*bucket' | awk '$1 < 1000000' >ours
	same histogram
}

@test "lttng-syscallstats: system calls of each thread, and their errors" {
	theirs syscallstats total >totals
	# of one and two calls it has no deviation, and each number of returned values is one too large
	while read -r tid _; do theirs syscallstats per-tid "TID: $tid)" | sed "s/^/$tid\t/"; done <totals >all
	cut -f 1-7 all | awk -F '\t' -v OFS='\t' '$3 < 3 { $7 = 0 } 1' >theirs
	ours tid,comm,name | awk -F '\t' -v OFS='\t' '$3 < 3 { $7 = 0 } 1' >ours
	same 'system calls'
	assert_equal "$(awk -F '\t' '{ n[$1] += $3 } END { for (t in n) print t "\t" n[t] }' ours | sort)" "$(sort totals)"
	python3 -c 'import ast, errno, sys
for line in sys.stdin:
    cell = line.rstrip("\n").split("\t")
    for name, count in ast.literal_eval(cell[7]).items():
        if name != "success":
            print(cell[0], cell[1], -getattr(errno, name), count - 1, sep="\t")' <all >theirs
	ours 'ret < 0' >ours
	same errors
}

@test "lttng-iolatencystats, iolatencytop, iolatencyfreq, iolog: calls that open, read, write and sync, and disks" {
	for set in Open Read Write Sync; do theirs iolatencystats syscall-latency-stats | sed -n "s/^$set	//p"; done >theirs
	for set in opens reads writes syncs; do ours "\"\$$set\" -g ''"; done >ours
	same 'system calls'
	theirs iolatencystats disk-latency-stats | cut -f 2- >theirs
	ours 'pair block*total_stdev' | cut -f 2- >ours
	same disks
	theirs iolatencytop top-syscall read | head -n 10 | cut -f 1,2,4,5 >theirs
	ours '"$reads" --slowest 10' | awk -F '\t' -v OFS='\t' '{ print $2, $9, $1, $7 }' >ours
	same 'the longest reads'
	theirs iolog log | cut -f 1,2,4,5,7 >theirs
	ours '|| $syncs ||' | awk -F '\t' -v OFS='\t' '{ print $2, $9, $1, $7, $3 }' >ours
	same log
	# its rows begin at the shortest time, whatever --min is: the times of single calls fall into them
	theirs iolatencyfreq freq '[read]' >theirs
	ours '"$reads" -g*bucket' 's/bucket(dur,50us)/dur/' | awk -F '\t' -v OFS='\t' '
		NR == FNR { low[NR] = $1; high[NR] = $2; n = NR; next }
		{ for (i = 1; i < n && $1 >= high[i] + 1; i++) { } count[i] += $2 }
		END { for (i = 1; i <= n; i++) print low[i], high[i], count[i] + 0 }' theirs - >ours
	same histogram
	ours '"$reads" -g*bucket' | awk -F '\t' '{ n += $2 } END { print n }' >ours
	theirs iolatencystats syscall-latency-stats | sed -n 's/^Read	//p' | cut -f 1 >theirs
	same 'reads of the histogram'
}

@test "lttng-iousagetop: bytes of threads, disks and networks" {
	theirs iousagetop per-process-top read | cut -f 1,2 | some >theirs
	ours '"ret > 0 && $reads"' >ours
	same 'bytes read'
	theirs iousagetop per-process-top written | cut -f 1,2 | some >theirs
	ours '"ret > 0 && $writes"' >ours
	same 'bytes written'
	theirs iousagetop per-process-top-block read >theirs
	ours 'rwbs % 2 == 0' | awk -F '\t' -v OFS='\t' '{ print $1, $3 * 512 }' >ours
	same 'bytes of disks read'
	theirs iousagetop per-process-top-block written >theirs
	ours 'rwbs % 2 == 1' | awk -F '\t' -v OFS='\t' '{ print $1, $3 * 512 }' >ours
	same 'bytes of disks written'
	paste <(theirs iousagetop per-disk-top-request) <(theirs iousagetop per-disk-top-sector) \
		<(theirs iousagetop per-disk-top-rps) | cut -f 2,4,6 >theirs
	ours 'count,sum(nr_sector),avg' | cut -f 2- >ours
	same disks
	theirs iousagetop per-netif-top | cut -f 2 >theirs
	ours netif | cut -f 4 >ours
	same networks
}

@test "lttng-periodstats, periodtop, periodlog, periodfreq: pairs of any two events" {
	theirs periodstats per_period_stats | cut -f 2- >theirs
	ours '"$queue"*total_stdev' >ours
	same periods
	theirs periodtop top | cut -f 1-3 >theirs
	ours '"$queue" --slowest 10' | pairs | cut -f 1-3 >ours
	same 'the longest periods'
	theirs periodlog log | cut -f 1-3 >theirs
	ours '"$queue" --slowest 10' 's/slowest 10/slowest 1000000/' | pairs | cut -f 1-3 >ours
	same log
	theirs periodfreq freq_duration | some | cut -f 1,3 >theirs
	ours '"$queue" -g' >ours
	same histogram
}

# bcc PROGRAM [SED-SCRIPT]: run the command of a program on x.trs, edited, and print the rows of tsv
bcc() {
	local command
	command=$(awk -v name="$1" '/^\.It / { is = index($0, name) } is && /^\.Dl / { print substr($0, 5) }' bcc | sed -n "${2:-}; p" | head -n 1)
	[ -n "$command" ] || fail "no command of $1"
	eval "$command -q -t tsv x.trs" | sed 1d
}

# script PRESET TEXT: a row for each pair, with its time, the times of both events and the CPU
script() {
	awk -v preset="$1" -v list=pairs -f "$ROOT/t/tools/pairs.awk" "$2" | grep -v '^unmatched' || true
}

# the times of the script's pairs in powers of two of microseconds
powers() {
	awk '{ us = int($1 / 1000); p = us ? 2 ^ int(log(us) / log(2) + 1e-9) : 0; n[p * 1000]++ } END { for (p in n) print p "\t" n[p] }'
}

@test "biolatency, runqlat, runqslower, cpudist, offcputime, offwaketime, softirqs, syscount: the numbers of a script" {
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	trdecode -q "$T.dat" -o x.trs
	for program in 'runqlat runq' 'cpudist oncpu'; do
		script "${program#* }" "$T.raw.txt" | powers >theirs
		bcc "${program% *}" >ours
		same "$program"
	done
	script offcpu "$T.raw.txt" | powers >theirs
	bcc cpudist 's/oncpu/offcpu/' >ours
	same 'cpudist -O'
	script runq "$T.raw.txt" | awk '$1 > 10000000' | cut -f 1-3 >theirs
	bcc runqslower | awk -F '\t' -v OFS='\t' '{ print $1, $2, $9 }' >ours
	same runqslower
	awk -v preset=offcpu -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" | grep -v ^unmatched | cut -f 1-3 >theirs
	bcc offcputime 's/,stack//' >ours
	same offcputime
	awk -v preset=offwake -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" | grep -v ^unmatched | cut -f 1-4 >theirs
	bcc offwaketime 's/,w.stack//; s/,stack//' >ours
	same offwaketime
	awk -v preset=softirq -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" | grep -v ^unmatched | cut -f 2,3,5 >theirs
	bcc softirqs '/ irq /d' | cut -f 2- >ours
	same softirqs
	trdecode -q "$DATA/perf/wait.data.gz" -o x.trs
	gunzip -c "$DATA/perf/wait.txt.gz" >wait.txt
	for program in 'biolatency block' 'biolatency -Q block-queue'; do
		script "${program##* }" wait.txt | powers >theirs
		bcc "${program% *}" 's/dev,//' >ours
		same "$program"
	done
	trdecode -q "$RECORDED/trace-cmd/v7-zstd-syscalls-all.dat" -o x.trs
	awk -v preset=syscall -f "$ROOT/t/tools/pairs.awk" "$RECORDED/trace-cmd/v7-zstd-syscalls-all.raw.txt" | grep -v ^unmatched | cut -f 2,3 >theirs
	bcc syscount | cut -f 2- >ours
	same syscount
	bcc syscount 1d | awk -F '\t' '{ n += $3 } END { print n }' >ours
	awk '{ n += $1 } END { print n }' theirs >sum && mv sum theirs
	same 'syscount -P'
}

@test "memleak, funclatency, hardirqs: what is not freed, and the times of functions and interrupts" {
	# the file trace has pointers without 0x, of which some have digits alone
	xz -dc "$DATA/analyses/kmem.txt.xz" | sed 's/ptr=/ptr=0x/' >kmem.txt
	trdecode -q kmem.txt -o x.trs
	awk -v OFS='\t' 'match($0, /ptr=[0-9a-fx]+/) { p = substr($0, RSTART, RLENGTH) }
		/ k(malloc|mem_cache_alloc): / {
			match($0, /call_site=[^ ]+/); site[p] = substr($0, RSTART + 10, RLENGTH - 10)
			match($0, /bytes_alloc=[0-9]+/); size[p] = substr($0, RSTART + 12, RLENGTH - 12) }
		/ k(free|mem_cache_free): / { delete size[p] }
		END { for (p in size) { sum[site[p]] += size[p]; n[site[p]]++ } for (s in sum) print s, sum[s], n[s] }' kmem.txt >theirs
	bcc memleak | some >ours
	same memleak
	trdecode -q kernel -o x.trs
	theirs irqstats hard-stats | cut -f 1,2,5 >theirs
	bcc hardirqs | cut -f 1,3,5 >ours
	same hardirqs
	need uftrace
	trdecode -q "$DATA/uftrace/fib" | trsym -q -o x.trs
	uftrace dump --no-pager -d "$DATA/uftrace/fib" 2>/dev/null | grep '\[' | sort -s -n -k 1,1 |
		perl "$ROOT/t/tools/uftrace_calls.pl" '$c->{name} eq "fib" && $c->{dur} >= 8000' | wc -l >theirs
	bcc funclatency 's/vfs_read/fib/' | awk -F '\t' '$1 >= 8000 { n += $2 } END { print n }' >ours
	same funclatency
}
