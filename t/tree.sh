#!/bin/bash
# The rules of the source tree: direction of includes, words. t/sizes.sh: sizes.
# usage: t/tree.sh [ROOT]
# shellcheck source=t/complain.bash
. "${BASH_SOURCE[0]%/*}/complain.bash"
cd "${1:-$(dirname "$0")/..}" || exit

mapfile -t sources < <(find cmd common t -name '*.[ch]' | sort)

# An include names a file from the top of the tree. A folder of common includes itself and lower
# folders; a program includes itself and common; tests include everything.
awk '
BEGIN {
	level["formats"] = level["util"] = 0
	level["stream"] = level["protobuf"] = 1
	level["value"] = 2
	level["symbols"] = level["ftrace"] = level["calls"] = level["cli"] = 3
	level["scheduling"] = level["picture"] = 4
	level["expr"] = 5
	level["pairs"] = level["library"] = 6
}
/^#include "/ {
	split($0, quoted, "\"")
	n = split(quoted[2], to, "/")
	split(FILENAME, from, "/")
	fault = ""
	if (to[1] !~ /^(cmd|common|t)$/ || n < 2)
		fault = "is not named from the top of the tree"
	else if (from[1] == "common" && to[1] != "common")
		fault = "common includes common only"
	else if (from[1] == "common" && to[2] != from[2] && !(level[to[2]] < level[from[2]]))
		fault = "is not below common/" from[2]
	else if (from[1] == "cmd" && !(to[1] == "common" || (to[1] == "cmd" && to[2] == from[2])))
		fault = "a program includes itself and common only"
	if (fault)
		print FILENAME ":" FNR ": \"" quoted[2] "\" " fault
}' "${sources[@]}" | complain 'direction of includes'

# Words that the glossary replaces, also across the end of a line
words='\banew\b|\bnobody\b|\btold\b|of no account|\bis none of\b|memory is out|\bwhat is asked\b'
words+='|\bbehind (it|that|them|this|the|a|an|each|which)\b'
words+='|\bstands? (in|for|at|there|behind|before|between|on)\b'
words+='|\bthe (one|former|latter)\b.*\bthe other\b'
mapfile -t texts < <(find [A-Z]* man[1-9] doc packaging python .ci cmd common t -type f 2>/dev/null |
	grep -Ev '^t/(data|fuzz/corpus)/|^t/tree\.|\.png$' | sort)
awk '
{
	text = $0
	sub(/^[ \t]*([*]|#|\/[\/*]|\.\\")*[ \t]*/, "", text)
	print FILENAME ":" FNR ": " (FNR == 1 ? "" : last " ") text
	last = text
}' "${texts[@]}" | grep -Ei "^[^:]*:[0-9]+: .*($words)" | complain 'words'

# A comment names a file of the tree by its name, or by the end of its path. Files elsewhere, where a
# fact is from: a folder of the other project is before them.
others='kernel|tools|arch|include|src|public|elfutils'
examples=' a.h b.h p.c a.b.c toy.c ctype.h trace.h systrace_parser.h '
awk -v files="$(printf '%s\n' "${sources[@]}")" -v others="^($others)/" -v examples="$examples" '
BEGIN {
	n = split(files, list, "\n")
	for (i = 1; i <= n; i++)
		for (name = list[i]; ; name = substr(name, index(name, "/") + 1)) {
			there[name]
			if (!index(name, "/"))
				break
		}
}
{
	if (!comment && !index($0, "/*"))
		next
	text = comment ? $0 : substr($0, index($0, "/*"))
	comment = !index(text, "*/")
	while (match(text, /[a-zA-Z0-9_.\/*+-]*[a-z0-9_*]\.[ch]([^a-zA-Z0-9_]|$)/)) {
		name = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		sub(/[^ch]$/, "", name)
		sub(/^[*.\/]+/, "", name)
		if (!(name in there) && name !~ others && !index(examples, " " name " "))
			print FILENAME ":" FNR ": " name
	}
}' "${sources[@]}" | complain 'comments that name files that do not exist'

# AGAIN has the prefixes of a recipe line: after anything else the shell gets them.
grep -snE $'^\t.+[$][(]AGAIN[)]' Makefile | complain 'AGAIN is not at the beginning of its line'

((bad == 0))
