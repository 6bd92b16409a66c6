# trdecode on kernel trace text: trace-cmd report, tracefs, function_graph, systrace. The .dat beside a
# report is what its counts, threads, calls and times are compared with.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$RECORDED/trace-cmd
}

# table KEYS INPUT: counts of the events, and of the calls, of a trace
table() {
	trdecode -q "$2" | trsym -q >x.trs || return
	trstat -q -t csv -g "$1" -c count x.trs | sort
}

# both INPUT: its counts by type, CPU and thread, and by name and thread
both() {
	table type,cpu,tid "$1" && trstat -q -t csv -g name,tid -c count x.trs | sort
}

# same DAT TEXT: they have equal counts; those of one DAT are made once
same() {
	[[ ${dat_of_want-} == "$1" ]] || both "$1" >want || return
	dat_of_want=$1
	(($(wc -l <want) > 2)) || return
	both "$2" | diff want -
}

@test "reports have the events, threads and calls of their trace.dat" {
	for dat in "$T"/*.dat; do
		name=${dat%.dat}
		case $name in */bad-* | *latency) continue ;; esac
		for text in "$name".report.txt "$name".raw.txt; do
			[[ ! -e $text ]] || same "$dat" "$text" || fail "$text"
		done
	done
}

@test "each form of trace-cmd report has the events of the trace.dat" {
	need trace-cmd
	for dat in "$DATA"/trace-cmd/[sv]*.dat; do
		trace-cmd report -i "$dat" >/dev/null 2>&1 || continue
		for form in '' -R -N -t '-R -t' -l '-l -t' --ts-diff '-t --ts-diff'; do
			# shellcheck disable=SC2086
			trace-cmd report $form -i "$dat" >text 2>/dev/null
			same "$dat" text || fail "$dat $form"
		done
	done
}

@test "times of a report are those of the trace.dat" {
	for name in v6-date v6-sched-irq-timer v6-clock-boot; do
		trdecode -q "$T/$name.dat" | trstat -q -t csv -c first,last -g type | sort >want
		trdecode -q "$T/$name.raw.txt" | trstat -q -t csv -c first,last -g type | sort >have
		(($(wc -l <want) > 1))
		diff want have || fail "$name"
	done
}

@test "a latency trace has an event for each that its heading counts" {
	run -0 trdecode --info "$T/v6-latency.report.txt"
	assert_line --regexp '^ *events +463$'
	trdecode "$T/v6-latency.report.txt" | trstat -q -t csv -g type -c count | awk -F, 'NR > 1 { n += $2 } END { print n }' >n
	[[ $(<n) == 463 ]]
}

@test "a latency format: a long time follows the flags without a blank" {
	cat >x <<-'END'
		cpus=2
		trace-cm-246     0d.h..262300820541: softirq_raise:        vec=9 [action=RCU]
		    work-248     1d..2.        1234: softirq_entry:        vec=1 [action=TIMER]
		    work-248     1d..24262300820542: softirq_exit:         vec=1 [action=TIMER]
	END
	trdecode x | trencode -q -t ndjson | jq -c '[.time, .cpu, .comm, .type]' >have
	diff have - <<-'END'
		[262300820541,0,"trace-cm","softirq_raise"]
		[1234,1,"work","softirq_entry"]
		[262300820542,1,"work","softirq_exit"]
	END
}

@test "trace-cmd report -O depth: the calls of the trace.dat" {
	need trace-cmd
	for options in depth 'depth -O tailprint'; do
		# shellcheck disable=SC2086
		trace-cmd report -O $options -i "$T/v6-fgraph.dat" >text 2>/dev/null
		grep -q '{ (0)$' text
		same "$T/v6-fgraph.dat" text || fail "$options"
	done
}

# events INPUT: time, duration, CPU, thread, name and fields of each event
events() {
	trdecode "$1" | trencode -q -t ndjson | jq -Sc '[.time, .dur, .cpu, .tid, .name, .args]'
}

@test "function_graph with other columns: no CPU, no duration, relative times" {
	cat >x <<-'END'
		# tracer: function_graph
		               |  sys_open() {
		               |    do_sys_open() {
		   0.382 us    |      getname();
		 + 11.250 us   |    }
		 ! 120.000 us  |  }
	END
	events x | sort >have
	sort >want <<-'END'
		[0,11250,null,null,"do_sys_open",null]
		[0,120000,null,null,"sys_open",null]
		[0,382,null,null,"getname",null]
	END
	diff want have
	printf '%s\n' '# tracer: function_graph' ' 0) sys_open() {' ' 0)   do_sys_open() {' ' 0)     getname();' \
		' 0)   }' ' 0) }' >x
	trdecode x | trencode -q -t ndjson | jq -r '"\(.depth) \(.name)"' | sort >have
	printf '%s\n' '0 sys_open' '1 do_sys_open' '2 getname' | diff have -
	printf '%s\n' '# tracer: function_graph' '  5122 us |   1)   0.541 us    |  lock();' \
		'  5123 us |   1)  sh-48     | + 10.000 us    |  unlock();' >x
	events x >have
	diff have - <<-'END'
		[5122000,541,1,null,"lock",null]
		[5123000,10000,1,48,"unlock",null]
	END
	# the mark of more than a millisecond is no comment
	cat >x <<-'END'
		# tracer: function_graph
		# DURATION                  FUNCTION CALLS
		# 5.000 us: no call |
		#              |  no call {
		              |  open() {
		 # 1200.000 us |    wait();
		# 1300.000 us |  }
	END
	events x >have
	diff have - <<-'END'
		[0,1200000,null,null,"wait",null]
		[0,1300000,null,null,"open",null]
	END
}

@test "function_graph with each combination of columns" {
	run -0 "$ROOT/t/tools/graph_text.py" check
	refute_output
}

@test "function_graph: the name of a call that ends is that of its end, the first thread of a CPU that of its first switch" {
	cat >x <<-'END'
		# tracer: function_graph
		#
		# CPU  DURATION                  FUNCTION CALLS
		# |     |   |                     |   |   |   |
		 1)   1.500 us    |      }
		 1)   2.500 us    |    } /* outer */
		 1) ! 400.000 us  |  } /* top [ext4] ret=-22 */
		 1)               |  vfs_open() {
		 1)   1.000 us    |  } /* vfs_read */
		 1)               |  ext4_read [ext4]() {
		 ------------------------------------------
		 1)    cat-1234    =>     sh-1235
		 ------------------------------------------

		 1)   2.000 us    |      } /* schedule */
		 ------------------------------------------
		 1)     sh-1235    =>    cat-1234
		 ------------------------------------------

		 1)   3.000 us    |  } /* = 0x10 */
	END
	trdecode x | trsym >x.trs
	trencode -q -t ndjson x.trs | jq -c '[.tid, .depth, .name, .args.ret]' >have
	# two calls of the other thread never return
	diff - have <<-'END'
		[1234,2,"?",null]
		[1234,1,"outer",null]
		[1234,0,"top",-22]
		[1234,0,"vfs_read",null]
		[1235,2,"schedule",null]
		[1234,0,"ext4_read","0x10"]
		[1235,1,"<0>",null]
		[1235,0,"<0>",null]
	END
	trstat -q -t csv -g name,module -c count x.trs | grep ext4 | sort >have
	printf '%s\n' ext4_read,ext4,1 top,ext4,1 | diff - have
	# an event of another tracer
	cat >x <<-'END'
		# tracer: nop
		       swapper/0-1       [000] d..1.   363.079213:  0)   0.495 us    |              tboot_shutdown();
		       swapper/0-1       [000] d..1.   363.079230:  0)               |              acpi_reboot() {
		       swapper/0-1       [000] d..1.   363.079240:  0)   9.000 us    |              }
	END
	events x | grep -v '"<0>"' >have
	diff - have <<-'END'
		[363079213000,495,0,1,"tboot_shutdown",null]
		[363079230000,10000,0,1,"acpi_reboot",null]
	END
}

@test "function_graph text that begins in the middle of calls has the calls of the raw report that begins there" {
	need trace-cmd
	for name in v6 i386-v6; do
		trace-cmd report -O fgraph:tailprint -i "$T/$name-fgraph.dat" 2>/dev/null >report
		for n in 2 4 7; do
			at=$(grep '|  *} /\* ' report | sed -n "$n{s/: func.*//;s/.* //;p}")
			awk -v at="$at" '/^cpus=/ || on; !on && index($0, " " at ": ") && /}/ { on = 1; print }' report >x
			awk -v at="$at" '/^cpus=/ || on; !on && sprintf("%.6f", $3) == at && /funcgraph_exit/ { on = 1; print }' \
				"$T/$name-fgraph.raw.txt" >y
			((1 < $(wc -l <x) && $(wc -l <x) < $(wc -l <y))) || fail "$name $n"
			table tid,caller,name x >have
			table tid,caller,name y | diff - have || fail "$name $n"
		done
	done
}

@test "stacks with offsets, addresses and files; the options verbose and fields" {
	cat >x <<-'END'
		# tracer: nop
		 sh-7 [001] ..... 1.000001: <stack trace>
		 => syscall_trace_enter+0x180/0x1e0 <ffffffff81423c90>
		 => do_syscall_64+0x20f/0x290 [core]
		 sh-7 [001] ..... 1.000002: <user stack trace>
		 => /usr/lib/libc.so.6[+0xd2350] <00007f72ea05c350>
		 =>  <00007f0012345678>
		 sh-7 [001] d..2. 1.000003: sched_wakeup: comm=sh pid=0x5c3 (1475) prio=0x78 (120) ret=0xfffffffffffffffe (-2)
	END
	events x >have
	diff have - <<-'END'
		[1000001000,null,1,7,"kernel_stack",{"stack":["do_syscall_64","syscall_trace_enter"]}]
		[1000002000,null,1,7,"user_stack",{"stack":["<00007f0012345678>","/usr/lib/libc.so.6"]}]
		[1000003000,null,1,7,"sched_wakeup",{"comm":"sh","pid":1475,"prio":120,"ret":-2}]
	END
	cat >x <<-'END'
		# tracer: nop
		            bash   32374   0 0 00000000 00000002 [dba2e668] 28.252ms (+0.002ms): sys_exit: NR 33 = 1
		        a b c d      8   1 0 00000000 0000000a [dba2e679] 28.269ms (+0.002ms): sys_exit: NR 14 = 0
	END
	events x >have
	diff have - <<-'END'
		[28252000,null,0,32374,"sys_exit",{"id":33,"ret":1}]
		[28269000,null,1,8,"sys_exit",{"id":14,"ret":0}]
	END
}

@test "mmiotrace, and the switches of the tracer wakeup" {
	cat >x <<-'END'
		VERSION 20070824
		PCIDEV 0000 80862920 0 0 0
		MAP 100.000001 1 0xf0000000 0xffffc90000000000 0x1000 0x0 0
		R 4 100.000003 1 0xf0000010 0x12 0xffffffff81000000 0
		UNMAP 100.000009 1 0x0 0
		MARK 100.000010 a note
	END
	events x >have
	diff have - <<-'END'
		[100000001000,null,null,null,"mmiotrace_map",{"len":"0x1000","map_id":1,"opcode":"MAP","phys":"0xf0000000","virt":"0xffffc90000000000"}]
		[100000003000,null,null,null,"mmiotrace_rw",{"map_id":1,"opcode":"R","pc":"0xffffffff81000000","phys":"0xf0000010","value":"0x12","width":4}]
		[100000009000,null,null,null,"mmiotrace_map",{"map_id":1,"opcode":"UNMAP"}]
		[100000010000,null,null,null,"print",{"message":"a note"}]
	END
	cat >x <<-'END'
		# tracer: wakeup
		  <idle>-0       3dNs7    0us :      0:120:R   + [003]   312:100:R kworker/3:1H
		  <idle>-0       3d..3   15us+: __schedule <-schedule
		  <idle>-0       3d..3   16us :      0:120:R ==> [003]   312:100:R kworker/3:1H
	END
	events x >have
	diff have - <<-'END'
		[0,null,3,0,"wakeup",{"next_comm":"kworker/3:1H","next_cpu":3,"next_pid":312,"next_prio":100,"next_state":"R","prev_pid":0,"prev_prio":120,"prev_state":"R"}]
		[15000,null,3,0,"__schedule",{"parent_ip":"schedule"}]
		[16000,null,3,0,"context_switch",{"next_comm":"kworker/3:1H","next_cpu":3,"next_pid":312,"next_prio":100,"next_state":"R","prev_pid":0,"prev_prio":120,"prev_state":"R"}]
	END
}

@test "the tracers hwlat, osnoise and timerlat have the fields of trace.dat" {
	# lines of Documentation/trace
	cat >x <<-'END'
		# tracer: nop
		           <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6
		           <...>-1729  [004] d...   689.556542: #2     inner/outer(us):   16/9     ts:1581527494.089008092 count:1 nmi-total:4 nmi-count:1
		           <...>-3638  [003] d... 19454.071354: #2     inner/outer(us):   11/9     ts:1499801091.082164365
		           <...>-859   [000] .... 81.637220: 1000000        190  99.98100       9     18      0   1007     18      1
		      <idle>-0       [000] d.h1    54.029328: #1     context    irq timer_latency       932 ns
		       <...>-867     [000] ....    54.029339: #2     context thread timer_latency     11700 ns
		   osnoise/8-961     [008] d.h.  5789.857532: irq_noise: local_timer:236 start 5789.857529929 duration 1845 ns
		   <...>-961         [008] d.h.  5789.857533: softirq_noise:    SCHED:7 start 1371.794561803 duration 992 ns
		   <...>-961         [008] d.h.  5789.857534: thread_noise: Web: Content:12 start 1371.781368110 duration 8943683 ns
		   <...>-961         [008] d.h.  5789.857535: nmi_noise: start 1.000000002 duration 3 ns
		   <...>-961         [008] d.h.  5789.857536: sample_threshold: start 3789.000000009 duration 1000002 ns interference 4
	END
	# of trace-cmd report
	cat >y <<-'END'
		   work-1            [008]       5789.857537: hwlat:                cnt:7	ts:1581527483.0343962693	inner:11	outer:12	count:6	nmi-ts:0	nmi-count:0
		   work-1            [008]       5789.857538: osnoise:              noise:190	max_sample:9	hw:18	nmi:0	irq:1007	softirq:18	thread:1
		   work-1            [008]       5789.857539: timerlat:             seq:4	context:1	timer_latency:11700
	END
	for text in x y; do trdecode $text | trencode -q -t ndjson; done | jq -c '[.cpu, .type, .args]' >have
	diff - have <<-'END'
		[1,"hwlat",{"seqnum":1,"duration":11,"outer_duration":12,"tv_sec":1581527483,"tv_nsec":343962693,"count":6}]
		[4,"hwlat",{"seqnum":2,"duration":16,"outer_duration":9,"tv_sec":1581527494,"tv_nsec":89008092,"count":1,"nmi_total_ts":4,"nmi_count":1}]
		[3,"hwlat",{"seqnum":2,"duration":11,"outer_duration":9,"tv_sec":1499801091,"tv_nsec":82164365}]
		[0,"osnoise",{"runtime":1000000,"noise":190,"max_sample":9,"hw_count":18,"nmi_count":0,"irq_count":1007,"softirq_count":18,"thread_count":1}]
		[0,"timerlat",{"seqnum":1,"context":"irq","timer_latency":932}]
		[0,"timerlat",{"seqnum":2,"context":"thread","timer_latency":11700}]
		[8,"irq_noise",{"desc":"local_timer","vector":236,"start":5789857529929,"duration":1845}]
		[8,"softirq_noise",{"action":"SCHED","vector":7,"start":1371794561803,"duration":992}]
		[8,"thread_noise",{"comm":"Web: Content","pid":12,"start":1371781368110,"duration":8943683}]
		[8,"nmi_noise",{"start":1000000002,"duration":3}]
		[8,"sample_threshold",{"start":3789000000009,"duration":1000002,"interference":4}]
		[8,"hwlat",{"seqnum":7,"tv_sec":1581527483,"tv_nsec":343962693,"duration":11,"outer_duration":12,"count":6,"nmi_total_ts":0,"nmi_count":0}]
		[8,"osnoise",{"noise":190,"max_sample":9,"hw_count":18,"nmi_count":0,"irq_count":1007,"softirq_count":18,"thread_count":1}]
		[8,"timerlat",{"seqnum":4,"context":1,"timer_latency":11700}]
	END
	# such a text of a mark is a message
	echo ' a-1 [000] .... 1.000001: tracing_mark_write: #1 context irq timer_latency 1 ns' >x
	events x | jq -c .[5].message >have
	echo '"#1 context irq timer_latency 1 ns"' | diff - have
}

@test "the tracer blk and the events of block devices have fields; --pair block" {
	# recorded: dd of one block, and a flush
	cat >x <<-'END'
		# tracer: blk
		#
		              dd-7300    [001] ..... 12724.096617: block_bio_queue: 254,0 RM 354174736 + 8 [dd]
		              dd-7300    [001] d..1. 12724.096636: 254,0    Q  RM 354174736 + 8 [dd]
		              dd-7300    [001] ..... 12724.096646: block_io_start: 254,0 RM 4096 () 354174736 + 8 be,0,4 [dd]
		              dd-7300    [001] ..... 12724.096649: block_plug: [dd]
		              dd-7300    [001] d..1. 12724.096649: 254,0    P   N [dd]
		              dd-7300    [001] ..... 12724.096651: block_unplug: [dd] 1
		              dd-7300    [001] d..1. 12724.096652: 254,0    U   N [dd] 1
		              dd-7300    [001] ..... 12724.096660: block_rq_issue: 254,0 RM 4096 () 354174736 + 8 be,0,4 [dd]
		              dd-7300    [001] d..1. 12724.096660: 254,0   /user.slice  issue  RM 354174736 + 8 [dd]
		             zsh-7151    [001] ..s.. 12724.096818: block_rq_complete: 254,0 RM () 354174736 + 8 be,0,4 [0]
		             zsh-7151    [001] d.s1. 12724.096819: 254,0    C  RM 354174736 + 8 [0]
		              rm-6364    [001] ..... 12724.098151: block_dirty_buffer: 254,0 sector=44761127 size=4096
		             zsh-7151    [001] ..s.. 12724.117131: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 none,0,0 [-5]
		             zsh-7151    [001] d.s1. 12724.117132: 254,0    C  FN 0 [0]
		              rm-6364    [001] d..1. 12724.117133: 254,0    X  WS 100 / 108 [a] b]
		              rm-6364    [001] d..1. 12724.117134: 254,3    A  WS 100 + 8 <- (254,1) 92
		              rm-6364    [001] d..1. 12724.117135: 254,0    m   N cfq [x] + 8
		              rm-6364    [001] d..1. 12724.117136: 254,0    D   N 36 (12 00 24 ..) [rm]
		              rm-6364    [001] d..1. 12724.117137: 254,0    D   N what is it
	END
	trdecode x >x.trs
	trencode -q -t ndjson x.trs | jq -c '[.tid, .type, .args]' >have
	# a sector above 2^53, in the form that this jq gives it
	jq -c . <<-'END' | diff - have
		[7300,"block_bio_queue",{"dev":266338304,"rwbs":"RM","sector":354174736,"nr_sector":8,"comm":"dd"}]
		[7300,"blk_queue",{"dev":266338304,"rwbs":"RM","sector":354174736,"nr_sector":8,"comm":"dd"}]
		[7300,"block_io_start",{"dev":266338304,"rwbs":"RM","bytes":4096,"cmd":"","sector":354174736,"nr_sector":8,"ioprio":16388,"comm":"dd"}]
		[7300,"block_plug",{"comm":"dd"}]
		[7300,"blk_plug",{"dev":266338304,"rwbs":"N","comm":"dd"}]
		[7300,"block_unplug",{"comm":"dd","nr_rq":1}]
		[7300,"blk_unplug_io",{"dev":266338304,"rwbs":"N","comm":"dd","nr_rq":1}]
		[7300,"block_rq_issue",{"dev":266338304,"rwbs":"RM","bytes":4096,"cmd":"","sector":354174736,"nr_sector":8,"ioprio":16388,"comm":"dd"}]
		[7300,"blk_issue",{"dev":266338304,"cgroup":"/user.slice","rwbs":"RM","sector":354174736,"nr_sector":8,"comm":"dd"}]
		[7151,"block_rq_complete",{"dev":266338304,"rwbs":"RM","cmd":"","sector":354174736,"nr_sector":8,"ioprio":16388,"error":0}]
		[7151,"blk_complete",{"dev":266338304,"rwbs":"RM","sector":354174736,"nr_sector":8,"error":0}]
		[6364,"block_dirty_buffer",{"dev":266338304,"sector":44761127,"size":4096}]
		[7151,"block_rq_complete",{"dev":266338304,"rwbs":"FF","cmd":"","sector":18446744073709551615,"nr_sector":0,"ioprio":0,"error":-5}]
		[7151,"blk_complete",{"dev":266338304,"rwbs":"FN","sector":0,"error":0}]
		[6364,"blk_split",{"dev":266338304,"rwbs":"WS","sector":100,"new_sector":108,"comm":"a] b"}]
		[6364,"blk_remap",{"dev":266338307,"rwbs":"WS","sector":100,"nr_sector":8,"old_dev":266338305,"old_sector":92}]
		[6364,"blk_message",{"dev":266338304,"rwbs":"N","message":"cfq [x] + 8"}]
		[6364,"blk_issue",{"dev":266338304,"rwbs":"N","bytes":36,"cmd":"12 00 24 ..","comm":"rm"}]
		[6364,"print",{"message":"254,0    D   N what is it"}]
	END
	for kind in block_:158000 block_:159000:-v; do
		IFS=: read -r word total invert <<<"$kind"
		# shellcheck disable=SC2086
		grep $invert "$word" x | trdecode | trstat -q -t csv --pair block -c count,total >have
		printf '%s\n' dev,count,total "266338304,1,$total" | diff - have
	done
	# the option blk_classic
	cat >x <<-'END'
		# tracer: blk
		# DEV   CPU TIMESTAMP     PID ACT FLG
		#  |     |     |           |   |   |
		254,0    1 12724.096660057  7300  D  RM 354174736 + 8 [dd]
		  8,16   1 12724.096818864     0  C  RM 354174736 + 8 [0]
	END
	trdecode x | trencode -q -t ndjson | jq -c '[.time, .cpu, .tid, .type, .args]' >have
	diff - have <<-'END'
		[12724096660057,1,7300,"blk_issue",{"dev":266338304,"rwbs":"RM","sector":354174736,"nr_sector":8,"comm":"dd"}]
		[12724096818864,1,0,"blk_complete",{"dev":8388624,"rwbs":"RM","sector":354174736,"nr_sector":8,"error":0}]
	END
}

@test "text without threads and times is refused; an empty trace is no fault" {
	printf '# tracer: nop\n32374 0 3685762123470 type: 442\n' >raw
	printf '# tracer: nop\n00007e76 00000001 0000035a4bd39b02 type: 442\n\n' >hex
	printf '# tracer: nop\nsys_exit: NR 14 = 0\n' >bare
	printf '# tracer: nop\n\1\0\0\2\n\3\0' >bin
	for x in raw hex bare bin; do
		run -2 trdecode $x -o x.trs
		assert_output --partial 'turn off the options raw, hex and bin'
	done
	# print_trace_header of Linux; a tracer of latencies prints no more than two lines, trace-cmd report one
	cat >nop <<-'END'
		# tracer: nop
		#
		# entries-in-buffer/entries-written: 0/0   #P:2
		#
		#                                _-----=> irqs-off/BH-disabled
		#                               / _----=> need-resched
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		#              | |         |   |||||     |         |
	END
	printf '# tracer: wakeup_rt\n#\n' >latency
	printf 'cpus=2\n' >report
	for x in nop latency report; do
		run -0 trdecode -f ftrace $x -o x.trs
		assert_output "trdecode: $x: no events"
		run -0 trdecode -f ftrace --info $x
		assert_line --regexp '^events +0$'
	done
}

@test "text without events is a trace only with a heading that is whole" {
	echo >blank
	printf '# notes\n#\n' >comments
	printf '# tra' >begin
	for x in blank comments begin; do
		run -2 trdecode -f ftrace $x -o x.trs
		assert_output "trdecode: $x: the text has no event, and no heading of the kernel"
		run -2 --separate-stderr trdecode -f ftrace --info $x
		assert_equal "$stderr" "trdecode: $x: the text has no event, and no heading of the kernel"
	done
	printf '%s\n' '# tracer: nop' '#' '# entries-in-buffer/entries-written: 0/0   #P:2' '#' \
		'#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION' '#              | |         |   |||||     |         |' >x
	local size
	for size in 14 16 30 64 66 80 120; do
		head -c $size x >part
		run -1 trdecode part -o x.trs
		assert_output --regexp '^trdecode: part: 0x[0-9a-f]+: the text ends within its heading$'
	done
	# lines with bars are no trace
	printf '   a | b;\n | c {\n' >x
	run -2 trdecode x -o x.trs
}

@test "the first line may be longer than what is looked at to find the format" {
	printf 'cpus=2\n tc/7-18 [001] 1.000001: ev: v=1 star=%9000s end=2\n' x >x
	events x | jq -c '.[5].end' >have
	echo 2 | diff - have
}

@test "fields have types: conditions give the events that they give for the trace.dat" {
	for condition in 'next_pid == 15' 'prev_prio < 120' 'next_comm =~ "^work"' 'vruntime > 7100000000'; do
		want=$(trdecode -q "$T/v6-sched-irq-timer.dat" | trfilter -q -c "$condition")
		((want)) || fail "$condition"
		for text in report raw; do
			have=$(trdecode -q "$T/v6-sched-irq-timer.$text.txt" | trfilter -q -c "$condition")
			[[ $have == "$want" ]] || fail "$text: $condition: $have, not $want"
		done
	done
}

@test "a field is text from its first value on that is no number" {
	cat >x <<-END
		 a-1 [000] 1.000001: ev: v=1 w=-1 x=0x10 name=7
		 a-1 [000] 1.000002: ev: v=x1 w=2 x=0 name=b
		 a-1 [000] 1.000003: ev: v=3 w=3 x=0x12 name=9
	END
	trdecode x | trencode -q -t ndjson | jq -c .args >have
	diff - have <<-END
		{"v":1,"w":-1,"x":"0x10","name":"7"}
		{"v":"x1","w":2,"x":"0x0","name":"b"}
		{"v":"3","w":3,"x":"0x12","name":"9"}
	END
}

@test "a field that has numbers of any two kinds, in any order, remains a number" {
	cat >pairs.py <<-'END'
		import itertools, json, sys
		numbers = ["7", "0", "18446744073709551614", "0x7", "0x0", "0xfffffffffffffffe", "-2", "-9223372036854775808"]
		events = []
		for n, (a, b) in enumerate(itertools.product(numbers, repeat=2)):
		    key = "k%d" % n
		    # the base of a name is that of its first number in any event
		    events += [(name + str(n), fields) for name, fields in (
		        ("one", {key: a}), ("other", {key: b}), ("one", {key: b}), ("one", {key: a}),
		        ("two", {key: a, "x" + key: b}), ("two", {key: b, "x" + key: a}))]
		if len(sys.argv) == 1:
		    for name, fields in events:
		        print(" a-1 [000] 1.000001: %s: %s" % (name, " ".join("%s=%s" % field for field in fields.items())))
		else:
		    for (name, fields), line in zip(events, open(sys.argv[1]), strict=True):
		        row = json.loads(line)
		        assert row["type"] == name and list(row["args"]) == list(fields), row
		        for key, text in fields.items():
		            value = row["args"][key]
		            assert isinstance(value, int) or value.startswith("0x"), (name, fields, row)
		            assert int(str(value), 0) == int(text, 0), (name, fields, row)
	END
	python3 pairs.py >x
	trdecode x | trencode -q -t ndjson -c type,args >rows
	python3 pairs.py rows
	# values of one event that no kind has in common have two types, however often they alternate
	for ((n = 1; n <= 100; n++)); do
		printf ' a-1 [000] 1.000001: ev: v=%s w=0x%x\n' -$n $n 18446744073709551000 1 $n $n
	done >x
	trdecode x >x.trs
	run -0 pipe "trstat -q -t csv -g type -c 'count,sum(v),sum(w)' x.trs | tail -n 1"
	assert_output "ev,300,$(python3 -c 'print(100 * 18446744073709551000, 2 * 5050 + 100, sep=",")')"
	assert_equal "$(trfilter -q -c 'v < 0' x.trs)" 100
}

@test "an array of numbers and a number of the same name are two lists of fields" {
	cat >x <<-'END'
		 a-1 [000] 1.000001: sys_enter: NR 1 (3, ffffffffffffffff, 10)
		 a-1 [000] 1.000003: ev: args=-5
		 a-1 [000] 1.000004: ev: args=5
		 a-1 [000] 1.000005: sys_enter: NR 1 (3, ffffffffffffffff, 10)
		 a-1 [000] 1.000006: ev2: n=1 args=7
	END
	trdecode x | trencode -q -t ndjson -c args | jq -c .args.args | diff - <(cat <<-'END'
		["0x3","0xffffffffffffffff","0x10"]
		-5
		5
		["0x3","0xffffffffffffffff","0x10"]
		7
	END
	)
}

@test "strings among the arguments of system calls may have commas, colons, quotes and newlines" {
	# print_syscall_enter() of Linux 6.19: "%.*s" of a string, bytes and their characters of a buffer
	cat >x <<-'END'
		 sh-9 [001] ..... 20.000001: sys_openat(dfd: 4294967196, filename: 140726 "/tmp/a, b: c", flags: O_RDONLY|O_CLOEXEC)
		 sh-9 [001] ..... 20.000002: sys_openat(dfd: 4294967196, filename: 140726 "x=1, flags: 7", flags: O_WRONLY)
		 sh-9 [001] ..... 20.000003: sys_write(fd: 1, buf: 0x7ffd1 (68:65:22:2c:20, ...) "he", "..., count: 0x100)
		 sh-9 [001] ..... 20.000004: sys_write(fd: 1, buf: 0x7ffd1 (00:01, ...), count: 0x100)
		 sh-9 [001] ..... 20.000005: sys_renameat(olddfd: 5, oldname: 0x7ffd1 "a\", newdfd: 6, newname: 0x7ffd2 "b, x: y"...)
		 sh-9 [001] ..... 20.000006: sys_write(unsigned int fd: 0x1, const char * buf: 0x7ffd1 "a, b)", size_t count: 0x10)
		 sh-9 [001] ..... 20.000007: sys_write(fd: 1, buf: 0x7ffd1 "say \"x\", n: 1", count: 0x10)
		 sh-9 [001] ..... 20.000008: sys_chdir(filename: 0x7ffd1 "a", b" c)")
		 sh-9 [001] ..... 20.000009: sys_chdir(filename: 0x7ffd1 "")
		 sh-9 [001] ..... 20.000010: sys_chdir(filename: 0x7ffd1 "a
		b, c: d")
		 sh-9 [001] ..... 20.000011: sys_enter_chdir: filename: 0x7ffd1 "a, b: c=1"
		 sh-9 [001] ..... 20.000012: sys_enter_write: fd: 0x1, buf: 0x7ffd1 ({0x61,0x2c}), count: 0x2
	END
	trdecode x | trencode -q -t ndjson | jq -c '[.type, .args]' | diff - <(cat <<-'END'
		["sys_enter_openat",{"dfd":4294967196,"filename":"140726 \"/tmp/a, b: c\"","flags":"O_RDONLY|O_CLOEXEC"}]
		["sys_enter_openat",{"dfd":4294967196,"filename":"140726 \"x=1, flags: 7\"","flags":"O_WRONLY"}]
		["sys_enter_write",{"fd":1,"buf":"0x7ffd1 (68:65:22:2c:20, ...) \"he\", \"...","count":"0x100"}]
		["sys_enter_write",{"fd":1,"buf":"0x7ffd1 (00:01, ...)","count":"0x100"}]
		["sys_enter_renameat",{"olddfd":5,"oldname":"0x7ffd1 \"a\\\"","newdfd":6,"newname":"0x7ffd2 \"b, x: y\"..."}]
		["sys_enter_write",{"fd":1,"buf":"0x7ffd1 \"a, b)\"","count":"0x10"}]
		["sys_enter_write",{"fd":1,"buf":"0x7ffd1 \"say \\\"x\\\", n: 1\"","count":"0x10"}]
		["sys_enter_chdir",{"filename":"0x7ffd1 \"a\", b\" c)\""}]
		["sys_enter_chdir",{"filename":"0x7ffd1 \"\""}]
		["sys_enter_chdir",{"filename":"0x7ffd1 \"a\nb, c: d\")"}]
		["sys_enter_chdir",{"filename":"0x7ffd1 \"a, b: c=1\""}]
		["sys_enter_write",{"fd":1,"buf":"0x7ffd1 ({0x61,0x2c})","count":"0x2"}]
	END
	)
	# without its last quote a string ends where the next argument begins
	cat >x <<-'END'
		 sh-9 [001] ..... 20.000001: sys_write(fd: 1, buf: 0x7ffd1 "a, b, count: 0x10)
		 sh-9 [001] ..... 20.000002: sys_write -> 0x10
		 sh-9 [001] ..... 20.000003: sys_write(fd: 1, buf: 0x7ffd1 "a, "b
		 sh-9 [001] ..... 20.000004: sys_write -> 0x10
	END
	trdecode x >x.trs
	assert_equal "$(trstat -q -t csv --pair syscall -c count x.trs)" $'id,count\nwrite,2'
	trencode -q -t ndjson x.trs | jq -c '.args.buf | values' | diff - <(printf '%s\n' '"0x7ffd1 \"a, b"' '"0x7ffd1 \"a, \"b"')
	# many quotes, commas and backslashes take linear time
	python3 - >x <<-'END'
		for text in ('", ', '\\\\"', '" ', ', a: "', '", a: 1 "', '\\"" x='):
		    print(' sh-9 [001] ..... 20.000001: sys_chdir(filename: 0x7ffd1 "%s)' % (text * 100000))
		    print(' sh-9 [001] ..... 20.000001: ev: s="%s' % (text * 100000))
	END
	timeout 20 trdecode -q x >x.trs || [[ $? == 1 ]]
}

@test "a value in quotes is a string, with its blanks, keys and quotes, as in the trace.dat" {
	# a probe of Linux 6.18 on a function, and the strings that the function was called with
	while IFS= read -r name; do
		printf ' str-18004 [000] DBZff 31899.406732: open_it: (0x55baa926f129) name="%s" flags=%d\n' "$name" $((n++))
	done >text <<-'END'
		/etc/passwd
		a b=c
		k=1 name=2
		say "hi"
		back\
		a, b: c

		12
		x (y) [z]
		"
		{a=b}
	END
	printf ' str-18004 [000] DBZff 31899.406733: open_it: (0x55baa926f129) names={"a b=c","d, e"} n="7" flags=1\n' >>text
	trdecode text | trencode -q -t ndjson -c args | jq -c '.args | del(.message)' | diff - <(cat <<-'END'
		{"name":"/etc/passwd","flags":0}
		{"name":"a b=c","flags":1}
		{"name":"k=1 name=2","flags":2}
		{"name":"say \"hi\"","flags":3}
		{"name":"back\\","flags":4}
		{"name":"a, b: c","flags":5}
		{"name":"","flags":6}
		{"name":"12","flags":7}
		{"name":"x (y) [z]","flags":8}
		{"name":"\"","flags":9}
		{"name":"{a=b}","flags":10}
		{"names":"{\"a b=c\",\"d, e\"}","n":"7","flags":1}
	END
	)
	for x in dat report.txt; do
		trdecode -q "$T/v6-kprobes.$x" | trencode -q -t ndjson -c type,args |
			jq -c '[.type, .args.file, .args.comm, .args.dfd, .args.ret]' >$x
	done
	(($(grep -c trace_pipe_raw dat) > 0))
	diff dat report.txt
}

@test "values of sys_exit after hexadecimal ones are those of the trace.dat" {
	awk '/sys_exit_write/ { from = 1 } from || !/sys_/' "$T/v6-syscalls.report.txt" >text
	first=$(awk '/sys_exit_write/ { sub(":", "", $3); print $3; exit }' text)
	trdecode -q --since "$first" "$T/v6-syscalls.dat" >dat.trs
	trdecode -q text >text.trs
	for x in dat text; do
		trfilter -q 'type == "sys_exit"' $x.trs | trstat -q -t csv -g tid -c 'count,sum(ret),min(ret)' | sort >$x
		for condition in 'ret > 0' 'ret < 0'; do
			trfilter -q -c "type == \"sys_exit\" && $condition" $x.trs
		done >>$x
	done
	(($(wc -l <dat) > 5))
	diff dat text
}

@test "marks of atrace are calls, counters and asynchronous calls" {
	cp "$ROOT/t/fuzz/corpus/ftrace/marks" x
	trdecode -q x >x.trs
	trstat -q -t csv -g name -c total,count x.trs | sort >have
	printf '%s\n' 'draw frame,400,1' 'fetch,100,1' 'upload|texture,150,1' >want
	sed -i 's/,\([0-9]*\)000,\([0-9]*\)$/,\1,\2/' have
	grep -e ^draw -e ^fetch -e ^upload have | diff want -
	run -0 trfilter -q -c 'type == "queue" && kind == counter' x.trs
	assert_output 2
	run -0 trfilter -q -c 'next_comm == "Binder Thread #1" && tid == 0' x.trs
	assert_output 1
	run -0 trfilter -q -c 'pid == 611 && kind == enter' x.trs
	assert_output 3
	run -0 --separate-stderr bash -c 'trdecode x | trencode -t text'
	[[ $stderr == *17* ]]
}

@test "marks of atrace without a name have the name of other calls without one" {
	printf ' a-9 [001] ..... 20.00000%s\n' '1: tracing_mark_write: B|99|' '2: tracing_mark_write: N|99|track|' \
		'3: tracing_mark_write: G|99|track||7' '4: tracing_mark_write: H|99|track|7' '5: tracing_mark_write: E|99' >x
	trdecode x | trencode -q -t ndjson | jq -r .name | sort | uniq -c | sed 's/^ *//' | diff - <(echo '3 (no name)')
}

@test "marks of atrace with tracks, arguments and categories" {
	line() {
		printf ' app-%s ( 9) [000] ...1 1.%06d: tracing_mark_write: %s\n' "${3:-10}" "$1" "$2"
	}
	{
		line 1 'B|9|draw|frame'
		line 2 'B|9|load|url=http://a;size=12|net'
		line 3 'E|9|load|code=200|net'
		line 4 'E'
		line 5 'I|9|vsync'
		line 6 'N|9|input|touch down'
		line 7 'G|9|J<SCROLL>|fling|77'
		line 8 'G|9|J<SCROLL>|settle|78' 11
		line 9 'H|9|J<SCROLL>|77'
		line 19 'H|9|J<SCROLL>|settle|78'
		line 20 'S|9|fetch|5|a=1|net'
		line 21 'C|9|bytes|12|Blob'
		line 22 'F|9|fetch|5'
		line 23 'G|9|t|x'
		line 24 'H|9|none|7'
	} >x
	trdecode x | trencode -q -t ndjson | jq -Sc '[.time - 1000000000, .dur, .name, .args]' | sort >have
	sort >want <<-'END'
		[1000,3000,"draw|frame",null]
		[2000,1000,"load",{"category":"net","code":200,"size":12,"url":"http://a"}]
		[5000,null,"vsync",null]
		[6000,null,"touch down",{"track":"input"}]
		[7000,2000,"fling",{"cookie":77,"track":"J<SCROLL>"}]
		[8000,11000,"settle",{"cookie":78,"track":"J<SCROLL>"}]
		[20000,2000,"fetch",{"a":1,"category":"net","cookie":5}]
		[21000,null,"bytes",{"value":12}]
		[23000,null,"print",{"ip":"tracing_mark_write","message":"G|9|t|x"}]
	END
	grep -v '"?"' have | diff want -
}

@test "asynchronous marks of one name overlap: a call for each cookie, also in Chrome's and Perfetto's formats" {
	need protoc
	python3 - <<-'END'
		import random
		random.seed(5)
		text, packets, want, now, running = ["# tracer: nop"], [], {}, 1000000, {}
		calls = [(name, cookie) for name in ("fetch", "decode") for cookie in (-3, 0, 1, 2, 2147483647)]
		while len(text) < 3000 or running:
		    now += random.randint(1, 900)
		    call = random.choice(calls if len(text) < 3000 else list(running))
		    mark = "%s|9|%s|%d" % ("F" if call in running else "S", *call)
		    if call in running:
		        n, total = want.get(call, (0, 0))
		        want[call] = n + 1, total + 1000 * (now - running.pop(call))
		    else:
		        running[call] = now
		    text.append(" app-%d (9) [000] .... %d.%06d: tracing_mark_write: %s" % (random.randint(9, 12), now // 10**6, now % 10**6, mark))
		    packets.append('event { timestamp: %d pid: 9 print { buf: "%s\\n" } }' % (now * 1000, mark))
		open("x", "w").write("\n".join(text) + "\n")
		open("x.text", "w").writelines("packet { trusted_packet_sequence_id: 1 ftrace_events { cpu: 0 %s } }\n" % p for p in packets)
		open("want", "w").writelines("%s,%d,%d,%d\n" % (*call, *of) for call, of in sorted(want.items()))
		open("calls", "w").write("%d\n" % sum(n for n, total in want.values()))
	END
	LC_ALL=C sort -o want want
	protoc --encode=m.Trace -I "$ROOT/t/proto" perfetto.proto <x.text >x.pftrace
	trdecode -q -o x.trs x
	trencode -q -t chrome -o x.json x.trs
	trencode -q -t perfetto -o y.pftrace x.trs
	for from in x.trs x.json y.pftrace; do
		key=arg.cookie
		[[ $from != x.trs ]] || key=cookie
		trdecode -q $from | trstat -q -t csv -g name,$key -c count,total | tail -n +2 | LC_ALL=C sort | diff want - || fail "$from"
	done
	# packets of ftrace have the cookie as their id
	trdecode -q x.pftrace | trstat -q -t csv -g name -c count,total | tail -n +2 | LC_ALL=C sort >have
	awk -F, '{ n[$1] += $3; t[$1] += $4 } END { for (i in n) printf "%s,%d,%.0f\n", i, n[i], t[i] }' want | LC_ALL=C sort | diff - have
	trdecode -q x.pftrace | trencode -q -t ndjson | jq -r '"\(.name) \(.args.track_id)"' | sort -u | wc -l >have
	echo 10 | diff - have
	# an asynchronous pair with an id of its own for each call
	jq -r '.traceEvents[] | select(.ph == "b" or .ph == "e") | "\(.cat) \(.id)"' x.json | sort | uniq -c | awk '$1 == 2' | wc -l | diff calls -
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <y.pftrace | grep -c 'type: BEGIN' | diff calls -
}

@test "compressed systrace: atrace -z, and Base64 in a page" {
	cp "$ROOT/t/fuzz/corpus/ftrace/marks" x
	trdecode -q x | trencode -q -t ndjson >want
	python3 - <<-'END'
		import base64, gzip, textwrap, zlib
		text = open("x", "rb").read()
		open("z.txt", "wb").write(b"capturing trace... done\nTRACE:\n" + zlib.compress(text))
		page = '<!DOCTYPE html>\n<html>\n<head i18n-values="dir:textdirection;">\n' + "<style></style>\n" * 999 + \
			'</head><body>\n<script id="viewer-data" type="text/plain">\n%s\n</script>\n</body></html>\n'
		lines = lambda data: "\n".join(textwrap.wrap(base64.b64encode(data).decode(), 76))
		open("gzip.html", "w").write(page % lines(gzip.compress(text)))
		open("plain.html", "w").write(page % lines(text))
		open("one.html", "w").write(page % base64.b64encode(gzip.compress(text)).decode())
		open("cut.html", "w").write(page % lines(gzip.compress(text)[:-150]))
		open("zlib.html", "w").write(page % lines(zlib.compress(text)))
		# of systrace, and data beside their tags
		trace = page.replace('id="viewer-data" type="text/plain"', 'class="trace-data" type="application/text"')
		joined = trace.replace(">\n%s\n<", ">%s<")
		for name, data in ("gzip", gzip.compress(text)), ("zlib", zlib.compress(text)):
		    open("trace-%s.html" % name, "w").write(trace % lines(data))
		    open("joined-%s.html" % name, "w").write(joined % base64.b64encode(data).decode())
		    open("last-%s.html" % name, "w").write(trace.replace("%s\n<", "%s<") % ("\n" + lines(data)))
		open("joined-text.html", "w").write(joined % text.decode().rstrip("\n"))
		open("cut-trace.html", "w").write(joined % base64.b64encode(gzip.compress(text)[:-150]).decode())
		open("early.html", "w").write((joined % base64.b64encode(gzip.compress(text)).decode())[:-200])
		open("cut.txt", "wb").write(b"TRACE:\n" + zlib.compress(text)[:-150])
	END
	for input in z.txt {gzip,plain,one,zlib}.html {trace,joined,last}-{gzip,zlib}.html joined-text.html; do
		run -0 trdecode "$input" -o x.trs
		refute_output
		trdecode -q "$input" | trencode -q -t ndjson | diff want - || fail "$input"
		trdecode -q - <"$input" | trencode -q -t ndjson | diff want - || fail "$input"
	done
	for input in cut.{html,txt} cut-trace.html; do
		run -1 --separate-stderr trdecode "$input" -o x.trs
		[[ $stderr == *"the compressed text ends early"* ]]
		trencode -q -t ndjson x.trs >have 2>/dev/null || true
		grep -qxFf want have || fail "$input"
	done
	run -1 trdecode early.html -o x.trs
	assert_output --partial 'the page ends early'
}

@test "marks of clock_sync: the wall time, and a clock that is the monotonic one" {
	mark() {
		printf ' atrace-9 (9) [000] ...1 %s: tracing_mark_write: trace_event_clock_sync: %s\n' "$1" "$2"
	}
	{
		mark 500.086000 parent_ts=500.093750
		mark 500.086243 realtime_ts=1448979311493
		cat "$ROOT/t/fuzz/corpus/ftrace/marks"
	} >x
	trdecode -q --clock wall x | trencode -q -t ndjson | jq -s .[1].time >have
	echo 1448979311493000000 | diff - have
	# uftrace's clock is the monotonic one
	trdecode -q x "$DATA/uftrace/fib" >x.trs
	run -2 trdecode -q --clock wall "$ROOT/t/fuzz/corpus/ftrace/marks" -o y.trs
	{
		mark 500.086000 parent_ts=700.093750
		cat "$ROOT/t/fuzz/corpus/ftrace/marks"
	} >x
	run -2 trdecode -q x "$DATA/uftrace/fib" -o x.trs
	assert_output --partial 'cannot be compared'
}

@test "arguments of system calls that the kernel prints in hexadecimal without 0x" {
	# Linux up to 6.18: "%s: %lx"
	cat >x <<-'END'
		 sh-9 [001] ..... 20.000001: sys_openat(dfd: ffffff9c, filename: 7efc18359904, flags: 80000, mode: 0)
		 sh-9 [001] ..... 20.000002: sys_openat -> 0x3
		 sh-9 [001] ..... 20.000003: sys_openat(dfd: 10, filename: 12, flags: 0, mode: 1b6)
		 sh-9 [001] ..... 20.000004: sys_newuname(name: fffffffffffffffe)
		 sh-9 [001] ..... 20.000005: sys_getpid()
	END
	trdecode x >x.trs
	trencode -q -t ndjson x.trs | jq -c '[.type, .args]' | diff - <(cat <<-'END'
		["sys_enter_openat",{"dfd":"0xffffff9c","filename":"0x7efc18359904","flags":"0x80000","mode":"0x0"}]
		["sys_exit_openat",{"ret":"0x3"}]
		["sys_enter_openat",{"dfd":"0x10","filename":"0x12","flags":"0x0","mode":"0x1b6"}]
		["sys_enter_newuname",{"name":"0xfffffffffffffffe"}]
		["sys_enter_getpid",null]
	END
	)
	assert_equal "$(trfilter -q -c 'flags == 0x80000' x.trs)" 1
	# later ones: "%lu" below 10, else "0x%lx"; openat has "%lu" and texts
	cat >x <<-'END'
		 sh-9 [001] ..... 20.000001: sys_read(fd: 3, buf: 0x7ffe02facdff, count: 0x10)
		 sh-9 [001] ..... 20.000002: sys_read(fd: 0x10, buf: 0x7ffe02facdff, count: 8)
		 sh-9 [001] ..... 20.000003: sys_openat(dfd: 4294967196, filename: 139785545139344 "/a", flags: O_RDONLY|O_CLOEXEC)
	END
	trdecode x | trencode -q -t ndjson | jq -c '[.type, .args]' | diff - <(cat <<-'END'
		["sys_enter_read",{"fd":3,"buf":"0x7ffe02facdff","count":"0x10"}]
		["sys_enter_read",{"fd":16,"buf":"0x7ffe02facdff","count":"0x8"}]
		["sys_enter_openat",{"dfd":4294967196,"filename":"139785545139344 \"/a\"","flags":"O_RDONLY|O_CLOEXEC"}]
	END
	)
}

# Make the pages of systrace, new.html and legacy.html, of the text of standard input, and want, what trencode writes
# of the text
systrace_pages() {
	cat >x
	trdecode x | trencode -q -t ndjson >want
	{
		printf '<!DOCTYPE html>\n<title>Android System Trace</title>\n<script>\nvar a = "b-1 [c]";\n'
		printf '</script>\n<script class="trace-data" type="application/text">\n'
		cat x
		printf '  </script>\n<!-- END TRACE -->\n</body>\n</html>\n'
	} >new.html
	{
		printf '<!DOCTYPE HTML>\n<title>Android System Trace</title>\n<script>\n  var linuxPerfData = "\\\n'
		sed -n '/^# tracer/,$p' x | sed 's/$/\\n\\/'
		printf '";\n</script>\n</html>\n'
	} >legacy.html
}

@test "systrace in a page: only the lines of its trace" {
	systrace_pages <"$ROOT/t/fuzz/corpus/ftrace/marks"
	for name in new legacy; do
		trdecode $name.html | trencode -q -t ndjson | diff want - || fail "$name"
	done
}

@test "function_graph without times: the total of a call is its duration" {
	trdecode "$ROOT/t/fuzz/corpus/ftrace/graph" >x.trs
	trstat -q -t csv -g name,module,tid -c total,count x.trs | sort >have
	grep -q '^vfs_read,.*,1235,120000,1$' have
	grep -q '^rw_verify_area,.*,1235,500,1$' have
	grep -q '^ext4_file_read_iter,ext4,1235,11250,1$' have
	trfilter -q -c 'arg.file == 0xffff888007949bc0 && arg.count == -5' x.trs >n
	[[ $(<n) == 1 ]]
	trfilter -q -c 'ret == 0x10' x.trs >n
	[[ $(<n) == 1 ]]
}

@test "an event of a live trace is written within 100 ms" {
	mkfifo fifo
	trdecode fifo >x.trs &
	exec 7>fifo
	printf ' sh-7 [001] d..2. 1.000001: sched_wakeup: comm=a pid=1 prio=1 target_cpu=000\n' >&7
	sleep 0.5
	for n in 2 3; do
		printf ' sh-7 [001] d..2. 1.00000%s: sched_wakeup: comm=a pid=1 prio=1 target_cpu=000\n' $n >&7
		sleep 0.1
		trencode -q -t ndjson x.trs 2>/dev/null | grep -c sched_wakeup >n$n || true
	done
	exec 7>&-
	wait
	[[ $(<n2) == 2 && $(<n3) == 3 ]]
}

# Make a tracing instance in tracefs, and name its directory in I.
need_instance() {
	local root
	for root in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		I=$root/instances/trutils$$
		[[ ! -d $root/instances ]] || ! mkdir "$I" 2>/dev/null || return 0
	done
	skip "no tracefs"
}

@test "trace_pipe of tracefs is live, though stat reports a regular file" {
	need_instance
	trdecode "$I/trace_pipe" >x.trs 3>&- &
	for ((i = 0; i < 50; i++)); do
		echo "mark $i" >"$I/trace_marker"
	done
	for ((i = 0; i < 30; i++)); do
		sleep 0.1
		n=$(trencode -q -t ndjson x.trs 2>/dev/null | grep -c '"mark [0-9]*"') || true
		((n < 50)) || break
	done
	kill %1
	wait || true
	run timeout 5 trdecode --until=-1ms "$I/trace_pipe"
	rmdir "$I"
	assert_failure 2
	assert_line --partial "needs a file or directory, not a pipe"
	[[ $n == 50 ]]
}

@test "lines that are not events are counted, the first with its offset; all others are read" {
	{
		sed -n 1,50p "$T/v6-date.report.txt"
		echo ' work-1 [0x1] 1.2.3: sched_switch: prev_comm=a'
		echo 'nothing'
		sed -n '51,$p' "$T/v6-date.report.txt"
	} >x
	at=$(sed -n 1,50p x | wc -c)
	run -1 --separate-stderr trdecode x -o x.trs
	[[ ${stderr_lines[0]} == *"x: $(printf 0x%x "$at"): a line that is not an event" ]]
	[[ ${stderr_lines[1]} == *"1 more line that is not an event"* ]]
	trdecode -q "$T/v6-date.report.txt" | trencode -q -t ndjson >want
	trencode -q -t ndjson x.trs 2>/dev/null | diff want -
}

@test "a line that is part of an event is damage, though a text may go on in it" {
	# each after a print, whose message has two lines
	cat >broken <<-'END'
		      sh-149     [001]
		      sh-149     [0
		      sh-149   \x20
		      sh-14x     [001]    20.928398: sched_wakeup: comm=a pid=1
		      sh-149     [0x1]    20.92.398: sched_wakeup: comm=a pid=1
		      sh-149     {001]    20.928398: sched_wakeup: comm=a pid=1
		      sh-149     [001]    20.928398; sched_wakeup: comm=a pid=1
		      sh~149     [001] d..2. 20.928398: sched_wakeup: comm=a pid=1
		01] d..2.    20.928398: other: comm=a pid=1
		.2.    20.928398: other: comm=a pid=1
		20.928398: sched_wakeup: comm=a pid=1
		398: sched_wakeup: comm=a pid=1
		      sh-149     xd..2   15us+: foo <-bar
	END
	sed -i 's/\\x20/ /' broken
	head='   sh-9 [001]    20.900001: sched_wakeup: comm=b pid=2'
	printf '%s\n' "$head" '   sh-9 [001]    20.900002: print: one' 'two [3] a-1 12:' >before
	printf '%s\n' '   sh-9 [001]    20.900003: sched_wakeup: comm=c pid=3' >after
	cat before after >whole
	trdecode whole | trencode -q -t ndjson >want
	run -0 jq -r 'select(.type == "print").args.message' want
	assert_output $'one\ntwo [3] a-1 12:'
	while IFS= read -r line; do
		{
			cat before
			printf '%s\n' "$line"
			cat after
		} >x
		trdecode x -o x.trs 2>err && fail "$line"
		echo "trdecode: x: $(printf 0x%x "$(wc -c <before)"): a line that is not an event" | diff - err || fail "$line"
		trencode -q -t ndjson x.trs 2>/dev/null | diff want - || fail "$line"
	done <broken
	printf '%s\n' '# tracer: function_graph' ' 0) ! 120.000 us  |  foo();' ' 0) ! 12x.000 us  |  foo();' >x
	run -1 trdecode x -o x.trs
	assert_output 'trdecode: x: 0x35: a line that is not an event'
	# a value in brackets has its end, so no line goes on with it
	printf '%s\n' '   sh-9 [001]    20.900001: softirq_entry: vec=9 [action=RCU]' garbage >x
	run -1 trdecode x -o x.trs
	assert_output 'trdecode: x: 0x3e: a line that is not an event'
}

@test "a text that ends within a line is damage where the line shows it" {
	for file in "$T/v6-sched-irq-timer.report.txt" "$T/v6-stacktrace.report.txt" "$T/v6-fgraph.raw.txt"; do
		head -c 60000 "$file" | sed '$d' >text
		python3 - <<-'END' >cuts
			import random, re
			text = open("text", "rb").read()
			# a head, and the name of an event or a stack
			event = re.compile(rb" *\S.*-[0-9]+ .*[0-9]: +([a-z_0-9]+: .*\S|<.*>)")
			random.seed(6)
			first = text.index(b"\n", len(text) // 3)
			for n in range(16):
			    cut = random.randrange(first, len(text))
			    line = text[text.rindex(b"\n", 0, cut) + 1:cut]
			    print(cut, text[:cut].count(b"\n"), int(bool(line.strip()) and not line.startswith(b"=>") and not event.match(line) and b"|" not in line))
		END
		while read -r at lines damaged; do
			head -c "$at" text >x
			head -n "$lines" text >y
			trdecode -q x >x.trs 2>err && status=0 || status=$?
			((status == damaged || (status == 1 && damaged == 0))) || fail "$file: $at: status $status"
			((!status)) || grep -qF "trdecode: x: $(printf 0x%x "$(wc -c <y)"): the text ends within a line" err || fail "$file: $at: $(<err)"
			# what is before the line is there
			((!status)) || trencode -q -t ndjson x.trs 2>/dev/null | cmp - <(trdecode -q y | trencode -q -t ndjson) || fail "$file: $at"
		done <cuts
		grep -q ' 1$' cuts || fail "$file"
	done
	# a whole event may lack its newline
	printf '   sh-9 [001]    20.900001: sched_wakeup: comm=b pid=2' >x
	run -0 --separate-stderr trdecode x -o x.trs
	printf '\n   sh-9 [001]    20.900001: sched_wakeup: comm=b pid=2' >>x
	run -0 --separate-stderr trdecode x -o x.trs
	trstat -q -t csv -g type -c count x.trs | grep -qx sched_wakeup,2
	# these are parts of others
	for part in ' comm=c' ' comm=c pid=3 [' ' comm=c pid=' ' comm=c pid=2x' ''; do
		printf '\n   sh-9 [001]    20.900002: sched_wakeup:%s' "$part" | cat x - >y
		run -1 --separate-stderr trdecode y -o y.trs
		assert_equal "$stderr" 'trdecode: y: 0x6e: the text ends within a line'
		trstat -q -t csv -g type -c count y.trs 2>/dev/null | grep -qx sched_wakeup,2 || fail "$part"
	done
}

@test "a page that ends early is damage" {
	{
		printf '# tracer: nop\n#\n'
		for n in {10..29}; do
			printf 'Binder_4-2%d   (  184) [00%d] d..4 514769.0863%d: ' $n $((n % 3)) $n
			printf 'sched_wakeup: comm=Binder_5 pid=%d prio=120 success=1 target_cpu=002 state=W|m\n' $n
		done
	} | systrace_pages
	for name in new legacy; do
		# within the lines of the trace
		end=$(grep -abo '<[/]script>' $name.html | tail -n 1 | cut -d : -f 1)
		for ((at = end / 2; at < end - 8; at += 97)); do
			head -c $at $name.html >x
			run -1 --separate-stderr trdecode x -o x.trs
			[[ $stderr == "trdecode: x: 0x"*": "* ]] || fail "$at: $stderr"
			trencode -q -t ndjson x.trs 2>/dev/null | head -n -1 >have
			cmp -n "$(wc -c <have)" have want || fail "$at"
		done
	done
}

@test "any bit may be wrong" {
	RANDOM=7
	for name in v6-fgraph.report v6-stacktrace.report v6-sched-irq-timer.raw; do
		for ((i = 0; i < 20; i++)); do
			cp "$T/$name.txt" x
			flip x 30
			status=0
			timeout 20 trdecode -q x >x.trs || status=$?
			((status <= 1)) || fail "status $status"
			trencode -q -t ndjson x.trs >/dev/null || (($? == 1))
		done
	done
}

@test "long lines with many beginnings of an event are read once" {
	{
		printf ' a-1 [000] 1.000001: ev: v=1\n'
		for part in '[1]' 'a-1 ' 'a:1 [' '1) | a |' '8,0 ' '==========>' '1) a(); ' '=> f' ' a-1 [000] 1.000001: ev: v=1 ' \
			' a-1 1d..2. 1us : ev: v=1 '; do
			yes "$part" | head -n 1000000 | tr -d '\n'
			echo
		done
		for text in 'thread_noise: ' 'block_rq_issue: 8,0 R 1 (' 'block_plug: [' '8,0 D R 1 ('; do
			printf ' a-1 [000] 1.000001: %s' "$text"
			yes 'a) 1 + 1 [a:1 start 1 ' | head -n 100000 | tr -d '\n'
			echo
		done
		printf ' a-1 [000] 1.000002: ev: v=2\n'
	} >x
	run -1 --separate-stderr timeout 20 trdecode x -o x.trs
	run -1 --separate-stderr trfilter -c 'type == "ev"' x.trs
	assert_output 2
}

@test "a first line whose thread has a blank at the end of its name is recognised" {
	cat >x <<-'END'
		Surface Flinger -4831  [001] ...1 80909.598590: tracing_mark_write: B|4829|latchBuffer
		Surface Flinger -4831  [001] ...1 80909.598604: tracing_mark_write: E
	END
	run -0 pipe "trdecode x | trstat -t tsv -c count,total"
	assert_output $'name\tcount\ttotal\nlatchBuffer\t1\t14000' || assert_output $'count\ttotal\tname\n1\t14000\tlatchBuffer'
}

@test "<...> is no name: trace-cmd learns the thread's name from sched_switch" {
	need trace-cmd
	cat >x <<-'END'
		# tracer: nop
		#
		           <...>-8       [002] d..2.   100.000100: sched_wakeup: comm=sh pid=9 prio=120 target_cpu=002
	END
	trdecode x -o x.trs
	run -0 trencode -t ndjson -c comm,tid x.trs
	assert_output '{"comm":null,"tid":8}'
	trencode -t trace-cmd -o x.dat x.trs
	run ! grep -aq '8 <' x.dat
	run -0 trace-cmd report x.dat
	assert_line --regexp '^ +<\.\.\.>-8 +\[002\] +100\.000100: sched_wakeup: '
}

@test "softirqs and arguments of system calls are as in trace.dat" {
	cat >x <<-'END'
		            work-282   [001]   170.791378: sys_enter:            NR 262 (ffffff9c, 7ffe8d5547b0, 7ffe8d554870, 0, 7ffe8d5549b7, 0)
		            work-282   [001]   170.791380: softirq_entry:        vec=9 [action=RCU]
		            work-282   [001]   170.791381: softirq_exit:         vec=9 [action=RCU]
	END
	trdecode x -o x.trs
	run -0 trencode -t ndjson -c args x.trs
	assert_line --index 0 '{"args":{"id":262,"args":["0xffffff9c","0x7ffe8d5547b0","0x7ffe8d554870","0x0","0x7ffe8d5549b7","0x0"]}}'
	assert_line --index 1 '{"args":{"vec":"RCU","action":"RCU"}}'
	run -0 trfilter -c 'vec == 9 && vec == "RCU"' x.trs
	assert_output 2
	# the same trace as text and as trace.dat
	T=$RECORDED/trace-cmd/v6-sched-irq-timer
	for file in "$T.dat" "$T.report.txt"; do
		trdecode -q "$file" | trstat -q --pair softirq -c count -t tsv | tail -n +2 | sort >"${file##*.}"
	done
	diff dat txt
}

@test "trace-cmd report of an instance: lost events are a gap, with their number or without it" {
	for name in "" "inst: " "    a: "; do
		printf '%s\n' cpus=2 "${name}CPU:1 [376 EVENTS DROPPED]" \
			"$name          sh-1 [001]     1.000001: sys_exit_read:        0xdaa" \
			"${name}CPU:0 [EVENTS DROPPED]" \
			"$name          sh-1 [000]     1.000002: sys_exit_read:        0xdaa" >x
		run -0 --separate-stderr bash -c 'trdecode x | trencode -q -t ndjson -c time,cpu,type,args'
		assert_output - <<-'END'
			{"time":1000001000,"cpu":1,"type":"gap","args":{"reason":"lost","events":376}}
			{"time":1000001000,"cpu":1,"type":"sys_exit_read","args":{"ret":"0xdaa"}}
			{"time":1000002000,"cpu":0,"type":"gap","args":{"reason":"lost"}}
			{"time":1000002000,"cpu":0,"type":"sys_exit_read","args":{"ret":"0xdaa"}}
		END
	done
}
