# trstat --pair: the time between two events, against numbers of an independent script.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

lines() {
	assert_output "$(printf '%s\n' "$@" | tr ' ' '\t')"
}

# names TRACE: a line "number name" for each system call and softirq that occurs
names() {
	trdecode -q --type sys_enter --type softirq_entry "$1" -o names.trs 2>/dev/null
	paste <(trencode -q --raw names.trs | sed -nE 's/.*: (sys_enter|softirq_entry): .*\<(id|vec)=([0-9]+).*/\3/p') \
		<(trencode -q -t ndjson -c type,args names.trs | jq -r 'select(.type != "gap").args | .id // .vec') | sort -u
}

# same PRESET TRACE RAW: trstat and the script agree
same() {
	awk -v preset="$1" -f "$ROOT/t/tools/pairs.awk" "$3" >numbers
	if [[ $1 == syscall || $1 == softirq ]]; then
		awk -F '\t' -v OFS='\t' 'map { name[$1] = $2; next } $1 in name { $1 = name[$1] } 1' map=1 <(names "$2") map=0 numbers >theirs
	else
		cp numbers theirs
	fi
	trdecode "$2" 2>/dev/null | trstat --verbose --pair "$1" -t tsv -c count,total,min,max,p50,p90,p99 2>remarks >ours
	grep -v '^unmatched' theirs | cut -f 1-5 | sort >exact
	tail -n +2 ours | cut -f 1-5 | sort | diff exact - || return
	# percentiles by rank, within the bound
	awk -F '\t' 'NR == FNR { if ($1 != "unmatched") for (i = 1; i <= $2; i++) t[$1, i] = $(5 + i); next }
		FNR > 1 { split("50 90 99", p, " ")
			for (k = 1; k <= 3; k++) {
				r = int(($2 * p[k] + 99) / 100)
				d = t[$1, r] - $(5 + k)
				if ((d < 0 ? -d : d) > t[$1, r] / 256) { print $1, p[k], t[$1, r], $(5 + k); bad = 1 }
			} }
		END { exit bad }' theirs ours || return
	awk -F '\t' '/^unmatched/ { if ($2) print "trstat: " $2 ($2 == 1 ? " beginning of pairs was repeated before its end" : " beginnings of pairs were repeated before their end")
		if ($3) print "trstat: " $3 " beginning" ($3 == 1 ? "" : "s") " of pairs without an end"
		if ($4) print "trstat: " $4 " end" ($4 == 1 ? "" : "s") " of pairs without a beginning" }' theirs >expected
	grep pairs remarks | diff expected -
}

@test "presets: on the bundled trace the numbers of an independent script" {
	local file=$RECORDED/trace-cmd/s390x-v7-zstd-sched-syscalls
	for preset in wakeup offcpu oncpu syscall; do
		same $preset "$file.dat" "$file.raw.txt" || fail $preset
		[ "$(wc -l <ours)" -gt 3 ]
	done
}

@test "the pairs with the largest total are first, and where there are no times the most frequent" {
	local file=$RECORDED/trace-cmd/s390x-v7-zstd-sched-syscalls
	awk -v preset=syscall -f "$ROOT/t/tools/pairs.awk" "$file.raw.txt" | grep -v ^unmatched >theirs
	cut -f 3 theirs | sort -rn >totals
	sort -k 2,2nr theirs | cut -f 3 | run ! cmp -s - totals # another order than by count
	for more in "" "-c +min" "-s total,count"; do
		# shellcheck disable=SC2086
		trdecode "$file.dat" 2>/dev/null | trstat -q --pair syscall -t tsv $more | sed 1d | cut -f 3 | diff - totals
	done
	of='kind == enter && name in {glColor3f, glBegin}'
	trdecode "$DATA/apitrace/threads.trace" | trstat -q --pair "$of -> $of" -g a.name -t tsv | sed 1d >ours
	cut -f 2 ours | sort -rnc
	cut -f 3 ours | run ! sort -rnc
}

@test "presets: on recordings of four architectures" {
	T=$RECORDED/trace-cmd
	for name in v6-sched-irq-timer i386-v6-sched-irq-timer s390x-v6-sched-irq-timer trixie-v6-sched-irq-timer; do
		for preset in wakeup offcpu oncpu softirq irq; do
			same $preset "$T/$name.dat" "$T/$name.raw.txt" || fail "$name $preset"
		done
		[ $name != s390x-v6-sched-irq-timer ] || [ "$(wc -l <ours)" -gt 1 ]
	done
	for name in v6-syscalls v7-zstd-syscalls-all i386-v7-zstd-sched-syscalls trixie-v7-zstd-subbuf8k-sched v6-instances; do
		same syscall "$T/$name.dat" "$T/$name.raw.txt" || fail "$name"
	done
}

@test "presets against trace-cmd itself" {
	need trace-cmd
	for trace in "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat"; do
		trace-cmd report -R -t -i "$trace" >raw.txt 2>/dev/null || continue
		for preset in wakeup offcpu oncpu softirq irq syscall; do
			same $preset "$trace" raw.txt || fail "$trace $preset"
		done
	done
}

@test "presets of locks, disks and packets: on a recording of perf the numbers of a script over perf script" {
	gunzip -c "$DATA/perf/wait.data.gz" >wait.data
	gunzip -c "$DATA/perf/wait.txt.gz" >wait.txt
	trdecode -q wait.data -o wait.trs
	for preset in lock block block-queue net net-receive; do
		# devices are numbers in the recording, and locks of the kernel have other widths in the text
		awk -v preset=$preset -f "$ROOT/t/tools/pairs.awk" wait.txt | grep -v ^unmatched | cut -f 2-5 | sort >theirs
		trstat --verbose --pair $preset -t tsv -c count,total,min,max wait.trs 2>remarks | tail -n +2 | cut -f 2- | sort | diff theirs - || fail $preset
		[ -s theirs ]
	done
	# what waited there: 9 locks, by address
	assert_equal "$(trstat -q --pair lock -c count -t tsv wait.trs | tail -n +2 | cut -f 1 | sort)" \
		"$(awk -v preset=lock -f "$ROOT/t/tools/pairs.awk" wait.txt | sed -n 's/^\(0x0*\)\([^\t]*\).*/0x\2/p' | sort)"
}

@test "presets: calls of strace and ltrace without their times, and its system calls, are no pairs" {
	echo '7 1.000001 openat(AT_FDCWD, "x", O_RDONLY) = 3' >timeless
	echo '7 1.000001 openat(AT_FDCWD, "x", O_RDONLY) = 3 <0.000010>' >timed
	for of in 'timeless fs' 'timeless alloc' 'timed fs' 'timed syscall' 'timed lock'; do
		trdecode -q -f strace "${of% *}" | trstat --pair "${of#* }" 2>remarks >/dev/null
		run cat remarks
		case $of in
		timeless*) assert_line "trstat: calls without their times are no pairs of ${of#* }: record with -T" ;;
		'timed fs' | 'timed lock') refute_output --partial -T ;;
		*) assert_line --partial 'the system calls of strace are calls: count them without --pair' ;;
		esac
	done
}

@test "preset lock: the futex calls of strace that wait" {
	printf '%s\n' '7 1700000001.000001 futex(0x10, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY) = 0 <0.000010>' \
		'7 1700000001.000021 futex(0x10, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000002>' \
		'8 1700000001.000005 futex(0x10, FUTEX_WAIT_PRIVATE, 2, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000003>' \
		'8 1700000001.000030 futex(0x20, FUTEX_LOCK_PI_PRIVATE, NULL) = 0 <0.000007>' | sort -k 2 >futex
	trdecode -q -f strace futex -o futex.trs
	run -0 trstat -q --pair lock -c count,total -t tsv futex.trs
	assert_output $'lock_addr\tcount\ttotal\n0x10\t2\t13000\n0x20\t1\t7000'
	# rows have no group
	run -0 pipe 'trencode -q -t ndjson futex.trs | trdecode -q | trstat -q --pair lock -c count,total -t tsv'
	assert_output $'lock_addr\tcount\ttotal\n0x10\t2\t13000\n0x20\t1\t7000'
	# a key that is the heading of the preset's own key is that key
	run -0 trstat -q --pair lock -g tid,lock_addr -s tid,lock_addr -c count -t csv futex.trs
	assert_output $'tid,lock_addr,count\n7,0x10,1\n8,0x10,1\n8,0x20,1'
	run -2 trstat -q --pair lock -g tid,lock_adr -c count futex.trs
	run -0 trstat -q --cover lock -g tid -c busy -t tsv futex.trs
	assert_output --regexp $'7\t10000' && assert_output --regexp $'8\t10000'
	run -0 trstat --cover syscall futex.trs
	assert_line "trstat: the system calls of strace are calls: use --cover 'group == \"strace\"'"
	run -0 trstat -q --cover 'group == "strace"' -c busy -t tsv futex.trs
	assert_line 19000
}

@test "preset fs: file descriptors have the paths that strace -y shows for them" {
	cat >y.txt <<'END'
70 10.000100 openat(AT_FDCWD</w>, "/a", O_RDONLY) = 3</a> <0.000011>
70 10.000200 read(3</a>, "x", 16) = 1 <0.000012>
70 10.000300 fcntl(3</a>, F_DUPFD_CLOEXEC, 0) = 4</a> <0.000001>
71 10.000310 openat(AT_FDCWD</w>, "/b", O_RDWR|O_CREAT, 0666 <unfinished ...>
70 10.000320 fcntl(3</a>, F_GETFD) = 0 <0.000002>
71 10.000350 <... openat resumed>) = 3</b> <0.000040>
71 10.000400 write(3</b>, "y", 1) = 1 <0.000021>
70 10.000500 close(3</a>) = 0 <0.000013>
70 10.000600 openat(AT_FDCWD</w>, "/c", O_RDONLY) = 3</c> <0.000014>
70 10.000700 lseek(3</c>, 0, SEEK_SET) = 0 <0.000015>
70 10.000800 read(4</a>, "", 16) = 0 <0.000016>
70 10.000900 openat(AT_FDCWD</w>, "/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000017>
70 10.001000 dup2(3</c>, 4</a>) = 4</c> <0.000003>
70 10.001100 fsync(4</c>) = 0 <0.000018>
71 10.001200 fsync(3</b>) = 0 <0.000022>
70 10.001300 close(4</c>) = -1 EINTR (Interrupted system call) <0.000004>
70 10.001400 read(4</c>, "", 16) = 0 <0.000005>
70 10.001500 newfstatat(3</c>, "", {st_mode=S_IFREG|0644, st_size=0, ...}, AT_EMPTY_PATH) = 0 <0.000006>
END
	# the path of each call is the name that openat has, or that of its first file descriptor
	awk -F '[<>]' '{ sub(/^[^ ]* [^ ]* /, ""); sub(/AT_FDCWD<[^>]*>/, "") }
		/unfinished/ { next }
		{ us = $0; sub(/.*<0\.0*/, "", us); sub(/>$/, "", us) }
		/resumed/ { path = "/b" }
		/^openat/ { path = $0; sub(/[^"]*"/, "", path); sub(/".*/, "", path) }
		!/^openat|resumed/ { path = $2 }
		{ n[path]++; total[path] += us * 1000 }
		END { for (p in n) print p "\t" n[p] "\t" total[p] }' y.txt | sort >theirs
	[ "$(wc -l <theirs)" = 4 ]
	sed -E 's/([0-9D])<[^>]*>([,)]|$)/\1\2/g; s/= ([0-9]+)<[^>]*>/= \1/' y.txt >x.txt
	run -1 grep '</' x.txt
	trdecode -q x.txt -o x.trs
	trstat -q --pair fs -c count,total -t tsv x.trs | tail -n +2 | sort | diff theirs -
	run -0 trstat -q --pair fs --where 'path == "/b"' -g path,name -c count -s name -t csv x.trs
	assert_output $'path,name,count\n/b,fsync,1\n/b,openat,1\n/b,write,1'
	run -2 trstat --pair fs --partial x.trs
	assert_line --index 0 --partial 'does not know which files were opened before'
}

@test "memory: bytes that are outstanding, by caller, stack and over time: a script's numbers, and valgrind's" {
	trdecode -q "$DATA/uftrace/alloc.tar.gz" | trsym -o alloc.trs
	gunzip -c "$DATA/uftrace/alloc.txt.gz" | python3 "$ROOT/t/tools/memory.py" alloc | sort >theirs
	trstat -q --pair alloc -c bytes,outstanding,left,count -t tsv alloc.trs | tail -n +2 | sort | diff theirs -
	# "in use at exit: 148 bytes in 2 blocks", "65 allocs, 63 frees, 24,894 bytes allocated" of the same program
	run -0 trstat -q --pair alloc -g '' -c outstanding,left,bytes,count -t csv alloc.trs
	assert_output $'outstanding,left,bytes,count\n148,2,24894,63'
	# what was not freed, with its address and its size
	trstat -q --pair alloc --unpaired -t tsv alloc.trs >left
	assert_equal "$(sed -n 's/.*ret=0x[0-9a-f]*, bytes=//p' left | awk '{ n++; t += $1 } END { print n, t }')" '2 148'
	run -0 trstat -q --pair alloc -g stack -c outstanding -t csv -n 1 alloc.trs
	assert_line --index 1 'main;work;leak;malloc,148'
	run -0 trstat -q --pair alloc --tree -c outstanding,bytes -t csv alloc.trs
	assert_line --index 1 '0,main,148,24894'
	run -0 pipe "trstat -q --pair alloc -g name -c bytes -t csv alloc.trs | sort"
	assert_line calloc,2100
	# at the end of each bucket, also of those without events: the last one has what is left
	trstat -q --pair alloc -g 'bucket(time,20us)' -s 'bucket(time,20us)' -c outstanding,left -t tsv alloc.trs | tail -n +2 >held
	run -0 tail -n 1 held
	assert_output --regexp $'^[0-9]+\t148\t2$'
	# the 4 that are not freed in the loop, and what a pass has at most beside them
	awk -F '\t' 'last && $1 - last != 20000 || $2 < 0 || $2 > 286 + 1500 || $3 > 4 + 3 { exit 1 } { last = $1 }' held
	[ "$(cut -f 2 held | sort -nu | wc -l)" -gt 2 ]
	assert_equal "$(trstat -q --pair alloc --timeline 20us -g '' -c outstanding -t tsv alloc.trs | tail -n 1)" "$(tail -n 1 held | cut -f 1-2)"
	run -3 trstat -q --pair alloc --fail-if 'outstanding > 147' --fail-if 'left > 2' alloc.trs
	refute_output --partial 'left > 2'

	gunzip -c "$DATA/perf/kmem.data.gz" >kmem.data
	gunzip -c "$DATA/perf/kmem.txt.gz" >kmem.txt
	trdecode -q kmem.data -o kmem.trs
	for preset in kmem pages; do
		# addresses have names in the text
		python3 "$ROOT/t/tools/memory.py" $preset <kmem.txt | cut -f 2- | sort >theirs
		trstat -q --pair $preset -c bytes,outstanding,left,count -t tsv kmem.trs | tail -n +2 | cut -f 2- | sort | diff theirs - || fail $preset
		[ -s theirs ]
	done

	# an address that is allocated again was freed unseen; what was allocated before the range is not in it
	cat >again.json <<'END'
	[{"ph":"i","name":"kmalloc","ts":1,"pid":1,"tid":1,"args":{"ptr":16,"bytes_alloc":100,"call_site":1}},
	{"ph":"i","name":"kmalloc","ts":2,"pid":1,"tid":1,"args":{"ptr":32,"bytes_alloc":10,"call_site":2}},
	{"ph":"i","name":"kmalloc","ts":3,"pid":1,"tid":1,"args":{"ptr":16,"bytes_alloc":7,"call_site":3}},
	{"ph":"i","name":"kfree","ts":5,"pid":1,"tid":2,"args":{"ptr":32,"call_site":9}}]
END
	trdecode -q again.json -o again.trs
	run -0 trstat -q --pair kmem -c outstanding,left,bytes,count -s call_site -t tsv again.trs
	lines 'call_site outstanding left bytes count' '1 0 0 100 0' '2 0 0 10 1' '3 7 1 7 0'
	run -0 trstat -q --pair kmem -g '' --since 0.0000025s -c outstanding,bytes,count -t tsv again.trs
	lines 'outstanding bytes count' '7 7 1'
	for wrong in '--pair kmem --partial' '--pair kmem -g caller' '--pair alloc -g depth' '--pair kmem -g b.comm' '--pair block -c left' \
		'-c outstanding' '--pair kmem -c bytes -i 1s' '--pair kmem --where call_site==1' '--cover kmem -c bytes'; do
		# shellcheck disable=SC2086
		run -2 trstat $wrong again.trs
		assert_line --index 0 --regexp '^trstat: .* (goe?s?|has|of) '
	done
}

@test "alloc: realloc that fails frees nothing, of 0 bytes all; open calls allocate nothing; rows have the same" {
	cat >calls.txt <<'END'
10 1000000000.001000 malloc(100) = 0x1000 <0.000010>
10 1000000000.002000 malloc(50) = 0x2000 <0.000010>
10 1000000000.004000 calloc(4, 8) = 0x3000 <0.000010>
10 1000000000.005000 realloc(0x2000, 500) = 0x4000 <0.000010>
10 1000000000.006000 realloc(0x3000, 0) = 0 <0.000010>
10 1000000000.007000 malloc(77) = 0 <0.000010>
10 1000000000.008000 realloc(0, 8) = 0x5000 <0.000010>
10 1000000000.010000 realloc(0x4000, 600) = 0 <0.000010>
10 1000000000.011000 realloc(0x1000, 200) = 0x1000 <0.000010>
10 1000000000.012000 reallocarray(0x5000, 3, 10) = 0x7000 <0.000010>
10 1000000000.012500 free(0x4000) = <void> <0.000010>
10 1000000000.012600 foo(3 <unfinished ...>
11 1000000000.013000 malloc(33 <unfinished ...>
10 1000000000.014000 +++ exited (status 0) +++
END
	trdecode -q calls.txt -o calls.trs
	# in use: 100 for 10 ms, 50 for 3, 32 for 1.99, 500 for 7.485 and 8 for 4 ms
	trencode -q -t ndjson calls.trs -o calls.ndjson
	trencode -q -t csv calls.trs -o calls.csv
	for from in calls.txt calls.ndjson calls.csv; do
		trdecode -q $from -o from.trs
		run -0 trstat -q --pair alloc -g '' -c bytes,outstanding,left,count,total,min,max -t tsv from.trs
		lines 'bytes outstanding left count total min max' '920 230 2 5 26480000 1990000 10000000'
	done
	for wrong in '-c sum(left)' '--fail-if sum(outstanding)>1'; do
		# shellcheck disable=SC2086
		run -2 trstat -q --pair alloc $wrong calls.trs
		assert_line --index 0 --regexp "^trstat: (left|outstanding) is a column of groups, no field of events: write (left|outstanding) without a function, and -g '' for the sum of all$"
	done
	# another thread has the address before the call that freed it returns
	cat >race.txt <<'END'
10 1000000000.001000 malloc(100) = 0x1000 <0.000010>
10 1000000000.002000 realloc(0x1000, 500 <unfinished ...>
10 1000000000.003000 <... realloc resumed>) = 0x2000 <0.001000>
END
	trdecode -q race.txt -o race.trs
	run -0 trstat -q --pair alloc -g '' -c outstanding,count -t tsv race.trs
	lines 'outstanding count' '500 1'
	sed -i '2s/$/\n10 1000000000.002500 malloc(7) = 0x1000 <0.000010>/; s/^10\( .*re\)/11\1/' race.txt
	trdecode -q race.txt -o race.trs
	run -0 trstat -q --pair alloc -g '' -c outstanding,count -t tsv race.trs
	lines 'outstanding count' '507 0'
}

@test "fs: calls with two paths or descriptors, and files that close_range closes" {
	cat >range.txt <<'END'
10 1000000000.001000 openat(AT_FDCWD, "/a", 0) = 3 <0.000010>
10 1000000000.001100 openat(AT_FDCWD, "/b", 0) = 4 <0.000010>
10 1000000000.001200 openat(AT_FDCWD, "/c", 0) = 5 <0.000010>
10 1000000000.001300 sendfile(4, 5, NULL, 1) = 1 <0.000010>
10 1000000000.001400 mmap(NULL, 100, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f000 <0.000010>
10 1000000000.001500 mmap(NULL, 100, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f000 <0.000010>
10 1000000000.001600 close_range(3, 5, CLOSE_RANGE_CLOEXEC) = 0 <0.000010>
10 1000000000.001700 close_range(3, 4, 0) = 0 <0.000010>
10 1000000000.001800 read(3, "", 1) = -1 EBADF (Bad file descriptor) <0.000010>
10 1000000000.001900 read(4, "", 1) = -1 EBADF (Bad file descriptor) <0.000010>
10 1000000000.002000 read(5, "", 1) = 0 <0.000010>
10 1000000000.002100 close_range(3, 4294967295, 0) = 0 <0.000010>
10 1000000000.002200 read(5, "", 1) = -1 EBADF (Bad file descriptor) <0.000010>
10 1000000000.002300 renameat2(AT_FDCWD, "/d", AT_FDCWD, "/e", 0) = 0 <0.000010>
10 1000000000.002400 execve("/f", ["f"], 0x1) = 0 <0.000010>
END
	trdecode -q range.txt -o range.trs
	run -0 trstat -q --pair fs -g path,name -s path,name -c count -t csv range.trs
	assert_output 'path,name,count
/a,mmap,1
/a,openat,1
/b,openat,1
/c,openat,1
/c,read,1
/c,sendfile,1
/d,renameat2,1
/f,execve,1
,close_range,3
,read,3'
	# descriptors that no program has, and many calls
	awk 'BEGIN { print "10 1000.000000 openat(AT_FDCWD, \"/a\", 0) = 2147483646 <0.000001>"
		for (i = 1; i <= 2000; i++) printf "10 1000.%06d close_range(0, 4294967295, 0) = 0 <0.000000>\n", i }' >long.txt
	run -0 timeout 20 bash -c 'trdecode -q long.txt | trstat -q --pair fs -s count -c count -t csv'
	assert_line ,2000
}

@test "a lock's repeated beginning is a part of the first wait; frames of every interface; page faults by their function" {
	cat >lock.json <<'END'
	[{"ph":"i","name":"contention_begin","ts":1,"pid":1,"tid":1,"args":{"lock_addr":16,"flags":33}},
	{"ph":"i","name":"contention_begin","ts":2,"pid":1,"tid":2,"args":{"lock_addr":16,"flags":33}},
	{"ph":"i","name":"contention_begin","ts":4,"pid":1,"tid":1,"args":{"lock_addr":16,"flags":32}},
	{"ph":"i","name":"contention_end","ts":9,"pid":1,"tid":1,"args":{"lock_addr":16,"ret":0}},
	{"ph":"i","name":"contention_end","ts":12,"pid":1,"tid":2,"args":{"lock_addr":16,"ret":0}}]
END
	run -0 pipe "trdecode -q lock.json | trstat --pair lock -c count,total,max -t tsv"
	lines 'lock_addr count total max' '16 2 18000 10000'
	for call in glXSwapBuffers eglSwapBuffersWithDamageKHR vkQueuePresentKHR IDXGISwapChain4::Present1 IDirect3DDevice9::Present; do
		for ms in 0 16 33; do
			printf ',{"ph":"X","name":"%s","ts":%d,"dur":900,"pid":1,"tid":1}' $call $((1000 * ms))
		done | sed '1s/^,/[/' >frame.json
		echo ']' >>frame.json
		run -0 pipe "trdecode -q frame.json | trstat -q --pair frame -c count,min,max -t tsv"
		lines 'tid count min max' '1 2 16000000 17000000'
	done
	# frames of each thread, but the first
	assert_equal "$(trdecode "$DATA/apitrace/threads.trace" | trstat -q --pair frame -c count -t tsv | tail -n +2 | sort)" \
		"$(awk '/ eglSwapBuffers\(/ { n[substr($2, 2)]++ } END { for (t in n) print t "\t" n[t] - 1 }' "$DATA/apitrace/threads.txt" | sort)"
	# durations that the kernel printed
	cat >graph.txt <<'END'
# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
   10.000010 |   0)    ls-77     |   1.500 us    |  handle_mm_fault();
   10.000030 |   0)    ls-77     |               |  handle_mm_fault() {
   10.000031 |   0)    ls-77     |   0.500 us    |    __handle_mm_fault();
   10.000033 |   0)    ls-77     |   3.000 us    |  }
END
	run -0 pipe "trdecode -q graph.txt | trstat -q --pair fault -c count,total,max -t tsv"
	lines 'comm count total max' 'ls 2 4500 3000'
}

@test "tid and comm of the presets are those of the task that waited or ran" {
	for name in v6-sched-irq-timer s390x-v7-zstd-sched-syscalls; do
		trdecode -q "$RECORDED/trace-cmd/$name.dat" -o s.trs
		for preset in wakeup offcpu oncpu; do
			awk -v preset=$preset -v tasks=1 -f "$ROOT/t/tools/pairs.awk" "$RECORDED/trace-cmd/$name.raw.txt" |
				grep -v ^unmatched | cut -f 1-4 | sort >theirs
			trstat -q --pair $preset -g comm,tid -c count,total -t tsv s.trs | tail -n +2 | sort >ours
			diff theirs ours || fail "$name $preset"
			[ "$(wc -l <theirs)" -gt 5 ]
			run -3 trstat -q --pair $preset --fail-if \
				"$(awk -F '\t' 'NR == 1 { tid = $2 } $2 == tid { n += $3 } END { printf "count(tid == %d) == %d", tid, n }' ours)" s.trs
			# a summary has them too
			trstat -q --pair $preset -g comm,tid -c count,total --partial -o x.part s.trs
			trstat -q --merge -t tsv x.part | tail -n +2 | sort | diff ours -
		done
	done
	# the lane's thread is that of the event, which the prefixes name
	run -0 pipe "trstat -q --pair offcpu -g a.tid,tid -c count -t tsv s.trs | awk 'NR > 1 && \$1 != \$2'"
	assert_output ''
	run -0 pipe "trstat -q --pair wakeup -g b.tid,b.prev_pid -c count -t tsv s.trs | awk 'NR > 1 && \$1 != \$2'"
	assert_output ''
	# columns of fields are of the second event
	assert_equal "$(trstat -q --pair offcpu -c 'sum(b.prev_prio),uniq(b.next_pid)' -t tsv s.trs | tail -n +2)" \
		"$(trstat -q --pair offcpu -c 'sum(prev_prio),uniq(next_pid)' -t tsv s.trs | tail -n +2)"
}

@test "a pair in words: names, conditions, keys and fields" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	trstat -q --pair syscall -t tsv -c count,total,max s.trs >preset
	trstat -q --pair 'sys_enter->sys_exit on tid == tid && .id == .id' -g id -t tsv -c count,total,max s.trs | diff preset -
	trstat -q --pair 'type == "sys_enter" -> type =~ "^sys_exit$" on input == input && tid == tid && .id == .id' \
		-g .id -t csv -c count,total,max s.trs | tail -n +2 | tr , '\t' | diff <(tail -n +2 preset) -
	# without "on" both are of one thread
	run -0 pipe "trstat -q --pair 'sys_enter -> sys_exit' -t tsv -c count s.trs"
	lines count 450
	# a condition on one side; what only the beginning has is a key too
	run -0 pipe "trfilter 'type == \"sys_enter\" && id == 3' s.trs | trstat -q -t tsv -g '' -c count | tail -n 1"
	reads=$output
	run -0 trstat -q --pair 'type == "sys_enter" && id in {3, 99999} -> sys_exit' -t tsv -c count s.trs
	lines count "$reads"
	# functions by their enters
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
	run -0 trstat -q --pair 'malloc -> free' -t tsv -g tid -c count,total fib.trs
	assert_line --index 1 --regexp '^4125	1	[0-9]+$'
	assert_line --index 2 --regexp '^4126	1	[0-9]+$'
}

pairs_in_words() {
	L=$RECORDED/lttng-legacy/v2.5-15316ev-1cpu
	awk '/ kernel_0 kernel.syscall_entry / { split($1, t, "."); start = t[1] * 1000000000 + t[2] }
		/ kernel_0 kernel.syscall_exit / && start { split($1, t, "."); d = t[1] * 1000000000 + t[2] - start
			n++; sum += d; max = d > max ? d : max; start = 0 }
		END { printf "%d\t%.0f\t%.0f\n", n, sum, max }' "$L.expect.txt" >theirs
	trdecode --clock raw "$L" | trstat -q --pair 'syscall_entry -> syscall_exit on cpu == cpu' -t tsv -c count,total,max |
		tail -n 1 >ours
	# the reference rounds times
	paste theirs ours | awk '$1 != $4 || $2 - $5 > 2 || $5 - $2 > 2 || $3 - $6 > 1 || $6 - $3 > 1 { exit 1 }'
	run -0 pipe "trdecode '$L' | trstat -q --pair 'syscall_entry -> syscall_exit' -g syscall_id -s count -t tsv -n 1"
	assert_line --index 1 --regexp '^3	117	'
}

@test "a. and b.: keys of the first and of the second event" {
	T=$RECORDED/trace-cmd
	for name in s390x-v7-zstd-sched-syscalls v6-sched-irq-timer; do
		awk -v preset=sleep -f "$ROOT/t/tools/pairs.awk" "$T/$name.raw.txt" |
			grep -v ^unmatched | cut -f 1-3 | tr ',' '\t' | sort >theirs
		trdecode "$T/$name.dat" >s.trs
		[ "$(wc -l <theirs)" -gt 10 ]
		# a preset's own fields are those of the sleeper
		for keys in a.prev_comm,a.prev_state prev_comm,prev_state 'a.prev_comm|b.type,a.prev_state'; do
			trstat -q --pair offcpu -g "$keys" -t tsv -c count,total s.trs | tail -n +2 | sort | diff theirs - || fail "$keys"
		done
		assert_equal "$(trstat -q --pair offcpu -g next_comm,prev_state -t tsv s.trs | tail -n +2)" \
			"$(trstat -q --pair offcpu -g b.next_comm,a.prev_state -t tsv s.trs | tail -n +2)"
	done
	# in words: without a prefix a field of the first event, if it has the field
	pair='sched_switch -> sched_switch on a.prev_pid == b.next_pid'
	for both in 'prev_state a.prev_state' 'b.cpu cpu' 'b.time time' 'bucket(a.prev_prio,10) bucket(prev_prio,10)'; do
		assert_equal "$(trstat -q --pair "$pair" -g "${both% *}" -t tsv s.trs | tail -n +2)" \
			"$(trstat -q --pair "$pair" -g "${both#* }" -t tsv s.trs | tail -n +2)"
	done
	run -0 pipe "trstat -q --pair '$pair' -g a.time,time -c total -t tsv s.trs | awk 'NR > 1 && \$2 - \$1 != \$3'"
	assert_output ''
	run -0 pipe "trstat -q --pair '$pair' -g b.prev_state -t tsv s.trs | tail -n +2"
	refute_output "$(trstat -q --pair "$pair" -g prev_state -t tsv s.trs | tail -n +2)"
	# conditions and mistakes
	run -3 trstat -q --pair offcpu --fail-if 'count(a.prev_state == 1 && prev_comm == "work") == 25' s.trs
	run -0 trstat -q --pair offcpu --fail-if 'count(b.prev_state == 1 && prev_comm == "work") == 25' s.trs
	run -2 trstat --pair offcpu -g a.prev_stat s.trs
	assert_output --partial "no event has a field 'prev_stat'; did you mean 'prev_state'?"
	run -2 trstat --pair offcpu -g a.depth s.trs
	assert_output --partial 'pairs are not calls'
	assert_equal "$(trstat -q --pair "$pair" -g 'id|dur' -c count -t tsv s.trs | tail -n +2)" \
		"$(trstat -q --pair "$pair" -g dur -c count -t tsv s.trs | tail -n +2)"
	for wrong in 'b.prev_pid == next_pid' 'prev_pid == a.next_pid'; do
		run -2 trstat --pair "sched_switch -> sched_switch on $wrong" s.trs
		assert_output --partial "a key of the first event belongs before '==' in the pair"
	done
}

@test "views and columns of pairs" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	run -0 trstat -q --pair syscall --hist -g '' s.trs
	assert_line --index 0 --regexp '^dur, count 435, p50 [0-9.]+ us'
	run -0 trstat -q --pair syscall --timeline 10ms -c count s.trs
	assert_line --index 0 --partial '10.000 ms a bar'
	run -0 trstat -q --pair syscall -g 'log2(dur)' -c count -t tsv s.trs
	run -0 trstat -q --pair wakeup -t json s.trs
	run -0 pipe "trstat -q --pair wakeup -t json s.trs | jq -e '.[0].p99 >= .[0].p50'"
}

@test "preset syscall: events of single system calls, and those of all beside them" {
	T=$RECORDED/trace-cmd
	same syscall "$T/v7-zstd-syscalls-all.dat" "$T/v7-zstd-syscalls-all.raw.txt"
	[ "$(wc -l <ours)" -gt 10 ]
	grep -q '^write	' ours
}

@test "preset syscall: perf's events of single system calls have their names, not those of functions" {
	# three calls from three places, each with the address of the program as perf script prints it
	for i in 1 2 3; do
		printf 'ls 7 [000] 1.0000%d0: syscalls:sys_enter_openat: dfd: 0x0\n\t7f%d0 [unknown] (/m.so)\n\n' $i $i
		printf 'ls 7 [000] 1.0000%d%d: syscalls:sys_exit_openat: 0x3\n\t7f%d0 [unknown] (/m.so)\n\n' $i $i $i
	done | trdecode -f perf-script -o places.trs
	for options in '' '-g name'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr trstat --pair syscall $options -c count,total -t tsv places.trs
		[[ ${lines[1]} == $'openat\t3\t6000' && ${#lines[@]} = 2 ]]
		assert_equal "$stderr" ''
	done
	trstat -q --pair syscall -c count,total --partial places.trs | trstat -q --merge -t tsv | grep -qx $'openat\t3\t6000'
	# the names of another pair are those of functions
	run -0 trstat -q --pair 'type =~ "^sys_enter" -> type =~ "^sys_exit" on tid == tid' -g name -c count -t tsv places.trs
	assert_equal "${lines[1]}" $'[m.so]\t3'
}

@test "preset syscall: text has the pairs of the trace.dat, also without numbers of system calls" {
	T=$RECORDED/trace-cmd/v7-zstd-syscalls-all
	for file in "$T.dat" "$T.report.txt"; do
		trdecode -q "$file" | trstat -q --pair syscall -c count -t tsv | tail -n +2 | sort >"${file##*.}"
	done
	diff dat txt
	[ "$(wc -l <txt)" -gt 10 ]
	# as the kernel prints them
	cat >x.txt <<-'END'
		# tracer: nop
		            bash-100     [001] ..... 10.000100: sys_openat(dfd: 0xffffff9c, filename: 0x5629d97fb790, flags: 0x241, mode: 0x1b6)
		            bash-100     [001] ..... 10.000150: sys_openat -> 0x3
		            bash-100     [001] ..... 10.000200: sys_read(fd: 3, buf: 0x17cc95c0, count: 0x11b0)
		            bash-100     [001] ..... 10.000290: sys_read -> 0x11b0
	END
	run -0 pipe "trdecode x.txt | trstat --pair syscall -c total -t tsv"
	lines 'id total' 'read 90000' 'openat 50000'
}

@test "--slowest lists the longest pairs with both events, --unpaired the beginnings without an end" {
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	trdecode "$T.dat" >s.trs
	for preset in wakeup oncpu offcpu; do
		for n in 1 7 100000; do
			awk -v preset=$preset -v list=pairs -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" |
				sort -k 1,1nr -k 3,3n | cut -f 1-3 | awk -v n=$n 'NR <= n' >theirs
			trstat -q --pair $preset --slowest $n -t tsv s.trs | tail -n +2 | cut -f 1,2,9 | diff theirs - || fail "$preset $n"
		done
		awk -v preset=$preset -v list=unpaired -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" | sort -n >theirs
		[ -s theirs ] || [ $preset = wakeup ]
		trstat -q --pair $preset --unpaired -t tsv s.trs | tail -n +2 | cut -f 1 | diff theirs - || fail "$preset"
	done
	run -0 trstat -q --pair offcpu --slowest 1 s.trs
	assert_line --index 0 --regexp '^[0-9.]+ ms$'
	assert_line --index 1 --regexp '^    [0-9]+\.[0-9]{9}  sched_switch\(prev_comm="[^"]*", .*\), thread [0-9]+ .*, cpu [0-9]$'
	assert_line --index 2 --regexp '^    [0-9]+\.[0-9]{9}  sched_switch\(prev_comm='
	run -0 pipe "trstat -q --pair offcpu --slowest 1 -t json s.trs | jq -c '.[0] | [.[\"b.time\"] - .[\"a.time\"] - .dur, .[\"a.name\"]]'"
	assert_output '[0,"sched_switch"]'
	run -0 trstat -q --pair offcpu --unpaired -n 1 s.trs
	assert_output --regexp '^39\.564887029  sched_switch\(prev_comm="khugepaged", prev_pid=36, .*, thread 36 khugepaged, cpu 1$'
	run -3 trstat -q --pair wakeup --slowest 1 --fail-if 'count > 10' s.trs
	# two streams: pairs end with theirs
	run -0 pipe "trstat -q --pair offcpu --unpaired -t tsv s.trs s.trs | wc -l"
	assert_output "$((2 * $(trstat -q --pair offcpu --unpaired -t tsv s.trs | tail -n +2 | wc -l) + 1))"
	for wrong in '--unpaired' '--pair wakeup --slowest 1 --partial' '--pair wakeup --unpaired --partial' \
		'--pair wakeup --unpaired -g cpu' '--pair wakeup --slowest 1 -n 3' '--pair wakeup --unpaired -t prom' \
		'--pair wakeup --unpaired -i 1'; do
		# shellcheck disable=SC2086
		run -2 trstat $wrong s.trs
		assert_line --index 0 --partial ' go'
	done
}

@test "first A -> B: a repeated A is a part of the first one" {
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	trdecode "$T.dat" >s.trs
	raises='softirq_raise -> softirq_entry on cpu == cpu && .vec == .vec'
	awk -v preset=raise -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" | grep -v '^unmatched' | cut -f 1-5 |
		sed 's/^1\t/TIMER\t/; s/^7\t/SCHED\t/; s/^9\t/RCU\t/' | sort >theirs
	trstat -q --pair " first $raises" -g vec -c count,total,min,max -t tsv s.trs | sed 1d | sort | diff theirs -
	trstat -q --pair 'first (type == "softirq_raise") -> type == "softirq_entry" on cpu == cpu && .vec == .vec' \
		-g vec -c count,total,min,max -t tsv s.trs | sed 1d | sort | diff theirs -
	trstat -q --pair "$raises" -g vec -c count,total,min,max -t tsv s.trs | sed 1d | sort | run -1 diff -q theirs -
	# a function, a field and a type of that name
	trdecode -q - -o first.trs <<<'[{"ph":"X","name":"first","ts":1,"dur":1,"pid":1,"tid":1,"args":{"first":3}},
		{"ph":"X","name":"first","ts":5,"dur":1,"pid":1,"tid":1,"args":{"first":4}},{"ph":"X","name":"b","ts":9,"dur":1,"pid":1,"tid":1}]'
	for pair in 'first -> b' 'first == 4 -> b' 'first in {4} -> b' 'first > 3 || first != 3 -> b'; do
		assert_equal "$pair $(trstat -q --pair "$pair" -c total -t csv first.trs | tail -n 1)" "$pair 4000"
	done
	assert_equal "$(trstat -q --pair 'first first -> b' -c total -t csv first.trs | tail -n 1)" 8000
	run -2 errors trstat --pair 'first first -> b' --partial first.trs
	assert_output --partial 'do not go with --partial'
}

@test "--where leaves out pairs: tables, buckets, lists and alarms are those of the others" {
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	trdecode "$T.dat" >s.trs
	for preset in wakeup oncpu offcpu; do
		# the pairs of one CPU that took longer
		awk -v preset=$preset -v list=pairs -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" | awk '$1 > 100000 && $4 == 1' |
			sort -k 1,1nr -k 3,3n >theirs
		[ "$(wc -l <theirs)" -gt 2 ]
		trstat -q --pair $preset --where 'dur > 100us && cpu == 1' --slowest 100000 -t tsv s.trs | sed 1d |
			cut -f 1,2,9,13 | diff theirs - || fail $preset
		sums=$(awk -v OFS='\t' '{ n++; t += $1 } END { print n, t, t }' theirs)
		assert_equal "$(trstat -q --pair $preset --where 'dur > 100us && cpu == 1' -g '' -c count,total,busy -t tsv s.trs | sed 1d)" "$sums"
		run -3 errors trstat -q --pair $preset --where 'dur > 100us' --fail-if 'count(cpu == 1) > 0' s.trs
		assert_output --partial "is true: ${sums%%[[:space:]]*}"
	done
	# keys of the first event and of the waking event, and states, as with -g; those left out are the rest
	for key in a.prev_state w.comm b.cpu comm 'bucket(runnable,1us)'; do
		trstat -q --pair offcpu -g "$key,tid" -c count,total,runnable -t csv s.trs | sed 1d | sort >all
		value=$(head -n 1 all | cut -d , -f 1)
		case $key in
		bucket*) condition="runnable >= ${value}ns && runnable < $((value + 1000))ns" ;;
		*comm) condition="${value:+$key == \"$value\"}" ;;
		*) condition="$key == $value" ;;
		esac
		condition=${condition:-!has($key)}
		trstat -q --pair offcpu -g "$key,tid" --where "$condition" -c count,total,runnable -t csv s.trs | sed 1d | sort >some
		trstat -q --pair offcpu -g "$key,tid" --where "!($condition)" -c count,total,runnable -t csv s.trs | sed 1d | sort >others
		[[ -s some && -s others ]]
		grep "^$value," all | diff - some || fail "$key"
		sort some others | diff all - || fail "$key"
	done
	run -0 pipefail "trdecode -q '$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat' -o x.trs; trstat -q -g '' -c count -t csv --pair syscall --where 'ret < 0' x.trs | tail -n 1"
	assert_output "$(trfilter -q -c 'type == "sys_exit" && ret < 0' x.trs)"
	for wrong in '--where depth>1|pairs are not calls' '--where "prev_stat == S"|no event has a field' '--where "dur > 5"|a time needs a unit' \
		'--where cpu==1 --partial|does not go with --partial' '--where cpu==1 --unpaired|does not go with --unpaired' \
		'--where cpu==1 --since +1ms --slowest 1|does not go with --slowest'; do
		run -2 errors eval "trstat --pair offcpu ${wrong%|*} s.trs"
		assert_output --partial "${wrong#*|}"
	done
}

@test "a condition on a function is of enters, and lists of pairs name enters and leaves" {
	trdecode "$DATA/apitrace/threads.trace" -o s.trs
	# "138 @2 eglSwapBuffers(...)": frames of each thread, but the first
	theirs=$(sed -n 's/^[0-9]* @\([0-9]*\) eglSwapBuffers(.*/\1/p' "$DATA/apitrace/threads.txt" | awk 'n[$1]++ { pairs++ } END { print pairs }')
	[ "$theirs" -gt 20 ]
	for pair in 'class == "frame" -> class == "frame"' 'name == "eglSwapBuffers" -> class == "frame"' 'name =~ "^eglSwap" && tid > 0 -> eglSwapBuffers'; do
		run -0 trstat -q --pair "$pair" -c count -t csv s.trs
		assert_output "count
$theirs"
		assert_equal "$(trstat -q --pair "$pair" --slowest 100 s.trs)" "$(trstat -q --pair 'eglSwapBuffers -> eglSwapBuffers' --slowest 100 s.trs)"
	done
	run -0 trstat -q --pair 'class == "frame" -> class == "frame"' --slowest 1 s.trs
	assert_line --index 1 --regexp '^    [0-9]+  enter eglSwapBuffers\(dpy=0x[0-9a-f]+, surface=0x[0-9a-f]+\), thread 1$'
	# conditions that name the end, its type or its value
	for leave in 'kind == leave' 'kind != enter && tid > 0' 'has(ret)'; do
		run -0 trstat -q --pair "class == \"frame\" -> class == \"frame\" && $leave" --slowest 1 s.trs
		assert_line --index 1 --regexp '^    [0-9]+  enter eglSwapBuffers\(dpy'
		assert_line --index 2 --regexp '^    [0-9]+  leave eglSwapBuffers\(ret=EGL_TRUE\), thread'
	done
	run -0 trstat -q --pair 'kind == leave -> name == "nothing"' --unpaired -n 1 s.trs
	assert_output --regexp '^[0-9]+  leave [a-zA-Z]+\(.*\), thread'
}

@test "columns of fields are those of the second event, as a model of the lines has them" {
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	trdecode "$T.dat" >s.trs
	awk -v OFS='\t' 'function value(name) {
			return match($0, " " name "=[^ ]*") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : ""
		}
		/ sched_wakeup: / { open[value("pid")] = 1 }
		/ sched_switch: / && value("next_pid") in open {
			delete open[value("next_pid")]
			comm = value("next_comm")
			prio = value("prev_prio") + 0
			count[comm]++
			sum[comm] += value("prev_pid")
			if (!(comm in least) || prio < least[comm])
				least[comm] = prio
			if (prio > most[comm])
				most[comm] = prio
			if (!seen[comm, value("prev_pid")]++)
				uniq[comm]++
		}
		END { for (comm in count) print comm, count[comm], sum[comm], least[comm], most[comm], uniq[comm] }' "$T.raw.txt" | sort >theirs
	[ "$(wc -l <theirs)" -gt 4 ]
	pair='sched_wakeup -> sched_switch on .pid == .next_pid'
	for b in '' b.; do
		trstat -q --pair "$pair" -g b.next_comm -t tsv s.trs \
			-c "count,sum(${b}prev_pid),min(${b}prev_prio),max(${b}prev_prio),uniq(${b}prev_pid)" | tail -n +2 | sort | diff theirs -
	done
	# a field of the first event is a key only
	run -2 trstat --pair "$pair" -c 'sum(a.prio)' s.trs
	assert_output --partial 'columns of pairs take fields of the second event'
}

@test "busy and util: each bucket of time has its part of a pair" {
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	trdecode "$T.dat" >s.trs
	# the first and the last event, ns
	read -r first last <<<"$(sed -nE 's/^.*\[[0-9]+\] +([0-9]+)\.([0-9]{9}): .*/\1\2/p' "$T.raw.txt" | sed -n '1p; $p' | xargs)"
	# since: of pairs that begin before, only what is after
	for range in "1 0" "10 0" "1000 0" "10 39512345678"; do
		read -r width since <<<"$range"
		((from = since ? since : first))
		awk -v preset=oncpu -v list=pairs -f "$ROOT/t/tools/pairs.awk" "$T.raw.txt" |
			awk -F '\t' -v w=${width}000000 -v first="$from" -v last="$last" '$3 >= first {
				cpu = $4
				cpus[cpu]
				count[cpu, $3 - $3 % w]++
				for (a = $2 < first ? first : $2; a < $3; a = b) {
					b = a - a % w + w
					b = b > $3 ? $3 : b
					busy[cpu, a - a % w] += b - a
				} }
				END { for (cpu in cpus) for (t = first - first % w; t < last; t += w) {
					covered = (t + w < last ? t + w : last) - (t > first ? t : first)
					printf "%d\t%.0f\t%d\t%.0f\t%.6f\n", cpu, t, count[cpu, t], busy[cpu, t], busy[cpu, t] * 100 / covered
				} }' | sort >theirs
		trstat -q --pair oncpu -g "cpu,bucket(time,${width}ms)" -c count,busy,util --since "${since}ns" -t tsv s.trs |
			tail -n +2 | sort >ours
		cut -f 1-4 ours | diff <(cut -f 1-4 theirs) - >differences || fail "$width ms: $(head differences)"
		run -0 awk -F '\t' '{ d = $5 - $10 } d > 0.00051 || d < -0.00051' <(paste ours theirs)
		assert_output ''
		[ "$(wc -l <theirs)" -gt 3 ]
	done
	# a group without pairs in a bucket is 0 %, up to 65536 rows in all; summaries too
	run -0 grep -c $'\t0\t0.000$' <(trstat -q --pair oncpu -g "cpu,bucket(time,1ms)" -c count,util -t tsv s.trs)
	[ "$output" -gt 10 ]
	trstat -q --pair oncpu -g "cpu,bucket(time,1ms)" -c count,util,busy --partial -o x.part s.trs
	run -0 diff <(trstat -q --merge -t tsv x.part) <(trstat -q --pair oncpu -g "cpu,bucket(time,1ms)" -c count,util,busy -t tsv s.trs)
	run -0 --separate-stderr trstat --pair oncpu -g "cpu,bucket(time,10us)" -c util -t tsv s.trs
	assert_equal "$(grep rows <<<"$stderr")" 'trstat: more than 65536 rows: buckets without pairs are left out; use wider buckets'
	# without buckets: of the whole run
	run -0 pipe "trstat -q --pair oncpu -g cpu -c busy,total,util -t tsv s.trs | awk 'NR > 1 && (\$2 != \$3 || \$4 > 100 || \$4 < 20)'"
	assert_output ''
	run -0 pipe "trstat -q --pair oncpu -g cpu -c util s.trs | tail -n 1"
	assert_output --regexp '^59\.072 %    0$'
	run -0 pipe "trstat -q --pair oncpu -g cpu --timeline 10ms -c util s.trs | tail -n 1"
	assert_output --regexp '^ +59\.072 %  .*  0$'
	run -3 trstat --pair oncpu --fail-if 'util(cpu == 0) > 59' s.trs
	run -3 trstat --pair oncpu --fail-if 'util(cpu == 0) > 59%' s.trs
	run -0 trstat --pair oncpu --fail-if 'util(cpu == 0) > 59.1%' s.trs
	run -3 trstat --pair oncpu --fail-if 'util(cpu == 0) > 59.0%' s.trs
	assert_output --partial 'is true: 59.072 %'
	for wrong in '-c busy' '-s util' '-i 1ms --pair oncpu -c util' '--fail-if util>1' '--pair oncpu -g bucket(time,100ns) -c util'; do
		# shellcheck disable=SC2086
		run -2 trstat $wrong s.trs
	done
	assert_output 'trstat: pairs cover more than 2097152 buckets of time: use wider ones'
}

@test "a pair that no event ends says what it looked for" {
	run pipefail "trdecode '$DATA/uftrace/fib' | trstat --pair syscall 2>&1 >/dev/null"
	assert_line 'trstat: no pair of syscall: the trace has no sys_enter and no sys_exit'
	run pipefail "trdecode '$DATA/uftrace/fib' | trstat --pair wakeup 2>&1 >/dev/null"
	assert_line 'trstat: no pair of wakeup: the trace has no sched_wakeup and no sched_switch'
	run pipefail "trdecode '$DATA/uftrace/fib' | trsym | trstat --pair 'main -> nothing' 2>&1 >/dev/null"
	assert_line 'trstat: no pair of main -> nothing: the trace has no nothing'
}

@test "wrong pairs are named" {
	for pair in nothing 'a ->' '-> b' 'a -> b on .x' 'a -> b on == .y' 'a -> b on .x == .y z' 'x == -> b' 'x == 1 y -> b'; do
		run -2 trstat --pair "$pair" /dev/null
		assert_line --index 0 --partial 'trstat: '
	done
	run -2 trstat --pair nothing /dev/null
	assert_output --partial "one of wakeup offcpu oncpu syscall lock fault irq softirq block block-queue net net-receive frame fs alloc kmem pages"
	run -2 trstat --pair 'a -> b on .x == depth' /dev/null
	run -2 trstat --pair wakeup -g caller /dev/null
	assert_output --partial 'pairs are not calls'
}

@test "pairs of LTTng in words, and presets: its system calls, interrupts and softirqs" {
	need_shared lttng-legacy/v2.6-219558ev-2cpu
	pairs_in_words
	for trace in v2.6-219558ev-2cpu v2.5-15316ev-1cpu; do
		trdecode -q "$RECORDED/lttng-legacy/$trace" >all.trs 2>/dev/null || true
		for preset in syscall irq softirq; do
			# those that were left
			trfilter -q "type =~ '^${preset}_entry|^${preset}_exit'" all.trs |
				trfilter -q 'has(self)' | trstat -q -g name -c count,total,max -t tsv | sort >calls
			trstat -q --pair $preset -g name -c count,total,max -t tsv all.trs | sort >pairs
			diff calls pairs || fail "$trace $preset"
			[ "$(wc -l <pairs)" -gt 1 ]
		done
		for preset in wakeup offcpu block; do
			trstat -q --pair $preset -c count -t tsv all.trs | tail -n +2 >rows
			[ -s rows ] || [[ $trace == v2.5* ]] || fail "$trace $preset"
		done
		# how long a thread waited, by an independent script
		trfilter -q 'type in {sched_schedule}' all.trs | trencode -q -t ndjson |
			jq -r 'select(.type == "sched_schedule") | [.time, .args.prev_pid, .args.next_pid] | @tsv' |
			awk -F '\t' '{ if ($3 && ($3 in out)) { n[$3]++; if ($1 - out[$3] > max[$3]) max[$3] = $1 - out[$3]; delete out[$3] }
				if ($2) out[$2] = $1 }
				END { for (t in n) printf "%d\t%d\n", t, n[t] }' | sort >theirs
		trstat -q --pair offcpu -c count -t tsv all.trs | tail -n +2 | sort | diff theirs -
	done
}

@test "presets on the kernel's CTF: names of LTTng 2, contexts of the same name as fields" {
	for preset in wakeup offcpu; do
		trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >direct.trs
		trstat -q --pair $preset -t tsv direct.trs | sort >direct
		trencode -q -t ctf -o "$preset.ctf" direct.trs
		trdecode -q "$preset.ctf" | trstat -q --pair $preset -t tsv | sort | diff direct -
	done
	# as LTTng 2 has it: pids are called tid, a call for each system call
	cat >x.json <<<'[
	{"name": "sched_wakeup", "ph": "i", "ts": 1, "pid": 1, "tid": 1, "args": {"tid": 7}},
	{"name": "sched_switch", "ph": "i", "ts": 5, "pid": 1, "tid": 1, "args": {"prev_tid": 1, "next_tid": 7, "next_comm": "x"}},
	{"name": "block_rq_issue", "ph": "i", "ts": 6, "pid": 1, "tid": 7, "args": {"dev": 8, "sector": 99}},
	{"name": "block_rq_complete", "ph": "i", "ts": 8, "pid": 1, "tid": 1, "args": {"dev": 8, "sector": 99}},
	{"name": "sched_switch", "ph": "i", "ts": 9, "pid": 1, "tid": 7, "args": {"prev_tid": 7, "next_tid": 1, "next_comm": "y"}}]'
	trdecode -q x.json >x.trs
	run -0 trstat -q --pair wakeup -c count,total -t tsv x.trs
	lines 'next_comm count total' 'x 1 4000'
	run -0 trstat -q --pair offcpu -c count,total -t tsv x.trs
	lines 'next_comm count total' 'y 1 4000'
	run -0 trstat -q --pair block -c count,total -t tsv x.trs
	lines 'dev count total' '8 1 2000'
}

@test "A|B: of several keys the first that there is" {
	trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	run -0 trstat -q -g 'nothing|type' -c count -t tsv s.trs
	assert_line --index 0 "$(printf 'nothing\tcount')"
	assert_equal "$(tail -n +2 <<<"$output")" "$(trstat -q -g type -c count -t tsv s.trs | tail -n +2)"
	run -2 trstat -q -g 'x|stack' s.trs
	assert_line --index 0 --partial "'stack' cannot be an alternative of another key"
	run -2 trstat -q -g 'x|' s.trs
	assert_line --index 0 --partial 'no such key'
}

@test "a pair without events names a key that is not the event's field of that name" {
	cat >text <<-'END'
		# tracer: nop
		#
		          <idle>-0       [001] d..2. 10.000100: sched_wakeup: comm=wl pid=7 prio=120 target_cpu=001
		          <idle>-0       [001] d..2. 10.000200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=wl next_pid=7 next_prio=120
	END
	trdecode -q text >s.trs
	run -0 --separate-stderr trstat --pair 'sched_wakeup -> sched_switch on tid == next_pid && comm == next_comm' s.trs
	assert_regex "$stderr" 'no event ends a pair of .*: comm is the name of the thread that made the event; \.comm is the field'
	run -0 --separate-stderr trstat --pair 'sched_wakeup -> sched_switch on .pid == .next_pid && .comm == .next_comm' -c count -t tsv s.trs
	[ -z "$stderr" ]
	lines count 1
	run -0 --separate-stderr trstat --pair 'sched_wakeup -> sched_switch on .pid == .prev_pid' s.trs
	[[ $stderr != *'is the field'* ]]
	run -0 --separate-stderr trstat --pair 'type =~ "wakeup" -> sched_switch on pid == next_pid' s.trs
	assert_regex "$stderr" 'pid is the process that made the event; \.pid is the field'
}
