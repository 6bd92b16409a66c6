/*
 * kernel_names.c - what the numbers in fields of the kernel's events are called
 *
 * Source: include/uapi/asm-generic/{errno-base,errno,signal,siginfo}.h, include/linux/errno.h,
 * include/linux/interrupt.h and include/trace/events/sched.h of Linux.
 */
#include "common/ftrace/kernel_names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "common/stream/writer.h"

enum { NAMES_MOST = 600, ERRORS_COMMON = 34 };

/* Errors by number. Those up to ERRORS_COMMON are the same on all machines. */
static const char *const errors[ERRORS_END] = {
	NULL, "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF",
	"ECHILD", "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV",
	"ENODEV", "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG",
	"ENOSPC", "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK", "ENAMETOOLONG",
	"ENOLCK", "ENOSYS", "ENOTEMPTY", "ELOOP", NULL, "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC",
	"EL3HLT", "EL3RST", "ELNRNG", "EUNATCH", "ENOCSI", "EL2HLT", "EBADE", "EBADR", "EXFULL",
	"ENOANO", "EBADRQC", "EBADSLT", NULL, "EBFONT", "ENOSTR", "ENODATA", "ETIME", "ENOSR",
	"ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT", "ECOMM", "EPROTO", "EMULTIHOP",
	"EDOTDOT", "EBADMSG", "EOVERFLOW", "ENOTUNIQ", "EBADFD", "EREMCHG", "ELIBACC", "ELIBBAD",
	"ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ERESTART", "ESTRPIPE", "EUSERS", "ENOTSOCK",
	"EDESTADDRREQ", "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT", "EPROTONOSUPPORT",
	"ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE",
	"EADDRNOTAVAIL", "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET",
	"ENOBUFS", "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS", "ETIMEDOUT", "ECONNREFUSED",
	"EHOSTDOWN", "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE", "EUCLEAN", "ENOTNAM",
	"ENAVAIL", "EISNAM", "EREMOTEIO", "EDQUOT", "ENOMEDIUM", "EMEDIUMTYPE", "ECANCELED",
	"ENOKEY", "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED", "EOWNERDEAD", "ENOTRECOVERABLE",
	"ERFKILL", "EHWPOISON",
	/* those that the kernel does not return to programs, from sys_exit */
	[512] = "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
	"ERESTART_RESTARTBLOCK", "EPROBE_DEFER", "EOPENSTALE", "ENOPARAM", [521] = "EBADHANDLE",
	"ENOTSYNC", "EBADCOOKIE", "ENOTSUPP", "ETOOSMALL", "ESERVERFAULT", "EBADTYPE", "EJUKEBOX",
	"EIOCBQUEUED", "ERECALLCONFLICT", "ENOGRACE"};

static const char *const signals[] = {
	NULL,	     "SIGHUP",	"SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
	"SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
	"SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
	"SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

/* The signals that have another number, or none, on the machines of has_own_numbers */
static const uint32_t own_signals = 1u << 7 | 1u << 10 | 1u << 12 | ~0u << 16;

static const char *const softirqs[SOFTIRQS] = {"HI",	   "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					       "IRQ_POLL", "TASKLET", "SCHED",	"HRTIMER", "RCU"};

const char *softirq_name(uint64_t number)
{
	return number < SOFTIRQS ? softirqs[number] : NULL;
}

const char *kernel_error_name(uint64_t number)
{
	return number < ERRORS_END ? errors[number] : NULL;
}

struct named_number {
	const char *name;
	int64_t number;
};

/* Second names, which conditions know and no output has */
static const struct named_number second_errors[] = {
	{"EWOULDBLOCK", 11}, {"EDEADLOCK", 35}, {"ENOTSUP", 95}};
static const struct named_number second_signals[] = {
	{"SIGIOT", 6}, {"SIGCLD", 17}, {"SIGPOLL", 29}};

static const struct named_number codes[] = {
	{"SI_USER", 0},	     {"SI_KERNEL", 128}, {"SI_QUEUE", -1}, {"SI_TIMER", -2},
	{"SI_MESGQ", -3},    {"SI_ASYNCIO", -4}, {"SI_SIGIO", -5}, {"SI_TKILL", -6},
	{"SI_DETHREAD", -7}, {"SI_ASYNCNL", -60}};

/* R is 0; R+ is that of a task that was pre-empted. */
static const struct named_number states[] = {{"S", 1},	    {"D", 2},	 {"T", 4},    {"t", 8},
					     {"X", 0x10},   {"Z", 0x20}, {"P", 0x40}, {"I", 0x80},
					     {"R+", 0x100}, {"R", 0}};
/* those of kernels before 4.14 that did not change in these */
static const struct named_number old_states[] = {{"S", 1},  {"D", 2},  {"T", 4}, {"t", 8},
						 {"Z", 16}, {"X", 32}, {"R", 0}};

/* Which numbers have names */
static const struct {
	const char *event; /* with * at its end: what the name begins with */
	const char *field;
	enum names_table table;
} rules[] = {
	{"sys_enter", "id", KERNEL_SYSCALLS},
	{"sys_exit", "id", KERNEL_SYSCALLS},
	{"sys_exit*", "ret", KERNEL_ERRORS},
	{"syscall_exit_*", "ret", KERNEL_ERRORS}, /* LTTng */
	{"compat_syscall_exit_*", "ret", KERNEL_ERRORS},
	{"exit_syscall", "ret", KERNEL_ERRORS}, /* LTTng before 2.5 */
	{"block_rq_*", "error", KERNEL_ERRORS},
	{"io_uring_*", "res", KERNEL_ERRORS},
	{"signal_*", "sig", KERNEL_SIGNALS},
	{"sys_enter_*", "sig", KERNEL_SIGNALS},
	{"syscall_entry_*", "sig", KERNEL_SIGNALS},
	{"compat_syscall_entry_*", "sig", KERNEL_SIGNALS},
	{"signal_*", "code", KERNEL_CODES},
	{"sched_switch", "prev_state", KERNEL_STATES},
	{"softirq_*", "vec", KERNEL_SOFTIRQS},
	{"irq_softirq_*", "vec", KERNEL_SOFTIRQS},
};

/* Test whether the machine has numbers of its own for errors above ERRORS_COMMON, and for
 * own_signals. */
static bool has_own_numbers(const char *machine)
{
	return machine && (!strncmp(machine, "mips", 4) || !strncmp(machine, "sparc", 5) ||
			   !strncmp(machine, "alpha", 5) || !strncmp(machine, "parisc", 6));
}

static bool release_is_old(const char *release)
{
	char *end;
	unsigned long version = release ? strtoul(release, &end, 10) : 0;

	return version &&
	       (version < 4 || (version == 4 && *end == '.' && strtoul(end + 1, NULL, 10) < 14));
}

struct name_list {
	struct writer *w;
	struct member_entry members[NAMES_MOST];
	uint32_t count;
};

static void add_name(struct name_list *l, const char *name, uint64_t number)
{
	if (name && l->count < NAMES_MOST)
		l->members[l->count++] =
			(struct member_entry){writer_text(l->w, name), number, number};
}

/* Add a name and the second name of the number i, which is declared as `number`. */
static void add_names(struct name_list *l, const char *name, size_t i, uint64_t number,
		      const struct named_number second[3])
{
	add_name(l, name, number);
	for (int k = 0; k < 3; k++)
		if ((size_t)second[k].number == i)
			add_name(l, second[k].name, number);
}

/* Returns libseccomp's name of a machine. */
static const char *arch_name(const char *machine)
{
	if (machine[0] == 'i' && !strcmp(machine + 2, "86"))
		return "x86";
	return !strncmp(machine, "armv", 4) ? "arm" : machine;
}

/* libseccomp is not linked: only traces with raw system calls need it, and without it these have
 * numbers. */
static void add_syscalls(struct name_list *l, const char *machine)
{
	void *library = machine && *machine ? dlopen("libseccomp.so.2", RTLD_NOW) : NULL;
	uint32_t (*arch_of)(const char *name), arch;
	char *(*name_of)(uint32_t arch, int number);

	if (!library)
		return;
	*(void **)&arch_of = dlsym(library, "seccomp_arch_resolve_name");
	*(void **)&name_of = dlsym(library, "seccomp_syscall_resolve_num_arch");
	arch = arch_of && name_of ? arch_of(arch_name(machine)) : 0;
	for (int i = 0; arch && i < NAMES_MOST; i++) {
		char *name = name_of(arch, i);

		add_name(l, name, (uint64_t)i);
		free(name);
	}
	dlclose(library);
}

static void add_errors(struct name_list *l, const char *machine)
{
	bool own = has_own_numbers(machine);

	for (size_t i = ERRORS_END; i-- > 1;) {
		/* alpha has another EAGAIN */
		if (!own || i >= 512 ||
		    (i <= ERRORS_COMMON && (i != 11 || strncmp(machine, "alpha", 5) != 0)))
			add_names(l, errors[i], i, -(uint64_t)i, second_errors);
	}
}

static void add_signals(struct name_list *l, const char *machine)
{
	bool own = has_own_numbers(machine);

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (!own || !(own_signals >> i & 1))
			add_names(l, signals[i], i, i, second_signals);
}

static void add_numbers(struct name_list *l, const struct named_number *n, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_name(l, n[i].name, (uint64_t)n[i].number);
}

/* Declare a table. 0: the machine has none. */
static uint32_t declare_table(const struct kernel_names *k, struct writer *w,
			      enum names_table table)
{
	struct name_list l = {.w = w};
	struct definition_entry d = {.kind = DEFINITION_ENUM, .members = l.members};

	switch (table) {
	case KERNEL_ERRORS: add_errors(&l, k->machine); break;
	case KERNEL_SIGNALS: add_signals(&l, k->machine); break;
	case KERNEL_CODES: add_numbers(&l, codes, sizeof codes / sizeof *codes); break;
	case KERNEL_STATES:
		d.kind = DEFINITION_BITMASK;
		if (release_is_old(k->release))
			add_numbers(&l, old_states, sizeof old_states / sizeof *old_states);
		else
			add_numbers(&l, states, sizeof states / sizeof *states);
		break;
	case KERNEL_SOFTIRQS:
		d.flags = DEFINITION_UNSIGNED;
		for (uint64_t i = 0; i < SOFTIRQS; i++)
			add_name(&l, softirq_name(i), i);
		break;
	case KERNEL_SYSCALLS: add_syscalls(&l, k->machine); break;
	case KERNEL_TABLES: break;
	}
	d.nmembers = l.count;
	return l.count ? writer_definition(w, &d) : 0;
}

/* Get the definition of a table, which is declared at first. */
static uint32_t table_definition(struct kernel_names *k, struct writer *w, enum names_table table)
{
	if (!k->definitions[table])
		k->definitions[table] = 1 + declare_table(k, w, table);
	return k->definitions[table] - 1;
}

uint32_t kernel_names_of(struct kernel_names *k, struct writer *w, const char *event,
			 size_t event_size, const char *field, size_t field_size)
{
	for (size_t i = 0; k && i < sizeof rules / sizeof *rules; i++) {
		const char *name = rules[i].event;
		size_t n = strlen(name), begin = n - (name[n - 1] == '*');

		if (strlen(rules[i].field) == field_size &&
		    !memcmp(field, rules[i].field, field_size) && event_size >= begin &&
		    !memcmp(event, name, begin) && (begin < n || event_size == n))
			return table_definition(k, w, rules[i].table);
	}
	return 0;
}
