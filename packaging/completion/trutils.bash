# bash completion for trdecode, trfilter, trsym, trstat and trencode
#
# --complete-options of each program prints a line for each option:
# "-o --output<TAB>FILE<TAB>file<TAB>what the option does"

# _trutils_fields: the fields of the types of events in the inputs on the line, those of plain names: a
# reply is a part of the command as it is. A trace that is not read in two seconds has none
_trutils_fields() {
	local word inputs=()
	for word in "${COMP_WORDS[@]:1}"; do
		[[ $word != -* && -e $word ]] && inputs+=("$word")
	done
	((${#inputs[@]})) || return 0
	timeout 2 trdecode -q --list --json -- "${inputs[@]}" 2>/dev/null |
		sed -n 's/^ *{"name": "\([A-Za-z0-9_.:-]*\)".*/\1/p' | sort -u
}

# _trutils_words WORD...: replies that begin with $current
_trutils_words() {
	# compgen expands its list, which may have words of a trace: once, and the words no more
	local words=$*
	# shellcheck disable=SC2016
	mapfile -t COMPREPLY < <(compgen -W '$words' -- "$current")
}

# _trutils_list WORD...: replies to the last word of a list with commas
_trutils_list() {
	local whole=$current before=''
	[[ $current != *,* ]] || before=${current%,*},
	current=${current##*,}
	[[ $before || $whole != +* ]] || before=+ current=${whole#+}
	_trutils_words "$@"
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
	compopt -o nospace 2>/dev/null
	return 0
}

# _trutils_expression: replies to the last name of a quoted expression of trfilter
_trutils_expression() {
	local name=${current##*[!a-zA-Z0-9_.]} before i
	[[ $name ]] || return 0
	before=${current%"$name"} current=$name
	_trutils_words "$(trfilter --explain 1 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p') $(_trutils_fields)"
	# "&" has a meaning in a substitution of bash 5.2
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=$before${COMPREPLY[i]}
	done
	compopt -o nospace 2>/dev/null
	return 0
}

# _trutils_option PROGRAM WORD: what completes the argument of option WORD, status 1 if none; lists
# have a comma before their words
_trutils_option() {
	local names argument words _
	while IFS=$'\t' read -r names argument words _; do
		[[ " $names " == *" $2 "* && $argument != - ]] || continue
		# The next word is the argument only if there must be one.
		[[ $argument == '['* && ${3-} != attached ]] && continue
		case $argument:$words in
		KEYS:* | FIELDS:* | FIELD:* | LIST:*[!-]*) words=", ${words#-} $(_trutils_fields)" ;;
		esac
		printf '%s\n' "$words"
		return 0
	done < <("$1" --complete-options 2>/dev/null)
	return 1
}

_trutils() {
	local program=$1 current=$2 before=$3 attached='' words names argument _

	# COMP_WORDBREAKS makes "--name=value" three words.
	if [[ $current == = ]]; then
		current='' attached=attached
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]} attached=attached
	fi

	COMPREPLY=()
	if words=$(_trutils_option "$program" "$before" $attached); then
		case $words in
		file | -) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		directory) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
		,*) _trutils_list "${words#,}" && return ;;
		*) _trutils_words "$words" && return ;;
		esac
		compopt -o filenames 2>/dev/null
	elif [[ $current == -* ]]; then
		words=$(while IFS=$'\t' read -r names argument _; do
			[[ $argument == - || $argument == '['* || $names != *--* ]] || names+='='
			echo "$names"
		done < <("$program" --complete-options 2>/dev/null))
		_trutils_words "$words"
		[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	elif [[ $program == trfilter && ${COMP_WORDS[COMP_CWORD]} == [\'\"]* ]]; then
		current=${current#[\'\"]}
		_trutils_expression
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames 2>/dev/null
	fi
	return 0
}

complete -F _trutils trdecode trfilter trsym trstat trencode
