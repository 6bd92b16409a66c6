# trstat: trees, histograms and time lines in place of the table.

load lib
load tables

# The lines of uftrace graph and of --tree in one form: total self count name
uftrace_graph() {
	uftrace graph -d "$1" -f total,self --no-pager 2>/dev/null | awk '/ : / {
		sub(/ : [ |+-]*/, " : ")
		split($0, p, " : ")
		k = match(p[2], /\) /)
		n = split(p[1], w, " ")
		if (k && seen++) # the first one is the whole session
			print w[1] w[2], (n > 2 ? w[3] w[4] : "0.000us"), substr(p[2], 2, k - 2), substr(p[2], k + 2) }' |
		sort
}

our_tree() {
	trdecode "$1" 2>/dev/null | trsym 2>/dev/null | trstat -q --tree -c total,self,count | awk 'NR > 1 {
		t = $1 $2; s = $3 $4; c = $5
		$1 = $2 = $3 = $4 = $5 = $6 = ""
		sub(/^[ .|+-]+/, "")
		print t, s, c, $0 }' | sort
}

same_tree() {
	uftrace_graph "$RECORDED/uftrace/$1" >theirs
	[ -s theirs ] || fail "$1: nothing of uftrace"
	our_tree "$RECORDED/uftrace/$1" >ours
	cmp theirs ours || fail "$1"
}

@test "--tree has the calls, times and counts of uftrace graph" {
	need uftrace
	uftrace_graph "$DATA/uftrace/fib" >theirs
	our_tree "$DATA/uftrace/fib" | diff theirs -
	[ "$(wc -l <theirs)" -gt 30 ]
	for recording in args-cpp-auto basic-fentry be-synth deep-default depth-filter dlopen exc-cyg fn-filter \
		nest-libcall opts patch-xray signal tailcall threads time-filter; do
		same_tree $recording
	done
}

@test "--tree of a public recording of 0.9 has the calls, times and counts of uftrace graph" {
	need uftrace
	need_shared uftrace/pub-dfs-v093
	same_tree pub-dfs-v093
}

@test "a row of --tree stands below its caller's, siblings in the order of -s" {
	run -0 trstat -q --tree -t tsv -n 8 fib.trs
	lines 'depth name total self count' '0 worker 4441135 4585 2' '1 pause_a_while 4215263 7775 2' \
		'2 linux:schedule 2113387 2113387 1' '2 usleep 2094101 31989 1' '3 linux:schedule 2062112 2062112 1' \
		'1 qsort 198211 146880 2' '2 compare 51331 51331 1106' '1 fib 19146 421 2'
	run -0 trstat -q --tree -t tsv -c count -s +count -n 3 fib.trs
	lines 'depth name count' '0 __cxa_atexit 1' '0 __monstartup 1' '0 main 1'
	run -0 pipe "trstat -q --tree -t json fib.trs | jq -c '.[1]'"
	assert_output '{"depth":1,"name":"pause_a_while","total":4215263,"self":7775,"count":2}'
	run -0 pipe 'trstat -q --tree fib.trs | head -n 4'
	assert_line --index 3 --regexp '^  2\.113 ms +28\.439 % +2\.113 ms +1 +2 +\| \+-linux:schedule$'
	# with other keys a tree for each of their groups, in their order
	run -0 pipe "trstat -q --tree -g tid -t tsv fib.trs | awk -F '\t' '\$2 == 0 { print \$1, \$3, \$6 }'"
	assert_output "$(printf '%s\n' '4123 main 1' '4123 __monstartup 1' '4123 __cxa_atexit 1' '4125 worker 1' '4126 worker 1')"
	# any column
	run -0 pipe "trstat -q --tree -c count,p50,max,first -t tsv fib.trs | grep compare"
	assert_line --regexp "^2	compare	1106	50	70	[0-9]+$"
	run -2 trstat --tree -s tid -g tid fib.trs
	run -2 trstat --tree --hist fib.trs
	assert_output --partial '--tree and --hist do not go together'
}

# The lines of a tree by its rows "depth name" in order: a line goes on from a row to its next sibling. MOST: levels
# that are drawn.
draw_tree() {
	awk -F '\t' -v most="${1:-1000}" -v utf8="$2" '
		{ depth[NR] = $1; name[NR] = $2 }
		END {
			for (i = 1; i <= NR; i++) {
				line = ""
				cut = depth[i] > most ? depth[i] - most : 0
				for (level = cut + 1; level <= depth[i]; level++) {
					goes_on = 0
					for (k = i + 1; k <= NR && depth[k] >= level && !goes_on; k++)
						goes_on = depth[k] == level
					if (level == depth[i])
						line = line (!utf8 ? "+-" : goes_on ? "├─" : "└─")
					else if (cut && level == cut + 1)
						line = line ".."
					else
						line = line (goes_on ? (utf8 ? "│ " : "| ") : "  ")
				}
				print line name[i]
			}
		}'
}

@test "the lines of a tree join each row with its caller and its siblings" {
	need_terminal
	trstat -q --tree -t tsv -c count fib.trs | sed 1d | cut -f 1,2 >rows
	trstat -q --tree -c count fib.trs | sed '1d; s/^ *[0-9]* *[0-9]*  //' | diff - <(draw_tree <rows)
	terminal 200 "trstat -q --tree -c count fib.trs" | sed '1d; s/^ *[0-9]*  //' | diff - <(draw_tree 1000 1 <rows)
	# the lines of a narrow terminal have ten levels, and those of a deep tree in a file forty
	terminal 80 "trstat -q --tree -c count fib.trs" | sed '1d; s/^ *[0-9]* *[0-9]*  //' | diff - <(draw_tree 10 1 <rows)
	trdecode -q "$RECORDED/uftrace/deep-1024" | trsym -q >deep.trs
	trstat -q --tree -t tsv -c count deep.trs | sed 1d | cut -f 1,2 >rows
	trstat -q --tree -c count deep.trs | sed '1d; s/^ *[0-9]* *[0-9]*  //' | diff - <(draw_tree 40 <rows)
	# without lines of its siblings that -n leaves out
	run -0 pipe 'trstat -q --tree -n 3 fib.trs | tail -n 1'
	assert_output --regexp ' 1 +2    \+-linux:schedule$'
}

@test "a row of a tree has its part of the tree's total" {
	for view in --tree '--callers linux:schedule' '--callees pause_a_while' '--callees fib'; do
		# shellcheck disable=SC2086
		trstat -q $view -c total,total% -t tsv fib.trs | awk -F '\t' '
			NR > 1 { total[NR] = $3; percent[NR] = $4; if ($1 == 0) sum += $3 }
			END {
				for (i in total) {
					off = percent[i] - 100 * total[i] / sum
					if (off > 0.00051 || off < -0.00051) exit 1
				}
				exit NR < 3
			}' || fail "$view"
	done
	# one tree for each thread
	run -0 pipe "trstat -q --tree -g tid -c total% -t tsv fib.trs | awk -F '\t' '\$2 == 0 { sum[\$1] += \$4 } END { for (tid in sum) print tid, sum[tid] }' | sort"
	assert_output "$(printf '%s\n' '4123 100' '4125 100' '4126 100')"
	# ticks have no parts, and weights have
	run -0 pipe "trdecode -q '$DATA/apitrace/v6.trace' | trstat -q --tree | head -n 1"
	assert_output 'count  depth  name'
	run -0 pipe "trdecode -q '$DATA/perf/zstd.data' | trstat -q --tree | head -n 1"
	assert_output --regexp '^ *total \[cycles\] +total% +self \[cycles\] +count +depth +name$'
}

@test "views fit terminals of 80, 100 and 200 columns, of a trace of each source" {
	need_terminal
	for trace in uftrace/fib trace-cmd/v6-fgraph.dat trace-cmd/v7-zstd-instances.dat apitrace/v6.trace \
		apitrace/feat.profile.txt lttng/v2.6-le64-packed.tar.gz ctf/kinds.tar.gz perf/two.data.gz perf/sched.data.gz \
		chrome/v8-profile.json.gz perfetto/perf-followers.pftrace; do
		trdecode -q "$DATA/$trace" 2>/dev/null | trsym -q >"${trace//\//-}.trs" 2>/dev/null
	done
	[ -s perfetto-perf-followers.pftrace.trs ]
	cat >all <<-'END'
		for COLUMNS in 80 100 200; do
			export COLUMNS
			for trace in *-*.trs; do
				while read -r view; do
					echo "== $COLUMNS trstat $view $trace"
					trstat -q $view "$trace" 2>/dev/null
				done <<-VIEWS
					--tree
					--callers main
					--callees main
					--hist
					--hist -g name,module,comm
					--timeline $(trstat -q -c count -g '' -i 1ms "$trace" >/dev/null 2>&1 && echo 1ms || echo 10)
					--timeline $(trstat -q -c count -g '' -i 1ms "$trace" >/dev/null 2>&1 && echo 1ms || echo 10) -g name,module,comm
				VIEWS
			done
		done
	END
	terminal 80 bash all >shown
	run -0 perl -CSD -lne 'if (/^== (\d+) /) { ($most, $what) = ($1, $_) }
		elsif (length > $most) { print "$what: $_" } else { $lines++ } END { print $lines > 3000 ? "many" : $lines }' shown
	assert_output many
	# numbers keep their units
	run -0 grep -c ' us a bar\| ms a bar' shown
}

@test "a key without a value is a dash in the head of a histogram, after any other key" {
	run -0 pipe "trdecode -q '$DATA/chrome/members.json' | trstat -q --hist -g tid,comm | head -n 1"
	assert_output --regexp '^tid 2, comm -: '
}

@test "--callers splits the calls of a function by who called it" {
	run -0 trstat -q --callers linux:schedule -t tsv fib.trs
	lines 'depth name total self count' '0 linux:schedule 6956032 6956032 3' '1 pthread_join 2780533 2780533 1' \
		'2 main 2780533 2780533 1' '1 pause_a_while 2113387 2113387 1' '2 worker 2113387 2113387 1' \
		'1 usleep 2062112 2062112 1' '2 pause_a_while 2062112 2062112 1' '3 worker 2062112 2062112 1'
	# recursion: the total is that of the outer calls, as in the table
	trstat -q -t tsv -c total,self,count fib.trs | grep '^fib	' | cut -f 2- >table
	trstat -q --callers fib -t tsv fib.trs | awk -F '\t' -v OFS='\t' 'NR == 2 { print $3, $4, $5 }' | diff table -
	# each level sums up to the one before it
	trstat -q --callers fib -t tsv fib.trs | awk -F '\t' '$2 == "main" || $2 == "worker" { c += $5; s += $4; t += $3 } END { print t "\t" s "\t" c }' | diff table -
	run -0 trstat -q --callers no_such -t tsv fib.trs
	lines 'depth name total self count'
	run -0 pipe 'trstat --callers no_such fib.trs 2>&1 >/dev/null'
	assert_output "trstat: no call of 'no_such'"
}

@test "trees count calls, not what else happened in them" {
	trdecode -q "$RECORDED/uftrace/kernel-sched" | trsym -q >kernel.trs
	for view in --tree '--callers pthread_join' '--callees pthread_join'; do
		# shellcheck disable=SC2086
		run -0 pipe "trstat -q $view -t tsv kernel.trs | grep -w pthread_join | cut -f 5"
		assert_output 3
	done
	assert_equal "$(trstat -q -g name -c count -t tsv kernel.trs | grep -w pthread_join | cut -f 2)" 3
	# events of a thread that are in no call at all make no rows
	trfilter 'kind == instant' kernel.trs >instants.trs
	assert_equal "$(trstat -q --tree -t tsv instants.trs | wc -l)" 1
}

@test "--callees has what a function called, wherever it was called" {
	run -0 trstat -q --callees worker -t tsv -n 4 fib.trs
	lines 'depth name total self count' '0 worker 4441135 4585 2' '1 pause_a_while 4215263 7775 2' \
		'2 linux:schedule 2113387 2113387 1' '2 usleep 2094101 31989 1'
	run -0 pipe "trstat -q --callees fib -t tsv fib.trs | awk -F '\t' 'NR > 1 { c += \$5; s += \$4 } NR == 2 { print \$3 } END { print s, c }'"
	assert_output "$(printf '%s\n' 100719 '100719 599')"
	run -0 pipe "trstat -q --callees pause_a_while -g tid -t csv fib.trs"
	assert_output "$(printf '%s\n' tid,depth,name,total,self,count 4125,0,pause_a_while,2120240,6853,1 \
		4125,1,linux:schedule,2113387,2113387,1 4126,0,pause_a_while,2095023,922,1 \
		4126,1,usleep,2094101,31989,1 4126,2,linux:schedule,2062112,2062112,1)"
}

@test "a deep recursion is a tree too, of the callers that are distinguished" {
	trdecode "$RECORDED/uftrace/deep-1024" | trsym >deep.trs
	run -0 pipe "trstat -q --tree -t tsv deep.trs | sort -n | tail -n 1 | cut -f 1,2"
	assert_output "$(printf '1101\tdeep')"
	run -0 pipe "trstat -q --callers deep -t tsv deep.trs | sort -n | tail -n 1 | cut -f 1"
	assert_output 255
}

@test "--hist: every value is in its bucket, marks are those of the table" {
	run -0 trstat -q --hist fib.trs
	assert_line --index 0 'dur, count 1732, p50 0.050 us, p90 0.614 us, p99 28.096 us, min 0.040 us,'
	assert_line --index 1 '    max 2.988 ms'
	assert_line --index 2 --regexp '^ +0\.032 us +1404  #+ p50$'
	assert_line --regexp '^ +0\.512 us +73  #+ +p90$'
	run -0 trstat -q -g '' -c count,p50,p90,p99,min,max -t tsv fib.trs
	assert_line --index 1 "$(echo 1738 50 614 28096 40 2988111 | tr ' ' '\t')"
	# for programs the buckets, which add up
	trstat -q --hist -g name -t tsv fib.trs | awk -F '\t' 'NR > 1 { n[$1] += $4; if ($2 > $3) exit 1 }
		END { for (k in n) print k "\t" n[k] }' | sort >buckets
	trstat -q -g name -c count,max -t tsv fib.trs | awk -F '\t' 'NR > 1 && $3 != "" { print $1 "\t" $2 }' | sort | diff buckets -
	run -0 pipe "trstat -q --hist -g name -n 1 -t ndjson fib.trs | head -n 1"
	assert_output --regexp '^\{"name": "compare", "low": 40, "high": 40, "count": [0-9]+\}$'
	run -2 trstat --hist -s count fib.trs
	assert_output --partial '-s does not go with --hist'
}

@test "--hist: no line is longer than 80 characters" {
	run -0 pipe "trstat -q --hist -g name fib.trs | awk 'length > 80'"
	refute_output
	run -0 pipe "trstat -q --hist -g module,name,tid fib.trs | awk '/^[^ ]/ && length > 80'"
	refute_output
}

@test "--hist=F: of self times and of fields, negative ones too" {
	run -0 pipe "trstat -q --hist=self fib.trs | head -n 2 | tr '\n' ' '"
	assert_output --regexp '^self, count 1732, p50 0\.050 us, .* min 0\.040 us, +max 2\.780 ms $'
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" | trfilter 'type == "sys_exit"' >exit.trs
	trencode -q -t text --raw exit.trs | sed -n 's/.* ret=\(0x\)\{0,1\}\([-0-9a-f]*\).*/\2/p' >raw.txt
	run -0 trstat -q --hist=ret -t tsv exit.trs
	assert_line --index 0 "$(printf 'low\thigh\tcount')"
	trstat -q --hist=ret -t tsv exit.trs | awk -F '\t' 'NR > 1 { if ($1 < 0) below += $3; n += $3; if (NR > 2 && $1 + 0 <= last) exit 1; last = $2 } END { print below + 0, n }' >got
	trfilter 'ret < 0' exit.trs | trstat -q -g '' -c count -t tsv | tail -n 1 >below
	run -0 cat got
	assert_output "$(cat below) $(trfilter -c 'has(ret)' exit.trs)"
	run -0 trstat -q --hist=ret exit.trs
	assert_line --index 0 --regexp '^ret, count [0-9]+, p50 -?[0-9]+, .*, min -[0-9]+, max [0-9]+$'
	run -2 trstat --hist='no such' fib.trs
	assert_output --partial 'no such key'
}

# picture KIND OPTION...: draw fib.trs; the numbers in got
picture() {
	trstat -q "${@:2}" -t svg -o x.svg fib.trs
	xmllint --noout x.svg
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/t/tools/pictures.py" "$1" x.svg >got
	trencode -q -t tsv --columns time,dur,name,kind --no-header fib.trs | awk -F '\t' '$4 == "call"' >calls
}

@test "-t svg: bars of histograms are the calls between their edges, in the scale of the axes" {
	picture histogram --hist
	# each call is in the bar that has its time
	cut -f 2 calls | awk -F '\t' -v OFS='\t' 'NR == FNR { low[FNR] = $2; high[FNR] = $3; n = FNR; next }
		{ for (i = 1; i <= n; i++) if ($1 >= low[i] && $1 <= high[i]) count[i]++ }
		END { for (i = 1; i <= n; i++) print low[i], high[i], count[i] }' got - | diff <(cut -f 2- got) -
	assert_equal "$(awk -F '\t' '{ n += $4 } END { print n }' got)" "$(wc -l <calls)"
	assert_equal "$(grep -c 'class="mark"' x.svg)" 3
	# the first groups, and what is left out is said
	picture histogram --hist -g name -n 3
	assert_equal "$(cut -f 1 got | sed 's/,.*//' | uniq)" "$(trstat -q -c count -n 3 -t tsv --where 'kind == "call"' fib.trs | sed '1d; s/\t.*//')"
	grep -q ', 15 groups left out' x.svg
	# fields, of which some are negative; no values
	trdecode -q "$RECORDED/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" -o k.trs
	trstat -q --hist=ret -t svg -o ret.svg k.trs
	trstat -q --hist=ret -t tsv k.trs >ret.tsv
	python3 "$ROOT/t/tools/pictures.py" histogram ret.svg | awk -F '\t' '{ n += $4; if ($2 < 0) below += $4 } END { print n, below }' >have
	awk 'NR > 1 { n += $3; if ($1 < 0) below += $3 } END { print n, below }' ret.tsv | diff - have
	trfilter -q 'tid == 1' fib.trs | trstat -q --hist -t svg | xmllint --noout -
}

@test "-t svg: bars of timelines are the calls that end in their times" {
	picture timeline --timeline 100us -c count
	first=$(sed -n 's/.*from \([0-9]*\)\.\([0-9]*\) on: a bar for each 100 us.*/\1\2/p' x.svg | head -n 1)
	trencode -q -t tsv --columns time,dur,name --no-header fib.trs | awk -F '\t' -v OFS='\t' -v first="$first" '{
		n[$3 OFS int(($1 + $2 - first) / 100000) * 100000]++ } END { for (k in n) print k, n[k] }' | sort | diff - <(sort got)
	picture timeline --timeline 1us -c total -n 2
	(($(cut -f 1 got | sort -u | wc -l) == 2))
	grep -q ', 19 groups left out' x.svg
	grep -q ': a bar for each [125]0* us' x.svg
	run -2 trstat --timeline 1ms -t folded fib.trs
}

@test "--heatmap: the calls by the time of their end and how long they took" {
	picture heatmap --heatmap 20us
	first=$(sed -n 's/.*from \([0-9]*\)\.\([0-9]*\) on: a column for each 40 us.*/\1\2/p' x.svg | head -n 1)
	awk -F '\t' -v OFS='\t' -v first="$first" 'NR == FNR { at[FNR] = $2; low[FNR] = $3; high[FNR] = $4; n = FNR; next }
		{ column = int(($1 + $2 - first) / 40000) * 40000
			for (i = 1; i <= n; i++) if (column == at[i] && $2 >= low[i] && $2 <= high[i]) count[i]++ }
		END { for (i = 1; i <= n; i++) print at[i], low[i], high[i], count[i] }' got calls | diff <(cut -f 2- got) -
	assert_equal "$(awk -F '\t' '{ n += $5 } END { print n }' got)" "$(wc -l <calls)"
	# one for each group, those with the most calls first
	picture heatmap --heatmap 100us -g name -n 2
	assert_equal "$(cut -f 1 got | uniq)" $'compare: 1106 calls\nfib: 599 calls'
	grep -q ', 16 groups left out' x.svg
	# rows
	run -0 trstat -q --heatmap 1ms -t tsv fib.trs
	assert_line --index 0 $'bucket(time,1ms)\tlow\thigh\tcount'
	assert_equal "$(awk -F '\t' 'NR > 1 { n[$1] += $4 } END { for (t in n) print t "\t" n[t] }' <<<"$output" | sort)" \
		"$(trstat -q --where 'kind == "call"' -g 'bucket(time,1ms)' -c count -t tsv fib.trs | sed 1d | sort)"
	# text: a line for each part of a power of two, and the most calls have the darkest character
	run -0 trstat -q --heatmap 100us fib.trs
	assert_line --index 0 'calls 1732, highest 513, from 3587.866500000, each 100.000 us'
	assert_line --regexp '^ +0.032 us +\*\*=@ +'
	# summaries add up, other options are refused
	trstat -q --heatmap 100us --partial fib.trs | trstat -q --merge --heatmap 100us | diff - <(printf '%s\n' "$output")
	run -2 trstat --heatmap 1ms -c count fib.trs
	assert_output --partial -- '-c does not go with --heatmap'
	run -2 trstat --heatmap 5 fib.trs
	run -2 trstat --heatmap f fib.trs
	assert_output --partial -- '--heatmap takes a time such as 10ms'
	run -2 trstat -t svg fib.trs
	assert_output --partial -- '-t svg goes with --diff, --hist, --timeline, --heatmap'
}

@test "--timeline: the axis is the time from the first bar to the one below a mark" {
	run -0 trstat -q --timeline 100us -c count -g "" fib.trs
	[[ ${lines[0]} =~ ", "([0-9]+)".000 us a bar"$ ]]
	step=${BASH_REMATCH[1]} n=0
	axis=${lines[1]}
	while [[ $axis =~ ^([^|]*)\|([0-9.]+)(" us"|" ms"|"")(.*)$ ]]; do
		at=$((${at:--1} + ${#BASH_REMATCH[1]} + 1))
		((n)) || first=$at
		unit=${BASH_REMATCH[3]# } time=${BASH_REMATCH[2]}
		awk -v t="$time" -v u="${unit:-us}" -v bar=$((at - first)) -v step="$step" \
			'BEGIN { exit t * (u == "ms" ? 1000 : 1) != bar * step }' || fail "$at: $time $unit"
		at=$((at + ${#BASH_REMATCH[2]} + ${#BASH_REMATCH[3]}))
		axis=${BASH_REMATCH[4]}
		((n += 1))
	done
	((n >= 3))
}

@test "--timeline: a bar for each width of time, a row for each group" {
	run -0 trstat -q --timeline 1ms -n 3 fib.trs
	lines=("${lines[@]%% }")
	assert_equal "${lines[0]}" 'from 3587.860000000 to 3587.870000000, 1.000 ms a bar'
	assert_line --index 2 --regexp '^ +1106  ......@@..  compare$'
	assert_line --index 3 --regexp '^ +599 +@  fib$'
	trstat -q --timeline 1ms -t tsv fib.trs >got
	trstat -q -g 'name,bucket(time,1ms)' -c count -s 'name,bucket(time,1ms)' -t tsv fib.trs | diff - got
	# many buckets are taken together, to the width of the line
	run -0 trstat -q --timeline 1us -c total -g '' -n 1 fib.trs
	assert_line --index 0 --regexp ', [125]0*\.000 us a bar$'
	[ "${#lines[2]}" -le 80 ]
	# the first groups of the table, each with all of its buckets
	trstat -q -c count -s -count -n 2 -t tsv fib.trs | awk -F '\t' 'NR > 1 { print $1 "\t" $2 }' | sort >want
	trstat -q -c count -s -count --timeline 1ms -n 2 -t tsv fib.trs |
		awk -F '\t' 'NR > 1 { n[$1] += $3 } END { for (k in n) print k "\t" n[k] }' | sort | diff want -
	# stacks are keys, too
	trstat -q -c count -g stack -s -count -t tsv fib.trs | awk -F '\t' 'NR > 1 && $1' >want
	trstat -q -c count -g stack -s -count --timeline 1ms fib.trs | awk 'NR > 2 && $NF ~ /[a-z]/ { print $NF "\t" $1 }' | diff want -
	run -2 trstat --timeline 0 fib.trs
	run -2 trstat --timeline 1s -s 'bucket(time,1s)' fib.trs
}

@test "block elements only on a terminal whose characters are UTF-8" {
	need_terminal
	run -0 pipe "LC_ALL=C.UTF-8 script -qec 'trstat -q --hist fib.trs' /dev/null </dev/null"
	assert_output --partial '█'
	run -0 pipe "LC_ALL=C script -qec 'trstat -q --hist fib.trs' /dev/null </dev/null"
	refute_output --partial '█'
	run -0 pipe "LC_ALL=C.UTF-8 trstat -q --timeline 1ms fib.trs"
	refute_output --partial '█'
	run -0 pipe "LC_ALL=C.UTF-8 script -qec 'trstat -q --timeline 1ms fib.trs' /dev/null </dev/null"
	assert_output --partial '█'
}

@test "--slowest: the calls with the largest times, with arguments and stack" {
	trstat -q --slowest 40 -t tsv fib.trs >got
	awk -F '\t' 'NR > 1 { print $1 }' got >totals
	trstat -q -g time,tid,name,depth -c max -s max -t tsv fib.trs | awk -F '\t' 'NR > 1 && NR <= 41 { print $5 }' | diff totals -
	run -0 sed -n 2,4p got
	assert_line --index 1 --regexp '^2788709	8176	3587866698075	3587869486784	4123	4123	fib		pthread_join			main$'
	# the one that takes longest of each function is the max of the table
	trstat -q --slowest 100000 -t tsv fib.trs | awk -F '\t' 'NR > 1 && !($9 in m) { m[$9] = $1 } END { for (k in m) print k, m[k] }' | sort >longest
	trstat -q -c max -t tsv fib.trs | awk -F '\t' 'NR > 1 && $2 != "" { print $1, $2 }' | sort | diff longest -
	run -0 trstat -q --slowest 2 fib.trs
	assert_line --index 0 '2.988 ms, self 2.592 us, at 3587.866594572, thread 4123 fib'
	assert_line --index 1 '    main()'
	assert_line --index 4 '    in main'
	run -0 pipe "trstat -q --slowest 1 -t json fib.trs | jq -c '.[0] | [.name, .dur, .cpu]'"
	assert_output '["main",2988111,null]'
	for n in 0 -1 x 1x 99999999; do
		run -2 trstat --slowest "$n" fib.trs
		assert_output --partial '--slowest takes a number'
	done
	run -2 trstat --slowest 3 -g tid fib.trs
	run -3 trstat -q --slowest 1 --fail-if 'max(name == "main") > 1ms' fib.trs
}

@test "a remark where times are ticks, in lists and charts; none with --tick, for samples and for sums" {
	trdecode -o ticks.trs "$DATA/apitrace/threads.trace"
	for view in '--slowest 3' '-g name,time' '--timeline 100'; do
		# shellcheck disable=SC2086 # options are words
		run -0 errors trstat $view ticks.trs
		assert_line --regexp '^trstat: .*threads.trace: the clock counts ticks: times have no unit$'
	done
	for format in perfetto chrome firefox; do
		run -0 errors trencode -t "$format" -o out ticks.trs
		assert_line --regexp '^trencode: .*threads.trace: the clock counts ticks: times have no unit$'
		run -0 errors trencode -t "$format" --tick 1us -o out ticks.trs
		refute_output --partial 'counts ticks'
	done
	run -0 errors trstat -q --slowest 3 ticks.trs
	assert_output ''
	for format in folded ndjson csv; do
		run -0 errors trencode -t $format -o out ticks.trs
		refute_output --partial 'counts ticks'
	done
	run -0 errors trstat ticks.trs
	refute_output --partial 'counts ticks'
	echo 'main;f 3' | trdecode -o folded.trs
	run -0 errors trencode -t chrome -o out folded.trs
	refute_output --partial 'counts ticks'
}

@test "--slowest: arguments as uftrace replay shows them, apitrace's with their names" {
	run -0 pipe "trdecode '$DATA/apitrace/v6.trace' | trstat -q --slowest 3 -t tsv | cut -f 9-11"
	assert_line --index 0 "$(printf 'name\targs\tret')"
	grep -q 'many(1, 2, 3, 4, 5, 6, 7, 8) = 36;' "$RECORDED/uftrace/args-auto.expect/replay.txt"
	run -0 pipe "trdecode '$RECORDED/uftrace/args-auto' | trsym | trstat -q --slowest 4"
	assert_line '    many(arg1=1, arg2=2, arg3=3, arg4=4, arg5=5, arg6=6, arg7=7, arg8=8) = 36'
	assert_line '    open(arg1="/etc/hostname", arg2=O_RDONLY) = 4'
	run -0 pipe "trdecode '$RECORDED/apitrace/feat.trace' | trstat -q --slowest 3"
	assert_line '    eglInitialize(dpy=0x5632605c4b80) = EGL_TRUE'
}

@test "--slowest keeps the texts of large values, not the values" {
	cd "$BATS_TEST_TMPDIR" || return
	# 40 calls with a blob of 1 MiB each, open at the same time
	for i in {0..39}; do
		if ((i)); then
			printf '\000\000\000'
		else
			printf '\005\000\000\000\001f\001\001a'
		fi
		printf '\001\000\010\200\200\100'
		head -c 1M /dev/zero
		printf '\000'
	done >x
	for i in {0..39}; do printf "\\001\\$(printf %o "$i")\\000"; done >>x
	gzip -1 x
	trdecode x.gz >x.trs
	run -0 trstat -q --slowest 2 -t tsv x.trs
	assert_line --partial 'a=blob(1048576)'
	unsanitized 'it needs more memory'
	run -0 bash -c 'ulimit -v 65536; trstat -q --slowest 2 -t tsv x.trs | wc -l'
	assert_output 3
}
