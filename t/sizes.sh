#!/bin/bash
# Functions of more than 60 lines or 6 parameters, names of functions and structs that are defined
# twice, and headers that include each other.
# usage: t/sizes.sh [ROOT]
# shellcheck source=t/complain.bash
. "${BASH_SOURCE[0]%/*}/complain.bash"
cd "${1:-$(dirname "$0")/..}" || exit
LINES_MOST=60 PARAMETERS=6

# Print "KIND FILE NAME LINE END SIGNATURE" for each function, struct and union.
declared() {
	find cmd common -name '*.[ch]' | sort |
		ctags -x --languages=C --map-C=+.h --kinds-C=fsu --fields=+neS -L - \
			--_xformat='%K	%F	%N	%n	%{end}	%S' | grep -v '	__anon'
}

declared | awk -F '\t' -v lines=$LINES_MOST -v parameters=$PARAMETERS '
	$1 != "function" { next }
	$5 - $4 + 1 > lines { print $2 ": " $3 ": " $5 - $4 + 1 " lines" }
	{
		# commas inside of the parentheses of a function pointer are its own
		gsub(/\([^()]*\)\([^()]*\)/, "", $6)
		n = gsub(/,/, "", $6) + 1
		if (n > parameters)
			print $2 ": " $3 ": " n " parameters"
	}' | sort |
	# a callback of libdw, find_debuginfo
	grep -vFx 'cmd/trdecode/perf_unwind.c: unwind_find_debug: 8 parameters' |
	complain "at most $LINES_MOST lines, $PARAMETERS parameters"

declared | awk -F '\t' '
	$1 == "function" && $3 == "main" { next }
	{
		kind = $1 == "function" ? $1 : "tag"
		files[kind " " $3] = files[kind " " $3] " " $2
		count[kind " " $3]++
	}
	END {
		for (i in count)
			if (count[i] > 1)
				print i ":" files[i]
	}' | sort | complain 'names that are defined more than once'

grep -rE --include='*.h' '^#include "(cmd|common)/' cmd common |
	sed -E 's/^([^:]*):#include "([^"]*)".*/\1 \2/' | tsort 2>&1 >/dev/null |
	complain 'headers that include each other'

exit $bad
