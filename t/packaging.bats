# The tarball, the Debian files, and completion in zsh and fish.

load lib

@test "two tarballs have the same bytes, and contain what git knows" {
	git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip 'no repository'
	# the quickest compression: -1n in place of -9n
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexec %s "$(echo "$1" | tr 9 1)"\n' "$(command -v gzip)" >"$BATS_TEST_TMPDIR/bin/gzip"
	chmod +x "$BATS_TEST_TMPDIR/bin/gzip"
	for n in 1 2; do
		PATH=$BATS_TEST_TMPDIR/bin:$PATH make -s -C "$ROOT" O="$BATS_TEST_TMPDIR/$n" dist >/dev/null 3>&-
	done
	cd "$BATS_TEST_TMPDIR"
	version=$(sed -n 's/.*TRUTILS_VERSION "\(.*\)"/\1/p' "$ROOT/common/util/version.h")
	cmp {1,2}/"trutils-$version.tar.gz"
	diff <(tar -tzf "1/trutils-$version.tar.gz" | grep -v '/$' | sort) \
		<(git -C "$ROOT" ls-tree -r --name-only HEAD | sed "s|^|trutils-$version/|" | sort)
}

@test "the Debian changelog and NEWS have the version of the programs" {
	version=$(sed -n 's/.*TRUTILS_VERSION "\(.*\)"/\1/p' "$ROOT/common/util/version.h")
	grep -qE "^trutils \($version-[0-9]+\)" "$ROOT/packaging/debian/changelog"
	[[ $(head -n 1 "$ROOT/NEWS") == "trutils $version"* ]]
}

@test "the Debian package is built from the libraries that make deps installs" {
	sed -n '/^Build-Depends:/,/^[A-Z].*:/p' "$ROOT/packaging/debian/control" |
		grep -oE '[a-z0-9]+-dev' | sort >"$BATS_TEST_TMPDIR/control"
	sed -n '/^	build)/,/;;/p; /^	python)/p' "$ROOT/t/deps.sh" | grep -oE '[a-z0-9]+-dev' |
		grep -v libc6 | sort >"$BATS_TEST_TMPDIR/deps"
	[ -s "$BATS_TEST_TMPDIR/deps" ]
	diff "$BATS_TEST_TMPDIR/control" "$BATS_TEST_TMPDIR/deps"
}

@test "autopkgtest installs what make deps installs for the tests" {
	cd "$BATS_TEST_TMPDIR"
	sed -n '/^Depends:/,/^[A-Z][a-z]*s:/p' "$ROOT/packaging/debian/tests/control" |
		grep -v '^Restrictions' | sed 's/^Depends: @, @builddeps@,//' | tr -d ' ' | tr ',' '\n' | grep . |
		LC_ALL=C sort >control
	sed -n '/^	check)/,/;;/p' "$ROOT/t/deps.sh" | sed 's/check) echo//; s/;;//; s/\\//' | tr -s ' \t' '\n' |
		grep . | LC_ALL=C sort >deps
	[ "$(wc -l <deps)" -gt 20 ]
	diff control deps
}

@test "trutils(7) leads to each page" {
	diff <(cd "$ROOT" && printf '%s\n' man[1357]/* | sed 's|.*/||' | grep -v '^trutils\.7$' | sort) \
		<(sed -n 's/^\.\(It \)\?Xr /Xr /p' "$ROOT/man7/trutils.7" | grep -oE 'Xr tr(utils|decode|sym|filter|stat|encode|stream)[a-z-]* [0-9]' |
			sed 's/^Xr //; s/ /./' | sort -u)
}

@test "the pages as HTML are well-formed, need nothing else, and all their links lead somewhere" {
	need mandoc
	"$ROOT/doc/html.sh" "$BATS_TEST_TMPDIR/html"
	run -0 make -n -C "$ROOT" html
	assert_output --partial 'doc/html.sh doc/html'
	cd "$BATS_TEST_TMPDIR/html"
	# index.html, and a file for each page; what it was made with is gone
	printf '%s\n' index "$ROOT"/man[1357]/* | sed 's|.*/||; s/$/.html/' | sort | diff - <(ls -- *.html | sort)
	diff <(printf '%s\n' html.css flame-graph.png scheduling.png | sort) <(find . -type f ! -name '*.html' -printf '%f\n' | sort)
	cat >../links.py <<-'END'
		import glob, html.parser, os, sys

		class Page(html.parser.HTMLParser):
		    def __init__(self, name):
		        super().__init__()
		        self.name, self.open, self.ids, self.links, self.loads, self.wrong = name, [], set(), [], [], []
		        self.feed(open(name, encoding="utf-8").read())
		        self.close()
		        self.wrong += ["<%s> is not closed" % tag for tag in self.open]

		    def take(self, tag, attrs):
		        attrs = dict(attrs)
		        if "id" in attrs:
		            if attrs["id"] in self.ids:
		                self.wrong.append("id %s twice" % attrs["id"])
		            self.ids.add(attrs["id"])
		        if tag == "a" and "Xr" in (attrs.get("class") or "").split() and "href" not in attrs:
		            self.wrong.append("a reference without a link")
		        if tag == "a" and "href" in attrs:
		            self.links.append(attrs["href"])
		        if tag == "script":
		            self.wrong.append("a script")
		        if tag in ("link", "img"):
		            self.loads.append(attrs.get("href") or attrs.get("src"))

		    def handle_starttag(self, tag, attrs):
		        self.take(tag, attrs)
		        self.open.append(tag)

		    def handle_startendtag(self, tag, attrs):
		        self.take(tag, attrs)

		    def handle_endtag(self, tag):
		        if not self.open or self.open.pop() != tag:
		            self.wrong.append("</%s> does not close what is open" % tag)

		pages = {name: Page(name) for name in glob.glob("*.html")}
		count = 0
		for page in pages.values():
		    for load in page.loads:
		        if not os.path.isfile(load):
		            page.wrong.append("no file %s" % load)
		    for link in page.links:
		        name, _, part = link.partition("#")
		        if name.startswith("https://manpages.debian.org/"):
		            if os.path.exists(name.rsplit("/", 1)[1] + ".html"):
		                page.wrong.append("%s is here" % link)
		            continue
		        count += 1
		        to = pages.get(name or page.name)
		        if not to or (part and part not in to.ids):
		            page.wrong.append("no %s" % link)
		    for what in page.wrong:
		        print("%s: %s" % (page.name, what))
		# from the index to each page
		for name in set(pages) - {"index.html"} - set(pages["index.html"].links):
		    print("index.html: no link to %s" % name)
		print(count, file=sys.stderr)
	END
	run -0 --separate-stderr python3 ../links.py
	assert_output ''
	[ "$stderr" -gt 500 ]
	# the tool that the links are checked with finds a fault of each kind
	sed -i '0,/<section/s///; s/href="trsym.1.html"/href="trsim.1.html"/; s/html\.css/other.css/' trstat.1.html
	run -0 --separate-stderr python3 ../links.py
	for fault in 'no trsim.1.html' 'no file other.css' 'does not close'; do
		assert_output --partial "trstat.1.html: $fault" || assert_output --partial "$fault"
	done
}

# fish_complete LINE: what a TAB at the end of the line offers, without descriptions
fish_complete() {
	env HOME="$BATS_TEST_TMPDIR" fish -N -c "set -p fish_complete_path '$BATS_TEST_TMPDIR'; complete -C '$1'" |
		cut -f 1
}

@test "completion in fish" {
	need fish
	cd "$BATS_TEST_TMPDIR"
	# --color= and --help= are offered, too, as their arguments are optional
	for program in trdecode trfilter trsym trstat trencode; do
		cp "$ROOT/packaging/completion/trutils.fish" $program.fish
		diff <($program --help=all | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -e '--.*' | sort) \
			<(fish_complete "$program --" | grep -v '=$' | sort)
	done
	mkdir sub
	touch sub/out.json
	run -0 fish_complete 'trstat --pair sysc'
	assert_output syscall
	run -0 fish_complete 'trencode -t spee'
	assert_output speedscope
	run -0 fish_complete 'trstat -o sub/o'
	assert_output sub/out.json
	trdecode "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >s.trs 2>/dev/null
	run -0 fish_complete 'trstat s.trs -g tid,next_com'
	assert_output tid,next_comm
	run -0 fish_complete 'trstat --columns=self_av'
	assert_output -- --columns=self_avg
	run -0 fish_complete 'trfilter s.trs --keep next_com'
	assert_output next_comm
	run -0 fish_complete 'trstat --columns=su'
	assert_output -- '--columns=sum(F)'
	run -0 fish_complete 'trsym --sysroot su'
	assert_output sub/
}

# zsh_complete LINE: the line after a TAB in an interactive zsh
zsh_complete() {
	cat >complete.zsh <<-'END'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PS1=''; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D"
		zpty -w shell "show() { print -r \"<\$BUFFER>\"; zle accept-line; }; zle -N show; bindkey '^X' show"
		zpty -w shell "bindkey '^I' complete-word; echo RE''ADY"
		zpty -r -m shell out '*READY*'
		zpty -n -w shell "$1"$'\t\x18'
		zpty -r -m shell out '*<*>*'
		print -r -- "${${out##*<}%%>*}"
	END
	timeout 20 zsh -f complete.zsh "$1"
}

@test "completion in zsh" {
	need zsh
	need_terminal
	cd "$BATS_TEST_TMPDIR"
	cp "$ROOT/packaging/completion/trutils.zsh" _trutils
	mkdir sub
	touch sub/out.json
	run -0 zsh_complete 'trstat --tim'
	assert_output 'trstat --timeline='
	run -0 zsh_complete 'trencode -t spee'
	assert_output 'trencode -t speedscope '
	run -0 zsh_complete 'trstat --pair=wake'
	assert_output 'trstat --pair=wakeup '
	run -0 zsh_complete 'trdecode -o sub/o'
	assert_output 'trdecode -o sub/out.json '
	trdecode "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >s.trs 2>/dev/null
	run -0 zsh_complete 'trstat s.trs -g tid,next_com'
	assert_output --regexp '^trstat s.trs -g tid,next_comm[, ]?$'
	run -0 zsh_complete 'trstat --columns=self_av'
	assert_output --regexp '^trstat --columns=self_avg[, ]?$'
	run -0 zsh_complete 'trfilter s.trs --keep next_com'
	assert_output --regexp '^trfilter s.trs --keep next_comm[, ]?$'
	run -0 zsh_complete 'trsym --sysroot su'
	assert_output 'trsym --sysroot sub/'
}
