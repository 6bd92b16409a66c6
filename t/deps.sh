#!/bin/bash
# Install the Debian packages that are missing for: build, check, interop, picture, html, python, lint, fuzz, deb.
# Does nothing, and says nothing, if none is. On other systems: names the libraries that are missing.
set -u

packages_of() {
	case $1 in
	build) echo gcc libc6-dev make zlib1g-dev libsnappy-dev libbrotli-dev libzstd-dev \
		libdeflate-dev libarchive-dev libelf-dev libdw-dev libiberty-dev ;;
	check) echo bats bats-assert bats-support parallel mandoc uftrace trace-cmd apitrace \
		babeltrace2 lttng-tools liblttng-ust-dev zstd xz-utils bzip2 lz4 jq protobuf-compiler \
		valgrind g++ clang llvm binutils time strace rsync python3 perl procps \
		universal-ctags libxml2-utils sqlite3 less debuginfod xvfb libgl1-mesa-dri zsh fish pkgconf linux-perf \
		miller openssh-server systemd file ;;
	interop) echo slurm-wlm munge ;;
	picture) echo chromium fonts-dejavu-core fonts-noto-color-emoji linux-perf ;;
	html) echo mandoc ;;
	python) echo python3-dev python3-numpy python3-pandas ;;
	lint) echo clang clang-format shellcheck groff-base ;;
	fuzz) echo clang libclang-rt-dev llvm ;;
	deb) echo debhelper dh-python dpkg-dev fakeroot lintian ;;
	esac
}

# Name the libraries whose headers the compiler does not find: header, Fedora's package, Arch's.
name_libraries() {
	local header fedora arch
	local -a want_fedora=() want_arch=()
	while read -r header fedora arch; do
		"${CC:-cc}" -E -include "$header" -x c /dev/null >/dev/null 2>&1 && continue
		want_fedora+=("$fedora") want_arch+=("$arch")
	done <<-'END'
		zlib.h zlib-devel zlib
		snappy-c.h snappy-devel snappy
		brotli/decode.h brotli-devel brotli
		zstd.h libzstd-devel zstd
		libdeflate.h libdeflate-devel libdeflate
		archive.h libarchive-devel libarchive
		gelf.h elfutils-libelf-devel libelf
		elfutils/libdw.h elfutils-devel libelf
		libiberty/demangle.h binutils-devel binutils
	END
	((${#want_fedora[@]})) || return
	cat >&2 <<-END
		Headers of libraries are missing. Only Debian's packages are installed by themselves; elsewhere:
		    Fedora      dnf install ${want_fedora[*]}
		    Arch        pacman -S --needed $(printf '%s\n' "${want_arch[@]}" | uniq | paste -sd' ')
		    other       zlib, snappy, brotli, zstd, libdeflate, libarchive, libelf and libdw (elfutils),
		                libiberty (binutils), with their headers
	END
}

if ! command -v dpkg-query >/dev/null; then
	name_libraries
	exit 0 # what is still missing, the compiler says
fi

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

# Said before sudo asks for a password: what is done as root, and how long nothing else is printed.
{
	echo "Installing ${#missing[@]} missing package(s), which takes from seconds to some minutes:"
	echo "    ${as_root[*]} apt-get install ${missing[*]}" | fold -s -w 96 | sed '2,$s/^/        /'
} >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists may be absent or old: fetch them only when it does not go without.
install >"$log" 2>&1 && exit 0
{ "${as_root[@]}" apt-get update -qq && install; } >>"$log" 2>&1 && exit 0
cat "$log" >&2
echo "cannot install: ${missing[*]}" >&2
exit 1
