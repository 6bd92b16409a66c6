#!/bin/bash
# Install npm's packages of package.json into DIR, once; else one line that says why not, and status 1.
# usage: t/interop/install.sh DIR
here=$(dirname "$(realpath "$0")")
mkdir -p "$1" && cd "$1" || exit

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "no node and npm"
	exit 1
fi
cmp -s "$here/package.json" package.json && [[ -d node_modules ]] && exit 0
cp "$here/package.json" package.json || exit
npm install --no-audit --no-fund --loglevel=error >log 2>&1 && exit 0
tail -n 3 log
rm -f package.json
echo "npm cannot install what is needed"
exit 1
