#!/usr/bin/env bats
# Logs of strace, ltrace and perf trace: calls, errors and durations by name as t/tools/strace.py and
# the table of strace -c count them. t/data/strace has logs of small.c with different options.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	LOGS=$DATA/strace
	cd "$BATS_TEST_TMPDIR" || return
}

# by_name FILE...: name, calls, errors, and the time of all calls in ns where all ended
by_name() {
	trdecode -q -o a.trs "$@"
	# signals and ends of processes are of other groups
	trstat -q -t tsv -g name,group -c count,total -s name a.trs | awk -F '\t' '$2 == "strace" || $2 == ""' >calls
	trstat -q -t tsv --where 'ret < 0 && ret > -4096' -g name -c count -s name a.trs >failed
	awk -F '\t' 'FILENAME == "failed" { errors[$1] = $2; next }
		{ print $1 "\t" $3 "\t" errors[$1] + 0 "\t" $4 }' failed calls
}

# expected FILE...: the same of the independent program; a call without a result has no time
expected() {
	python3 "$ROOT/t/tools/strace.py" "$@" | awk -F '\t' '{ print $1 "\t" $2 "\t" $4 "\t" $5 }'
}

# same FILE...: compare both. Times are compared where the log has them for all calls of a name.
same() {
	expected "$@" >want
	by_name "$@" >have
	awk -F '\t' 'FILENAME == "want" { timeless[$1] = $4 == "-"; next }
		timeless[$1] { $4 = "-" } { print $1 "\t" $2 "\t" $3 "\t" $4 }' want have | diff want -
}

@test "calls, errors and durations by name, of each set of options" {
	for log in f-ttt-T-y f-t-T f-yy-Y-ttt-T f-i-n-ttt-T f-k-ttt-T f-C-w-ttt-T f-ns; do
		same "$LOGS/$log.txt" || fail "$log"
		[ "$(awk -F '\t' '$4 > 0' want | wc -l)" -ge 5 ] || fail "$log: no durations"
	done
	for log in f f-tt f-t f-r f-stderr plain; do
		same "$LOGS/$log.txt" || fail "$log"
	done
	same "$LOGS"/ff/log.*
	trdecode -q "$LOGS/ff" | trstat -q -t tsv -g name -c count,total -s name >directory
	trstat -q -t tsv -g name -c count,total -s name a.trs | diff directory -
}

@test "the table of strace -C has the same calls, errors and times" {
	trdecode -q "$LOGS/f-C-w-ttt-T.txt" -o a.trs
	trstat -q -t tsv -g name -c count,total -s name a.trs >calls
	trstat -q -t tsv --where 'ret < 0 && ret > -4096' -g name -c count a.trs >failed
	# strace adds some ns to each call, and counts the time to the nearest us
	python3 "$ROOT/t/tools/strace.py" --table "$LOGS/f-C-w-ttt-T.txt" |
		awk -F '\t' -v OFS='\t' 'FILENAME == "calls" { n[$1] = $2; total[$1] = $3; next }
			FILENAME == "failed" { failed[$1] = $2; next }
			{ rows++; d = $4 * 1000 - total[$1] }
			$2 != n[$1] || $3 != failed[$1] + 0 || d < -1000 || d > 1000 * $2 { print; bad = 1 }
			END { exit bad || rows < 20 }' calls failed -
}

# errors FILE...: name, error, count of the calls that failed
errors() {
	trdecode -q "$@" | trstat -q --where 'ret < 0 && ret > -4096' -g name,ret.name -c count -t tsv | sed 1d | sort
}

@test "errors have their names: as lines have them, and in conditions" {
	for log in f-ttt-T-y f-tt f-t f-stderr f-C-w-ttt-T f-ns; do
		python3 "$ROOT/t/tools/strace.py" --errors "$LOGS/$log.txt" | sort >want
		[ "$(wc -l <want)" -ge 3 ]
		errors "$LOGS/$log.txt" | diff want - || fail "$log"
	done
	sed -nE 's/^.*(: |th\/[0-9]+ |small\/[0-9]+ )([a-z0-9_]+)\(.*\) += -1 (E[A-Z]+) .*/\2\t\3/p' "$LOGS/perf-trace.txt" |
		sort | uniq -c | awk -v OFS='\t' '{ print $2, $3, $1 }' >want
	[ "$(wc -l <want)" -eq 3 ]
	# perf does not know the number of one
	grep -q 'pause())  *= -1 (unknown) (INTERNAL ERROR: strerror_r(514,' "$LOGS/perf-trace.txt"
	awk '{ print } END { print "pause\tERESTARTNOHAND\t1" }' want | sort -o want
	errors "$LOGS/perf-trace.txt" | diff want -
	trdecode -q -o a.trs "$LOGS/f-ttt-T-y.txt"
	run -0 trstat -q -g name,ret -c count --where 'ret == ENOENT' -s name a.trs
	assert_output $'count  name    ret\n    1  execve  ENOENT\n    1  openat  ENOENT'
	run -0 trfilter -c 'ret in {ENOENT, EBADF}' a.trs
	assert_output 3
	run -3 trstat -q --fail-if 'count(ret == ENOENT) > 1' a.trs
	# system calls of ltrace return the number; an error without a name
	cat >x.txt <<-'END'
		7 1000000001.000000 SYS_openat(0xffffff9c, 0x7f5a, 0x80000, 0) = -2 <0.000001>
		7 1000000001.000010 access@SYS("/a", 04) = -13 <0.000001>
		7 1000000001.000020 strcmp("a", "b") = -2 <0.000001>
		7 1000000001.000030 open("/a", 0, 0) = -1 <0.000001>
		7 1000000001.000040 SYS_mmap(0, 8192, 3, 34) = 0x7f5af9949000 <0.000001>
		7 1000000001.000050 ioctl(3, 0x1234) = -1 (errno 2000) <0.000001>
	END
	run -0 pipe 'trdecode -q x.txt | trencode -q -t csv -c name,ret,ret.name'
	assert_output - <<-'END'
		name,ret,ret.name
		SYS_openat,-2,ENOENT
		access@SYS,-13,EACCES
		strcmp,-2,
		open,-1,
		SYS_mmap,0x7f5af9949000,
		ioctl,-2000,
	END
	# the names are known in a log without errors, too
	printf '7 1000000001.000000 close(3) = 0 <0.000001>\n' >good.txt
	run -0 pipe "trdecode -q good.txt | trfilter -c 'ret == ENOENT'"
	assert_output 0
	# in a trace of another system
	trencode -q -t trace-cmd -o a.dat a.trs
	run -0 pipe "trdecode -q a.dat | trencode -q -t csv -c args | grep -c '= -2'"
	assert_output 2
}

@test "without -T a call that returned at once has no duration" {
	trdecode -q "$LOGS/f-tt.txt" -o a.trs
	trstat -q -t tsv -g name,kind -c count,total a.trs >have
	assert_equal "$(grep '^brk' have)" $'brk\tinstant\t5\t'
	# the lines of an unfinished call and of its end have both times
	grep futex "$LOGS/f-tt.txt" | awk '{ split($2, t, ":"); us = t[3] * 1000000 }
		/unfinished/ { begin = us } /resumed/ { sum += us - begin } END { printf "%.0f\n", sum * 1000 }' >want
	[ "$(awk -F '\t' '$1 == "futex" && $2 == "call" { print $4 }' have)" -eq "$(cat want)" ]
	# whole seconds are no time of a call
	trdecode -q "$LOGS/f-t.txt" | trstat -q -t tsv -g kind -c count,total >have
	run ! grep '^call' have
	# without any time the order is that of the lines, and no call has a duration
	trdecode -q "$LOGS/f.txt" -o a.trs
	run -0 trstat -q -n 3 a.trs
	assert_line --index 0 --regexp '^count  name$'
	grep -q 'resumed>' "$LOGS/f.txt"
	run -0 trstat -q -g kind -c count,total -t tsv a.trs
	assert_output --regexp $'^kind\tcount\ttotal\ninstant\t[0-9]+\t$'
	# library calls have their callees there
	cat >nested.txt <<-'END'
		7 qsort(0x1, 2, 8, 0x2 <unfinished ...>
		7 strcmp("a", "b") = -1
		7 <... qsort resumed> ) = <void>
	END
	run -0 pipe 'trdecode -q nested.txt | trencode -q -t csv -c name,depth | sed 1d | sort'
	assert_output $'qsort,0\nstrcmp,1'
}

@test "-T without times: durations, and the order of the lines" {
	sed -E 's/^([0-9]+) [0-9.]+ /\1 /' "$LOGS/f-ttt-T-y.txt" >log
	same log
	[ "$(awk -F '\t' '$4 > 0' want | wc -l)" -ge 20 ]
	# also if the first call is one that is resumed
	printf '%s\n' '7 read(3,  <unfinished ...>' '8 close(4) = 0 <0.000002>' '7 <... read resumed>"a", 9) = 1 <0.000030>' \
		'8 close(5) = -1 EBADF (Bad file descriptor) <0.000001>' >log
	run -0 pipe 'trdecode -q log | trencode -q -t csv -c name,time,dur | sed 1d | sort'
	assert_output $'close,0,2000\nclose,30000,1000\nread,0,30000'
	run -0 trdecode --info log
	assert_line --regexp '^times +none$'
	assert_line --regexp '^durations +yes$'
}

@test "arguments have the names of the kernel; results, files, errors" {
	cat >x.txt <<-'END'
		1796024035.000001 openat(AT_FDCWD</home/a>, "/tmp/b\n\"c\"\1\x41", O_RDWR|O_CREAT, 0644) = 3</tmp/b<c>> <0.000010>
		1796024035.000021 openat2(5</d (x)>, "/none", {flags=O_RDONLY, mode=0}, 24) = -1 ENOENT (No such file or directory) <0.000001>
		1796024035.000031 poll([{fd=3</a>, events=POLLIN}, {fd=4}], 2, -1) = 1 ([{fd=3</a>, revents=POLLIN}]) <0.000002>
		1796024035.000041 write(1</dev/pts/0<char 136:0>>, "), 4) = 5 <0.1>"..., 300) = 300 <0.000003>
		1796024035.000051 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f30 <0.000004>
		1796024035.000061 sendto(3<TCP:[1.2.3.4:5->6.7.8.9:80]>, "x", 1, MSG_NOSIGNAL, NULL, 0) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.000005>
		1796024035.000071 clone(child_stack=NULL, flags=CLONE_VM|SIGCHLD, child_tidptr=0x10) = 77 <0.000006>
		1796024035.000081 execve("./th", ["./th"], 0x7ffe /* 37 vars */) = 0 <0.000007>
		1796024035.000091 syscall_0x1f4(0x1, 900719925474099, -7) = -1 ENOSYS (Function not implemented) <0.000008>
	END
	run -0 pipe "trdecode -q x.txt | trencode -q -t ndjson | jq -c '[.name, .dur, .args]'"
	assert_output - <<-'END'
		["openat",10000,{"dfd":"AT_FDCWD","dfd_path":"/home/a","filename":"/tmp/b\n\"c\"\u0001A","flags":"O_RDWR|O_CREAT","mode":"0644","ret":3,"ret_path":"/tmp/b<c>"}]
		["openat2",1000,{"dfd":5,"dfd_path":"/d (x)","filename":"/none","how":"{flags=O_RDONLY, mode=0}","usize":24,"ret":-2}]
		["poll",2000,{"ufds":"[{fd=3</a>, events=POLLIN}, {fd=4}]","nfds":2,"timeout_msecs":-1,"ret":1,"ret_text":"([{fd=3</a>, revents=POLLIN}])"}]
		["write",3000,{"fd":1,"fd_path":"/dev/pts/0<char 136:0>","buf":"), 4) = 5 <0.1>...","count":300,"ret":300}]
		["mmap",4000,{"addr":null,"len":8192,"prot":"PROT_READ","flags":"MAP_PRIVATE","fd":-1,"off":0,"ret":"0x7f30"}]
		["sendto",5000,{"fd":3,"fd_path":"TCP:[1.2.3.4:5->6.7.8.9:80]","buff":"x","len":1,"flags":"MSG_NOSIGNAL","addr":null,"addr_len":0,"ret":-512}]
		["clone",6000,{"child_stack":null,"flags":"CLONE_VM|SIGCHLD","child_tidptr":"0x10","ret":77}]
		["execve",7000,{"filename":"./th","argv":"[\"./th\"]","envp":"0x7ffe","ret":0}]
		["syscall_0x1f4",8000,{"arg1":"0x1","arg2":900719925474099,"arg3":-7,"ret":-38}]
	END
	run -0 pipe "trdecode -q x.txt | trfilter 'arg.fd_path =~ \"pts\" && ret == 300' | trstat -q -t tsv -g name -c count"
	assert_output $'name\tcount\nwrite\t1'
	# names of files and threads are escaped: octal, hexadecimal with -xx, and numbers with a comment with -X
	cat >x.txt <<-'END'
		7<a\74b\76 c> 1796055325.116 openat(AT_FDCWD</tmp>, "a>b \n\303\244", O_RDONLY) = 3</tmp/a\76b \n\303\244> <0.000009>
		7<a\74b\76 c> 1796055325.609 listen(4<UNIX-STREAM:[31538,"so>ck -> \303\244"]>, 1) = 0 <0.000006>
		7<\x61\x3c\x62\x3e\x20\x63> 1796055325.818 write(3<\x2f\x74\x6d\x70\x2f\x61\x3e\x62\x0a\xc3\xa4>(deleted), "\x78", 1) = 1 <0.000009>
		7<w\76 [x]\"\\> 1796055325.853 openat(-100 /* AT_FDCWD */</tmp/a, b>, "b", 0 /* O_RDONLY */) = 6</dev/null<char 1:3>> <0.000009>
		7<w\76 [x]\"\\> 1796055325.854 openat(-100</tmp/a, b>, "b", 0) = 6</b\x3e> <0.000009>
		7<w\76 [x]\"\\> 1796055325.855 clone3({flags=0} => {parent_tid=[8<w\76 [x]\"\\>]}, 88) = 8<w\76 [x]\"\\> <0.000050>
		8<w\76 [x]\"\\> 1796055325.857 kill(7<a, (b>, SIGKILL) = 0 <0.000050>
		9 1796055325.858 execve("\x2f\x74\x72\xc3\xa4", ["\x74"], 0x7ffe71e26c78 /* 37 vars */) = 0 <0.000112>
		9 1796055325.859 getppid() = 8<\x74> <0.000001>
	END
	run -0 pipe "trdecode -q x.txt | trencode -q -t ndjson | jq -c '[.tid, .comm, .name, .args]'"
	assert_output - <<-'END'
		[7,"a<b> c","openat",{"dfd":"AT_FDCWD","dfd_path":"/tmp","filename":"a>b \nä","flags":"O_RDONLY","ret":3,"ret_path":"/tmp/a>b \nä"}]
		[7,"a<b> c","listen",{"fd":4,"fd_path":"UNIX-STREAM:[31538,\"so>ck -> ä\"]","backlog":1,"ret":0}]
		[7,"a<b> c","write",{"fd":3,"fd_path":"/tmp/a>b\nä","buf":"x","count":1,"ret":1}]
		[7,"w> [x]\"\\","openat",{"dfd":-100,"dfd_path":"/tmp/a, b","filename":"b","flags":0,"ret":6,"ret_path":"/dev/null<char 1:3>"}]
		[7,"w> [x]\"\\","openat",{"dfd":-100,"dfd_path":"/tmp/a, b","filename":"b","flags":0,"ret":6,"ret_path":"/b>"}]
		[7,"w> [x]\"\\","clone3",{"uargs":"{flags=0} => {parent_tid=[8<w\\76 [x]\\\"\\\\>]}","size":88,"ret":8}]
		[8,"w> [x]\"\\","kill",{"pid":7,"sig":"SIGKILL","ret":0}]
		[9,null,"execve",{"filename":"/trä","argv":"[\"\\x74\"]","envp":"0x7ffe71e26c78","ret":0}]
		[9,"trä","getppid",{"ret":8}]
	END
}

@test "text of the program in a line of strace, on a terminal" {
	cat >x.txt <<-'END'
		hello
		execve("./th", ["./th"], 0x7ffe /* 37 vars */) = 0
		write(1, "a\nb = 3\n", 8a
		b = 3
		)               = 8
		write(2, "x", 1x)                        = 1
		clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLDstrace: Process 78 attached
		, child_tidptr=0x10) = 78
		[pid    77] wait4(78,  <unfinished ...>
		some text[pid    78] close(9)                    = -1 EBADF (Bad file descriptor)
		[pid    78] write(1, "q\n", 2q
		 <unfinished ...>
		[pid    77] <... wait4 resumed>NULL, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
		[pid    78] <... write resumed>)           = 2
		[pid    78] write(2, "hello 1", 7hello 1 <unfinished ...>
		[pid    78] <... write resumed>)           = 7
		[pid    78] prctl(PR_CAPBSET_READ, 1<<CAP_CHOWN) = 1
		[pid    78] exit_group(3)               = ?
		[pid    78] +++ exited with 3 +++
		getpid()                                = 77
		+++ exited with 0 +++
	END
	run -0 --separate-stderr trdecode -o a.trs x.txt
	assert_equal "$stderr" 'trdecode: x.txt: 2 lines of other programs, skipped
trdecode: x.txt: 4 calls with text of another program after a number, left out'
	# the first thread has the number that strace prints later, and the number is left out at the end
	run -0 pipe "trencode -q -t ndjson a.trs | jq -c '[.tid, .name, .args]' | sort"
	assert_output - <<-'END'
		[77,"clone",{"child_stack":null,"flags":"CLONE_CHILD_SETTID|SIGCHLD","child_tidptr":"0x10","ret":78}]
		[77,"execve",{"filename":"./th","argv":"[\"./th\"]","envp":"0x7ffe","ret":0}]
		[77,"exited",{"status":0}]
		[77,"getpid",{"ret":77}]
		[77,"wait4",{"upid":78,"stat_addr":null,"options":0,"ru":null,"ret":-512}]
		[77,"write",{"fd":1,"buf":"a\nb = 3\n","count":8,"ret":8}]
		[77,"write",{"fd":2,"buf":"x","count":1,"ret":1}]
		[78,"close",{"fd":9,"ret":-9}]
		[78,"exit_group",{"error_code":3}]
		[78,"exited",{"status":3}]
		[78,"prctl",{"option":"PR_CAPBSET_READ","arg2":"1<<CAP_CHOWN","ret":1}]
		[78,"write",{"fd":1,"buf":"q\n","count":2,"ret":2}]
		[78,"write",{"fd":2,"buf":"hello 1","count":7,"ret":7}]
	END
}

@test "text of another program between arguments; the lines of -z; numbers in the name of a log" {
	cat >log.35.txt <<-'END'
		1796034396.610684 wait4(-1, cat: /none: No such file or directory
		[{WIFEXITED(s) && WEXITSTATUS(s) == 1}], 0, NULL) = 16520 <0.000263>
		1796034396.611035 wait4(-1, 3
		[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 16521 <0.000394>
		1796034396.612277 vfork(strace: Process 15144 attached
		 <unfinished ...>
		[pid 15144] 1796034396.612324 close(3) = 0 <0.000004>
		[pid 15138] 1796034396.612418 <... vfork resumed>) = 15144 <0.000135>
	END
	run -0 --separate-stderr pipe "trdecode log.35.txt | trencode -q -t ndjson | jq -c '[.tid, .name, .dur, .args]'"
	assert_output - <<-'END'
		[15138,"wait4",263000,{"upid":-1,"stat_addr":"[{WIFEXITED(s) && WEXITSTATUS(s) == 1}]","options":0,"ru":null,"ret":16520}]
		[15138,"wait4",394000,{"upid":-1,"stat_addr":"[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]","options":0,"ru":null,"ret":16521}]
		[15144,"close",4000,{"fd":3,"ret":0}]
		[15138,"vfork",135000,{"ret":15144}]
	END
	assert_equal "$stderr" ''
	cat >z.txt <<-'END'
		7 1796034342.127702 read(3,  <unfinished ...>
		"", 4096)                               = 0 <0.000109>
		8 1796034342.127900 vfork( <unfinished ...>
		)                                       = 14102 <0.018558>
		7 1796034342.128000 close(3) = 0 <0.000001>
	END
	run -0 --separate-stderr pipe "trdecode z.txt | trencode -q -t ndjson | jq -c '[.tid, .name, .dur, .args]' | sort"
	assert_output - <<-'END'
		[7,"close",1000,{"fd":3,"ret":0}]
		[7,"read",109000,{"fd":3,"buf":"","count":4096,"ret":0}]
		[8,"vfork",18558000,{"ret":14102}]
	END
	assert_equal "$stderr" ''
	# the sum of the times of -r is not exact: a call ends after the next one began
	printf '%s\n' '7      0.000000 read(3, "", 1) = 0 <0.500000>' '7      0.490000 close(3) = 0 <0.000001>' >relative.txt
	run -0 --separate-stderr pipe 'trdecode relative.txt | trencode -t csv -c name,dur'
	assert_output $'name,dur\nread,500000000\nclose,1000'
	assert_equal "$stderr" ''
}

@test "times: over midnight, relative, the clock set back, whole seconds" {
	cat >midnight.txt <<-'END'
		7 23:59:59.900000 close(1) = 0 <0.000001>
		7 00:00:00.100000 close(2) = 0 <0.000001>
		7 23:00:00.000000 close(3) = 0 <0.000001>
		7 01:00:00.000000 close(4) = 0 <0.000001>
	END
	run -0 pipe 'trdecode -q midnight.txt | trencode -q -t csv -c time | sed 1d'
	assert_output $'86399900000000\n86400100000000\n169200000000000\n176400000000000'
	printf '%s\n' '7      0.000000 brk(NULL) = 0x1' '8      0.000392 brk(NULL) = 0x1' \
		'7      1.000008 brk(NULL) = 0x1' >relative.txt
	run -0 pipe 'trdecode -q relative.txt | trencode -q -t csv -c time | sed 1d'
	assert_output $'0\n392000\n1000400000'
	awk '{ sum += $2; print int(sum * 1000000 + 0.5) * 1000 }' "$LOGS/f-r.txt" >want
	trdecode -q "$LOGS/f-r.txt" | trencode -q -t csv -c time,type | sed 1d | cut -d, -f1 | sort -n >have
	# each line is the time of an event but unfinished ones, whose end has the time of their begin
	comm -13 <(sort -u want) <(sort -u have) | diff /dev/null -
	printf '%s\n' '7 1000000005.000000 read(3, "", 1) = 0 <0.500000>' '7 1000000001.000000 close(3) = 0 <0.000001>' >back.txt
	run -0 pipe 'trdecode -q back.txt | trencode -q -t csv -c time,dur | sed 1d'
	assert_output $'1000000005000000000,500000000\n1000000001000000000,1000'
	# calls of one second follow each other
	printf '%s\n' '7 10:00:00 close(3) = 0 <0.250000>' '7 10:00:00 read(4,  <unfinished ...>' \
		'8 10:00:00 close(4) = 0 <0.000001>' '7 10:00:01 <... read resumed>"", 9) = 0 <0.500000>' >second.txt
	run -0 pipe 'trdecode -q second.txt | trencode -q -t csv -c tid,name,time,dur | sed 1d | sort'
	assert_output $'7,close,36000000000000,250000000\n7,read,36000250000000,500000000\n8,close,36000000000000,1000'
	# lines without a time before the first one, and lines with times of another option
	printf '%s\n' '7 execve("/a", ["a"], 0x7f) = 0' '7 1000000001.000000 close(3) = 0 <0.000001>' \
		'7 10:00:00 close(4) = 0 <0.000002>' >mixed.txt
	run -0 --separate-stderr pipe 'trdecode mixed.txt | trencode -t csv -c name,time,dur | sed 1d'
	assert_output $'execve,1000000001000000000,\nclose,1000000001000000000,1000\nclose,1000000001000001000,2000'
	assert_equal "$stderr" 'trdecode: mixed.txt: 2 lines without a time in the form of the first: each has that of a line next to it'
	printf '1796024035 brk(NULL) = 0x1\n' >unix.txt
	run -0 pipe 'trdecode -q unix.txt | trencode -q -t csv -c time | sed 1d'
	assert_output 1796024035000000000
}

@test "stacks of -k, addresses of -i, numbers of -n" {
	python3 "$ROOT/t/tools/strace.py" --folded "$LOGS/f-k-ttt-T.txt" >want
	[ "$(wc -l <want)" -ge 8 ]
	trdecode -q "$LOGS/f-k-ttt-T.txt" | trencode -q -t folded | LC_ALL=C sort >have
	LC_ALL=C sort want | diff - have
	run -0 pipe "trdecode -q $LOGS/f-k-ttt-T.txt | trstat -q -t tsv -g name,module -c count --where 'name == \"kill\"'"
	assert_line $'kill\t\t2'
	sed -nE 's/^([0-9]+) .*\[ *([0-9]+)\] \[0*([0-9a-f]+)\] ([a-z0-9_]+)\(.*/\4 \2 0x\3/p' "$LOGS/f-i-n-ttt-T.txt" | sort >want
	trdecode -q "$LOGS/f-i-n-ttt-T.txt" | trencode -q -t ndjson |
		jq -r 'select(.args.nr and (.name | test("^(exited|killed|SIG.*)$") | not)) | "\(.name) \(.args.nr) \(.args.ip)"' | sort >have
	diff want have
}

@test "threads: names of -Y, of executed programs, and of children; signals and ends" {
	trdecode -q -o a.trs "$LOGS/f-yy-Y-ttt-T.txt"
	sed -nE 's/^([0-9]+)<([^>]*)> .*/\1\t\2/p' "$LOGS/f-yy-Y-ttt-T.txt" | sort -u >want
	trstat -q -t tsv -g tid,comm -c count a.trs | sed 1d | cut -f1,2 | sort -u | diff want -
	trdecode -q -o a.trs "$LOGS/f-ttt-T-y.txt"
	tid=$(awk '{ print $1; exit }' "$LOGS/f-ttt-T-y.txt")
	# two threads of the process, and two children
	trstat -q -t tsv -g tid,pid,comm -c count a.trs | sed 1d | cut -f1-3 | sort >have
	[ "$(awk -F '\t' -v p="$tid" '$2 == p && $3 == "small"' have | wc -l)" -eq 3 ]
	[ "$(awk -F '\t' '$1 == $2 && $3 == "small"' have | wc -l)" -eq 3 ]
	grep -oE -- '(--- SIG[A-Z0-9]+|\+\+\+ (exited with [0-9]+|killed by SIG[A-Z]+))' "$LOGS/f-ttt-T-y.txt" |
		sed -E 's/--- //; s/\+\+\+ //; s/ with / /; s/ by / /' | sort >want
	trencode -q -t ndjson a.trs | jq -r 'select(.name | test("SIG|exited|killed")) |
		if .name == "exited" then "exited \(.args.status)" elif .name == "killed" then "killed \(.args.signal)" else .name end' |
		sort | diff want -
	run -0 pipe "trfilter 'arg.si_code == \"CLD_KILLED\"' a.trs | trstat -q -t tsv -g name -c count"
	assert_output $'name\tcount\nSIGCHLD\t1'
	# a thread executes a program: it has the number of the process from there on
	cat >exec.txt <<-'END'
		7 1000000001.000000 pause( <unfinished ...>
		8 1000000001.000001 execve("/bin/true", ["true"], 0x7ffe /* 3 vars */ <unfinished ...>
		7 1000000001.000010 <... pause resumed>) = ?
		7 1000000001.000011 +++ superseded by execve in pid 8 +++
		7 1000000001.000012 <... execve resumed>) = 0 <0.000009>
		7 1000000001.000020 brk(NULL) = 0x1 <0.000001>
		7 1000000001.000030 +++ exited with 0 +++
	END
	run -0 --separate-stderr pipe 'trdecode exec.txt | trstat -t tsv -g name,kind,comm -c count,total'
	assert_equal "$stderr" ''
	assert_line $'execve\tcall\t\t1\t9000'
	assert_line $'brk\tcall\ttrue\t1\t1000'
	assert_line $'pause\tcall\t\t1\t10000'
}

@test "ltrace: library calls nest" {
	# calls, as their lines have them, and the sum of the durations
	sed -nE 's/^[0-9]+ [0-9.]+ ([a-z_]+)\(.*/\1/p' "$LOGS/ltrace.txt" | sort | uniq -c | awk '{ print $2 "\t" $1 }' >want
	trdecode -q -o a.trs "$LOGS/ltrace.txt"
	trstat -q -t tsv -g name -c count -s name --where 'group != "signal" && group != "process"' a.trs | sed 1d | sort | diff want -
	# fork returns in the child, too
	grep -v 'fork resumed.* = 0 ' "$LOGS/ltrace.txt" | grep -oE '<[0-9.]+>$' | tr -d '<>.' | awk '{ sum += $1 } END { print sum * 1000 }' >want
	# those that did not return have no duration
	trencode -q -t ndjson a.trs | jq -s 'map(select(.args.ret != null or .name == "usleep") | .dur // 0) | add' >have
	diff want have
	cat >nested.txt <<-'END'
		7 1000000001.000000 qsort(0x1, 2, 8, 0x2 <unfinished ...>
		7 1000000001.000010 strcmp("a", "b") = -1 <0.000005>
		7 1000000001.000020 libc.so.6->malloc(32) = 0x55 <0.000004>
		7 1000000001.000030 <... qsort resumed> ) = <void> <0.000031>
		7 1000000001.000040 putchar('(', 1) = 40 <0.000001>
	END
	run -0 pipe 'trdecode nested.txt | trencode -q -t csv -c name,depth,dur,self | sed 1d | sort'
	assert_output - <<-'END'
		libc.so.6->malloc,1,4000,4000
		putchar,0,1000,1000
		qsort,0,31000,22000
		strcmp,1,5000,5000
	END
	# messages of ltrace, in a call and between calls; other text is named for it
	cat >log <<-'END'
		7 1000000001.000000 read(3 <no return ...>
		8 1000000001.000010 unexpected breakpoint at 0x55b0c88e2305
		7 1000000002.004047 <... read resumed> error: maximum array length seems negative
		, "", 1)                                         = -1 <1.005389>
		text
		7 1000000002.006000 puts("a") = <void> <0.000001>
	END
	run -1 --separate-stderr trdecode -o a.trs log
	assert_equal "$stderr" "trdecode: log: 0x$(printf %x "$(sed -n '1,/^, /p' log | wc -c)"): not a line of ltrace
trdecode: log: 1 line of other programs, skipped"
	run -0 pipe "trencode -q -t ndjson a.trs 2>err | jq -c '[.name, .dur, .args]'"
	assert_output $'["read",1005389000,{"arg1":3,"arg2":"","arg3":1,"ret":-1}]\n["puts",1000,{"arg1":"a"}]'
	# the line that resumes a call lacks the library of -l
	printf '%s\n' 'a.out->waitpid(9, 0, 0 <unfinished ...>' '<... waitpid resumed> ) = 9' >log
	run -0 pipe "trdecode log | trencode -q -t ndjson | jq -c '[.name, .dur, .args]'"
	assert_output '["a.out->waitpid",1,{"arg1":9,"arg2":0,"arg3":0,"ret":9}]'
}

@test "ltrace -S: functions of libraries are calls, SYS_ are system calls; without times, too" {
	python3 "$ROOT/t/tools/strace.py" --ltrace "$LOGS/ltrace-S.txt" >want
	[ "$(wc -l <want)" -ge 30 ]
	trdecode -q -o a.trs "$LOGS/ltrace-S.txt"
	# -n 2 indents by the depth of the stack
	trstat -q -t tsv -g name,depth,kind -c count a.trs | awk -F '\t' -v OFS='\t' '$3 == "call" || $3 == "instant" {
		bad = $1 ~ /^SYS_/ ? $3 == "call" : $3 == "instant" && $1 !~ /^(SIG|exited)/; if (bad) exit 1
		if ($1 !~ /^(SIG|exited)/) print $1, 2 * $2, $4 }' | sort >have
	LC_ALL=C sort want | diff - <(LC_ALL=C sort have)
	run -0 pipe "trencode -q -t ndjson a.trs | jq -c 'select(.name | test(\"read\")) | [.name, .dur, .args]'"
	assert_output - <<-'END'
		["SYS_read",null,{"fd":3,"buf":"\u007fELF\u0002\u0001\u0001\u0003","count":832,"ret":832}]
		["SYS_pread",null,{"fd":3,"buf":"0x7ffd942207e0","count":784,"pos":64,"ret":784}]
		["SYS_pread",null,{"fd":3,"buf":"0x7ffd942206b0","count":784,"pos":64,"ret":784}]
		["SYS_read",null,{"fd":3,"buf":"vm\n","count":31,"ret":3}]
		["read",2,{"arg1":3,"arg2":"vm\n","arg3":31,"ret":3}]
	END
	assert_equal "$(errors "$LOGS/ltrace-S.txt" | grep SYS_)" $'SYS_access\tENOENT\t1\nSYS_openat\tENOENT\t1'
	# what only strace writes decides, in any line; a text in quotes does not
	printf '%s\n' 'cacheflush(1) = 0' 'read(3, "", 1) = 0' 'close(9) = -1 EBADF (Bad file descriptor)' >log
	run -0 pipe "trdecode log | trencode -q -t ndjson | jq -c '[.name, .args]' | grep read"
	assert_output '["read",{"fd":3,"buf":"","count":1,"ret":0}]'
	printf '%s\n' 'puts("a /* b") = 3' 'read(3, "", 1) = 0' >log
	run -0 pipe "trdecode log | trencode -q -t ndjson | jq -c '[.name, .args]' | grep read"
	assert_output '["read",{"arg1":3,"arg2":"","arg3":1,"ret":0}]'
	# with times, and in a pipe, the same
	run -0 pipe "trdecode -q $LOGS/ltrace.txt | trencode -q -t ndjson | jq -c 'select(.name == \"read\") | [.dur, .args]'"
	assert_output '[65000,{"arg1":3,"arg2":"vm\n","arg3":16,"ret":3}]'
	run -0 pipe "cat $LOGS/ltrace-S.txt | trdecode -q | trencode -q -t ndjson | jq -c 'select(.name == \"read\") | [.dur, .args]'"
	assert_output '[2,{"arg1":3,"arg2":"vm\n","arg3":31,"ret":3}]'
}

@test "perf trace: calls, durations, names of arguments, interrupted calls" {
	awk '/ms\): / { d = $0; sub(/^[^(]*\( */, "", d); sub(/ ms.*/, "", d)
			name = $0; sub(/^.*\[continued\]: /, "", name); sub(/^.*ms\): [^ ]* /, "", name); sub(/\(.*/, "", name)
			if (d + 0 < 1000000) { sum[name] += d * 1000; n[name]++ } }
		END { for (name in sum) printf "%s\t%d\t%.0f\n", name, n[name], sum[name] * 1000 }' "$LOGS/perf-trace.txt" | sort >want
	[ "$(wc -l <want)" -ge 15 ]
	trdecode -q -o a.trs "$LOGS/perf-trace.txt"
	trencode -q -t ndjson a.trs | jq -r 'select(.dur and .args.ret != null) | [.name, .dur] | @tsv' |
		awk -F '\t' '{ sum[$1] += $2; n[$1]++ } END { for (name in sum) print name "\t" n[name] "\t" sum[name] }' | sort | diff want -
	run -0 pipe "trencode -q -t ndjson a.trs | jq -c 'select(.name == \"write\") | [.comm, .args]'"
	assert_output '["small",{"fd":1,"fd_path":"/dev/null","buf":"0x48c02a","count":8,"ret":8}]'
}

@test "perf trace: tracepoints with their fields, faults of pages, stacks" {
	python3 "$ROOT/t/tools/strace.py" --events "$LOGS/perf-events.txt" >want
	[ "$(grep -c '"next_pid":[0-9]' want)" -ge 5 ]
	[ "$(grep -c 'fault.*"stack":\[".*"map"\|fault.*"map".*"stack":\["' want)" -ge 5 ]
	trdecode -o a.trs "$LOGS/perf-events.txt"
	trencode -q -t ndjson a.trs | jq -c 'select(.name | test("^sched_|fault")) | [.tid, .name, .args]' |
		sort | diff <(sort want) -
	run -0 pipe "trfilter 'group == \"sched\" && next_pid > 0' a.trs | trstat -q -t tsv -g name -c count"
	assert_output $'name\tcount\nsched_switch\t'"$(grep -c next_pid want)"
	# of the calls, too
	run -0 pipe 'trencode -q -t folded a.trs | LC_ALL=C sort'
	assert_line '__libc_start_call_main;clock_nanosleep@GLIBC_2.2.5;clock_nanosleep 1130000'
	assert_line '__libc_start_call_main;__GI___libc_write;write 22000'
	run -0 trdecode --info "$LOGS/perf-events.txt"
	assert_line --regexp "^events +$(wc -l <want)\$"
	assert_line --regexp '^stacks +yes$'
	# only tracepoints: no second column. A thread that has ended has no number. Text of libtraceevent.
	cat >log <<-'END'
		     0.000 (sd-pam)/71 sched:sched_waking(comm: "kworker/0:1", pid: 22 (kworker/0:1-ev), prio: 120)
		     0.017 kworker/0:1-ev/72 syscalls:sys_enter_write(fd: 1</dev/null>, buf: 0x55, count: 2)
		     3.150 :-1/-1 irq:irq_handler_entry(irq: 36, name: "virtio1-req.0")
		     4.000 73 sched:sched_stat_runtime(comm=Web Content pid=73 runtime=1382991 [ns])
		     5.000 73 sched:sched_switch(prev_comm=pf prev_state=D ==> next_comm=a b next_prio=120)
		     6.000 73 ftrace:print(text without fields)
	END
	trdecode -o a.trs log
	run -0 pipe "trencode -q -t ndjson a.trs | jq -c '[.time, .tid, .comm, .name, .args]'"
	assert_output - <<-'END'
		[0,71,"(sd-pam)","sched_waking",{"comm":"kworker/0:1","pid":22,"prio":120}]
		[17000,72,"kworker/0:1-ev","sys_enter_write",{"fd":1,"fd_path":"/dev/null","buf":"0x55","count":2}]
		[3150000,null,null,"irq_handler_entry",{"irq":36,"name":"virtio1-req.0"}]
		[4000000,73,null,"sched_stat_runtime",{"comm":"Web Content","pid":73,"runtime":1382991}]
		[5000000,73,null,"sched_switch",{"prev_comm":"pf","prev_state":"D","next_comm":"a b","next_prio":120}]
		[6000000,73,null,"print",{"message":"text without fields"}]
	END
	# the names of perf for the arguments of clone
	printf '%s\n' '     7.861 ( 1.592 ms): pf/94 clone(clone_flags: VM|THREAD, child_tidptr: 0x7f) = 97 (pf)' >log
	run -0 pipe "trdecode log | trencode -q -t ndjson | jq -c .args"
	assert_output '{"clone_flags":"VM|THREAD","child_tidptr":"0x7f","ret":97,"ret_text":"(pf)"}'
}

@test "perf trace: times from 100 s on have no blank before them" {
	for ((i = 1; i <= 200; i++)); do
		printf '%6d.000 ( 0.030 ms): app/77 read(fd: 3, buf: 0x1, count: 4)   = 4\n' $((i * 10000))
	done >long.txt
	run -0 pipe 'trdecode long.txt | trstat -q -t tsv -c count,total'
	assert_line $'read\t200\t6000000'
	# absolute times, of perf trace -T
	printf '%s\n' '         ? (         ): sleep/27801  ... [continued]: execve())    = 0' \
		'18484426.216 ( 0.020 ms): sleep/27801 brk()  = 0x5627b94a8000' \
		'18484426.863 (1886.025 ms): sleep/27801 wait4(upid: -1) = 9' >log
	run -0 pipe 'trdecode log | trencode -q -t csv -c time,name,dur,tid | sed 1d'
	assert_output - <<-'END'
		18484426216000,execve,,27801
		18484426216000,brk,20000,27801
		18484426863000,wait4,1886025000,27801
	END
	run -0 trdecode --info log
	assert_line --regexp '^times +since the start of perf trace, or of its clock with -T$'
	# a time in ms may also be of strace
	printf '1796034342.127 (+     0.001) read(3, "): ", 3) = 3 <0.000001>\n' >log
	trdecode log | trencode -q -t csv -c name,dur | grep '^read,1000$'
}

@test "a line of more than 16 MiB is left out, with its offset" {
	{
		echo '7 1796034342.127702 close(3) = 0 <0.000001>'
		printf '7 1796034342.127704 write(3, "'
		head -c 17000000 /dev/zero | tr '\0' x
		echo '", 17000000) = 17000000 <0.000001>'
		echo '7 1796034342.127709 close(4) = 0 <0.000001>'
	} >log
	run -1 trdecode -o a.trs log
	assert_output 'trdecode: log: 0x2c: a line of more than 16 MiB is left out'
	run -1 --separate-stderr trfilter -c 'name == "close"' a.trs
	assert_output 2
	# a call that does not end, of any size
	printf '7 1796034342.127704 write(3, "%2000000s\n7 1796034342.127709 close(4) = 0 <0.000001>\n' x >log
	run -1 trdecode -o a.trs log
	assert_output --partial 'log: 0x0: a call without its end'
}

@test "names of C++ of ltrace -C; data of strace -e read; perf trace --no-comm and -s" {
	cat >log <<-'END'
		7 1000000001.000000 std::ios_base::Init::Init()(0x55, 0xffff) = 0x7f <0.000288>
		7 1000000001.001000 std::basic_string<char, std::allocator<char> >::data() const(0x7f, "a)(") = 0x7f <0.000001>
		7 1000000001.002000 std::ostream::operator<<(std::ostream& (*)(std::ostream&))(0x56) = 0x56 <0.000002>
		7 1000000001.003000 std::f(int)(1 <unfinished ...>
		7 1000000001.004000 <... std::f(int) resumed> ) = 3 <0.001000>
		7 1000000001.005000 std::terminate(1) = 3 <0.000003>
	END
	trdecode -o a.trs log
	run -0 pipe 'trencode -q -t ndjson a.trs | jq -r "[.name, .dur, .args.arg1] | @tsv" | sort'
	assert_output - <<-'END'
		std::basic_string<char, std::allocator<char> >::data() const	1000	0x7f
		std::f(int)	1000000	1
		std::ios_base::Init::Init()	288000	0x55
		std::ostream::operator<<(std::ostream& (*)(std::ostream&))	2000	0x56
		std::terminate	3000	1
	END
	cat >log <<-'END'
		7 1000000001.000000 read(3, "\177ELF"..., 32) = 32 <0.000007>
		 | 00000  7f 45 4c 46 02 01 01 03  00 00 00 00 00 00 00 00  .ELF............ |
		 | 00010  03 00 3e 00 01 00 00 00  10 74 02 00 00 00 00 00  ..>......t...... |
		7 1000000001.000010 close(3) = 0 <0.000001>
	END
	run -0 trdecode -o a.trs log
	assert_output 'trdecode: log: 2 lines of data of -e read and -e write, skipped'
	run -0 trfilter -c 'group == "strace" && kind == "call"' a.trs
	assert_output 2
	printf '%s\n' '     0.077 ( 0.029 ms): 22752 brk()       = 0x561983acd000' \
		'     0.969 ( 0.034 ms): 22753 close(fd: 4)     = 0' >log
	run -0 pipe 'trdecode log | trencode -q -t csv -c tid,name,dur | tail -n 2'
	assert_output $'22752,brk,29000\n22753,close,34000'
	printf '\n Summary of events:\n\n thr (1), 2 events, 50.0%%\n\n   close   2  0  0.091\n' >log
	run -2 trdecode -o a.trs log
	assert_output --partial 'this is the summary of perf trace -s, not a log'
}

@test "the table of strace -c is no log; --info, --list, -f" {
	run -2 trdecode -o a.trs "$LOGS/f-c-w.txt"
	assert_output --partial 'this is the table of strace -c, not a log: record with strace -f -ttt -T -o FILE'
	# any columns of -U; after a log the table is no damage, and what follows it is no part of it
	for heading in 'syscall              calls    errors shortest  longest' '   errors     seconds syscall' syscall; do
		row="7 read"
		printf '%s\n' "$heading" '---------------- ---------' "$row" '---------------- ---------' 'total     1' >table
		run -2 trdecode -o a.trs table
		assert_output --partial 'this is the table of strace -c'
		printf '%s\n' '7 close(3) = 0' '' | cat - table >log
		run -0 trdecode -o a.trs log
		assert_output ''
		echo more >>log
		run trdecode -o a.trs log
		assert_output --partial '1 line of other programs'
	done
	printf '%s\n' 'System call usage summary for 64 bit mode:' >log
	cat "$LOGS/f-c-w.txt" >>log
	run -2 trdecode -o a.trs log
	assert_output --partial 'this is the table of strace -c'
	printf '%s\n' '% time     seconds  usecs/call     calls      function' '------ -----------' ' 74.23 1 waitpid' >log
	run -2 trdecode -o a.trs log
	assert_output --partial 'this is the table of ltrace -c, not a log: record with ltrace -f -ttt -T -o FILE'
	# a heading alone is text
	printf 'syscall\nx\n' >log
	run -2 trdecode -o a.trs log
	assert_output --partial 'not a trace of a known format'
	run -0 trdecode --info "$LOGS/f-ttt-T-y.txt"
	assert_line --regexp '^format +strace$'
	assert_line --regexp '^times +since 1970$'
	assert_line --regexp '^durations +yes$'
	assert_line --regexp '^threads +5$'
	assert_line --regexp "^calls +$(expected "$LOGS/f-ttt-T-y.txt" | awk -F '\t' '{ n += $2 } END { print n }')\$"
	run -0 trdecode --info "$LOGS/ff"
	assert_line --regexp '^logs +5$'
	run -0 trdecode --list "$LOGS/f-ttt-T-y.txt"
	assert_line --regexp '^ +2 .* instant +signal +SIGCHLD$'
	assert_line --regexp 'arg.filename +text +"./small"'
	# other text is none, unless -f says so
	printf 'int main(void)\n{\n\treturn f(1);\n}\n' >other
	run -2 trdecode -o a.trs other
	run -1 trdecode -f strace -o a.trs other
	# in a pipe the events of a line show before the next one comes
	run -0 timeout 3 head -n 1 < <({
		echo '1796024035.000001 brk(NULL) = 0x1 <0.000010>'
		sleep 6
	} | trdecode -q | trencode -q -t ndjson)
	assert_output --partial '"name":"brk"'
}

@test "damage: a log cut at any byte, and any changed byte" {
	head -c 1500 "$LOGS/f-ttt-T-y.txt" >log
	for ((n = 1; n < 1500; n += 7)); do
		head -c "$n" log >log.cut
		run trdecode -f strace -o a.trs log.cut
		[ "$status" -eq "$(tail -c 1 log.cut | grep -c .)" ] || fail "$n: status $status"
	done
	run -1 --separate-stderr trdecode -o a.trs log.cut
	assert_equal "$stderr" "trdecode: log.cut: 0x$(printf %x "$(head -c 1499 log | awk '{ at += length($0) + 1; last = length($0) + 1 } END { print at - last }')"): the last line is cut"
	# one changed character costs its line, and is reported
	sed '5s/^./x/; 9s/ = /   /' "$LOGS/f-ttt-T-y.txt" >changed
	run -1 --separate-stderr trdecode -o a.trs changed
	offset() { printf '0x%x' "$(head -n $(($1 - 1)) changed | wc -c)"; }
	assert_equal "$stderr" "trdecode: changed: $(offset 5): not a line of strace
trdecode: changed: $(offset 9): a call without its end: other text interrupts the line
trdecode: changed: 1 line of other programs, skipped"
	[ "$(trstat -q -t tsv -g name -c count a.trs 2>err | awk -F '\t' 'NR > 1 { n += $2 } END { print n }')" -eq \
		"$(($(trdecode -q "$LOGS/f-ttt-T-y.txt" | trstat -q -t tsv -g name -c count | awk -F '\t' 'NR > 1 { n += $2 } END { print n }') - 2))" ]
}

@test "logs of strace 4: blanks in marks, no numbers before names" {
	cat >x.txt <<-'END'
		[pid  7] 10:00:00.000001 read(3,  <unfinished ...>
		[pid  8] 10:00:00.000002 close(3)          = 0 <0.000001>
		[pid  7] 10:00:00.000003 <... read resumed> "abc", 10) = 3 <0.000002>
		[pid  7] 10:00:00.000010 --- {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8, si_status=0, si_utime=0, si_stime=0} (Child exited) ---
		[pid  7] 10:00:00.000011 --- SIGCHLD (Child exited) @ 0 (0) ---
		[pid  7] 10:00:00.000012 fcntl64(3, F_GETFL) = 0x2 (flags O_RDWR) <0.000001>
		Process 9 detached
	END
	run -0 --separate-stderr pipe "trdecode x.txt | trencode -q -t ndjson | jq -c '[.tid, .name, .dur, .args]' | sort"
	assert_output - <<-'END'
		[7,"SIGCHLD",null,null]
		[7,"SIGCHLD",null,{"si_signo":"SIGCHLD","si_code":"CLD_EXITED","si_pid":8,"si_status":0,"si_utime":0,"si_stime":0}]
		[7,"fcntl64",1000,{"fd":3,"cmd":"F_GETFL","ret":"0x2","ret_text":"(flags O_RDWR)"}]
		[7,"read",2000,{"fd":3,"buf":"abc","count":10,"ret":3}]
		[8,"close",1000,{"fd":3,"ret":0}]
	END
}

@test "a call in which its thread ended has an end, and no result" {
	cat >log <<-'END'
		7 1795835573.000010 read(0,  <unfinished ...>
		9 1795835573.000100 getpid() = 9 <0.000001>
		7 1795835573.000309 <... read resumed> <unfinished ...>) = ?
		7 1795835573.000310 +++ killed by SIGKILL +++
	END
	run -0 pipefail 'trdecode log | trstat -g name -c count,total -t csv'
	assert_line read,1,299000
}

@test "a duration that ends after the next call began is exact, and both are calls" {
	cat >log <<-'END'
		1 1700000000.000000 getppid() = 1 <0.000003>
		1 1700000000.000002 getuid() = 0 <0.000003>
		1 1700000000.000002 getgid() = 0 <0.000002>
		1 1700000000.000020 close(3) = 0 <0.000001>
	END
	run -0 --separate-stderr pipefail 'trdecode log | trstat -s name -c count,total -t csv'
	assert_output $'name,count,total\nclose,1,1000\ngetgid,1,2000\ngetppid,1,3000\ngetuid,1,3000'
	assert_equal "$stderr" ''
}

@test "a quoted line of a mail is no stack" {
	printf ' > "hello"\nmail\n' >mail
	run -2 trdecode mail
	assert_output --partial 'mail: not a trace of a known format'
}
