#compdef trdecode trfilter trsym trstat trencode
# zsh completion; installed as _trutils in a directory of fpath
#
# --complete-options of each program prints a line for each option:
# "-o --output<TAB>FILE<TAB>file<TAB>what the option does"

_trutils() {
	local names argument choices help name action
	local -a specs inputs fields

	# The fields of the inputs on the line: those of plain names, as an action is evaluated. A trace
	# that is not read in two seconds has none
	inputs=(${(Q)words[2,-1]})
	inputs=(${^inputs:#-*}(N))
	(( $#inputs )) && fields=(${(f)"$(timeout 2 trdecode -q --list --json -- $inputs 2>/dev/null |
		sed -n 's/^ *{"name": "\([A-Za-z0-9_.:-]*\)".*/\1/p' | sort -u)"})

	while IFS=$'\t' read -r names argument choices help; do
		help=${${${help%:}//\[/\\[}//\]/\\]}
		help=${help//:/\\:}
		case $choices in
		file) action=_files ;;
		directory) action='_files -/' ;;
		-) action=' ' ;;
		*) action="($choices)" ;;
		esac
		case $argument:$choices in
		KEYS:*|FIELDS:*|FIELD:*|LIST:*[^-]*)
			action=" _sequence compadd - ${choices#-} $fields" ;;
		esac
		for name in ${=names}; do
			case $argument in
			-) specs+=("*${name}[$help]") ;;
			# An optional argument is attached: --name=VALUE, -nVALUE
			'['*) [[ $name == --* ]] && specs+=("*${name}=-[$help]::${argument//[\[\]]/}:$action") ||
				specs+=("*${name}-[$help]::${argument//[\[\]]/}:$action") ;;
			*) [[ $name == --* ]] && specs+=("*${name}=[$help]:$argument:$action") ||
				specs+=("*${name}+[$help]:$argument:$action") ;;
			esac
		done
	done < <($service --complete-options 2>/dev/null)
	_arguments -s $specs '*:trace:_files'
}

_trutils "$@"
