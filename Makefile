# make [all] | deps | demo | quick | check | check-interop | picture | bench | fuzz | fuzz-coverage |
#      lint | asan | install | uninstall | html | python | install-python | dist | deb | clean | help
#
# quick          the units and tests of what differs from HEAD, committed or not (t/README)
# check          everything, and all tests
# html           the pages for a web site, in doc/html
# python         the module trstream, in $(O)/python: PYTHONPATH=build/python python3
# install-python PYTHONDIR=$(PREFIX)/lib/python3/dist-packages
#
# O=DIR          where everything is built (build)
# CFLAGS=...     come last; CPPFLAGS and LDFLAGS too; or write them into config.mk
# WERROR=1       warnings are errors
# SAN=address,undefined
# V=1            show the commands
# FUZZ_TIME=60   seconds for each fuzz target
# DESTDIR, PREFIX=/usr/local, LIBDIR=$(PREFIX)/lib

-include config.mk
O ?= build
OBJCOPY ?= objcopy
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_TIME ?= 60
BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man
COMPDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
LIBRARYDIR = $(DESTDIR)$(LIBDIR)
INCLUDEDIR = $(DESTDIR)$(PREFIX)/include
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
EXAMPLEDIR = $(DESTDIR)$(PREFIX)/share/doc/trutils/examples
CORPUSDIR = $(DESTDIR)$(PREFIX)/share/trstream-conformance
MIMEDIR = $(DESTDIR)$(PREFIX)/share/mime/packages
MAGICDIR = $(DESTDIR)$(PREFIX)/share/trutils

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-psabi \
	   $(if $(WERROR),-Werror)
HARDEN = -fstack-protector-strong -fstack-clash-protection -fPIE
ifdef SAN
HARDEN += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
else
HARDEN += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
# -iquote and not -I: <error.h> and the like must stay the system's
FLAGS = -std=gnu11 -D_GNU_SOURCE -iquote . -O2 -g -ffile-prefix-map=$(CURDIR)=. $(WARNINGS) \
	$(HARDEN) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link) $(CPPFLAGS) $(CFLAGS)
LINK = -pie -Wl,-z,relro,-z,now,--as-needed $(LDFLAGS)
LIBS = -larchive -ldw -lelf -liberty -lsnappy -lbrotlienc -lbrotlidec -lbrotlicommon -lzstd -lz \
       -ldeflate -lm -lpthread

# What allocates is replaced, so that no failure passes unseen (common/util/memory.h).
WRAP = malloc calloc realloc reallocarray aligned_alloc strdup strndup realpath fopen opendir fdopendir \
       mmap getline asprintf vasprintf __asprintf_chk __vasprintf_chk

# Objects of different flags never mix: each set of flags has a directory of its own.
HASH := $(firstword $(shell printf '%s' '$(CC) $(FLAGS) $(LINK)' | cksum))
OBJ := $(O)/obj-$(HASH)
BIN := $(O)/bin
LIBRARY := $(O)/lib/libtrstream.a

PROGRAMS := $(patsubst cmd/%/main.c,%,$(wildcard cmd/*/main.c))
UNITS := $(patsubst t/unit/%.c,%,$(shell find t/unit -name '*.c'))
FUZZERS := $(filter-out driver time_limit,$(patsubst t/fuzz/%.c,%,$(wildcard t/fuzz/*.c)))
objects = $(patsubst %.c,$(OBJ)/%.o,$(sort $(shell find $(1) -name '*.c')))
# cmd/* that a test names in a line "/* links: cmd/trdecode */": their objects but main's
links = $(if $(call linked,$(1)),$(filter-out %/main.o,$(call objects,$(call linked,$(1)))))
linked = $(shell sed -n 's|^/\* links: *\(.*\) \*/$$|\1|p' $(1))

# A line for each file; V=1: the whole command
SAY = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo '  $@';))

all: $(PROGRAMS:%=$(BIN)/%) library
library: $(LIBRARY)
units: $(UNITS:%=$(OBJ)/t/unit/%)
fuzzers: $(FUZZERS:%=$(OBJ)/t/fuzz/%)

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) $(CC) $(FLAGS) -MMD -MP -c -o $@ $<

$(OBJ)/libtr.a: $(call objects,common)
	@rm -f $@
	$(SAY) $(AR) qcs $@ $^

# The library: what common/library needs of the rest, with no other name than trstream_* visible.
# libdeflate and libzstd are its only dependencies.
$(OBJ)/libtrstream.a: $(call objects,common/library) $(OBJ)/libtr.a
	@rm -f $@
	$(SAY) $(CC) -r -nostdlib -o $(@:.a=.o) $^
	@$(OBJCOPY) -w --keep-global-symbol='trstream_*' $(@:.a=.o)
	@$(AR) qcs $@ $(@:.a=.o)

# $(BIN) leads to the programs of the flags used last, and $(LIBRARY) to their library.
$(BIN)/%: $(OBJ)/% FORCE
	@mkdir -p $(@D)
	@[ "$$(readlink $@)" = ../obj-$(HASH)/$* ] || ln -sf ../obj-$(HASH)/$* $@

$(LIBRARY): $(OBJ)/$(notdir $(LIBRARY)) FORCE
	@mkdir -p $(@D)
	@ln -sf ../obj-$(HASH)/$(@F) $@

link = $(SAY) $(CC) $(FLAGS) $(LINK) $(WRAP:%=-Wl,--wrap=%) $(2) -o $@ $(1) $(LIBS)

define program
$(OBJ)/$(1): $(call objects,cmd/$(1)) $(OBJ)/libtr.a
	$$(call link,$$^)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

define unit
$(OBJ)/t/unit/$(1): $(OBJ)/t/unit/$(1).o $(call links,t/unit/$(1).c) $(OBJ)/libtr.a
	$$(call link,$$^)
endef
$(foreach u,$(UNITS),$(eval $(call unit,$(u))))

TIMED = -Wl,--wrap=LLVMFuzzerTestOneInput

define fuzzer
$(OBJ)/t/fuzz/$(1): $(OBJ)/t/fuzz/$(1).o $(OBJ)/t/fuzz/time_limit.o \
		    $(if $(FUZZ),,$(OBJ)/t/fuzz/driver.o) $(call links,t/fuzz/$(1).c) $(OBJ)/libtr.a
	$$(call link,$$^,$$(TIMED) $(if $(FUZZ),-fsanitize=fuzzer))
fuzz-$(1): $(OBJ)/t/fuzz/$(1)
	t/fuzz/run $(OBJ)/t/fuzz/$(1) $(O)/found $(FUZZ_TIME)
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer,$(f))))

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

# What needs libraries or tools installs them first, and only then looks at the sources.
AGAIN = +@$(MAKE) --no-print-directory

deps:
	@t/deps.sh build check

demo:
	@t/deps.sh build
	@t/demo.sh --before $(OBJ)
	$(AGAIN) -s $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) all
	@t/demo.sh $(BIN)

check:
	@t/deps.sh build check
	$(AGAIN) WERROR=1 CFLAGS='$(strip -g1 $(CFLAGS))' tests

tests: all units fuzzers
	@t/check.sh $(BIN) $(OBJ)/t

# The units, fuzz targets and tests of what differs from HEAD: t/quick.sh chooses them. CHANGED='FILE...'
# for other files.
quick:
	@t/deps.sh build check
	$(AGAIN) -s $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc)) WERROR=1 \
		CFLAGS='$(strip -g1 $(CFLAGS))' quick-tests

QUICK := $(if $(filter quick-tests,$(MAKECMDGOALS)),$(shell t/quick.sh $(CHANGED)))

quick-tests: all $(patsubst %,$(OBJ)/t/%,$(filter unit/% fuzz/%,$(QUICK)))
	@$(if $(QUICK),t/check.sh $(BIN) $(OBJ)/t $(QUICK),echo 'quick: no test concerns what changed')

check-interop:
	@t/deps.sh build check interop python
	$(AGAIN) all
	@t/interop/run.sh $(BIN) $(O)/interop

# doc/flame.png and doc/flame-graph.png, which the README shows
picture:
	@t/deps.sh build picture
	$(AGAIN) all
	@t/interop/flame.sh $(BIN) $(O)/interop doc/flame.png
	@t/interop/flame_graph.sh $(BIN) doc/flame-graph.png

asan: export ASAN_OPTIONS = allocator_may_return_null=1
asan:
	@t/deps.sh build check
	$(AGAIN) O=$(O)/asan SAN=address,undefined tests

fuzz:
	@t/deps.sh build fuzz
	$(AGAIN) O=$(O)/fuzz CC=clang SAN=address,undefined FUZZ=1 $(FUZZERS:%=fuzz-%)

# How many lines of each part the kept inputs reach
fuzz-coverage:
	@t/deps.sh build fuzz
	$(AGAIN) O=$(O)/coverage CC=clang CFLAGS='-fprofile-instr-generate -fcoverage-mapping' \
		fuzz-table

fuzz-table: fuzzers
	@t/fuzz/coverage.sh $(OBJ)/t/fuzz

bench:
	@t/deps.sh build check
	$(AGAIN) all
	@PATH="$(abspath $(BIN)):$$PATH"; set -e; for b in t/bench/*.sh; do echo "$$b"; bash "$$b"; done

lint:
	@t/deps.sh build check lint
	$(AGAIN) WERROR=1 CC=gcc all units fuzzers
	$(AGAIN) WERROR=1 CC=clang O=$(O)/clang all units fuzzers lint-sources

lint-sources: $(OBJ)/libtr.a
	@t/lint.sh $<

install: all
	install -d $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man3 $(MANDIR)/man5 $(MANDIR)/man7 $(COMPDIR) \
		$(ZSHDIR) $(FISHDIR) $(EXAMPLEDIR) $(LIBRARYDIR)/pkgconfig $(INCLUDEDIR) \
		$(CORPUSDIR)/good $(CORPUSDIR)/bad $(MIMEDIR) $(MAGICDIR)
	install $(PROGRAMS:%=$(BIN)/%) $(BINDIR)
	install -m 644 $(wildcard man1/*.1) $(MANDIR)/man1
	install -m 644 $(wildcard man3/*.3) $(MANDIR)/man3
	install -m 644 $(wildcard man5/*.5) $(MANDIR)/man5
	install -m 644 $(wildcard man7/*.7) $(MANDIR)/man7
	install -m 644 $(wildcard doc/examples/*) $(EXAMPLEDIR)
	install -m 644 $(LIBRARY) $(LIBRARYDIR)
	install -m 644 common/library/trstream.h $(INCLUDEDIR)
	sed 's|@prefix@|$(PREFIX)|; s|@libdir@|$(LIBDIR)|; s|@version@|$(VERSION)|' \
		packaging/libtrstream.pc.in >$(LIBRARYDIR)/pkgconfig/libtrstream.pc
	install packaging/conformance/trstream_conformance.py $(BINDIR)/trstream-conformance
	install -m 644 t/data/streams/expect.ndjson $(CORPUSDIR)
	install -m 644 t/data/streams/good/* $(CORPUSDIR)/good
	install -m 644 t/data/streams/bad/* $(CORPUSDIR)/bad
	install -m 644 packaging/mime/trutils.xml $(MIMEDIR)
	install -m 644 packaging/mime/trutils.magic $(MAGICDIR)/magic
	install -m 644 packaging/completion/trutils.zsh $(ZSHDIR)/_trutils
	for p in $(PROGRAMS); do \
		install -m 644 packaging/completion/trutils.bash $(COMPDIR)/$$p && \
		install -m 644 packaging/completion/trutils.fish $(FISHDIR)/$$p.fish || exit 1; \
	done

uninstall:
	rm -f $(PROGRAMS:%=$(BINDIR)/%) $(PROGRAMS:%=$(COMPDIR)/%) $(PROGRAMS:%=$(FISHDIR)/%.fish) \
		$(ZSHDIR)/_trutils $(INCLUDEDIR)/trstream.h $(LIBRARYDIR)/libtrstream.a \
		$(LIBRARYDIR)/pkgconfig/libtrstream.pc $(BINDIR)/trstream-conformance \
		$(MIMEDIR)/trutils.xml $(MAGICDIR)/magic
	rm -rf $(CORPUSDIR)
	rm -f $(patsubst man%,$(MANDIR)/man%,$(wildcard man1/*.1 man3/*.3 man5/*.5 man7/*.7))
	rm -f $(patsubst doc/examples/%,$(EXAMPLEDIR)/%,$(wildcard doc/examples/*))

# The Python module: libtrstream again, of code for shared objects, and all else that it needs is
# that of the library. PYTHON has the headers.
PYTHON ?= /usr/bin/python3
MODULE = $(O)/python/trstream
PIC = $(O)/python-library

python:
	@t/deps.sh build python
	$(AGAIN) O=$(PIC) CFLAGS='$(strip $(CFLAGS) -fPIC)' module MODULE=$(MODULE)

module: $(MODULE)/_trstream.abi3.so $(patsubst python/trstream/%,$(MODULE)/%,$(wildcard python/trstream/*.py))

$(MODULE)/_trstream.abi3.so: python/module.c common/library/trstream.h $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY) $(CC) $(FLAGS) -isystem $(shell $(PYTHON) -c \
		'import sysconfig; print(sysconfig.get_path("include"))') -shared \
		-Wl,-z,relro,-z,now,--as-needed,--exclude-libs,ALL $(LDFLAGS) -o $@ $< $(LIBRARY) \
		$(shell sed -n 's/^Libs:.*-ltrstream//p' packaging/libtrstream.pc.in)

$(MODULE)/%.py: python/trstream/%.py
	@mkdir -p $(@D)
	@cp $< $@

install-python: python
	install -d $(DESTDIR)$(PYTHONDIR)/trstream
	install -m 644 $(MODULE)/*.so $(wildcard python/trstream/*.py) $(DESTDIR)$(PYTHONDIR)/trstream

html:
	@t/deps.sh html
	@doc/html.sh doc/html

# The committed files as a tarball that depends on nothing else: the same bytes each time
VERSION = $(shell sed -n 's/.*TRUTILS_VERSION "\(.*\)"/\1/p' common/util/version.h)
DIST = $(O)/trutils-$(VERSION).tar.gz

dist:
	@mkdir -p $(O)
	git archive --format=tar --prefix=trutils-$(VERSION)/ HEAD | gzip -9n >$(DIST).part
	mv $(DIST).part $(DIST)

# Debian packages in $(O)/deb, from the tarball and packaging/debian
deb: dist
	@t/deps.sh build deb
	rm -rf $(O)/deb
	mkdir -p $(O)/deb
	cp $(DIST) $(O)/deb/trutils_$(VERSION).orig.tar.gz
	tar -xzf $(DIST) -C $(O)/deb
	cp -r $(O)/deb/trutils-$(VERSION)/packaging/debian $(O)/deb/trutils-$(VERSION)
	cd $(O)/deb/trutils-$(VERSION) && dpkg-buildpackage -us -uc
	lintian --fail-on error,warning $(O)/deb/*.changes

clean:
	rm -rf $(O) doc/html

# The head of this file
help:
	@sed -n '/^#/!q; s/^#\( \|$$\)//p' Makefile

FORCE:
.PHONY: all library python module install-python units fuzzers deps demo quick quick-tests check check-interop picture tests asan fuzz \
	fuzz-coverage fuzz-table bench lint help \
	lint-sources install uninstall html dist deb clean FORCE $(FUZZERS:%=fuzz-%)
.DELETE_ON_ERROR:
.SECONDARY:
