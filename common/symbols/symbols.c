/*
 * symbols.c - the symbols of files and of the kernel
 */
#include "common/symbols/symbols.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/symbols/debug_info.h"
#include "common/util/buffer.h"
#include "common/util/hash.h"
#include "common/util/intern.h"
#include "common/util/text.h"
#include "common/util/output.h"
#include "common/util/lines.h"
#include "common/value/json.h"

struct symbols {
	struct symbol *entry;
	size_t count, room;
	uint32_t *outer; /* symbols_nest(): 1 + index of the next symbol that reaches further */
	struct text_chunk *names;
	size_t damaged;
	bool hidden, stripped;
	uint64_t base; /* result of symbols_base */
	/* segments of code of an ELF file: the offsets [start, end) of the file, and what to add
	   to one for the address */
	struct {
		uint64_t start, end, shift;
	} * segments;
	size_t nsegments, segments_room;
	uint64_t text; /* result of symbols_kernel_text */
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	text_chunks_free(s->names);
	free(s->segments);
	free(s->entry);
	free(s->outer);
	free(s);
}

int symbols_add(struct symbols *s, uint64_t start, uint64_t size, char type, const char *name,
		size_t length)
{
	const char *copy;

	if (ARRAY_GROW(s->entry, s->room, s->count))
		return -1;
	copy = text_keep(&s->names, name, strnlen(name, length));
	if (!copy)
		return -1;
	s->entry[s->count++] = (struct symbol){start, size, copy, type};
	return 0;
}

/* Append a symbol of a text file of trencode, in which bytes may be escaped as \xHH. */
static int symbols_add_escaped(struct symbols *s, uint64_t start, uint64_t size, char type,
			       const char *name, size_t length)
{
	char *copy;
	int result;

	if (!memchr(name, '\\', length))
		return symbols_add(s, start, size, type, name, length);
	copy = strndup(name, length);
	if (!copy)
		return -1;
	result = symbols_add(s, start, size, type, copy, escape_undo(copy, strlen(copy), '\\'));
	free(copy);
	return result;
}

/* of elfutils/debuginfod.h, since 0.178; length 0: the id is hexadecimal */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *id, int length, char **path);
typedef void end_function(void *client);

/* Fetch a debug file from a debuginfod server. Returns its path, to be freed; NULL: no server is
 * set, or none has the file. */
static char *elf_debuginfod_find(const char *build_id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	begin_function *begin;
	find_function *find;
	end_function *end;
	void *library, *client;
	char *path = NULL;
	int fd;

	if (!urls || !*urls)
		return NULL;
	/* not unloaded: it may have threads and handlers of its own */
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NODELETE);
	if (!library)
		return NULL;
	begin = (begin_function *)dlsym(library, "debuginfod_begin");
	find = (find_function *)dlsym(library, "debuginfod_find_debuginfo");
	end = (end_function *)dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		fd = find(client, (const unsigned char *)build_id, 0, &path);
		if (fd >= 0)
			close(fd);
		else
			path = NULL;
		end(client);
	}
	dlclose(library);
	return path;
}

/* --- unpack the compressed file of a kernel module --- */

enum { UNPACKED_MOST = 1 << 30 /* bytes */ };

/* Unpack from one file into another. Returns 0, or -1 if the data are damaged or too large. */
static int symbols_unpack_zstd(int from, int to, void *in_data, void *out_data)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {in_data, 0, 0};
	size_t left = 1;
	uint64_t size = 0, at = 0;
	struct error e;

	while (z && left && !ZSTD_isError(left) && size < UNPACKED_MOST) {
		ZSTD_outBuffer out = {out_data, ZSTD_DStreamOutSize(), 0};

		if (in.pos == in.size) {
			ssize_t got = io_read_at(from, in_data, ZSTD_DStreamInSize(), at);

			if (got <= 0)
				break;
			at += (uint64_t)got;
			in = (ZSTD_inBuffer){in_data, (size_t)got, 0};
		}
		left = ZSTD_decompressStream(z, &out, &in);
		if (temporary_write(to, out_data, out.pos, size, &e)) {
			left = 1;
			break;
		}
		size += out.pos;
	}
	ZSTD_freeDStream(z);
	return left ? -1 : 0;
}

/* Have the temporary file with the unpacked content in the place of the file. */
static Elf *open_zstd(struct elf_file *f)
{
	struct error e;
	void *in = malloc(ZSTD_DStreamInSize()), *out = malloc(ZSTD_DStreamOutSize());
	int fd = in && out ? temporary_open(&e) : -1;
	bool unpacked = fd >= 0 && lseek(f->fd, 0, SEEK_SET) == 0 &&
			symbols_unpack_zstd(f->fd, fd, in, out) == 0;

	free(in);
	free(out);
	if (!unpacked) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	close(f->fd);
	f->fd = fd;
	return elf_begin(fd, ELF_C_READ, NULL);
}

/* Unpack the file of a kernel module (.ko.xz, .ko.gz, .ko.zst). elf is NULL, or of another kind
 * than ELF, if it is none. */
static void elf_file_unpack(struct elf_file *f)
{
	static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char magic[sizeof zstd];

	elf_end(f->elf);
	/* libdw of Debian 12 reads xz and gzip only */
	if (pread(f->fd, magic, sizeof magic, 0) == sizeof magic &&
	    !memcmp(magic, zstd, sizeof zstd))
		f->elf = open_zstd(f);
	else
		f->elf = dwelf_elf_begin(f->fd);
}

/* --- open ELF files, read their build-ids, and find separate debug files --- */

#define DEBUG_DIRECTORY "/usr/lib/debug"

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){.fd = -1};
}

Elf_Scn *elf_next_named(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char **name)
{
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		*name = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name)
						      : NULL;
		if (*name)
			return section;
	}
	return NULL;
}

/* Open a regular file: opening a device or a pipe may block, or have effects. */
static int open_regular(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static int open_elf(struct elf_file *f, const char *path)
{
	*f = (struct elf_file){.fd = -1};
	if (!path || elf_version(EV_CURRENT) == EV_NONE)
		return -1;
	f->fd = open_regular(path);
	if (f->fd < 0)
		return -1;
	/* read, not mapped: the file may be truncated meanwhile */
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (f->elf && elf_kind(f->elf) == ELF_K_NONE && strstr(path, ".ko."))
		elf_file_unpack(f);
	return f->elf && elf_kind(f->elf) == ELF_K_ELF ? 0 : -1;
}

/* Open a regular file that is ELF. Returns 0, or -1 with e filled. sysroot may be NULL. */
static int elf_file_open(struct elf_file *f, const char *sysroot, const char *path, struct error *e)
{
	char *full = NULL;

	if (asprintf(&full, "%s%s", sysroot ? sysroot : "", path) < 0)
		full = NULL;
	errno = 0;
	if (open_elf(f, full) == 0) {
		free(full);
		return 0;
	}
	if (!full)
		error_set(e, path, NO_OFFSET, "out of memory");
	else if (f->fd < 0)
		error_errno(e, full, NO_OFFSET, "cannot open");
	else
		error_set(e, full, NO_OFFSET, "not an ELF file");
	free(full);
	elf_file_close(f);
	return -1;
}

uint64_t elf_file_size(const struct elf_file *f)
{
	struct stat st;

	return f->fd >= 0 && !fstat(f->fd, &st) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* Find the build-id among the notes in data. */
static bool find_note(Elf_Data *data, char id[ELF_BUILD_ID_MAX])
{
	size_t at = 0, name, bytes, i;
	GElf_Nhdr note;

	if (!data || !data->d_buf)
		return false;
	while ((at = gelf_getnote(data, at, &note, &name, &bytes)) > 0) {
		const char *buf = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(buf + name, "GNU", 4) != 0 || !note.n_descsz ||
		    note.n_descsz > (ELF_BUILD_ID_MAX - 1) / 2)
			continue;
		for (i = 0; i < note.n_descsz; i++)
			sprintf(id + 2 * i, "%02x", (unsigned char)buf[bytes + i]);
		return true;
	}
	return false;
}

static bool find_in_sections(Elf *elf, char id[ELF_BUILD_ID_MAX])
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    find_note(elf_getdata(section, NULL), id))
			return true;
	return false;
}

/* Find the build-id of a file without section headers. */
static bool find_in_segments(Elf *elf, char id[ELF_BUILD_ID_MAX])
{
	size_t n, i;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (i = 0; i < n && i < INT32_MAX; i++) {
		Elf_Type type = ELF_T_NHDR;

		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_align == 8)
			type = ELF_T_NHDR8;
		if (header.p_type == PT_NOTE && header.p_offset <= INT64_MAX &&
		    find_note(elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
						   type),
			      id))
			return true;
	}
	return false;
}

/* Read the build-id in lower case hex, "" if there is none. Returns whether there is one. */
static bool elf_build_id(Elf *elf, char id[ELF_BUILD_ID_MAX])
{
	id[0] = '\0';
	return find_in_sections(elf, id) || find_in_segments(elf, id);
}

/* Read .gnu_debuglink: a file name, padded to 4, and the CRC of the file. */
static const char *debug_link(Elf *elf, uint32_t *crc)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t strings, length, at;
	const char *name;
	Elf_Data *data;

	if (elf_getshdrstrndx(elf, &strings) < 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return NULL;
		name = elf_strptr(elf, strings, header.sh_name);
		if (name && !strcmp(name, ".gnu_debuglink"))
			break;
	}
	data = section ? elf_rawdata(section, NULL) : NULL;
	if (!data || !data->d_buf)
		return NULL;
	name = data->d_buf;
	length = strnlen(name, data->d_size);
	at = (length + 4) & ~(size_t)3;
	if (!length || at > data->d_size || data->d_size - at < 4 || memchr(name, '/', length))
		return NULL;
	memcpy(crc, name + at, 4);
	if ((elf_getident(elf, NULL)[EI_DATA] == ELFDATA2MSB) !=
	    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		*crc = __builtin_bswap32(*crc);
	return name;
}

static bool crc_fits(int fd, uint32_t wanted)
{
	unsigned char buf[16384];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof buf, at)) > 0) {
		crc = checksum(crc, buf, (size_t)n);
		at += n;
	}
	return n == 0 && crc == wanted;
}

/* Open a debug file; one of another build is worse than none. path is freed. */
static int try_debug(struct elf_file *f, char *path, const char *id, const uint32_t *crc)
{
	char found[ELF_BUILD_ID_MAX];
	int failed = open_elf(f, path);

	free(path);
	if (!failed) {
		if (*id && elf_build_id(f->elf, found)) {
			if (!strcmp(found, id))
				return 0;
		} else if (crc && crc_fits(f->fd, *crc)) {
			return 0;
		}
	}
	elf_file_close(f);
	return -1;
}

static char *join_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *join_path(const char *format, ...)
{
	char *path = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&path, format, ap) < 0)
		path = NULL;
	va_end(ap);
	return path;
}

/* Open the debug file of .gnu_debuglink: beside the file, in .debug/ there, and below
 * /usr/lib/debug. */
static int try_link(struct elf_file *f, Elf *elf, const char *path, const char *root,
		    const char *id)
{
	const char *slash = strrchr(path, '/'), *link;
	int directory = slash ? (int)(slash - path) + 1 : 0;
	uint32_t crc;

	link = debug_link(elf, &crc);
	if (!link)
		return -1;
	if (try_debug(f, join_path("%s%.*s%s", root, directory, path, link), id, &crc) == 0 ||
	    try_debug(f, join_path("%s%.*s.debug/%s", root, directory, path, link), id, &crc) == 0)
		return 0;
	if (*path != '/')
		return -1;
	return try_debug(f, join_path("%s" DEBUG_DIRECTORY "%.*s%s", root, directory, path, link),
			 id, &crc);
}

/* Test whether this is a build-id. Nothing else may become a part of a path, or be sent to a
 * server. */
static bool is_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdef");

	return n > 2 && n < ELF_BUILD_ID_MAX && !id[n];
}

static int try_id(struct elf_file *f, const char *id, const char *root)
{
	if (!is_id(id))
		return -1;
	return try_debug(
		f, join_path("%s" DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", root, id, id + 2), id,
		NULL);
}

char *elf_perf_copy(const char *id, const char *name, const char *sysroot)
{
	const char *home = getenv("HOME");

	if (!home || !is_id(id))
		return NULL;
	return join_path("%s%s/.debug/.build-id/%.2s/%s%s%s", sysroot ? sysroot : "", home, id,
			 id + 2, *name ? "/" : "", name);
}

/* perf keeps a directory for each build-id, an older perf a link. */
const char *const elf_perf_names[] = {"debug", "elf", "vdso", "", NULL};

int elf_perf_open(struct elf_file *f, const char *id, const char *name, const char *sysroot)
{
	return try_debug(f, elf_perf_copy(id, name, sysroot), id, NULL);
}

static int try_perf(struct elf_file *f, const char *id, const char *root)
{
	int failed = -1;

	for (const char *const *name = elf_perf_names; failed && *name; name++)
		failed = elf_perf_open(f, id, *name, root);
	return failed;
}

/* Open the vdso of the kernel that runs, which is in no file. */
static int try_vdso(struct elf_file *f, const char *id)
{
	char found[ELF_BUILD_ID_MAX];
	uintptr_t image = getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *h = (const void *)image;

	*f = (struct elf_file){.fd = -1};
	if (!image || elf_version(EV_CURRENT) == EV_NONE)
		return -1;
	/* its sections are last */
	f->elf = elf_memory((char *)image, h->e_shoff + (size_t)h->e_shnum * h->e_shentsize);
	if (f->elf && elf_build_id(f->elf, found) && !strcmp(found, id))
		return 0;
	elf_file_close(f);
	return -1;
}

bool elf_build_id_of_kernel(char id[ELF_BUILD_ID_MAX])
{
	char notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof notes);
	bool found = false;

	if (fd >= 0)
		close(fd);
	if (n > 0 && elf_version(EV_CURRENT) != EV_NONE) {
		Elf_Data data = {.d_buf = notes,
				 .d_size = (size_t)n,
				 .d_type = ELF_T_NHDR,
				 .d_version = EV_CURRENT};

		found = find_note(&data, id);
	}
	return found;
}

static int try_server(struct elf_file *f, const char *id)
{
	char *path = is_id(id) ? elf_debuginfod_find(id) : NULL;

	return path ? try_debug(f, path, id, NULL) : -1;
}

int elf_debug_open(struct elf_file *f, Elf *elf, const char *path, const char *sysroot)
{
	const char *root = sysroot ? sysroot : "";
	char id[ELF_BUILD_ID_MAX];

	elf_build_id(elf, id);
	return try_id(f, id, root) && try_link(f, elf, path, root, id) &&
			       elf_perf_open(f, id, "debug", root) && try_server(f, id)
		       ? -1
		       : 0;
}

/* Open the debug file of a build-id in lower case hex: below /usr/lib/debug, what perf has copied,
 * or from a debuginfod server; or the vdso of the kernel that runs. */
static int elf_debug_open_id(struct elf_file *f, const char *build_id, const char *sysroot)
{
	const char *root = sysroot ? sysroot : "";

	return try_id(f, build_id, root) && try_perf(f, build_id, root) &&
			       (*root || try_vdso(f, build_id)) && try_server(f, build_id)
		       ? -1
		       : 0;
}

/* --- test whether a file is the wanted module, and find the base of its addresses --- */

/* bytes. The unit in which the loader maps; larger pages do not change p_vaddr's low bits in
 * practice. */
#define SYMBOLS_ELF_MODULE_PAGE 4096

static bool find_base(Elf *elf, uint64_t *base)
{
	size_t n, i;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (i = 0; i < n && i < INT32_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type == PT_LOAD) {
			*base = header.p_vaddr & ~(uint64_t)(SYMBOLS_ELF_MODULE_PAGE - 1);
			return true;
		}
	}
	return false;
}

/* Test whether a relocatable file is a module of the kernel: other object files have no address. */
static bool symbols_is_kernel_module(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	while ((section = elf_next_named(elf, section, &header, &name)))
		if (!strcmp(name, ".modinfo"))
			return true;
	return false;
}

/*
 * Get the address of each section of a kernel module, relative to its text, as the kernel loads it
 * (layout_sections() in kernel/module/main.c): the sections of code in the order of the file. Other
 * sections have UINT64_MAX. Returns their number and *at, to be freed; 0: none, or out of memory.
 */
static size_t elf_module_layout(Elf *elf, uint64_t **at)
{
	const GElf_Xword code = SHF_ALLOC | SHF_EXECINSTR;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names, count, n = 1;
	uint64_t end = 0;

	*at = NULL;
	if (elf_getshdrstrndx(elf, &names) || elf_getshdrnum(elf, &count) || count < 2)
		return 0;
	*at = malloc(count * sizeof **at);
	if (!*at)
		return 0;
	(*at)[0] = UINT64_MAX;
	for (; n < count && (section = elf_nextscn(elf, section)); n++) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		uint64_t align;

		(*at)[n] = UINT64_MAX;
		/* the kernel frees what initialises the module */
		if (!name || (header.sh_flags & code) != code || !strncmp(name, ".init", 5))
			continue;
		align = header.sh_addralign ? header.sh_addralign : 1;
		if (align & (align - 1) || align > UINT32_MAX || header.sh_size > UINT32_MAX ||
		    end > UINT32_MAX)
			continue;
		(*at)[n] = (end + align - 1) & ~(align - 1);
		end = (*at)[n] + header.sh_size;
	}
	return n;
}

static int check_module(struct elf_module *m, const char *path, struct error *e)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(m->elf, &header))
		return error_set(e, path, NO_OFFSET, "damaged ELF header: %s", elf_errmsg(-1));
	m->machine = header.e_machine;
	m->is_kernel_module = header.e_type == ET_REL && symbols_is_kernel_module(m->elf);
	if (m->is_kernel_module)
		return 0;
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return error_set(e, path, NO_OFFSET, "not a program or shared library");
	if (!find_base(m->elf, &m->base))
		return error_set(e, path, NO_OFFSET, "no loadable segment");
	return 0;
}

static int check_build_id(const char *path, const char *found, const char *wanted, struct error *e)
{
	if (!wanted || !*wanted || !strcasecmp(found, wanted))
		return 0;
	if (!*found)
		return error_set(e, path, NO_OFFSET, "has no build-id; the trace records %s",
				 wanted);
	return error_set(e, path, NO_OFFSET, "build-id %s differs from %s in the trace", found,
			 wanted);
}

static int segment_begin(struct elf_module *m, const struct elf_file *f, const char *path,
			 const char *build_id, struct error *e)
{
	*m = (struct elf_module){.elf = f->elf};
	if (check_module(m, path, e) < 0)
		return -1;
	elf_build_id(f->elf, m->build_id);
	return check_build_id(path, m->build_id, build_id, e);
}

int elf_module_open(struct elf_module *m, struct elf_file *f, const char *path, const char *sysroot,
		    const char *build_id, struct error *e)
{
	struct error second;

	if (elf_file_open(f, sysroot, path, e) == 0) {
		if (segment_begin(m, f, path, build_id, e) == 0)
			return 0;
		elf_file_close(f);
	}
	if (!build_id || elf_debug_open_id(f, build_id, sysroot))
		return -1;
	if (segment_begin(m, f, path, build_id, &second) == 0)
		return 0;
	elf_file_close(f);
	return -1;
}

/*
 * The stubs through which a module calls other modules.
 *
 * A stub has no symbol of its own: it jumps through a slot of the GOT, and the slot's relocation
 * names the function. If the stub's code is known (x86, AArch64) the slot is read from it: this is
 * right for every linker and for .plt.got, whose slots are in any order. Other machines' stubs are
 * assumed to be in the order of .rel[a].plt.
 */

struct plt {
	const struct elf_module *m;
	/* the dynamic symbols that relocations name */
	Elf_Data *imports;
	GElf_Word strings;
	struct symbol *slots; /* start: the slot's address */
	size_t count, room;
	uint64_t got; /* address of .got.plt, else of .got */
	bool has_got_plt;
	/* the section of stubs that is read */
	const unsigned char *code;
	size_t size;
	uint64_t address;
	size_t entry; /* size of a stub */
};

static int compare_slots(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static const char *symbols_find_slot(const struct plt *p, uint64_t address)
{
	struct symbol key = {.start = address};
	const struct symbol *found = NULL;

	if (p->count)
		found = bsearch(&key, p->slots, p->count, sizeof key, compare_slots);
	return found ? found->name : NULL;
}

static const char *import_name(const struct plt *p, uint64_t index)
{
	GElf_Sym symbol;
	const char *name;

	if (!index || index > INT32_MAX || !gelf_getsym(p->imports, (int)index, &symbol))
		return NULL;
	name = elf_strptr(p->m->elf, p->strings, symbol.st_name);
	return name && *name ? name : NULL;
}

static bool read_relocation(Elf_Data *data, bool addend, size_t i, uint64_t *where, uint64_t *info)
{
	GElf_Rela rela;
	GElf_Rel rel;

	if (addend) {
		if (!gelf_getrela(data, (int)i, &rela))
			return false;
		*where = rela.r_offset;
		*info = rela.r_info;
	} else {
		if (!gelf_getrel(data, (int)i, &rel))
			return false;
		*where = rel.r_offset;
		*info = rel.r_info;
	}
	return true;
}

static int read_relocations(struct plt *p, Elf_Scn *section, const GElf_Shdr *header)
{
	bool addend = header->sh_type == SHT_RELA;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t each = gelf_fsize(p->m->elf, addend ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT), i;
	uint64_t where, info;

	if (!data || !data->d_buf || !each)
		return 0;
	for (i = 0; i < data->d_size / each && i < INT32_MAX; i++) {
		const char *name;

		if (!read_relocation(data, addend, i, &where, &info))
			break;
		name = import_name(p, GELF_R_SYM(info));
		if (!name)
			continue;
		if (ARRAY_GROW(p->slots, p->room, p->count))
			return -1;
		p->slots[p->count++] = (struct symbol){.start = where, .name = name};
	}
	return 0;
}

/* [endbr] [bnd] jmp *slot: relative on x86-64; absolute, or off the GOT in ebx, on i386 */
static bool decode_x86(const struct plt *c, size_t at, uint64_t *slot)
{
	const unsigned char *p = c->code + at;
	size_t left = c->size - at, skip = 0;
	uint32_t operand;

	if (left >= 4 && p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e &&
	    (p[3] == 0xfa || p[3] == 0xfb))
		skip = 4;
	if (left > skip && p[skip] == 0xf2)
		skip++;
	if (left < skip + 6 || p[skip] != 0xff)
		return false;
	operand = get_u32(p + skip + 2);
	if (c->m->machine == EM_X86_64) {
		*slot = c->address + at + skip + 6 + (uint64_t)(int64_t)(int32_t)operand;
		return p[skip + 1] == 0x25;
	}
	*slot = p[skip + 1] == 0xa3 ? (c->got + operand) & UINT32_MAX : operand;
	return p[skip + 1] == 0x25 || p[skip + 1] == 0xa3;
}

/* [bti c]; adrp x16, page; ldr x17, [x16, #offset] */
static bool decode_aarch64(const struct plt *c, size_t at, uint64_t *slot)
{
	const unsigned char *p = c->code + at;
	size_t left = c->size - at, skip = left >= 4 && get_u32(p) == 0xd503245f ? 4 : 0;
	uint32_t adrp, ldr;
	uint64_t page;

	if (left < skip + 8)
		return false;
	adrp = get_u32(p + skip);
	ldr = get_u32(p + skip + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	page = ((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 12;
	if (page & UINT64_C(1) << 32) /* a signed number of 33 bits */
		page |= ~((UINT64_C(1) << 33) - 1);
	*slot = ((c->address + at + skip) & ~UINT64_C(4095)) + page + (ldr >> 10 & 0xfff) * 8;
	return true;
}

static int add_stub(struct symbols *s, const struct elf_module *m, uint64_t address, size_t size,
		    const char *name)
{
	if (address < m->base)
		return 0;
	return symbols_add(s, address - m->base, size, 'P', name, strlen(name));
}

static int read_decoded(struct symbols *s, const struct plt *c)
{
	bool aarch64 = c->m->machine == EM_AARCH64;
	size_t step = aarch64 ? 4 : c->entry, at;

	for (at = 0; at < c->size; at += step) {
		const char *name;
		uint64_t slot = 0;

		if (aarch64 ? !decode_aarch64(c, at, &slot) : !decode_x86(c, at, &slot))
			continue;
		name = symbols_find_slot(c, slot);
		if (!name)
			continue;
		if (add_stub(s, c->m, c->address + at, c->entry, name) < 0)
			return -1;
		if (aarch64)
			at += 8; /* the same stub must not be decoded again after its bti */
	}
	return 0;
}

/* Read stubs that are not read from code, after a header. */
static int read_ordered(struct symbols *s, const struct plt *c)
{
	unsigned machine = c->m->machine;
	size_t at = machine == EM_ARM ? 20 : machine == EM_RISCV ? 32 : c->entry;
	size_t each = machine == EM_ARM ? 12 : machine == EM_RISCV ? 16 : c->entry;

	for (size_t i = 0; i < c->count && at < c->size; i++, at += each)
		if (add_stub(s, c->m, c->address + at, each, c->slots[i].name) < 0)
			return -1;
	return 0;
}

static bool is_decoded(const struct elf_module *m)
{
	return m->machine == EM_X86_64 || m->machine == EM_386 || m->machine == EM_AARCH64;
}

/* Read what stubs need first: relocations, and the address of the GOT. */
static int visit_data(struct plt *plt, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	bool of_plt = !strcmp(name, ".rela.plt") || !strcmp(name, ".rel.plt");

	if (!strcmp(name, ".got.plt") || (!strcmp(name, ".got") && !plt->has_got_plt)) {
		plt->got = header->sh_addr;
		plt->has_got_plt = name[4] != '\0';
	}
	if ((header->sh_type != SHT_RELA && header->sh_type != SHT_REL) ||
	    (!of_plt && !is_decoded(plt->m)))
		return 0;
	return read_relocations(plt, section, header);
}

static int visit_code(struct plt *plt, struct symbols *s, Elf_Scn *section, const GElf_Shdr *header,
		      const char *name)
{
	bool lazy = !strcmp(name, ".plt");
	Elf_Data *data;

	if (header->sh_type != SHT_PROGBITS ||
	    (!lazy && strcmp(name, ".plt.sec") != 0 && strcmp(name, ".plt.got") != 0))
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return 0;
	plt->code = data->d_buf;
	plt->size = data->d_size;
	plt->address = header->sh_addr;
	/* linkers set sh_entsize to 0, or to other values */
	plt->entry = header->sh_entsize == 8 ||
				     (header->sh_entsize == 24 && plt->m->machine == EM_AARCH64)
			     ? header->sh_entsize
			     : 16;
	if (is_decoded(plt->m))
		return read_decoded(s, plt);
	return lazy ? read_ordered(s, plt) : 0;
}

static int read_stubs(struct plt *plt, struct symbols *s)
{
	int pass;

	for (pass = 0; pass < 2; pass++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header;
		const char *name;

		while ((section = elf_next_named(plt->m->elf, section, &header, &name)))
			if (pass ? visit_code(plt, s, section, &header, name)
				 : visit_data(plt, section, &header, name))
				return -1;
		if (is_decoded(plt->m) && plt->count)
			qsort(plt->slots, plt->count, sizeof *plt->slots, compare_slots);
	}
	return 0;
}

static Elf_Scn *symbols_find_type(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

/* Add the module's PLT stubs to s. Returns 0, or -1 when out of memory. */
static int elf_read_plt(struct symbols *s, const struct elf_module *m)
{
	GElf_Shdr header;
	Elf_Scn *section = symbols_find_type(m->elf, SHT_DYNSYM, &header);
	struct plt plt = {.m = m};
	int result;

	plt.imports = section ? elf_getdata(section, NULL) : NULL;
	if (!plt.imports)
		return 0;
	plt.strings = header.sh_link;
	result = read_stubs(&plt, s);
	free(plt.slots);
	return result;
}

/* --- the functions of an ELF file, from it or from its separate debug file --- */

/* The rank of a label of an assembler, after those of bind_rank. */
enum { LABEL = 3 };

/* A symbol that competes with aliases of its address. */
struct symbol_candidate {
	uint64_t start, size, limit; /* limit: end of its section */
	const char *name;
	size_t length, order;
	unsigned char bind, underscores;
};

struct candidates {
	struct symbol_candidate *at;
	size_t count, room;
	size_t functions; /* those that are no labels */
	uint64_t *layout; /* of a kernel module: addresses of the sections */
	size_t sections;
};

static int add_candidate(struct candidates *all, const struct symbol_candidate *one)
{
	if (ARRAY_GROW(all->at, all->room, all->count))
		return -1;
	all->at[all->count] = *one;
	all->at[all->count].order = all->count;
	all->count++;
	all->functions += one->bind != LABEL;
	return 0;
}

static unsigned char bind_rank(unsigned char bind)
{
	switch (bind) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE: return 0;
	case STB_WEAK: return 1;
	}
	return 2;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct symbol_candidate *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->bind != y->bind)
		return x->bind < y->bind ? -1 : 1;
	if (x->underscores != y->underscores)
		return x->underscores < y->underscores ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool symbols_elf_is_function(const GElf_Sym *symbol)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Test whether a symbol has no type: a label, as functions of assembler files often have. */
static bool is_label(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE;
}

/* Get the end of the section of the table's symbol; 0 if it is in none, or a label in one
 * without code. */
static uint64_t section_end(Elf *elf, const GElf_Sym *symbol, Elf32_Word extended)
{
	size_t index = symbol->st_shndx == SHN_XINDEX ? extended : symbol->st_shndx;
	GElf_Shdr header;
	Elf_Scn *section;

	if (symbol->st_shndx == SHN_UNDEF ||
	    (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return 0;
	section = elf_getscn(elf, index);
	if (!section || !gelf_getshdr(section, &header) ||
	    header.sh_size > UINT64_MAX - header.sh_addr ||
	    (is_label(symbol) && !(header.sh_flags & SHF_EXECINSTR)))
		return 0;
	return header.sh_addr + header.sh_size;
}

/* Move a symbol of a kernel module, which is relative to its section, to its address. Returns
 * whether the kernel keeps the section. */
static bool place(const struct candidates *all, size_t section, uint64_t *start, uint64_t *end)
{
	uint64_t at = section < all->sections ? all->layout[section] : UINT64_MAX;

	*start += at;
	*end += at;
	return at != UINT64_MAX && *start >= at && *end >= *start;
}

/* Read a symbol, with its address relative to base; a symbol below base is not the module's. */
static int symbols_read_symbol(Elf *elf, const struct elf_module *m, const GElf_Shdr *table,
			       const GElf_Sym *symbol, Elf32_Word extended, struct candidates *all)
{
	uint64_t start = symbol->st_value, end = section_end(elf, symbol, extended);
	struct symbol_candidate one = {0};

	if (m->machine == EM_ARM)
		start &= ~UINT64_C(1); /* Thumb */
	if ((!symbols_elf_is_function(symbol) && !is_label(symbol)) || !end ||
	    (m->is_kernel_module &&
	     !place(all, symbol->st_shndx == SHN_XINDEX ? extended : symbol->st_shndx, &start,
		    &end)) ||
	    start < m->base || start >= end)
		return 0;
	one.name = elf_strptr(elf, table->sh_link, symbol->st_name);
	if (!one.name || !*one.name)
		return 0;
	/* symbols such as $x, $d and $a tell code from data for ARM and RISC-V; .L1 is a jump's
	 * target */
	if (is_label(symbol) && (*one.name == '$' || !strncmp(one.name, ".L", 2)))
		return 0;
	one.length = strcspn(one.name, "@"); /* .symtab of a library has "read@@GLIBC_2.2.5" */
	if (!one.length)
		return 0;
	one.start = start - m->base;
	one.size = symbol->st_size;
	one.limit = end - m->base;
	one.bind = is_label(symbol) ? LABEL : bind_rank(GELF_ST_BIND(symbol->st_info));
	one.underscores = (unsigned char)(strspn(one.name, "_") > 8 ? 8 : strspn(one.name, "_"));
	if (one.size > UINT64_MAX - one.start)
		one.size = UINT64_MAX - one.start;
	return add_candidate(all, &one);
}

static Elf_Data *extended_indexes(Elf *elf, size_t table)
{
	GElf_Shdr header;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == table)
			return elf_getdata(section, NULL);
	return NULL;
}

static int symbols_read_table(Elf *elf, const struct elf_module *m, Elf_Scn *section,
			      const GElf_Shdr *header, struct candidates *all)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *indexes = extended_indexes(elf, elf_ndxscn(section));
	size_t each = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), i;
	GElf_Sym symbol;
	Elf32_Word extended;

	if (!data || !data->d_buf || !each)
		return 0;
	for (i = 0; i < data->d_size / each && i < INT32_MAX; i++) {
		extended = 0;
		if (!gelf_getsymshndx(data, indexes, (int)i, &symbol, &extended))
			break;
		if (symbols_read_symbol(elf, m, header, &symbol, extended, all) < 0)
			return -1;
	}
	return 0;
}

static char symbol_letter(const struct symbol_candidate *c)
{
	static const char letters[] = {'T', 'w', 't', 't'};

	return letters[c->bind];
}

/* Add the best candidate of each address, with the size of any alias if it has none itself. A label
 * counts where no function is. */
static int add_best(struct symbols *s, struct candidates *all)
{
	size_t i, next;
	uint64_t covered = 0;

	qsort(all->at, all->count, sizeof *all->at, compare_candidates);
	for (i = 0; i < all->count; i = next) {
		struct symbol_candidate *best = &all->at[i];
		uint64_t size = best->size, to_next;

		for (next = i + 1; next < all->count && all->at[next].start == best->start; next++)
			if (!best->size && all->at[next].size > size)
				size = all->at[next].size;
		if (!size) {
			size = best->limit - best->start;
			to_next = next < all->count ? all->at[next].start - best->start : size;
			if (to_next < size)
				size = to_next;
		}
		if (best->bind == LABEL && best->start < covered)
			continue;
		if (best->bind != LABEL && best->start + size > covered)
			covered = best->start + size;
		if (symbols_add(s, best->start, size, symbol_letter(best), best->name,
				best->length) < 0)
			return -1;
	}
	return 0;
}

/* Read a table; labels: also if it has labels only. */
static int read_functions(struct symbols *s, Elf *elf, const struct elf_module *m, GElf_Word type,
			  bool labels)
{
	struct candidates all = {0};
	GElf_Shdr header;
	Elf_Scn *section = symbols_find_type(elf, type, &header);
	int result = 0;

	if (!section)
		return 0;
	if (m->is_kernel_module)
		all.sections = elf_module_layout(elf, &all.layout);
	if (symbols_read_table(elf, m, section, &header, &all) < 0)
		result = -1;
	else if (all.functions || (labels && all.count))
		result = add_best(s, &all);
	free(all.at);
	free(all.layout);
	return result;
}

/* Read .symtab of another file of the module, and close the file. */
static int symbols_read_other(struct symbols *s, const struct elf_module *m, struct elf_file *other)
{
	int result = read_functions(s, other->elf, m, SHT_SYMTAB, false);

	elf_file_close(other);
	return result;
}

/* Read .symtab of the file, of its debug file, of a copy of perf's, or .dynsym: the first that has
 * a function, or else .symtab of the file. */
static int read_best_table(struct symbols *s, const struct elf_module *m, const char *path,
			   const char *sysroot)
{
	const char *const *name = elf_perf_names;
	struct elf_file other;
	int result = 0;

	if (read_functions(s, m->elf, m, SHT_SYMTAB, false) < 0)
		return -1;
	if (!s->count && elf_debug_open(&other, m->elf, path, sysroot) == 0)
		result = symbols_read_other(s, m, &other);
	for (; result == 0 && !s->count && *name; name++)
		if (elf_perf_open(&other, m->build_id, *name, sysroot) == 0)
			result = symbols_read_other(s, m, &other);
	s->stripped = !s->count;
	if (result == 0 && !s->count)
		result = read_functions(s, m->elf, m, SHT_DYNSYM, false);
	if (result == 0 && !s->count) {
		result = read_functions(s, m->elf, m, SHT_SYMTAB, true);
		s->stripped = !s->count;
	}
	return result;
}

/* Note the segments of code: a linker may move them in memory against their place in the file. */
static int read_segments(struct symbols *s, const struct elf_module *m)
{
	GElf_Phdr h;
	size_t n;

	s->base = m->base;
	if (elf_getphdrnum(m->elf, &n) < 0)
		return 0;
	for (size_t i = 0; i < n && i < INT32_MAX && gelf_getphdr(m->elf, (int)i, &h); i++) {
		if (h.p_type != PT_LOAD || !(h.p_flags & PF_X))
			continue;
		if (ARRAY_GROW(s->segments, s->segments_room, s->nsegments))
			return -1;
		s->segments[s->nsegments].start = h.p_offset;
		s->segments[s->nsegments].end = h.p_offset + h.p_filesz;
		s->segments[s->nsegments++].shift = h.p_vaddr - m->base - h.p_offset;
	}
	return 0;
}

static int read_module(struct symbols *s, const struct elf_module *m, const char *path,
		       const char *sysroot, struct error *e)
{
	if (read_segments(s, m) < 0 || read_best_table(s, m, path, sysroot) < 0 ||
	    elf_read_plt(s, m) < 0 || symbols_sort(s) < 0 || symbols_nest(s) < 0)
		return error_set(e, path, NO_OFFSET, "out of memory");
	return 0;
}

struct symbols *symbols_from_elf(const char *path, const char *sysroot, const char *build_id,
				 struct error *e)
{
	struct elf_module m;
	struct elf_file file;
	struct symbols *s;

	if (elf_module_open(&m, &file, path, sysroot, build_id, e) < 0)
		return NULL;
	s = symbols_new();
	if (!s) {
		error_set(e, path, NO_OFFSET, "out of memory");
	} else if (read_module(s, &m, path, sysroot, e) < 0) {
		symbols_free(s);
		s = NULL;
	}
	elf_file_close(&file);
	return s;
}

/*
 * Parse the text of /proc/kallsyms.
 *
 * "ADDR TYPE NAME", followed for modules by a tab and "[MODULE]".
 */

/* Longest kernel function: a larger gap is the end of a section or of a module. */
#define FUNCTION_MAX	      (UINT64_C(1) << 20)
#define SYMBOLS_KALLSYMS_PAGE 4096

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = get_u64(a), y = get_u64(b);

	return (x > y) - (x < y);
}

static bool symbols_kallsyms_is_function(char type)
{
	return type && strchr("tTwWi", type);
}

/* bounds: the addresses of all lines, u64 each, also of data: each ends the function before it. */
static int symbols_kallsyms_add_line(struct symbols *s, struct buffer *bounds, const char *p,
				     size_t length)
{
	const char *end = p + length, *name;
	uint64_t address;

	if (!digits_hex(&p, end, &address) || end - p < 4 || p[0] != ' ' || p[2] != ' ') {
		s->damaged += length > 0;
		return 0;
	}
	if (buffer_u64(bounds, address))
		return -1;
	if (!symbols_kallsyms_is_function(p[1]) || !address)
		return 0;
	name = p + 3;
	while (name < end && *name != '\t' && *name != ' ')
		name++;
	if (name - p == 8 && !memcmp(p + 3, "_text", 5))
		s->text = address;
	else if (!s->text && name - p == 9 && !memcmp(p + 3, "_stext", 6))
		s->text = address;
	return symbols_add_escaped(s, address, 0, p[1], p + 3, (size_t)(name - p - 3));
}

/* Test whether name is a better name of the same system call than old. */
static bool is_better_name(const char *old, const char *name)
{
	if (!strncmp(old, "SyS_", 4) && !strncmp(name, "sys_", 4))
		return !strcmp(old + 4, name + 4);
	if (!strncmp(old, "__ia32", 6) && !strncmp(name, "__x64", 5))
		return !strcmp(old + 6, name + 5);
	return false;
}

static bool is_second_choice(char type)
{
	return type == 'W' || type == 'i';
}

/* Choose between two symbols at one address, in the order of the file. */
static void choose_symbol(struct symbol *kept, const struct symbol *next)
{
	if (kept->type == next->type) {
		if (is_better_name(kept->name, next->name))
			kept->name = next->name;
	} else if (!is_second_choice(next->type) || is_second_choice(kept->type)) {
		*kept = *next;
	}
}

static void drop_aliases(struct symbols *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count; i++)
		if (n && s->entry[n - 1].start == s->entry[i].start)
			choose_symbol(&s->entry[n - 1], &s->entry[i]);
		else
			s->entry[n++] = s->entry[i];
	s->count = n;
}

static void set_sizes(struct symbols *s, const struct buffer *bounds)
{
	size_t i, k = 0;

	for (i = 0; i < s->count; i++) {
		struct symbol *symbol = &s->entry[i];
		uint64_t to_next = 0;

		while (k < bounds->size && get_u64(bounds->data + k) <= symbol->start)
			k += 8;
		if (k < bounds->size)
			to_next = get_u64(bounds->data + k) - symbol->start;
		if (!to_next || to_next > FUNCTION_MAX)
			to_next = 2 * SYMBOLS_KALLSYMS_PAGE - symbol->start % SYMBOLS_KALLSYMS_PAGE;
		symbol->size = to_next;
	}
}

static int symbols_kallsyms_read_text(struct symbols *s, struct buffer *bounds, const char *text,
				      size_t size)
{
	for (struct lines l = lines_of(text, size); lines_next(&l);)
		if (symbols_kallsyms_add_line(s, bounds, l.line, l.size) < 0)
			return -1;
	if (symbols_sort(s) < 0)
		return -1;
	if (bounds->size) {
		qsort(bounds->data, bounds->size / 8, 8, compare_addresses);
		s->hidden = !get_u64(bounds->data + bounds->size - 8);
	}
	drop_aliases(s);
	set_sizes(s, bounds);
	return 0;
}

struct symbols *symbols_from_kallsyms(const char *text, size_t size)
{
	struct symbols *s = symbols_new();
	struct buffer bounds = {0};
	int result;

	if (!s)
		return NULL;
	result = symbols_kallsyms_read_text(s, &bounds, text, size);
	buffer_free(&bounds);
	if (result < 0) {
		symbols_free(s);
		return NULL;
	}
	return s;
}

bool symbols_running_text(struct text_range *text)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t capacity = 0;
	char *line = NULL;

	*text = (struct text_range){0};
	while (f && !text->end && getline(&line, &capacity, f) > 0) {
		const char *name = strrchr(line, ' ');

		if (name && !strcmp(name, " _text\n"))
			text->begin = strtoull(line, NULL, 16);
		else if (name && !strcmp(name, " _etext\n"))
			text->end = strtoull(line, NULL, 16);
	}
	free(line);
	if (f)
		fclose(f);
	return text->begin && text->end;
}

/*
 * Parse the text of a uftrace .sym file.
 *
 * "ADDR TYPE NAME" up to uftrace 0.17, "ADDR SIZE TYPE NAME" in later versions; each line shows
 * which.
 */

/* The types that uftrace reads as symbols; '?' only ends the symbol before it. */
static const char types[] = "?TtwPKDdvu";

/* Read a line; size 0: not given. The name is in the line, and name_length long. */
static bool symbols_read_line(const char *p, size_t length, struct symbol *line,
			      size_t *name_length)
{
	const char *end = p + length, *tab;
	uint64_t size = 0;

	if (!digits_hex(&p, end, &line->start) || end - p < 2 || *p++ != ' ')
		return false;
	if (*p >= '0' && *p <= '9' && (!digits_hex(&p, end, &size) || p == end || *p++ != ' '))
		return false;
	if (end - p < 3 || !p[0] || p[1] != ' ')
		return false;
	line->size = (uint32_t)size;
	line->type = *p;
	line->name = p + 2;
	tab = memchr(line->name, '\t', (size_t)(end - line->name));
	*name_length = (size_t)((tab ? tab : end) - line->name);
	return *name_length > 0;
}

static bool is_end_mark(const struct symbol *line, size_t length)
{
	static const char *const marks[] = {"__sym_end", "__dynsym_end", "__func_end"};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (length == strlen(marks[i]) && !memcmp(line->name, marks[i], length))
			return true;
	return line->type == '?';
}

static int symbols_uftrace_add_line(struct symbols *s, const struct symbol *line, size_t length)
{
	struct symbol *last = s->count ? &s->entry[s->count - 1] : NULL;

	/* uftrace has 32 bits for the size: a file that is not sorted gives wrong sizes in
	 * uftrace and here */
	if (last && !last->size)
		last->size = (uint32_t)(line->start - last->start);
	if (is_end_mark(line, length))
		return 0;
	return symbols_add_escaped(s, line->start, line->size, line->type, line->name, length);
}

static int symbols_uftrace_read_text(struct symbols *s, const char *text, size_t size)
{
	uint64_t last_address = UINT64_MAX;
	char last_type = '\0';
	struct symbol line;
	size_t length;

	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		if (*l.line == '#')
			continue;
		if (!symbols_read_line(l.line, l.size, &line, &length)) {
			s->damaged += l.size > 0;
			continue;
		}
		if (!strchr(types, line.type) ||
		    (line.start == last_address && line.type == last_type))
			continue;
		last_address = line.start;
		last_type = line.type;
		if (symbols_uftrace_add_line(s, &line, length) < 0)
			return -1;
	}
	return symbols_sort(s);
}

struct symbols *symbols_from_uftrace(const char *text, size_t size)
{
	struct symbols *s = symbols_new();

	if (s && symbols_uftrace_read_text(s, text, size) < 0) {
		symbols_free(s);
		return NULL;
	}
	return s;
}

/* --- order and lookup --- */

static bool is_sorted(const struct symbols *s)
{
	size_t i;

	for (i = 1; i < s->count; i++)
		if (s->entry[i - 1].start > s->entry[i].start)
			return false;
	return true;
}

static void symbols_merge_runs(const struct symbol *from, struct symbol *to, size_t low,
			       size_t middle, size_t high)
{
	size_t a = low, b = middle, i;

	for (i = low; i < high; i++)
		if (a < middle && (b >= high || from[a].start <= from[b].start))
			to[i] = from[a++];
		else
			to[i] = from[b++];
}

/* A merge sort: qsort() does not define the order of equal addresses, and names depend on it. */
int symbols_sort(struct symbols *s)
{
	struct symbol *from = s->entry, *to;
	size_t width, i;

	free(s->outer);
	s->outer = NULL;
	if (is_sorted(s))
		return 0;
	to = reallocarray(NULL, s->count, sizeof *to);
	if (!to)
		return -1;
	for (width = 1; width < s->count; width *= 2) {
		struct symbol *swap = from;

		for (i = 0; i < s->count; i += 2 * width) {
			size_t left = s->count - i;

			symbols_merge_runs(from, to, i, i + (left < width ? left : width),
					   i + (left < 2 * width ? left : 2 * width));
		}
		from = to;
		to = swap;
	}
	free(to);
	s->entry = from;
	s->room = s->count;
	return 0;
}

static uint64_t symbols_start_of(const void *table, size_t i)
{
	return ((const struct symbols *)table)->entry[i].start;
}

static uint64_t symbols_end_of(const void *table, size_t i)
{
	const struct symbol *symbol = &((const struct symbols *)table)->entry[i];

	return symbol->size > UINT64_MAX - symbol->start ? UINT64_MAX
							 : symbol->start + symbol->size;
}

static uint32_t outer_of(const void *table, size_t i)
{
	return ((const struct symbols *)table)->outer[i];
}

static bool symbol_contains(const struct symbol *symbol, uint64_t address)
{
	return address >= symbol->start && address - symbol->start < symbol->size;
}

static bool symbol_has(const void *table, size_t i, uint64_t address)
{
	return symbol_contains(&((const struct symbols *)table)->entry[i], address);
}

static const struct nesting nesting = {symbols_start_of, symbols_end_of, symbol_has, outer_of};

int symbols_nest(struct symbols *s)
{
	uint32_t *outer;

	if (s->count >= UINT32_MAX)
		return -1;
	outer = calloc(s->count + 1, sizeof *outer);
	if (!outer)
		return -1;
	free(s->outer);
	s->outer = outer;
	for (size_t i = 1; i < s->count; i++)
		outer[i] = nesting_outer(&nesting, s, i);
	return 0;
}

/* Search by the steps of the C library's bsearch(), which decide among overlapping symbols. */
static const struct symbol *symbols_bisect(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct symbol *symbol = &s->entry[middle];

		if (symbol_contains(symbol, address))
			return symbol;
		if (symbol->start > address)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static const struct symbol *find_innermost(const struct symbols *s, uint64_t address)
{
	size_t found = nesting_find(&nesting, s, s->count, address);

	return found ? &s->entry[found - 1] : NULL;
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
	return s->outer ? find_innermost(s, address) : symbols_bisect(s, address);
}

size_t symbols_count(const struct symbols *s)
{
	return s->count;
}

const struct symbol *symbols_at(const struct symbols *s, size_t i)
{
	return &s->entry[i];
}

size_t symbols_damaged(const struct symbols *s)
{
	return s->damaged;
}

bool symbols_stripped(const struct symbols *s)
{
	return s->stripped;
}

bool symbols_hidden(const struct symbols *s)
{
	return s->hidden;
}

uint64_t symbols_kernel_text(const struct symbols *s)
{
	return s->text;
}

uint64_t symbols_base(const struct symbols *s)
{
	return s->base;
}

uint64_t symbols_address(const struct symbols *s, uint64_t offset)
{
	for (size_t i = 0; i < s->nsegments; i++)
		if (offset >= s->segments[i].start && offset < s->segments[i].end)
			return offset + s->segments[i].shift;
	return offset;
}
