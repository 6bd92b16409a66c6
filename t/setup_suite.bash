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

# The archives of recordings that the files of tests name, or files that they load: each name is that of the
# folder in the archive. RECORDED and the name are somewhere in the file. All where bats does not say which
# files it runs.
recordings() {
	local here=$1 archive name
	local -a files=("${BATS_UNIQUE_TEST_FILENAMES[@]}") loaded
	if ((${#files[@]})); then
		mapfile -t loaded < <(sed -nE 's|^[[:space:]]*load ([a-z_]+)$|\1|p' "${files[@]}" | sort -u)
		for name in "${loaded[@]}"; do
			[[ $name == lib || ! -e $here/$name.bash ]] || files+=("$here/$name.bash")
		done
		mapfile -t files < <(grep -lw RECORDED "${files[@]}")
	else
		files=("$here"/*.bats "$here"/*.bash)
	fi
	((${#files[@]})) || return 0
	for archive in "$here"/data/recorded/*.tar.xz; do
		name=${archive##*/}
		name=${name%.tar.xz}
		! grep -qE "(^|[^[:alnum:]_-])$name([^[:alnum:]_-]|\$)" "${files[@]}" || echo "$archive"
	done
}

# Run once before all tests: the same surroundings everywhere, and the recordings unpacked.
setup_suite() {
	local name here=${BASH_SOURCE[0]%/*} shared
	shared=${SHARED:-$here/../../shared/traces}
	export LC_ALL=C TZ=UTC
	unset NO_COLOR CLICOLOR_FORCE POSIXLY_CORRECT COLUMNS
	for name in $(compgen -e TR_); do
		unset "$name"
	done

	quick_python
	quick_assertions

	find . -mindepth 1 -maxdepth 1 | sort >"$BATS_SUITE_TMPDIR/top"
	export RECORDED=$BATS_SUITE_TMPDIR/recorded
	mkdir "$RECORDED"
	recordings "$here" | xargs -r -P "$(nproc)" -I ARCHIVE tar -xJf ARCHIVE -C "$RECORDED" || return
	# The public traces lie among them where they are beside the project: none is copied into it.
	shared=$(realpath -m "$shared")
	(cd "$shared" 2>/dev/null && find . -mindepth 1 -maxdepth 2) | while read -r name; do
		[[ -e $RECORDED/$name ]] || ln -s "$shared/$name" "$RECORDED/$name"
	done
}

# Run once after all tests: no test writes into the folder in which the tests began, the sources.
teardown_suite() {
	find . -mindepth 1 -maxdepth 1 | sort | diff "$BATS_SUITE_TMPDIR/top" - || {
		echo 'a test wrote into the source tree'
		return 1
	}
}
