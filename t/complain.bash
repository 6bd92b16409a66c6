# What the lints share.
# shellcheck shell=bash
bad=0 # a lint's status

# complain WHAT: the lines on standard input, if any, are faults.
complain() {
	local text
	text=$(cat)
	[[ $text ]] || return 0
	printf '%s:\n%s\n' "$1" "$text"
	# shellcheck disable=SC2034 # the lint exits with it
	bad=1
}
shopt -s lastpipe # complain counts in this shell
