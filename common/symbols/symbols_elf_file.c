/*
 * symbols_elf_file.c - open ELF files, read their build-ids, and find separate debug files
 */
#include "common/symbols/symbols_elf.h"

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

#include "common/util/checksum.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){.fd = -1};
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

int elf_file_open(struct elf_file *f, const char *sysroot, const char *path, struct error *e)
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

bool elf_build_id(Elf *elf, char id[ELF_BUILD_ID_MAX])
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

/* Is this a build-id? Nothing else may become a part of a path, or be sent to a server. */
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

int elf_debug_open_id(struct elf_file *f, const char *build_id, const char *sysroot)
{
	const char *root = sysroot ? sysroot : "";

	return try_id(f, build_id, root) && try_perf(f, build_id, root) &&
			       (*root || try_vdso(f, build_id)) && try_server(f, build_id)
		       ? -1
		       : 0;
}
