#!/bin/bash
# Structs of more than 30 fields, functions of more than 60 lines or 6 parameters, and headers that
# include each other.
# usage: t/sizes.sh [ROOT]
# shellcheck source=t/complain.bash
. "${BASH_SOURCE[0]%/*}/complain.bash"
cd "${1:-$(dirname "$0")/..}" || exit
FIELDS=30 LINES_MOST=60 PARAMETERS=6

# Print "FILE: NAME: NUMBER WHAT" for each.
find cmd common -name '*.[ch]' | sort |
	ctags -x --languages=C --map-C=+.h --kinds-C=fm --fields=+neS -L - \
		--_xformat='%K	%N	%F	%n	%{end}	%{scope}	%S' |
	awk -F '\t' -v fields=$FIELDS -v lines=$LINES_MOST -v parameters=$PARAMETERS '
		$1 == "member" { count[$3 ": " $6]++ }
		$1 == "function" && $5 - $4 + 1 > lines { print $3 ": " $2 ": " $5 - $4 + 1 " lines" }
		$1 == "function" {
			# commas inside of the parentheses of a function pointer are its own
			gsub(/\([^()]*\)\([^()]*\)/, "", $7)
			n = gsub(/,/, "", $7) + 1
			if (n > parameters)
				print $3 ": " $2 ": " n " parameters"
		}
		END {
			for (i in count)
				if (count[i] > fields)
					print i ": " count[i] " fields"
		}' | sort |
	# a callback of libdw, find_debuginfo
	grep -vFx 'cmd/trdecode/perf_unwind.c: find_debug: 8 parameters' |
	complain "at most $FIELDS fields, $LINES_MOST lines, $PARAMETERS parameters"

grep -rE --include='*.h' '^#include "(cmd|common)/' cmd common |
	sed -E 's/^([^:]*):#include "([^"]*)".*/\1 \2/' | tsort 2>&1 >/dev/null |
	complain 'headers that include each other'

exit $bad
