#!/bin/bash
# A picture of the flame chart that speedscope, in a browser, makes of a stream of ours.
# usage: t/interop/flame.sh BIN DIR PNG, DIR being where npm's packages are
#        t/interop/flame.sh --command: the pipeline
command="trdecode t/data/uftrace/fib | trsym | trfilter 'tid == 4123 && under(\"fib\")' | trencode -q -t speedscope"
if [[ $1 == --command ]]; then
	echo "$command"
	exit
fi

die() {
	echo "flame.sh: $*" >&2
	exit 1
}

[[ $# -eq 3 ]] || die "BIN DIR PNG"
PATH=$(realpath "$1"):$PATH
png=$(realpath "$3")
here=$(dirname "$(realpath "$0")")
why=$("$here/install.sh" "$2") || die "$why"
page=$(realpath "$2")/node_modules/speedscope/dist/release/index.html
cd "$here/../.." || exit
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# speedscope takes a local file as a script that hands it over.
profile=$(bash -o pipefail -c "$command" | base64 -w 0) || die "no profile"
echo "speedscope.loadFileFromBase64('fib', '$profile')" >"$temporary/profile.js"

# browse OPTION: the page with the profile, in a browser without a window or a graphics card
browse() {
	timeout 120 chromium --headless=new --no-sandbox --user-data-dir="$temporary/browser" \
		--use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars \
		--allow-file-access-from-files --window-size=1200,390 --virtual-time-budget=8000 \
		"$1" "file://$page#localProfilePath=$temporary/profile.js" 2>"$temporary/log"
}

browse --dump-dom | grep -qF 'fib [4123]' || die "speedscope does not show it: $(tail -n 1 "$temporary/log")"
browse --screenshot="$png"
[[ -s $png ]] || die "no picture: $(tail -n 1 "$temporary/log")"
