# Run once before all tests: the same surroundings everywhere.
setup_suite() {
	local name
	export LC_ALL=C TZ=UTC
	unset NO_COLOR CLICOLOR_FORCE POSIXLY_CORRECT COLUMNS
	for name in $(compgen -e TR_); do
		unset "$name"
	done
}
