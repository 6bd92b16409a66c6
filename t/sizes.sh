#!/bin/bash
# Structs of more than 30 fields, functions of more than 60 lines or 6 parameters, and headers that
# include each other. t/sizes.allowed lists those that are left from before; the list only shrinks.
# usage: t/sizes.sh [--all] [ROOT]; --all: also complain about lines of the list that are not needed
all=
[[ ${1-} == --all ]] && all=1 && shift
# shellcheck source=t/complain.bash
. "${BASH_SOURCE[0]%/*}/complain.bash"
cd "${1:-$(dirname "$0")/..}" || exit
FIELDS=30 LINES_MOST=60 PARAMETERS=6

# Print "WHAT NAME FILE NUMBER" for each.
offenders() {
	find cmd common -name '*.[ch]' | sort |
		ctags -x --languages=C --map-C=+.h --kinds-C=fm --fields=+neS -L - \
			--_xformat='%K	%N	%F	%n	%{end}	%{scope}	%S' |
		awk -F '\t' -v fields=$FIELDS -v lines=$LINES_MOST -v parameters=$PARAMETERS '
			$1 == "member" { count[$6 " " $3]++ }
			$1 == "function" && $5 - $4 + 1 > lines { print "lines", $2, $3, $5 - $4 + 1 }
			$1 == "function" {
				# commas inside of the parentheses of a function pointer are its own
				gsub(/\([^()]*\)\([^()]*\)/, "", $7)
				n = gsub(/,/, "", $7) + 1
				if (n > parameters)
					print "parameters", $2, $3, n
			}
			END {
				for (i in count)
					if (count[i] > fields)
						print "fields", i, count[i]
			}' | sort
}

found=$(offenders)
awk 'FILENAME == ARGV[1] { if (!/^#/) allowed[$1 " " $2]; next }
	!($1 " " $2 in allowed) { print $3 ": " $2 ": " $4 " " $1 }' \
	t/sizes.allowed <(printf '%s\n' "$found") |
	complain "at most $FIELDS fields, $LINES_MOST lines, $PARAMETERS parameters"
if [[ $all ]]; then
	awk 'FILENAME == ARGV[1] { found[$1 " " $2]; next }
		!/^#/ && !($1 " " $2 in found)' <(printf '%s\n' "$found") t/sizes.allowed |
		complain 'lines of t/sizes.allowed that are not needed: delete them'
fi

grep -rE --include='*.h' '^#include "(cmd|common)/' cmd common |
	sed -E 's/^([^:]*):#include "([^"]*)".*/\1 \2/' | tsort 2>&1 >/dev/null |
	complain 'headers that include each other'

exit $bad
