# What every test file loads first: load lib
bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
DATA=$ROOT/t/data
SHARED=${SHARED:-$ROOT/../shared/traces}
BIN=${BIN:-$ROOT/build/bin}
export ROOT DATA SHARED BIN
PATH=$BIN:$PATH

# Skip where the large collection of traces is not beside the project.
need_shared() {
	[[ -d $SHARED/${1-} ]] || skip "no ${1:-traces} in ../shared/traces"
}

# Skip where a tool of the peers is not installed.
need() {
	command -v "$1" >/dev/null || skip "no $1"
}

# pipe 'a | b': the status of the last alone, as at a prompt; pipefail 'a | b': of any.
pipe() {
	bash -c "$1"
}

pipefail() {
	bash -o pipefail -c "$1"
}
