# python3 without the modules of the site, which no test needs, and with the compiled files of t/tools
# out of the sources: it starts in a fifth of the time, or a tenth where python3 is a script.
quick_python() {
	local python
	python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || return 0
	mkdir "$BATS_SUITE_TMPDIR/bin"
	printf '#!/bin/sh\nexec "%s" -S "$@"\n' "$python" >"$BATS_SUITE_TMPDIR/bin/python3"
	chmod +x "$BATS_SUITE_TMPDIR/bin/python3"
	unset PYTHONDONTWRITEBYTECODE
	export PATH=$BATS_SUITE_TMPDIR/bin:$PATH PYTHONPYCACHEPREFIX=$BATS_SUITE_TMPDIR/pycache
}

# The functions of the libraries of bats in one file, which each test loads: the libraries start a process
# for each of their files.
quick_assertions() (
	local before
	before=$(compgen -A function)
	bats_load_library bats-support
	bats_load_library bats-assert
	# shellcheck disable=SC2046 # names
	declare -f $(compgen -A function | grep -vxF "$before") >"$BATS_SUITE_TMPDIR/assertions.bash"
)

# Run once before all tests: the same surroundings everywhere, and the recordings unpacked.
setup_suite() {
	local name archive shared=${SHARED:-${BASH_SOURCE[0]%/*}/../../shared/traces}
	export LC_ALL=C TZ=UTC
	unset NO_COLOR CLICOLOR_FORCE POSIXLY_CORRECT COLUMNS
	for name in $(compgen -e TR_); do
		unset "$name"
	done

	quick_python
	quick_assertions

	export RECORDED=$BATS_SUITE_TMPDIR/recorded
	mkdir "$RECORDED"
	for archive in "${BASH_SOURCE[0]%/*}"/data/recorded/*.tar.xz; do
		tar -xJf "$archive" -C "$RECORDED" || return
	done
	# The public traces lie among them where they are beside the project: none is copied into it.
	shared=$(realpath -m "$shared")
	(cd "$shared" 2>/dev/null && find . -mindepth 1 -maxdepth 2) | while read -r name; do
		[[ -e $RECORDED/$name ]] || ln -s "$shared/$name" "$RECORDED/$name"
	done
}
