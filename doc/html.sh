#!/bin/bash
# The pages as a static site that needs nothing else: man1/trstat.1 becomes OUT/trstat.1.html, and
# OUT/index.html has the beginning of the README and a link to each page.
# usage: doc/html.sh OUT
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(realpath -m "$1")
version=$(sed -n 's/.*TRUTILS_VERSION "\(.*\)"/\1/p' common/util/version.h)

escaped() {
	sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
}

# page_title PAGE: trstat(1)
page_title() {
	local name=${1##*/}
	echo "${name%.*}(${name##*.})"
}

# page_link PAGE [TEXT]
page_link() {
	echo "<a href=\"${1##*/}.html\">${2:-$(page_title "$1")}</a>"
}

# The links at the top of each page
navigation() {
	local page
	echo '<nav><a href="index.html">trutils</a>'
	for page in man1/{trdecode,trfilter,trsym,trstat,trencode}.1 man7/trutils-recipes.7; do
		page_link "$page" "$(basename "${page%.*}" | sed 's/^trutils-//')"
	done
	echo '</nav>'
}

# readme_block HEADING: the lines that are indented below a heading, or below the beginning if it is empty
readme_block() {
	awk -v heading="$1" '
		heading == "" || $0 == heading { on = 1; heading = "\n" }
		on && /^    / { print; any = 1; next }
		any { exit }' README
}

index() {
	local page
	cat <<-END
		<!DOCTYPE html>
		<html lang="en">
		<head>
		  <meta charset="utf-8"/>
		  <meta name="viewport" content="width=device-width, initial-scale=1.0"/>
		  <link rel="stylesheet" href="html.css" type="text/css" media="all"/>
		  <title>trutils</title>
		</head>
		<body>
		$(navigation)
		<h1>$(head -n 1 README | escaped)</h1>
		<p>$(sed -n '4,/^$/p' README | escaped)</p>
		<pre>$(readme_block '' | sed 's/^    //' | escaped)</pre>
		<h2>I have a trace: what do I type?</h2>
		<pre>$(readme_block 'I have a trace: what do I type?' | sed 's/^    //' | escaped)</pre>
		<p>$(page_link man7/trutils-recipes.7 'The recipes') have the commands for
		$(grep -c '^\.Ss ' man7/trutils-recipes.7) questions, and
		$(page_link man7/trutils.7 'the first session') shows the programs one after the other.</p>
		<p><img src="flame-graph.png" alt="A flame graph of trstat"/></p>
		<p><img src="scheduling.png" alt="Two CPUs, their interrupts and the states of threads"/></p>
		<h2>Pages</h2>
		<dl class="Bl-tag Bl-compact">
	END
	for page in "${pages[@]}"; do
		echo "<dt>$(page_link "$page")</dt><dd>$(sed -n 's/^\.Nd //p' "$page" | escaped)</dd>"
	done
	printf '</dl>\n<footer>trutils %s</footer>\n</body>\n</html>\n' "$version"
}

pages=(man1/{trdecode,trfilter,trsym,trstat,trencode,trstream-conformance}.1 man7/*.7 man5/*.5 man3/*.3)
mkdir -p "$out"
rm -f "$out"/*.html
cp doc/html.css doc/flame-graph.png doc/scheduling.png "$out"
index >"$out/index.html"
# mandoc links to a page here if a file of that name is in its directory, else to Debian's copy
(cd "$out" && touch "${pages[@]##*/}")
navigation >"$out/navigation"
for page in "${pages[@]}"; do
	toc=,toc
	# a page with a list of its own
	! grep -q '^\.Sh QUESTIONS' "$page" || toc=
	(cd "$out" && mandoc -Thtml -I "os=trutils $version" \
		-O "style=html.css,man=%N.%S.html;https://manpages.debian.org/%N.%S$toc" "$root/$page") |
		sed -e "s|<title>.*</title>|<title>$(page_title "$page")</title>|" -e "/^<body>/r $out/navigation" \
			>"$out/page"
	# mandoc 1.14.6 names the section trace-cmd "trace-cmd", and in links "trace_cmd"
	{ grep -oE ' id="[^"]*-[^"]*"' "$out/page" || :; } |
		awk -F '"' '{ link = $2; gsub("-", "_", link); print "s|href=\"#" link "\"|href=\"#" $2 "\"|" }' >"$out/links"
	sed -f "$out/links" "$out/page" >"$out/${page##*/}.html"
done
(cd "$out" && rm navigation page links "${pages[@]##*/}")
echo "$out/index.html"
