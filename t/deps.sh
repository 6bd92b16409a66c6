#!/bin/bash
# Install the Debian packages that are missing for: build, check, picture, lint, fuzz, deb.
# Does nothing, and says nothing, if none is.
set -u

packages_of() {
	case $1 in
	build) echo gcc libc6-dev make zlib1g-dev libsnappy-dev libbrotli-dev libzstd-dev \
		libdeflate-dev libarchive-dev libelf-dev libdw-dev libiberty-dev ;;
	check) echo bats bats-assert bats-support parallel mandoc uftrace trace-cmd apitrace \
		babeltrace2 lttng-tools liblttng-ust-dev zstd xz-utils bzip2 lz4 jq protobuf-compiler \
		valgrind g++ time strace rsync python3 universal-ctags \
		zsh fish pkgconf linux-perf ;;
	picture) echo chromium fonts-dejavu-core fonts-noto-color-emoji linux-perf ;;
	lint) echo clang clang-format shellcheck groff-base ;;
	fuzz) echo clang libclang-rt-dev llvm ;;
	deb) echo debhelper dpkg-dev fakeroot lintian ;;
	esac
}

command -v dpkg-query >/dev/null || exit 0 # no Debian: the compiler will say what is missing

missing=()
for set in "$@"; do
	for package in $(packages_of "$set"); do
		status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
		[[ $status == *installed* && $status != *not-installed* ]] || missing+=("$package")
	done
done
((${#missing[@]})) || exit 0

as_root=(env DEBIAN_FRONTEND=noninteractive)
if ((EUID != 0)); then
	if ! command -v sudo >/dev/null; then
		echo "packages are missing; as root: apt-get install ${missing[*]}" >&2
		exit 1
	fi
	as_root=(sudo "${as_root[@]}")
fi

install() {
	"${as_root[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null
}

echo "installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists may be absent or old: fetch them only when it does not go without.
install >"$log" 2>&1 && exit 0
{ "${as_root[@]}" apt-get update -qq && install; } >>"$log" 2>&1 && exit 0
cat "$log" >&2
echo "cannot install: ${missing[*]}" >&2
exit 1
