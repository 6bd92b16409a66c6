#!/bin/bash
# Functions of more than 60 lines or 6 parameters, names of functions and structs that are defined
# twice, functions that are external for one file, headers that include each other or too much, files
# without a comment that says what they are.
# usage: t/sizes.sh [ROOT]
# shellcheck source=t/complain.bash
. "${BASH_SOURCE[0]%/*}/complain.bash"
tools=$(realpath "$(dirname "$0")/tools")
cd "${1:-$(dirname "$0")/..}" || exit
LINES_MOST=60 PARAMETERS=6
# These two are what the tree has, and only become less.
ONE_CALLER_MOST=417   # external functions that one other file calls, of the same folder
HEADERS_MOST=1847     # headers of the tree that an object reads in the mean, in hundredths

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

"$tools/includes.py" total | awk -v most=$HEADERS_MOST '
	$1 > most { printf "%.2f headers for each object, at most %.2f: includes.py headers shows the worst\n", $1 / 100, most / 100 }' |
	complain 'headers include too much: declare what is only pointed to'

"$tools/callers.py" count | awk -v most=$ONE_CALLER_MOST '
	$1 > most { print $1 " external functions, at most " most ": callers.py lists them" }' |
	complain 'functions that one file of their folder calls: make them static there, or merge the files'

# A comment that says what a file is comes first, after what a tool reads from the first line.
find cmd common doc t packaging .ci -path t/data -prune -o \( -name '*.[ch]' -o -name '*.sh' -o -name '*.bash' \
	-o -name '*.bats' -o -name '*.py' -o -name '*.pl' -o -name '*.awk' -o -name '*.jq' \) -print 2>/dev/null |
	sort | xargs -r awk '
	FNR == 1 && (/^#!/ || /^\/\* links:/) { next }
	!(FILENAME in seen) {
		seen[FILENAME]
		if (FILENAME ~ /\.[ch]$/ ? !/^\/\*/ : !/^# / && !(FILENAME ~ /\.py$/ && /^"""/))
			print FILENAME
	}' | complain 'files without a comment at their head'

exit $bad
