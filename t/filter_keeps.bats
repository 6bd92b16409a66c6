# What a filter keeps has the numbers that it had, and a filter that keeps all changes nothing.

load lib
load uftrace_fresh

# decode INPUT OUTPUT
decode() {
	trdecode -q "$1" 2>/dev/null | trsym -q >"$2" 2>/dev/null
}

setup_file() {
	local n=0 input
	cd "$BATS_FILE_TMPDIR" || return
	if command -v uftrace >/dev/null; then
		fresh_forks
		uftrace record -d forks.data ./forks >/dev/null 2>&1
		uftrace record --no-event -d bare.data ./forks >/dev/null 2>&1
	fi
	for input in forks.data bare.data "$DATA"/uftrace/{fib,jumps} "$DATA"/trace-cmd/*.dat \
		"$DATA"/apitrace/*.trace "$DATA"/lttng/*.tar.gz "$DATA"/ctf/*.tar.gz \
		"$RECORDED"/uftrace/{forkexec,exit-mid,threads,longjmp,lost,kernel-sched,kill-segv} \
		"$RECORDED"/uftrace/{trace-onoff,sdt-events,args-auto,estimate,new-events,m32-basic} \
		"$RECORDED"/trace-cmd/v6-fgraph.dat; do
		decode "$input" "$((++n)).trs" || continue
		echo "$input" >"$n.name"
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# numbers KEYS [FILE]
numbers() {
	trstat -q -t tsv -c total,self,max -g "$@"
}

# each FUNCTION: call it for every recording, and say where it fails
each() {
	local name n bad=''
	for name in *.name; do
		n=${name%.name}
		"$1" "$n.trs" || bad+=" $(<"$name")"
	done
	[[ -z $bad ]] || fail "differ:$bad"
}

# all_numbers FILE: by keys of all kinds, with what is known at the end alone, and as a text
all_numbers() {
	local keys
	for keys in name tid,caller,name depth,name stack type,name; do
		numbers $keys "$1" 2>&1
	done
	# how many calls had not returned, and the like
	trstat "$1" 2>&1
	trencode -q "$1" 2>&1
}

# What keeps everything of a stream with times of its own: options and a condition, one a line.
everything() {
	cat <<-'END'
		1
		-v 0
		time >= 0
		name != "nosuch"
		cpu >= 0 || !has(cpu)
		tid >= 0 || !has(tid)
		dur >= 0 || !has(dur)
		self >= 0 || !has(self)
		under("main") || !under("main")
		type != "nosuch"
		--since 0 1
		--with-callers 1
		-D 1024 1
		-A 1 1
		--between 1 0 1
		--sample 1/1 1
	END
}

# keep_all LINE FILE
keep_all() {
	local words=()
	[[ $1 == -* ]] || words=("$1")
	[[ $1 != -* ]] || read -ra words <<<"$1"
	trfilter -q "${words[@]}" "$2"
}

# distinct FILE...: the streams without those that are as one before, but for the HEAD, which has the commands
distinct() {
	perl -0777 -ne 'print "$ARGV\n" unless $seen{substr $_, 40 + unpack "x24 V", $_}++' "$@"
}

unchanged() {
	local line lines n=0 bad=''
	mapfile -t lines < <(everything)
	all_numbers "$1" >want.txt
	rm -f all.*
	for line in "${lines[@]}"; do
		keep_all "$line" "$1" >"all.$n"
		((++n))
	done
	for n in $(distinct $(seq -f all.%g 0 $((n - 1)))); do
		all_numbers "$n" | cmp -s - want.txt || bad+=" '${lines[${n#all.}]}'"
	done
	[[ -z $bad ]] || echo "$1:$bad"
	[[ -z $bad ]]
}

@test "a filter that keeps everything changes no number and no text" {
	each unchanged
}

limits_unchanged() {
	local line bad='' input
	input=$(<"${1%.trs}.name")
	all_numbers "$1" >want.txt
	while read -r line; do
		set -f
		# shellcheck disable=SC2086
		trdecode -q $line "$input" 2>/dev/null | trsym -q >all.trs 2>/dev/null
		set +f
		all_numbers all.trs | cmp -s - want.txt || bad+=" '$line'"
	done < <(printf '%s\n' '--type *' '--since 0')
	[[ -z $bad ]] || echo "$1:$bad"
	[[ -z $bad ]]
}

@test "limits of trdecode that keep everything change no number and no text" {
	each limits_unchanged
}

# Calls of the kernel outside any other call count nowhere, whatever is left out around them.
@test "calls in the kernel have the times that they had" {
	local condition
	decode "$RECORDED/uftrace/kernel-sched" kernel.trs
	trstat -q -t tsv kernel.trs | grep ^x64_sys_call >want
	[[ -s want ]]
	for condition in 'name == "x64_sys_call"' 'name != "main"' 'dur > 0' 'depth < 3' 'group != "linux"'; do
		trfilter "$condition" kernel.trs | trstat -q -t tsv | grep ^x64_sys_call | diff want -
		trfilter "$condition" kernel.trs | trfilter 'name != "mmap"' | trstat -q -t tsv |
			grep ^x64_sys_call | diff want -
	done
}

@test "calls in the kernel have the times that they had in segments that are read alone" {
	local condition starts i
	trdecode -q --segment 64K "$RECORDED/uftrace/kernel-sched" 2>/dev/null | trsym -q >all.trs
	mapfile -t starts < <(grep -aob "$(head -c 16 all.trs)" all.trs | cut -d : -f 1)
	((${#starts[@]} > 1))
	starts+=("$(stat -c %s all.trs)")
	for condition in 1 'name == "x64_sys_call"' 'name != "main"'; do
		trfilter "$condition" all.trs | trstat -q -t tsv -c total,max -g name >want
		rm -f part.*
		for ((i = 0; i < ${#starts[@]} - 1; i++)); do
			# segments but the last end before their stream does
			tail -c "+$((starts[i] + 1))" all.trs | head -c $((starts[i + 1] - starts[i])) |
				{ trfilter -q "$condition" 2>err || true; } |
				trstat -q --partial -o "part.$((100 + i))" || true
		done
		trstat -q --merge -t tsv -c total,max -g name part.* | diff want -
	done
}

@test "being scheduled out has the time that it had without the calls around it" {
	need uftrace
	decode forks.data all.trs
	trstat -q -t tsv -c total,count,max all.trs | grep ^linux:schedule >want
	[[ -s want ]]
	trfilter 'group == "linux"' all.trs | trstat -q -t tsv -c total,count,max | grep ^linux:schedule | diff want -
	trfilter 'group == "linux" && dur >= 0' all.trs | trstat -q -t tsv -c total,count,max |
		grep ^linux:schedule | diff want -
	trfilter 'name != "forking"' all.trs | trstat -q -t tsv -c total,count,max | grep ^linux:schedule |
		diff want -
}

# Print the calls that were open before the trace and have no name: trstat has no row for them.
unseen() {
	trencode -q -t tsv --no-header -c tid,depth,name,dur "$@" | { grep -F '<0>' || true; } | LC_ALL=C sort
}

@test "calls that were open before the trace have the times that they had" {
	local limit
	decode "$DATA/uftrace/jumps" jumps.trs
	unseen jumps.trs >want
	[[ -s want ]]
	for limit in 1ns 1us; do
		trfilter "dur >= $limit" jumps.trs | unseen | diff want -
	done
}

# In each line a condition that is true of the calls of <0>, or of none of them after a '!'.
unseen_conditions() {
	cat <<-'END'
		dur > 1us
		tid == 2004 && dur > 0
		dur > 0 && tid == 2004
		!dur > 1s
		!tid == 2004 && dur > 1s
		!!(dur > 1us)
		dur > 1us || name == "main"
		name == "<0>" && has(dur)
		dur >= 0 && name != "nosuch"
		!!has(dur)
	END
}

@test "calls without any event are kept by a condition or by its inverse" {
	local line inverse condition got
	decode "$DATA/uftrace/jumps" jumps.trs
	unseen jumps.trs >want
	[[ -s want ]]
	while read -r line; do
		condition=${line#!} inverse=()
		[[ $line != !* ]] || inverse=(-v)
		trfilter -q "${inverse[@]}" "$condition" jumps.trs | unseen | diff want - || fail "$line"
		[[ $line == !* ]] || inverse=(-v)
		[[ $line != !* ]] || inverse=()
		got=$(trfilter -q "${inverse[@]}" "$condition" jumps.trs | trfilter -q 1 | unseen)
		[[ -z $got ]] || fail "not $line"
	done < <(unseen_conditions)
}

@test "calls without any event last as long as before, if others without an enter are left out" {
	decode "$RECORDED/uftrace/forkexec" forkexec.trs
	unseen forkexec.trs | cut -f 1,3- >want
	[[ -s want ]]
	trfilter -q 'name == "<0>" && dur >= 0' forkexec.trs | unseen | cut -f 1,3- | sort -u | diff want -
}

same_calls() {
	# the rows of calls alone: other events have no duration
	trfilter -q 'dur >= 0' "$1" | numbers tid,name >kept.tsv
	numbers tid,name "$1" | grep -Fxf kept.tsv | cmp -s - kept.tsv
}

@test "a filter that keeps all calls changes no number of theirs" {
	each same_calls
}

same_thread() {
	local tid
	# calls that nest per CPU are no thread's alone
	[[ $(<"${1%.trs}.name") != */lttng/* ]] || return 0
	for tid in $(trstat -q -t tsv -c count -g tid "$1" | awk -F '\t' 'NR > 1 && $1 > 0 { print $1 }' |
		head -3); do
		trfilter -q "tid == $tid" "$1" | numbers tid,caller,name >kept.tsv
		numbers tid,caller,name "$1" | grep -e "^tid" -e "^$tid	" | cmp -s - kept.tsv || return 1
	done
}

@test "a thread alone has the numbers that it had among others" {
	each same_thread
}

# A condition on the name keeps calls without what they call and what calls them. A second return of
# setjmp has the name of another call than its enter.
same_times() {
	local name
	trstat -q -t tsv -c max,count "$1" >all.tsv
	for name in $(awk -F '\t' 'NR > 1 && NR < 6 && $2 != "" { print $1 }' all.tsv | grep -E '^[a-z_]+$' | grep -v setjmp); do
		cmp -s <(grep "^$name	" all.tsv) \
			<(trfilter -q "name == \"$name\"" "$1" | trstat -q -t tsv -c max,count | grep "^$name	") ||
			return 1
		cmp -s <(grep "^$name	" all.tsv | cut -f 2) \
			<(trfilter -q "name == \"$name\" && dur >= 0" "$1" |
				trstat -q -t tsv -c max | grep "^$name	" | cut -f 2) || return 1
	done
}

@test "calls that are kept by their names have the times that they had" {
	each same_times
}

# calls_of NAME: calls as trencode has them
calls_of() {
	trencode -q -t tsv --columns time,dur,tid,name | awk -F '\t' -v name="$1" '$4 == name && $2 != ""' | sort
}

# Calls without a leave, such as those of longjmp, last until the row that shows their end.
same_ends() {
	local name other
	mapfile -t names < <(trencode -q -t tsv --columns name,unfinished,dur "$1" |
		awk -F '\t' '$2 == 1 && $3 != "" && $1 !~ /setjmp|"|<0>|\\/ { print $1 }' | sort -u | head -3)
	((${#names[@]})) || return 0
	other=$(trstat -q -t tsv -c count -g name "$1" | awk -F '\t' 'NR == 2 { print $1 }')
	for name in "${names[@]}"; do
		calls_of "$name" <"$1" >want.tsv
		[[ -s want.tsv ]] || return 1
		trfilter -q "name == \"$name\"" "$1" | calls_of "$name" | cmp -s - want.tsv || return 1
		trfilter -q -v "name != \"$name\"" "$1" | calls_of "$name" | cmp -s - want.tsv || return 1
		trfilter -q "name == \"$name\" && dur >= 0" "$1" | calls_of "$name" | cmp -s - want.tsv || return 1
		trfilter -q --with-callers "name == \"$name\"" "$1" | calls_of "$name" | cmp -s - want.tsv || return 1
		[[ $other == "$name" || -z $other ]] ||
			trfilter -q "name != \"$other\" && depth < 999" "$1" | trfilter -q "name == \"$name\"" |
			calls_of "$name" | cmp -s - want.tsv || return 1
		# trstat counts it after the filter if it did before
		numbers tid,name "$1" | awk -F '\t' -v name="$name" '$2 == name' >want.tsv
		trfilter -q "name == \"$name\"" "$1" | numbers tid,name | awk -F '\t' -v name="$name" '$2 == name' |
			cut -f 1,2,3,5- | cmp -s - <(cut -f 1,2,3,5- want.tsv) || return 1
	done
}

@test "calls that ended without a leave end where they ended" {
	each same_ends
}

above() {
	local limit status=0 unit=
	limit=$(trstat -q -t tsv -c p50 -g '' "$1" | awk -F '\t' 'NR == 2 { print $1 + 0 }')
	((limit)) || return 0
	# a time of a clock in ns needs a unit, one of ticks has none
	trfilter -q -c "dur >= $limit" "$1" >/dev/null 2>&1 || status=$?
	[[ $status != 2 ]] || unit=ns
	trfilter -q "dur >= $limit$unit" "$1" | trstat -q -t tsv -c min -g '' | awk -F '\t' -v limit="$limit" \
		'NR == 2 && $1 != "" && $1 + 0 < limit { exit 1 }'
}

@test "no call that is kept for its duration is shorter for trstat" {
	each above
}

@test "limits of trdecode keep the times of calls" {
	need uftrace
	local tid first
	trdecode -q forks.data | trsym -q >all.trs
	for tid in $(trstat -q -t tsv -c count -g tid all.trs | awk -F '\t' 'NR > 1 { print $1 }'); do
		diff <(numbers tid,caller,name all.trs | grep -e ^tid -e "^$tid	") \
			<(trdecode -q --tid "$tid" forks.data | trsym -q | numbers tid,caller,name)
	done
	# calls of which all but the scheduler's events are kept
	diff <(trstat -q -t tsv -c max,count all.trs | grep -E '^(dying|exit|forking|fork|leaf|usleep)	') \
		<(trdecode -q --type entry --type exit forks.data | trsym -q | trstat -q -t tsv -c max,count |
			grep -E '^(dying|exit|forking|fork|leaf|usleep)	')
	# since before the first event
	first=$(trstat -q -t tsv -c first -g '' all.trs | sed -n 2p)
	diff <(trstat -q -t tsv -c max,count all.trs | grep -E '^(dying|exit|forking|fork|leaf)	') \
		<(trdecode -q --since "${first}ns" forks.data | trsym -q | trstat -q -t tsv -c max,count |
			grep -E '^(dying|exit|forking|fork|leaf)	')
	diff <(numbers caller,name all.trs) <(trdecode -q --until +1h forks.data | trsym -q | numbers caller,name)
}

@test "a call that stays open ends with its thread, whatever is left out" {
	need uftrace
	trdecode -q forks.data | trsym -q >all.trs
	numbers name all.trs | grep -E '^(exit|usleep)	' | cut -f 1,2 >want
	[[ $(wc -l <want) -eq 2 ]]
	trfilter -q 'name in {"exit", "usleep"} && dur > 0' all.trs | numbers name | grep -E '^(exit|usleep)	' | cut -f 1,2 |
		diff want -
	trfilter -q 'name == "exit" || name == "usleep"' all.trs | numbers name | grep -E '^(exit|usleep)	' |
		cut -f 1,2 | diff want -
	# through two of them
	trfilter -q 'type != "linux:task-exit"' all.trs | trfilter -q 'name in {"exit", "usleep"}' | numbers name |
		grep -E '^(exit|usleep)	' | cut -f 1,2 | diff want -
}

@test "written back and read again nothing changes" {
	need uftrace
	trdecode -q bare.data | trsym -q >all.trs
	trencode -q -t uftrace -o one all.trs
	trfilter -q 1 all.trs | trencode -q -t uftrace -o two
	diff -r one two
}
