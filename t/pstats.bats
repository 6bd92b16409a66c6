#!/usr/bin/env bats
# Profiles of Python's cProfile, profile and profiling.sampling, and the tables that pstats prints: sums by
# function and by caller as pstats has them. t/data/pstats has profiles of work.py by Python 2.7 to 3.13.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	PROFILES=$DATA/pstats
	cd "$BATS_TEST_TMPDIR" || return
}

# by_function PROFILE: FILE LINE FUNCTION CALLS NS NS
by_function() {
	trdecode "$1" | trstat -q -t tsv -g file,line,name -c count,self,total | awk -F '\t' 'NR > 1 && $4 + $5 + $6' | LC_ALL=C sort
}

# by_caller PROFILE: FUNCTION CALLER CALLS NS NS
by_caller() {
	trdecode "$1" | trstat -q -t tsv -g name,caller -c count,self,total | awk -F '\t' 'NR > 1 && $2 != "" && $3 + $4 + $5' | LC_ALL=C sort
}

expected() {
	python3 "$ROOT/t/tools/pstats_sums.py" "$@" | LC_ALL=C sort
}

@test "sums by function and by caller are those of pstats" {
	for profile in 3.6 3.13 profile; do
		expected "$PROFILES/$profile.prof" >want
		[ "$(wc -l <want)" -ge 15 ]
		by_function "$PROFILES/$profile.prof" | diff want - || fail "$profile"
		expected --callers "$PROFILES/$profile.prof" >want
		[ "$(wc -l <want)" -ge 15 ]
		by_caller "$PROFILES/$profile.prof" | diff want - || fail "$profile: callers"
	done
	# Python 3 cannot read these
	by_function "$PROFILES/2.7.prof" | diff <(LC_ALL=C sort "$PROFILES/2.7.expect") -
	by_caller "$PROFILES/2.7.prof" | diff <(LC_ALL=C sort "$PROFILES/2.7.callers") -
}

@test "a profile of the Python that is installed; all versions of marshal" {
	python3 -m cProfile -o new.prof "$PROFILES/work.py"
	expected new.prof >want
	by_function new.prof | diff want -
	for version in 0 1 2 3 4; do
		python3 - "$PROFILES/3.13.prof" $version >v.prof <<-'END'
			import marshal, sys
			sys.stdout.buffer.write(marshal.dumps(marshal.load(open(sys.argv[1], 'rb')), int(sys.argv[2])))
		END
		by_function v.prof >have
		by_function "$PROFILES/3.13.prof" | diff - have || fail "version $version"
	done
	# other forms of numbers and texts
	python3 - >v.prof <<-'END'
		import marshal, sys
		stats = {('é.py', 2**40, 'f'): (1, 2**31, 1, 2.5, {}), ('a.py', 3, 'x' * 300): (2**45, 2**46, 1e-9, 2, {('é.py', 2**40, 'f'): (1, 2, 0.0, 1.0)})}
		sys.stdout.buffer.write(marshal.dumps(stats))
	END
	expected v.prof | sed 's/1099511627776//' >want
	by_function v.prof | diff want -
}

@test "profiles of profiling.sampling: samples, callers, their mark" {
	python3 - >v.prof <<-'END'
		import marshal, sys
		main, f = ('a.py', 9, 'main'), ('a.py', 3, 'f')
		stats = {main: (1, 10, 0.001, 0.01, {}), f: (9, 9, 0.009, 0.009, {main: 9, f: 4}), ('__sampled__',): True}
		sys.stdout.buffer.write(marshal.dumps(stats))
	END
	run -0 --separate-stderr pipe 'trdecode v.prof | trstat -t tsv -g name -c count,self,total'
	assert_output $'name\tcount\tself\ttotal\nmain\t10\t1000000\t10000000\nf\t9\t9000000\t9000000'
	assert_equal "$stderr" ''
	run -0 pipe 'trdecode v.prof | trstat -t tsv -g name,caller -c count'
	assert_line $'f\tmain\t9'
}

@test "tables that pstats and profiling.sampling print" {
	# the table has milliseconds
	by_function "$PROFILES/table.txt" >have
	expected "$PROFILES/3.13.prof" | awk -F '\t' -v OFS='\t' '{
		for (i = 5; i <= 6; i++)
			$i = sprintf("%.3f", $i / 1000000000) * 1000 * 1000000
		print
	}' | sort >want
	diff want have
	printf '\033[1;34mProfile Stats:\033[0m\n\033[1m  nsamples\033[0m  \033[1m sample%%\033[0m  \033[1mtottime (ms)\033[0m  \033[1m cumul%%\033[0m  \033[1mcumtime (s)\033[0m  \033[1mfilename:lineno(function)\033[0m\n' >x.txt
	printf '%s\n' "       12/40       6.0        12.345      20.0         0.040  "$'\033[32ma.py\033[0m:\033[33m7\033[0m(\033[36mf\033[0m)' \
		'         0/3       0.0         0.000       1.5         0.003  lib/b (1).py:12(<lambda>)' '' 'Legend:' '  nsamples: Direct/Cumulative samples' >>x.txt
	run -0 --separate-stderr pipe 'trdecode x.txt | trstat -t tsv -g file,line,name -c count,self,total'
	assert_output $'file\tline\tname\tcount\tself\ttotal\na.py\t7\tf\t40\t12345000\t40000000\nlib/b (1).py\t12\t<lambda>\t3\t0\t3000000'
	assert_equal "$stderr" ''
}

@test "the table of the module profile: functions without a file, no calls" {
	python3 -m profile -s tottime "$PROFILES/work.py" >prof.txt
	grep -qE ' :0\([a-z]' prof.txt
	grep -qE '^ +0 +0.000 +0.000 +profile:0' prof.txt
	awk '$NF ~ /^:0\(/ { sub(/\/.*/, "", $1); gsub(/^:0\(|\)$/, "", $NF); print $NF "\t" $1 }' prof.txt | sort >want
	run -0 --separate-stderr trdecode -o a.trs prof.txt
	assert_equal "$stderr" ''
	trstat -q -t tsv -g file,name -c count a.trs | awk -F '\t' -v OFS='\t' 'NR > 1 && $1 == "" { print $2, $3 }' | sort | diff want -
}

@test "tables of one profile in several orders count once" {
	python3 - "$PROFILES/3.13.prof" >one.txt <<-'END'
		import pstats, sys
		pstats.Stats(sys.argv[1]).sort_stats('tottime').print_stats()
	END
	by_function one.txt >want
	[ "$(wc -l <want)" -ge 15 ]
	python3 - "$PROFILES/3.13.prof" >two.txt <<-'END'
		import pstats, sys
		stats = pstats.Stats(sys.argv[1])
		stats.sort_stats('tottime').print_stats(5)
		stats.sort_stats('cumtime').print_stats()
		stats.sort_stats('calls').print_stats('fib')
	END
	[ "$(grep -c ncalls two.txt)" -eq 3 ]
	by_function two.txt | diff want -
	# another profile adds, and so does another time
	sed 's/ in [0-9.]* seconds/ in 77.000 seconds/' one.txt | cat one.txt - >both.txt
	by_function both.txt | diff <(awk -F '\t' -v OFS='\t' '{ $4 *= 2; $5 *= 2; $6 *= 2; print }' want) -
	# without the line of the profile each table counts
	grep -v seconds one.txt >bare.txt
	cat bare.txt bare.txt >both.txt
	by_function both.txt | diff <(awk -F '\t' -v OFS='\t' '{ $4 *= 2; $5 *= 2; $6 *= 2; print }' want) -
}

@test "tables of callers are left out, and said to be if there is no other" {
	for table in callers callees; do
		python3 - "$PROFILES/3.13.prof" $table >only.txt <<-'END'
			import pstats, sys
			getattr(pstats.Stats(sys.argv[1]), 'print_' + sys.argv[2])()
		END
		grep -q 'called' only.txt
		run -1 --separate-stderr trdecode -o a.trs only.txt
		assert_equal "$stderr" 'trdecode: only.txt: only tables of callers or callees: print_stats() prints the table that trdecode reads, and the file of the profile has the callers, too'
		python3 -c 'import pstats, sys; pstats.Stats(sys.argv[1]).print_stats()' "$PROFILES/3.13.prof" >stats.txt
		cat stats.txt only.txt stats.txt >both.txt
		by_function both.txt | diff <(by_function stats.txt) -
	done
}

@test "--info, --list, -f, pipes and compressed profiles; call graphs" {
	run -0 trdecode --info "$PROFILES/3.13.prof"
	assert_line --regexp '^format +pstats$'
	assert_line --regexp '^functions +19$'
	assert_line --regexp '^calls +13614$'
	assert_line --regexp '^primitive calls +2425$'
	run -0 pipe "trdecode $PROFILES/3.13.prof | trstat -q -t tsv -n 1 -s count -g name -c 'count,sum(primitive)'"
	assert_line $'fib\t11493\t601'
	run -0 trdecode --list "$PROFILES/3.13.prof"
	assert_line --regexp 'sample +time$'
	by_function "$PROFILES/3.13.prof" >want
	gzip -c "$PROFILES/3.13.prof" >3.13.prof.gz
	by_function 3.13.prof.gz | diff want -
	by_function <(cat "$PROFILES/3.13.prof") | diff want -
	run -2 --separate-stderr trdecode -o a.trs "$PROFILES/work.py"
	printf 'no table\n' >other
	run -1 trdecode -f pstats -o a.trs other
	assert_output --partial "the text has no table of pstats"
	# the edges of the call graph are the callers
	run -0 pipe "trdecode $PROFILES/3.13.prof | trencode -q -t dot"
	assert_output --partial 'fib'
}

@test "damage: a profile cut at any byte, changed bytes, code objects" {
	trdecode -q "$PROFILES/3.13.prof" | trencode -q -t csv -c name,stack,weight >all
	size=$(wc -c <"$PROFILES/3.13.prof")
	for ((n = 8; n < size; n += 31)); do
		head -c "$n" "$PROFILES/3.13.prof" >short
		run trdecode -f pstats -o a.trs short
		[ "$status" -eq 1 ] || fail "$n: status $status"
		assert_output --partial 'the rest of the profile is left out'
		trencode -q -t csv -c name,stack,weight a.trs 2>/dev/null >some || true
		head -n "$(wc -l <some)" all | diff - some || fail "$n"
	done
	python3 - "$PROFILES/3.13.prof" <<-'END'
		import sys
		data = bytearray(open(sys.argv[1], 'rb').read())
		for n in range(len(data)):
		    data[n] ^= 0x15
		    open('bad%d' % n, 'wb').write(data) if n % 19 == 7 else None
		    data[n] ^= 0x15
	END
	for bad in bad*; do
		run trdecode -q -f pstats -o a.trs "$bad"
		[ "$status" -le 1 ] || fail "$bad: status $status"
	done
	python3 - >code.prof <<-'END'
		import marshal, sys
		sys.stdout.buffer.write(marshal.dumps({('a.py', 1, 'f'): (1, 1, 0.5, 0.5, {}), ('profile', 0, compile('1', 'x', 'eval')): (1, 1, 0, 0, {})}))
	END
	run -1 --separate-stderr trdecode -o a.trs code.prof
	assert_regex "$stderr" '^trdecode: code.prof: 0x[0-9a-f]+: a code object, of python -m profile: record with python -m cProfile: the rest of the profile is left out$'
	run -1 --separate-stderr trstat -q -t tsv -c count,self a.trs
	assert_output $'name\tcount\tself\nf\t1\t500000000'
	# a function that is none, a caller that is none, data after the end
	python3 - >odd.prof <<-'END'
		import marshal, sys
		sys.stdout.buffer.write(marshal.dumps({('a.py', 1, 'f'): (1, 1, 0.5, 0.5, {('a.py', 2): 3}), ('b.py', 1, 'g'): 5, ('c.py', 1, 'h'): (-1, 1, 0.5, 1e300, {})}) + b'more')
	END
	run -1 --separate-stderr trdecode -o a.trs odd.prof
	run -0 sed -E 's/0x[0-9a-f]+/N/' <<<"$stderr"
	assert_output - <<-'END'
		trdecode: odd.prof: N: a caller without its function or numbers, left out
		trdecode: odd.prof: N: no function with its numbers, left out
		trdecode: odd.prof: N: data after the profile, left out
		trdecode: odd.prof: 1 more: no function with its numbers, left out (--verbose prints them)
	END
}
