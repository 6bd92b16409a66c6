#!/bin/bash
# shellcheck disable=SC2094 # a file is read, and its name is the output's
# Make inputs for the fuzz targets from traces: t/data and, where they are given, other directories
# of traces. What is kept in t/fuzz/corpus is what t/fuzz/keep.sh chooses of them.
# usage: t/fuzz/seeds.sh BIN OUT [TRACES]
bin=$(realpath "$1") out=$2 traces=${3:-}
here=$(realpath "$(dirname "$0")") data=$(realpath "$(dirname "$0")/../data")
libs="-larchive -ldw -lelf -liberty -lsnappy -lbrotlienc -lbrotlidec -lbrotlicommon -lzstd -lz"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"/{apitrace,bpftrace,callgrind,chrome,ctf,decode,demangle,encode,expression,filter,ftrace,glprofile,gmon,lttng,ninja_log,perf,pstats,ring,services,stat,strace,symbols,tracecmd,uftrace,v8_profile,speedscope,firefox,streams}

# le SIZE N...: numbers of SIZE bytes
le() {
	local size=$1 n i
	shift
	for n; do
		for ((i = 0; i < size; i++)); do
			printf '%b' "$(printf '\\x%02x' $((n >> 8 * i & 255)))"
		done
	done
}
byte() { le 1 "$1"; }

(
	cd "$here/../.." || exit
	mapfile -t library < <(find common -name '*.c')
	# shellcheck disable=SC2086
	cc -std=gnu11 -D_GNU_SOURCE -iquote . -O1 -o "$work/pack_stream" \
		t/tools/pack_stream.c "${library[@]}" $libs -ldeflate -lm -lpthread
) || exit

# --- directories ---
for archive in "$data"/{ctf,lttng}/*.tar.gz; do
	format=$(basename "$(dirname "$archive")")
	mkdir -p "$work/$format"
	tar -C "$work/$format" -xzf "$archive"
done
for directory in "$work"/lttng/* "$traces"/lttng-legacy/gen/*/ "$traces"/lttng-legacy/bad/*/; do
	[[ -d $directory ]] && bash "$here/pack.sh" "$directory" 9000 >"$out/lttng/$(basename "$directory")"
done
for seed in {1..6}; do
	python3 "$here/../tools/ctf2_traces.py" "$seed" "$work/ctf/json-$seed" && rm "$work/ctf/json-$seed.expect"
done
for directory in "$work"/ctf/* "$traces"/ctf/ust-3000ev-2app "$traces"/ctf2/*/; do
	[[ -d $directory ]] && bash "$here/pack.sh" "$directory" 9000 >"$out/ctf/$(basename "$directory")"
done
for directory in "$data"/uftrace/*/ "$traces"/uftrace/*/; do
	case $directory in *.expect/ | *pub-* | */src/) continue ;; esac
	[[ -f $directory/info ]] &&
		bash "$here/pack.sh" "$directory" 2000 >"$out/uftrace/$(basename "$directory")"
done

# What the recordings above do not have: calls and mappings of the kernel in CTF and LTTng, streams
# that trencode wrote, the binary list of tasks of old uftrace versions.
cat >"$work/metadata" <<'END'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le;
	packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; };
clock { name = monotonic; freq = 1000000000; offset_s = 5; offset = 1; };
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := time_t;
stream { id = 0; event.header := struct { uint8_t id; time_t timestamp; };
	packet.context := struct { time_t timestamp_begin; time_t timestamp_end;
		uint64_t content_size; uint64_t packet_size; uint32_t cpu_id; }; };
event { id = 0; name = "syscall_entry_read"; fields := struct { uint32_t fd; uint64_t count; }; };
event { id = 1; name = "syscall_exit_read"; fields := struct { int32_t ret; }; };
event { id = 2; name = "sched_switch"; fields := struct { uint8_t _prev_comm[16];
	int32_t _prev_tid; string _next_comm; int32_t _next_tid; }; };
event { id = 3; name = "irq_handler_entry"; fields := struct { int32_t irq; string name; }; };
event { id = 4; name = "irq_handler_exit"; fields := struct { int32_t irq; int32_t ret; }; };
event { id = 5; name = "irq_softirq_entry"; fields := struct { uint32_t vec; }; };
event { id = 6; name = "irq_softirq_exit"; fields := struct { uint32_t vec; }; };
event { id = 7; name = "lttng_ust_cyg_profile:func_entry";
	fields := struct { uint64_t addr; uint64_t call_site; }; };
event { id = 8; name = "lttng_ust_cyg_profile:func_exit";
	fields := struct { uint64_t addr; uint64_t call_site; }; };
event { id = 9; name = "lttng_ust_statedump:bin_info"; fields := struct { uint64_t baddr;
	uint64_t memsz; string path; uint8_t is_pic; }; };
END
mkdir -p "$work/kernel"
cp "$work/metadata" "$work/kernel"
{
	le 4 $((0xc1fc1fc1)) 0
	le 8 1 100 $((8 * 1000)) $((8 * 1000))
	le 4 1
	event() { le 1 "$1"; le 8 "$2"; }
	event 2 10; printf 'swapper\0\0\0\0\0\0\0\0\0'; le 4 0; printf 'sh\0'; le 4 7
	event 0 11; le 4 3; le 8 9
	event 3 12; le 4 5; printf 'eth\0'
	event 4 13; le 4 5 1
	event 5 14; le 4 1
	event 6 15; le 4 1
	event 1 16; le 4 9
	event 9 17; le 8 4096 8192; printf '/bin/sh\0'; le 1 1
	event 7 18; le 8 4100 4200
	event 8 19; le 8 4100 4200
	head -c 1000 /dev/zero
} | head -c 1000 >"$work/kernel/channel_0"
bash "$here/pack.sh" "$work/kernel" 9000 >"$out/ctf/kernel"
for input in "$data"/uftrace/fib "$data"/trace-cmd/v6-date.dat "$data"/apitrace/values.trace; do
	for format in ctf lttng; do
		mkdir -p "$work/written"
		"$bin/trdecode" -q "$input" | "$bin/trfilter" -q -n 150 1 |
			"$bin/trencode" -q -t $format -o "$work/written/$format" 2>/dev/null &&
			bash "$here/pack.sh" "$work/written/$format" 9000 \
				>"$out/$format/written-$(basename "$input")"
		rm -rf "$work/written"
	done
done
[[ -d $traces/lttng-legacy/v2.6-219558ev-2cpu ]] &&
	"$bin/trdecode" -q "$traces/lttng-legacy/v2.6-219558ev-2cpu" |
	"$bin/trfilter" -q -n 60 'name =~ "vm_map|process_state|syscall|irq|softirq|trap"' |
	"$bin/trencode" -q -t lttng -o "$work/maps" 2>/dev/null &&
	bash "$here/pack.sh" "$work/maps" 9000 >"$out/lttng/maps"
cp -r "$data/uftrace/fib" "$work/old"
{
	le 2 $((0xface)) 7
	le 4 40
	le 8 1
	le 4 4123 4123
	printf '%s' "$(basename "$work"/old/sid-*.map .map | cut -c5-)"
	le 4 0 8
	printf '/bin/fib'
	for tid in 4123 4125 4126; do
		le 2 $((0xface)) 3
		le 4 16
		le 8 2
		le 4 4123 $tid
	done
} >"$work/old/task"
rm "$work/old/task.txt"
bash "$here/pack.sh" "$work/old" 1000 >"$out/uftrace/old-task"

# The same list with messages of other kinds, with a wrong magic, and cut.
message() { le 2 $((0xface)) "$1"; le 4 "$2"; }
tasks() { message 3 16; le 8 2; le 4 4123 4123; }
session() { message 7 40; le 8 1; le 4 4123 4123; printf '%s' "$1"; le 4 0 "$2"; printf '%s' "$3"; }
old() { cat >"$work/old/task"; bash "$here/pack.sh" "$work/old" 200 >"$out/uftrace/old-task-$1"; }
sid=$(basename "$work"/old/sid-*.map .map | cut -c5-)
{ session "$sid" 8 /bin/fib; message 9 8; le 8 7; tasks; message 9 900; } | old other
{ session ../../../../etc/ 8 /bin/fib; tasks; le 8 1; } | old magic
session "$sid" 5 /fib | head -c 52 | old short-name
session "$sid" 4096 /bin/fib | old long-name
{ tasks; session "$sid" 8 /bin/fib; } | head -c 50 | old cut-session
{ tasks; message 3 16; le 4 1; } | old cut-task

# Functions with the module that they must be of.
tar -C "$work" -xJf "$data/recorded/uftrace.tar.xz" uftrace/args-spec
mkdir "$work/specs"
cp "$work"/uftrace/args-spec/{info,task.txt,args.sym,*.map,[0-9]*.dat} "$work/specs"
LC_ALL=C sed -i -e 's,^argspec:ints@.*,argspec:ints@args\,arg1/i8;uns@none\,arg1;str@PLT\,arg1/s;dbl@kernel\,fparg1;chr@libc\,arg1/c;^p@a\,arg1,' \
	-e '/^\(argauto\|retauto\|enumauto\):/s/;.*//' "$work/specs/info"
bash "$here/pack.sh" "$work/specs" 700 >"$out/uftrace/modules"

# --- files ---
find "$data/apitrace" "$traces"/apitrace/{gen,bad} -name '*.trace' -size -8k \
	-exec cp -n {} "$out/apitrace" \; 2>/dev/null
find "$data/trace-cmd" "$traces"/trace-cmd -name '*.dat' -size -66k ! -name 'pub-*' \
	-exec cp -n {} "$out/tracecmd" \; 2>/dev/null
# Version 6 with the text of a latency trace in the place of pages.
input=$data/trace-cmd/v6-date.dat
{
	head -c "$(grep -abo 'flyrecord' "$input" | head -n 1 | cut -d: -f1)" "$input"
	printf 'latency  \0'
	cat <<'END'
# tracer: irqsoff
#                  _------=> CPU#
  <idle>-0       0d..1    0us : cpuidle_enter <-do_idle
      sh-7       1dNh2    5us+: sched_wakeup: comm=sh pid=7
   sleep-12      0....  123.456789: vfs_read <-ksys_read
      sh-7       1dNh2    5us : => do_idle
END
} >"$out/tracecmd/latency-text"
cp "$here"/corpus/chrome/* "$out/chrome"
cp "$here"/corpus/ftrace/* "$out/ftrace"
cp "$here"/corpus/glprofile/* "$data"/apitrace/*.profile.txt "$out/glprofile"
cp "$here"/corpus/callgrind/* "$out/callgrind"
cp "$data/gmon/gmon.out" "$out/gmon"
for bits in 32 64; do
	for order in little big; do
		python3 "$here/../tools/gmon.py" "$out/gmon/$bits-$order" $bits $order hist:0x1000:0x1010:100:3,0,5,7 \
			calls:0x1004:0x1010:4 calls:0:0x1000:1 blocks:0x1000:12,0x1004:8 hist:0x8000:0x8003:1000:9 >"$work/list"
	done
done
for target in v8_profile speedscope firefox; do cp "$here/corpus/$target"/* "$out/$target"; done
cp "$here"/corpus/services/* "$out/services"
cp "$data"/ninja/* "$out/ninja_log"
cp "$data"/strace/*.txt "$data"/strace/ff/* "$out/strace"
cp "$data"/pstats/*.{prof,txt} "$out/pstats"
cp "$data"/bpftrace/*.{txt,json} "$out/bpftrace"
printf '%s\0' _ZN3foo3barEv _ZNSt6vectorIiSaIiEE9push_backERKi >"$out/demangle/itanium"
printf '_RNvC6_123foo3bar' >"$out/demangle/rust-v0"
printf '_ZN4core3fmt9Formatter3pad17h0123456789abcdefE' >"$out/demangle/rust"
printf '# symbols: 2\n# path name: /bin/x\n# build-id: 0123\n%s\n' \
	'0000000000001139 T main' >"$out/demangle/uftrace"
printf 'ffffffff81000000 T _text\nffffffff81000010 t f [mod]\n' >"$out/demangle/kallsyms"

# Stacks that are unwound with the module that the target has, also at the top of the address space.
for mode in good top lost uaf; do
	python3 "$here/../tools/unwind_wrap.py" "$mode" "$out/perf/unwind-$mode" 0 0x1000 0x300 /200
done
for seed in {1..6}; do
	python3 "$here/../tools/perf_data.py" layout "$seed" "$out/perf/layout-$seed" >"$work/list"
done
find "$data/perf" -name '*.data' -size -40k -exec cp {} "$out/perf" \;

# Pages of a ring buffer: 4, 0, 1 or 2 and 8 bytes long words are chosen by the first byte.
for file in "$traces"/trace-cmd/{v6-fgraph,i386-v6-markers-raw,s390x-v6-fgraph}.dat; do
	[[ -f $file ]] || continue
	size=$(stat -c %s "$file")
	for choice in 0 1 2; do
		{ byte $choice; tail -c 4096 "$file"; } >"$out/ring/$choice-$(basename "$file")"
		{ byte $choice; tail -c +$((size - 8191)) "$file" | head -c 4096; } \
			>"$out/ring/$choice-$(basename "$file")-2"
	done
done

# --- streams ---
i=0
for input in "$data"/uftrace/{fib,jumps} "$data"/trace-cmd/*.dat "$data"/{ctf,lttng}/*.tar.gz \
	"$data"/apitrace/{values,v6,odd,sides}.trace "$here"/corpus/chrome/* \
	"$traces"/uftrace/{args-auto,args-cpp-auto,new-events,new-args,kernel-sched,extern-data,dlopen,forkexec,watch-cpu,sdt-events} \
	"$traces"/trace-cmd/{v6-stacktrace,v6-userstack,v6-bprint-bputs,v6-markers,v6-syscalls,v6-hooks,v6-latency,v6-function,v7-zstd-syscalls-all,s390x-v6-fgraph,v6-synthetic-event,v6-kprobes}.dat \
	"$traces"/apitrace/gen/rand-v[06].trace "$traces"/apitrace/backtrace.trace \
	"$traces"/lttng-legacy/gen/gen-2.6-be32-packed; do
	[[ -e $input ]] || continue
	for options in "" --segment=2000; do
		"$bin/trdecode" -q $options "$input" 2>/dev/null | "$work/pack_stream" 40 500 \
			>"$out/streams/$i"
		((i++))
	done
	"$bin/trdecode" -q "$input" 2>/dev/null | "$bin/trsym" -q | "$work/pack_stream" 30 3000 \
		>"$out/streams/$i"
	((i++))
done
for stream in "$out"/streams/*; do
	name=$(basename "$stream")
	for ((choice = 0; choice < 36; choice++)); do
		{ byte $choice; cat "$stream"; } >"$out/encode/$choice-$name"
	done
	for choice in 0 1 2; do
		{ byte $choice; cat "$stream"; } >"$out/symbols/$choice-$name"
	done
	for ((choice = name % 32 * 8; choice < name % 32 * 8 + 8; choice++)); do
		{ byte $choice; cat "$stream"; } >"$out/filter/$choice-$name"
	done
	{ byte $((128 + name % 9)); cat "$stream"; } >"$out/decode/stream-$name"
done

# pairs TARGET FIRST LAST TEXT...: each text with each choice, and a stream each time another
n=0
pairs() {
	local target=$1 first=$2 last=$3 choice text streams
	shift 3
	streams=("$out"/streams/*)
	for text; do
		for ((choice = first; choice <= last; choice++)); do
			{ byte "$choice"; printf '%s\0' "$text"; cat "${streams[n++ % ${#streams[@]}]}"; } \
				>"$out/$target/$n"
		done
	done
}
pairs stat 0 18 '' name type,tid stack 'caller,depth' 'bucket(dur,1ms)' 1ms 40 count
pairs stat 0 0 name stack caller,name tid,name 'time,arg.1'
pairs stat 1 1 'count > 3' 'p99(dur) > 1ms' 'p99 > 2 * avg(tid & 1) + 1us' 'name=main: max > 5' 'count(next_comm) < 2'
pairs stat 2 2 'sched_wakeup -> sched_switch on pid=next_pid' irq 'A -> B' syscall wakeup
pairs stat 3 3 name,type tid,pid,comm,cpu arg.1,ret next_comm module stack 'hour(time)' 'name|re(x.*)'
pairs stat 4 4 count,total,self,min,max,avg,p50,p99.9 'sum(arg.1)' 'distinct(ret)' 'rate,first,last' 'stddev,gini'
pairs expression 0 15 'dur > 1ms && name =~ "^m"' '(arg.1 & 3) == 2 || ret * 2 - 1 != 0' 1 \
	'depth < 3 && !under("main")' 'time,name,arg.1' 'comm in ("a", "b")' 'self > 10us' \
	'kind == enter || type == "sched_switch"' 'stack =~ "f.*;g"' 'names,comm,paths' \
	'has(arg.x) && caller ~ "f*"' 'tid % 4 == 1 && dur / 1us >> 2 > ~cpu' "next_comm == 'sh' or prev_state == 'R'"

# --- what trdecode opens ---
add() { { byte "$1"; cat; } >"$out/decode/$2"; }
for input in "$data"/apitrace/v6.trace "$here"/corpus/chrome/kinds; do
	name=$(basename "$input")
	for choice in 0 1 2 64; do add $choice "$choice-$name" <"$input"; done
	gzip -c "$input" | add 0 "gz-$name"
	zstd -qc "$input" | add 64 "zst-$name"
	xz -c "$input" | add 0 "xz-$name"
	bzip2 -c "$input" | add 64 "bz2-$name"
	gzip -c "$input" | zstd -qc | add 0 "gz-zst-$name"
done
i=0
for packed in "$out"/{uftrace,lttng,ctf}/*; do
	add $((32 + i++ % 9)) "packed-$(basename "$packed")" <"$packed"
done
for file in "$out"/tracecmd/*; do
	for choice in 1 4 5 6 8; do add $choice "$choice-$(basename "$file")" <"$file"; done
done
for directory in "$work"/ctf/kinds "$work"/lttng/*packed* "$data"/uftrace/jumps; do
	name=$(basename "$directory")
	tar -C "$(dirname "$directory")" -c "$name" | gzip -c | add 0 "tgz-$name"
	tar -C "$(dirname "$directory")" -c "$name" | zstd -qc | add 65 "tzst-$name"
	tar -C "$(dirname "$directory")" -c "$name" | xz -c | add 2 "txz-$name"
	tar -C "$(dirname "$directory")" -c "$name" | head -c 60000 | add 64 "tar-$name"
done
for f in "$data"/trace-cmd/bad-v7-options-loop.dat "$data"/trace-cmd/v7-zstd-split-lost.dat; do
	add 6 "$(basename "$f")" <"$f"
done
rm -r "$out/streams"
