/*
 * fail_allocations.c - run a program once for each of its allocations, which fails
 *
 *     cc -shared -fPIC -o fail_allocations.so fail_allocations.c
 *     FAIL_OUTPUT=x.trs LD_PRELOAD=./fail_allocations.so trdecode -q -o x.trs x.json
 *
 * The program starts once. Before main the process forks a child for each allocation that a run
 * makes: the first 2,000, then 200 spread over the rest. In the child the n-th call of malloc,
 * calloc, realloc, memalign or mmap fails, in the program or in a library, libc's included. What is
 * tested of each child:
 *
 *  - it ends within 10 s, by no signal
 *  - its status is 2, it prints "out of memory" once, and leaves no output (FAIL_OUTPUT, a file or
 *    directory). Or the allocation is one that it can do without: status and output are as usual
 *  - all that it allocated is freed, but for what the dynamic loader keeps for threads, and where a
 *    library ends the program with status 2
 *  - a stream that it wrote on standard output is one of a failed program: the command FAIL_THEN
 *    exits 2 after it. This is tested of each eighth child
 *
 * A library may lose data in silence (libdw: a table that cannot be read is no table). So status
 * and output are tested only if the program or libc on its behalf called the allocator; the other
 * three are tested always. FAIL_LIBRARIES has the names of libraries that are known to crash or to
 * leak, whose allocations do not fail.
 *
 * With FAIL_AT=N the program runs once, without the fork, and its N-th allocation fails: for a
 * debugger.
 *
 * A line for each fault is printed, with the offsets of the callers in the program, for addr2line,
 * and in the end a line with the number of allocations. The exit status is 1 if there was a fault.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc's own, by which malloc and the others are replaced without dlsym(3), which allocates */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t to, size_t n);
void __libc_free(void *p);

enum { FRAMES = 40, FIRST = 2000, SPREAD = 200, SECONDS = 10, TEXT = 4096 };

/* What a child finds out. */
static struct result {
	uint64_t allocations;
	int64_t live;
	int frames;
	void *frame[FRAMES];
} * result;

/* What is known of the program and of its usual run. */
static struct usual {
	int status;
	uint64_t allocations, output;
	const char *output_path, *then, *libraries, *program_path;
	char *program; /* where it is in memory */
} usual;

static char *loader, *loader_end; /* code of the dynamic loader */

static bool counting;
/* of a thread that looks for its caller: the other threads go on to be counted */
static __thread bool paused __attribute__((tls_model("initial-exec")));
static uint64_t fail_at;
static int faults, messages = -1, stream = -1;

/* --- in the child --- */

/* The library that called the allocator, libc's callers in its place; NULL: the program. */
static const char *library_of(void *const *frame, int n)
{
	Dl_info info, own;

	dladdr((void *)library_of, &own);
	for (int i = 0; i < n; i++) {
		if (!dladdr(frame[i], &info) || !info.dli_fname)
			continue;
		if (info.dli_fbase == usual.program)
			return NULL;
		if (!strstr(info.dli_fname, "/libc.so") && info.dli_fbase != own.dli_fbase)
			return info.dli_fname;
	}
	return NULL;
}

static bool fails(void)
{
	const char *library, *name;

	if (!counting || paused ||
	    __atomic_add_fetch(&result->allocations, 1, __ATOMIC_RELAXED) != fail_at)
		return false;
	paused = true;
	result->frames = backtrace(result->frame, FRAMES);
	library = library_of(result->frame, result->frames);
	paused = false;
	name = library ? strrchr(library, '/') : NULL;
	if (name && usual.libraries) {
		char stem[64];

		snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name + 1, ".-"), name + 1);
		if (strstr(usual.libraries, stem))
			return false;
	}
	errno = ENOMEM;
	return true;
}

/* The blocks of the dynamic loader are not counted: libc keeps stacks of threads for others. */
static void *add(void *p, int n, const char *caller)
{
	if (p && counting && !paused && (caller < loader || caller >= loader_end))
		__atomic_add_fetch(&result->live, n, __ATOMIC_RELAXED);
	return p;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t n)
{
	return fails() ? NULL : add(__libc_malloc(n), 1, CALLER);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : add(__libc_calloc(n, size), 1, CALLER);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : add(__libc_realloc(p, n), !p, CALLER);
}

void *memalign(size_t to, size_t n)
{
	return fails() ? NULL : add(__libc_memalign(to, n), 1, CALLER);
}

void *aligned_alloc(size_t to, size_t n)
{
	return memalign(to, n);
}

int posix_memalign(void **p, size_t to, size_t n)
{
	*p = memalign(to, n);
	return *p ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "mmap");
	return fails() ? MAP_FAILED : real(at, n, protection, flags, fd, offset);
}

void free(void *p)
{
	__libc_free(add(p, -1, CALLER));
}

static void run_child(uint64_t n)
{
	if (dup2(messages, STDERR_FILENO) < 0 || dup2(stream, STDOUT_FILENO) < 0)
		_exit(99);
	alarm(SECONDS);
	fail_at = n;
	counting = true;
}

/* --- in the parent --- */

static uint64_t hash;

static void hash_add(const void *data, size_t n)
{
	for (const uint8_t *p = data; n--; p++)
		hash = (hash ^ *p) * 0x100000001b3;
}

static int hash_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	static char data[1 << 16];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	(void)kind;
	hash_add(path + at->base, strlen(path + at->base));
	while (S_ISREG(st->st_mode) && (n = read(fd, data, sizeof data)) > 0)
		hash_add(data, (size_t)n);
	close(fd);
	return 0;
}

static int remove_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Returns a hash of the output, which is removed; 0: there is none. */
static uint64_t take_output(void)
{
	if (!usual.output_path || access(usual.output_path, F_OK))
		return 0;
	hash = 1;
	nftw(usual.output_path, hash_file, 8, FTW_PHYS);
	nftw(usual.output_path, remove_file, 8, FTW_PHYS | FTW_DEPTH);
	return hash;
}

static void fault(uint64_t n, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void fault(uint64_t n, const char *text, const char *fmt, ...)
{
	const char *library = library_of(result->frame, result->frames);
	Dl_info info;
	va_list ap;

	faults++;
	printf("allocation %llu: ", (unsigned long long)n);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n    printed: %.300s\n    %s:", text, library ? library : usual.program_path);
	for (int i = 0; i < result->frames; i++)
		if (dladdr(result->frame[i], &info) && info.dli_fbase == usual.program)
			printf(" 0x%zx", (size_t)((char *)result->frame[i] - usual.program) - 1);
	printf("\n");
	fflush(stdout);
}

static int times(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* The status of FAIL_THEN after what the child wrote. */
static int status_after(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		int null = open("/dev/null", O_RDWR);

		unsetenv("LD_PRELOAD");
		lseek(stream, 0, SEEK_SET);
		if (dup2(stream, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(99);
		execl("/bin/sh", "sh", "-c", usual.then, NULL);
		_exit(99);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void check_child(uint64_t n, int status)
{
	uint64_t output = take_output();
	char text[TEXT];
	ssize_t size = pread(messages, text, sizeof text - 1, 0);
	const char *library = library_of(result->frame, result->frames);

	text[size > 0 ? size : 0] = 0;
	if (!result->frames)
		return; /* less allocations than usually: threads */
	if (WIFSIGNALED(status)) {
		fault(n, text, WTERMSIG(status) == 14 ? "no end after %d s" : "killed by signal %d",
		      WTERMSIG(status) == 14 ? SECONDS : WTERMSIG(status));
		return;
	}
	status = WEXITSTATUS(status);
	if (result->live && !(library && status == 2))
		fault(n, text, "%lld blocks are not freed", (long long)result->live);
	if (status == usual.status && (library || output == usual.output))
		return;
	if (status != 2)
		fault(n, text, "status %d, not 2", status);
	else if (output)
		fault(n, text, "status 2, but %s is there", usual.output_path);
	else if (!library && times(text, "out of memory") != 1)
		fault(n, text, "status 2, and no \"out of memory\", or more than one");
	else if (usual.then && n % 8 == 0 && lseek(stream, 0, SEEK_END) > 0 && status_after() != 2)
		fault(n, text, "'%s' after it does not exit 2", usual.then);
}

/* Returns true in the child. */
static bool run(uint64_t n)
{
	int status;
	pid_t child;

	memset(result, 0, sizeof *result);
	if (ftruncate(messages, 0) || ftruncate(stream, 0))
		abort();
	lseek(messages, 0, SEEK_SET);
	lseek(stream, 0, SEEK_SET);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	child = fork();
	if (!child) {
		run_child(n);
		return true;
	}
	waitpid(child, &status, 0);
	if (n) {
		check_child(n, status);
		return false;
	}
	if (!WIFEXITED(status) || result->live) {
		fault(0, "", "the usual run: status 0x%x, %lld blocks are not freed", status,
		      (long long)result->live);
		_exit(1);
	}
	usual.status = WEXITSTATUS(status);
	usual.allocations = result->allocations;
	usual.output = take_output();
	return false;
}

static void find_loader(void)
{
	const ElfW(Ehdr) *header = (void *)getauxval(AT_BASE);
	const ElfW(Phdr) *part = (void *)((char *)header + header->e_phoff);

	loader = (char *)header;
	for (int i = 0; i < header->e_phnum; i++)
		if (part[i].p_type == PT_LOAD)
			loader_end = loader + part[i].p_vaddr + part[i].p_memsz;
}

__attribute__((constructor)) static void fail_each(void)
{
	uint64_t step, n;
	void *frame[4];
	Dl_info info;

	if (!getenv("FAIL_OUTPUT") && !getenv("FAIL_THEN"))
		return;
	setvbuf(stdout, NULL, _IONBF, 0);
	usual.output_path = getenv("FAIL_OUTPUT");
	usual.then = getenv("FAIL_THEN");
	usual.libraries = getenv("FAIL_LIBRARIES");
	usual.program_path = program_invocation_name;
	usual.program = dladdr((void *)getauxval(AT_ENTRY), &info) ? info.dli_fbase : NULL;
	result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	messages = memfd_create("messages", 0);
	stream = memfd_create("stream", 0);
	find_loader();
	backtrace(frame, 4); /* loads libgcc */
	if (getenv("FAIL_AT")) {
		fail_at = strtoull(getenv("FAIL_AT"), NULL, 10);
		counting = true;
		return;
	}
	if (run(0))
		return;
	step = usual.allocations > FIRST + SPREAD ? (usual.allocations - FIRST) / SPREAD : 1;
	for (n = 1; n <= usual.allocations; n += n < FIRST ? 1 : step)
		if (run(n))
			return;
	printf("%llu allocations, %d faults\n", (unsigned long long)usual.allocations, faults);
	_exit(faults != 0);
}
