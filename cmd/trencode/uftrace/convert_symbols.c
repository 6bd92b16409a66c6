/*
 * convert_symbols.c - write .sym files and a map for functions with synthesised addresses
 *
 * Every function is 16 bytes long (.sym files of uftrace 0.13 contain no sizes), and every module
 * begins at a multiple of 4 GiB, and has the addresses up to the next one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/uftrace/convert.h"
#include "common/util/buffer_file.h"

enum { STRIDE = 16, FIRST = 0x1000, MODULE_SHIFT = 32, MODULES_MOST = 16000 };
enum { FUNCTIONS_MOST = 1 << 27, FILE_MOST = 200 };

static const char *basename_of(struct text_ref path, size_t *n)
{
	const char *slash = memrchr(path.text, '/', path.size);

	*n = slash ? path.size - (size_t)(slash + 1 - path.text) : path.size;
	return slash ? slash + 1 : path.text;
}

/* Choose a unique file name for a module. */
static int name_file(struct uftrace_modules *m, struct target_dictionary *d, struct text_ref module,
		     struct text_ref *file)
{
	struct buffer b = {0};
	uint32_t had = m->files.count;
	size_t n, size;
	const char *base = basename_of(module, &n);
	int result = -1;

	if (!n || *base == '[')
		base = n ? base + 1 : "unknown", n = n ? n - 1 : 7;
	if (n && base[n - 1] == ']')
		n--;
	if (n > FILE_MOST)
		n = FILE_MOST;
	if ((*base == '.' && buffer_u8(&b, '_')) || convert_name_escaped(&b, base, n, " \"/"))
		goto out;
	size = b.size;
	for (unsigned i = 2; intern(&m->files, b.data, b.size) < had; i++) {
		b.size = size;
		if (buffer_printf(&b, "~%u", i))
			goto out;
	}
	*file = target_string(d, b.data, b.size);
	result = 0;
out:
	buffer_free(&b);
	return result;
}

static int module_of(struct uftrace_modules *m, struct target_dictionary *d, struct text_ref name,
		     uint32_t *number)
{
	struct uftrace_made_module *list;
	uint32_t had = m->names.count;

	*number = intern(&m->names, name.text, name.size);
	if (*number == INTERN_NONE)
		return -1;
	if (*number < had) {
		*number = *number < MODULES_MOST ? *number : MODULES_MOST - 1;
		return 0;
	}
	if (*number >= MODULES_MOST) {
		*number = MODULES_MOST - 1;
		return 0;
	}
	if (ARRAY_GROW(m->list, m->capacity, had))
		return -1;
	list = m->list;
	list[had] = (struct uftrace_made_module){.symbols.spills = true};
	return name_file(m, d, name, &list[had].file) ||
			       buffer_printf(&list[had].symbols, "# path name: /%s\n",
					     list[had].file.text)
		       ? -1
		       : 0;
}

/* Write the table of a module. */
static int put_symbols(struct uftrace_made_module *x, struct target_dictionary *d, uint64_t end,
		       struct error *e)
{
	char name[FILE_MOST * 4 + 32];
	int result;

	snprintf(name, sizeof name, "%.*s.sym", FILE_MOST * 4 + 20, x->file.text);
	if (buffer_printf(&x->symbols, "%016" PRIx64 " ? __sym_end\n", end))
		return error_no_memory(e);
	result = target_meta(d, name, x->symbols.data, x->symbols.size, 0, e);
	buffer_rest(&x->symbols);
	return result;
}

int uftrace_symbol(struct uftrace_modules *m, struct target_dictionary *d, struct text_ref name,
		   struct text_ref module, uint64_t *address, struct error *e)
{
	struct uftrace_made_module *x;
	uint64_t offset;
	uint32_t number;

	if (module_of(m, d, module, &number))
		return error_no_memory(e);
	x = &m->list[number];
	if (x->count == FUNCTIONS_MOST)
		return error_set(e, NULL, NO_OFFSET,
				 "more functions in '%.200s' than can be "
				 "written",
				 module.text);
	offset = FIRST + (uint64_t)STRIDE * x->count++;
	*address = ((uint64_t)number + 1) << MODULE_SHIFT | offset;
	if (buffer_printf(&x->symbols, "%016" PRIx64 " T ", offset) ||
	    convert_name_escaped(&x->symbols, name.text, name.size, "") ||
	    buffer_u8(&x->symbols, '\n'))
		return error_no_memory(e);
	return 0;
}

int uftrace_symbols_end(struct uftrace_modules *m, struct target_dictionary *d, struct error *e)
{
	struct buffer map = {0};
	int result = 0;

	for (uint32_t i = 0; i < m->names.count && i < MODULES_MOST && !result; i++) {
		struct uftrace_made_module *x = &m->list[i];
		uint64_t start = ((uint64_t)i + 1) << MODULE_SHIFT;

		if (buffer_printf(&map,
				  "%012" PRIx64 "-%012" PRIx64
				  " r-xp 00000000 00:00 0                          /%s\n",
				  start, start + ((uint64_t)1 << MODULE_SHIFT), x->file.text))
			result = error_no_memory(e);
		else
			result = put_symbols(x, d, FIRST + (uint64_t)STRIDE * x->count, e);
	}
	/* readers derive the start of the kernel's addresses from the stack's */
	if (!result && buffer_printf(&map, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0      "
					   "                    [stack]\n"))
		result = error_no_memory(e);
	if (!result)
		result = target_meta(d, "sid-" UFTRACE_CONVERTED_SID ".map", map.data, map.size, 0,
				     e);
	buffer_free(&map);
	return result;
}

void uftrace_symbols_free(struct uftrace_modules *m)
{
	for (uint32_t i = 0; i < m->names.count && i < MODULES_MOST && m->list; i++)
		buffer_free(&m->list[i].symbols);
	free(m->list);
	intern_free(&m->names);
	intern_free(&m->files);
}
