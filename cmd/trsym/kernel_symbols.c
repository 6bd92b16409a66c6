#include "cmd/trsym/kernel_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/trsym/kallsyms.h"
#include "common/symbols/symbols_elf.h"

/* Read the symbols of a copy of kallsyms. NULL with e filled: there is no usable copy. */
static struct symbols *from_copy(const char *path, struct error *e)
{
	struct kallsyms copy = {0};
	struct symbols *s = NULL;

	if (!kallsyms_read(&copy, path, e)) {
		s = copy.symbols;
		copy.symbols = NULL;
	}
	kallsyms_free(&copy);
	return s;
}

/* Test whether the kernel that runs now has the build-id. */
static bool is_running(const char *build_id)
{
	char running[ELF_BUILD_ID_MAX];

	return elf_build_id_of_kernel(running) && !strcmp(running, build_id);
}

static struct symbols *from_perf(const char *build_id, const char *sysroot)
{
	char *path = elf_perf_copy(build_id, "kallsyms", sysroot);
	struct symbols *s = NULL;
	struct error e;

	if (path)
		s = from_copy(path, &e);
	free(path);
	return s;
}

/* Read a vmlinux: that of the release that runs, or one that is found by its build-id. */
static struct symbols *from_vmlinux(const char *build_id, const char *sysroot, struct error *e)
{
	static const char *const paths[] = {"/boot/vmlinux-%s", "/usr/lib/debug/boot/vmlinux-%s",
					    "/usr/lib/debug/lib/modules/%s/vmlinux",
					    "/lib/modules/%s/build/vmlinux"};
	struct utsname name;
	char path[sizeof name.release + 64];
	struct symbols *s = NULL;

	if (uname(&name))
		strcpy(name.release, "");
	for (size_t i = 0; !s && i < sizeof(paths) / sizeof(*paths); i++) {
		snprintf(path, sizeof(path), paths[i], name.release);
		s = symbols_from_elf(path, sysroot, build_id, e);
	}
	return s;
}

struct symbols *kernel_symbols_find(const char *build_id, const char *sysroot, struct error *e)
{
	struct error hidden = {.what = ""}, other;
	struct symbols *s = NULL;

	if (!sysroot && is_running(build_id))
		s = from_copy("/proc/kallsyms", &hidden);
	if (!s)
		s = from_perf(build_id, sysroot);
	if (!s)
		s = from_vmlinux(build_id, sysroot, &other);
	if (!s && hidden.what[0])
		*e = hidden;
	else if (!s)
		error_set(e, NULL, NO_OFFSET,
			  "no kallsyms and no vmlinux of its build-id %s (see --kallsyms)",
			  build_id);
	return s;
}
