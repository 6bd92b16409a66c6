/*
 * pair.c - pairs of events
 */
#include "common/pairs/pair.h"

#include "common/cli/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/expr/declared.h"
#include "common/scheduling/states.h"
#include "common/expr/expression.h"
#include "common/stream/clocks.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/value/scalar.h"
#include "common/calls/call_stacks.h"
#include "common/calls/calls.h"
#include "common/calls/stack_tree.h"
#include "common/expr/expression.h"

static char *pair_hint(const struct dictionary *d, const struct pair *p);

/* --- the keys of a condition --- */

static enum known_form pair_form_of(const struct key *k)
{
	switch (k->kind) {
	case BY_TID:
	case BY_PID:
	case BY_PPID:
	case BY_CPU:
	case BY_LINE:
	case BY_ADDRESS:
	case BY_DEPTH:
	case BY_TIME: return KNOWN_NUMBER;
	case BY_DURATION:
	case BY_SELF:
	case BY_FIELD: return KNOWN_NOTHING;
	default: return KNOWN_TEXT;
	}
}

static bool pair_is_time(const struct key *k)
{
	return k->transform == KEY_AS_IT_IS &&
	       (k->kind == BY_TIME || k->kind == BY_DURATION || k->kind == BY_SELF);
}

const char *const *condition_words(const struct key *k)
{
	if (k->transform != KEY_AS_IT_IS || k->other)
		return NULL;
	return k->kind == BY_KIND ? expression_kinds : k->kind == BY_SYMKIND ? key_symkinds : NULL;
}

/* Find the key of that name, or add it. */
static int find_key(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	struct keys *k = ctx;
	char *name;
	int bad;

	if (asprintf(&name, "%s%s", quoted ? "." : "", o->name) < 0)
		return lexer_error(l, o->column, "out of memory");
	while (o->field < k->count && strcmp(k->names[o->field], name) != 0)
		o->field++;
	bad = o->field == k->count ? keys_parse(k, name, l->error) : 0;
	free(name);
	if (bad)
		return -1;
	o->form = pair_form_of(&k->key[o->field]);
	o->words = condition_words(&k->key[o->field]);
	o->of_time = pair_is_time(&k->key[o->field]);
	return 0;
}

static const struct language language = {
	.field = find_key,
	.no_calls = "under() and over() are trfilter's, which belongs before this program then",
};

int key_condition_parse(struct condition *c, struct lexer *l)
{
	struct language of_keys = language;

	of_keys.ctx = &c->keys;
	c->root = expression_parse_part(l, &of_keys);
	return c->root ? 0 : -1;
}

/* Parse a condition that ends with the lexer's text. */
static int parse_condition_of(struct condition *c, struct lexer *l)
{
	int bad = lexer_next(l) || key_condition_parse(c, l) || lexer_end(l);

	lexer_free(l);
	return bad ? -1 : 0;
}

int condition_parse_text(struct condition *c, const char *text, struct error *e)
{
	struct lexer l;

	return lexer_begin(&l, text, e) ? -1 : parse_condition_of(c, &l);
}

void key_condition_free(struct condition *c)
{
	expression_free(c->root, &language);
	keys_free(&c->keys);
	*c = (struct condition){0};
}

/* Returns true if a key of a condition is a time of a clock. */
static bool key_of_time(const void *keys, unsigned key)
{
	return ((const struct keys *)keys)->key[key].kind == BY_TIME;
}

/* The same where durations are times too, not weights of samples. */
static bool key_of_any_time(const void *keys, unsigned key)
{
	return pair_is_time(&((const struct keys *)keys)->key[key]);
}

int condition_check_clocks(const struct condition *c, const char *option,
			   const struct clocks *clocks, bool weights, struct error *e)
{
	expression_is_time *of_ticks = weights ? key_of_time : key_of_any_time,
			   *of_ns = clocks_durations(clocks) ? key_of_any_time : key_of_time;

	return (clocks->ticks &&
		expression_check_clock(c->root, option, true, of_ticks, &c->keys, e)) ||
			       (clocks->times &&
				expression_check_clock(c->root, option, false, of_ns, &c->keys, e))
		       ? -1
		       : 0;
}

/* --- evaluation --- */

/* Convert the text of a constant, or of a float that is not finite, to its number. Other texts are
 * no numbers, as in events. */
static void make_number(struct scalar *s)
{
	static const struct {
		const char *text;
		float real;
	} texts[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};

	if (s->form != SCALAR_TEXT || scalar_constant(s->text, s->size, s))
		return;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (s->size == strlen(texts[i].text) && !memcmp(s->text, texts[i].text, s->size)) {
			*s = (struct scalar){.form = SCALAR_REAL, .real = texts[i].real};
			return;
		}
	}
}

struct asking {
	const struct condition *condition;
	const struct key_texts *texts;
	condition_cell *cell;
	void *ctx;
};

static struct scalar real_scalar(const struct key_cell *cell)
{
	double real = key_real_value(cell);

	return (struct scalar){.form = SCALAR_REAL,
			       .real = cell->single ? (float)real : real,
			       .real_size = cell->single ? 4 : 8};
}

struct scalar condition_scalar(const struct key_texts *g, const struct key_cell *cell, bool path)
{
	/* of a number whose field has names: other than any of them */
	static const struct definition no_names;
	struct scalar s = {.form = SCALAR_NONE};

	if (cell->label && !key_cell_text(g, cell, &s.text, &s.size)) {
		s.text = NULL;
		s.names = &no_names;
	}
	s.u = cell->value;
	switch (cell->kind) {
	case KEY_MISSING:
	case KEY_PENDING: return s;
	case KEY_SIGNED: s.form = SCALAR_INT; return s;
	case KEY_ADDRESS:
	case KEY_UNSIGNED: s.form = SCALAR_UINT; return s;
	case KEY_REAL: return real_scalar(cell);
	case KEY_TEXT:
	case KEY_STACK: break;
	}
	if (!key_cell_text(g, cell, &s.text, &s.size))
		return s;
	if (cell->label) {
		s.form = cell->is_signed ? SCALAR_INT : SCALAR_UINT;
		s.u = cell->value;
		return s;
	}
	s.form = SCALAR_TEXT;
	s.path = path;
	return s;
}

static void pair_give_cell(void *ctx, struct operand *o, struct scalar *s)
{
	const struct asking *ask = ctx;
	const struct key_cell *cell = ask->cell(ask->ctx, o->field);
	enum key_kind kind = ask->condition->keys.key[o->field].kind;

	if (cell)
		*s = condition_scalar(ask->texts, cell, kind == BY_MODULE || kind == BY_FILE);
}

bool condition_holds(const struct condition *c, const struct key_texts *g, condition_cell *cell,
		     void *ctx)
{
	struct asking ask = {c, g, cell, ctx};
	const struct expression_values values = {pair_give_cell, make_number, &ask};

	return !c->root || expression_holds(&values, c->root);
}

/* Answer a part of a condition from the cells that are known. */
static enum answer answer_known(void *ctx, struct node *n)
{
	const struct asking *ask = ctx;
	const struct expression_values values = {pair_give_cell, make_number, ctx};

	if (expression_joined(n))
		return expression_join(n, answer_known, ctx);
	for (size_t i = 0; i < n->nfields; i++)
		if (!ask->cell(ask->ctx, n->fields[i]->field))
			return ANSWER_LATER;
	return expression_leaf(&values, n) ? ANSWER_YES : ANSWER_NO;
}

bool condition_may_hold(const struct condition *c, const struct key_texts *g, condition_cell *cell,
			void *ctx)
{
	struct asking ask = {c, g, cell, ctx};

	return !c->root || answer_known(&ask, c->root) != ANSWER_NO;
}

/* --- parse 'A -> B on .x == .y', and the presets --- */

/* The fields that name the task of a pair: neither event is one of the woken thread, and
 * sched_switch is an event of the thread that it switches out. */
static const struct pair_task woken = {"b.next_pid|b.next_tid", NULL, "b.next_comm", "a.stack"},
			      sleeping = {"a.prev_pid|a.prev_tid", "a.pid", "a.prev_comm|a.comm",
					  "a.stack"},
			      running = {"b.prev_pid|b.prev_tid", "b.pid", "a.next_comm|b.comm",
					 "b.stack"};

/* What A records of the same tasks; other events, of calls, are those of their thread. */
static const struct pair_task woken_begun = {".pid|.tid|tid", NULL, ".comm|comm", "stack"},
			      sleeping_begun = {"prev_pid|prev_tid|tid", "pid", "prev_comm|comm",
						"stack"},
			      running_begun = {"next_pid|next_tid|tid", NULL, "next_comm|comm",
					       NULL};

#define WAKEUPS                                                                                    \
	"type in {\"sched_waking\", \"sched_wakeup\", \"sched_wakeup_new\", "                      \
	"\"sched_try_wakeup\", "                                                                   \
	"\"sched_wakeup_new_task\"}"

/* System calls on files, of which each names a path or a file descriptor. */
#define FILE_CALLS                                                                                 \
	"{\"open\", \"openat\", \"openat2\", \"creat\", \"close\", \"close_range\", \"dup\", "     \
	"\"dup2\", \"dup3\", "                                                                     \
	"\"fcntl\", "                                                                              \
	"\"read\", \"pread64\", \"readv\", \"preadv\", \"preadv2\", \"write\", \"pwrite64\", "     \
	"\"writev\", \"pwritev\", \"pwritev2\", \"lseek\", \"fsync\", \"fdatasync\", "             \
	"\"ftruncate\", \"fallocate\", \"getdents64\", \"fstat\", \"newfstat\", \"newfstatat\", "  \
	"\"stat\", \"newstat\", \"lstat\", \"newlstat\", \"statx\", \"access\", \"faccessat\", "   \
	"\"faccessat2\", \"readlink\", \"readlinkat\", \"unlink\", \"unlinkat\", \"mkdir\", "      \
	"\"mkdirat\", \"rmdir\", \"truncate\", \"chmod\", \"fchmod\", \"chown\", \"fchown\", "     \
	"\"rename\", \"renameat\", \"renameat2\", \"link\", \"linkat\", \"symlink\", "             \
	"\"symlinkat\", \"chdir\", \"fchdir\", \"execve\", \"execveat\", \"sendfile\", "           \
	"\"sendfile64\", \"fchmodat\", \"fchownat\", \"lchown\", \"utimensat\", \"statfs\", "      \
	"\"fstatfs\", \"flock\", \"fadvise64\"}"

/* Without a file, mmap has the file descriptor -1. */
#define FILE_ENTERS "kind == \"enter\" && (name in " FILE_CALLS " || name == \"mmap\" && fd >= 0)"
#define FILE_LEAVES "kind == \"leave\" && (name in " FILE_CALLS " || name == \"mmap\")"

/* Calls that show a frame. */
#define PRESENT "class == \"frame\" || name == \"vkQueuePresentKHR\""

/* System calls that wait for a lock of a program. Their second argument is the operation: 0 WAIT,
 * 6 LOCK_PI, 9 WAIT_BITSET, 11 WAIT_REQUEUE_PI, 13 LOCK_PI2, with flags from 128 on. */
#define WAITS " & 127) in {0, 6, 9, 11, 13}"

/* strace's are calls whose operation is a text; rows of them have no group. */
#define STRACE_FUTEX "name == \"futex\""

#define LOCK_BEGINS                                                                                \
	"type == \"contention_begin\" || "                                                         \
	"type == \"sys_enter_futex\" && (op" WAITS " || "                                          \
	"type == \"sys_enter\" && id == \"futex\" && (args[1]" WAITS " || "                        \
	"kind == \"enter\" && type == \"syscall_entry_futex\" && (op" WAITS " || "                 \
	"kind == \"enter\" && " STRACE_FUTEX " && op =~ \"^(FUTEX_)?(WAIT|LOCK)\""

#define LOCK_ENDS                                                                                  \
	"type in {\"contention_end\", \"sys_exit_futex\"} || "                                     \
	"type == \"sys_exit\" && id == \"futex\" || "                                              \
	"kind == \"leave\" && type == \"syscall_exit_futex\" || "                                  \
	"kind == \"leave\" && " STRACE_FUTEX

#define LOCK ".lock_addr|.id|.__syscall_nr|.nr|name"

/*
 * Tracepoints of the kernel, as ftrace and LTTng 2 record them. LTTng 2 names pids tids and has one
 * event type for each system call. The last ones of each list, after each bar, are older LTTng's.
 */
static const struct pair_preset presets[] = {
	/* from the wakeup of a thread until it runs */
	{.name = "wakeup",
	 .pair = WAKEUPS " -> type in {\"sched_switch\", \"sched_schedule\"} "
			 "on .pid|.tid == .next_pid|.next_tid",
	 .begin = "sched_wakeup",
	 .end = "sched_switch",
	 .keys = "next_comm|next_pid",
	 .task = &woken,
	 .begun = &woken_begun},
	/* from when a thread leaves its CPU until it is back on one */
	{.name = "offcpu",
	 .pair = "type in {\"sched_switch\", \"sched_schedule\"} && "
		 "(prev_pid != 0 || prev_tid != 0) -> "
		 "type in {\"sched_switch\", \"sched_schedule\"} && "
		 "(next_pid != 0 || next_tid != 0) "
		 "on .prev_pid|.prev_tid == .next_pid|.next_tid",
	 .begin = "sched_switch",
	 .end = "sched_switch",
	 .keys = "next_comm|next_pid",
	 .end_fields = "next_",
	 .task = &sleeping,
	 .begun = &sleeping_begun,
	 .waker = WAKEUPS,
	 .woken = ".pid|.tid"},
	/* from when a thread gets a CPU until it leaves the CPU */
	{.name = "oncpu",
	 .pair = "type in {\"sched_switch\", \"sched_schedule\"} && "
		 "(next_pid != 0 || next_tid != 0) -> "
		 "type in {\"sched_switch\", \"sched_schedule\"} && "
		 "(prev_pid != 0 || prev_tid != 0) "
		 "on .next_pid|.next_tid == .prev_pid|.prev_tid",
	 .begin = "sched_switch",
	 .end = "sched_switch",
	 .keys = "next_comm|next_pid",
	 .end_fields = "prev_",
	 .task = &running,
	 .begun = &running_begun,
	 .place = PLACE_CPU},
	/* ftrace records sys_enter with a number, sys_enter_NAME of another group, or both;
	 * LTTng's events are calls, named like the system call */
	{.name = "syscall",
	 .pair = "type =~ \"^sys_enter(_|$)\" || "
		 "kind == \"enter\" && type =~ \"^(compat_)?syscall_entry\" -> "
		 "type =~ \"^sys_exit(_|$)\" || "
		 "kind == \"leave\" && type =~ \"^(compat_)?syscall_exit\" "
		 "on tid == tid && .id|.__syscall_nr|.nr|name == .id|.__syscall_nr|.nr|name",
	 .begin = "sys_enter",
	 .end = "sys_exit",
	 .keys = "id|name",
	 .syscalls = true,
	 .place = PLACE_THREAD},
	/* A lock of the kernel, or one of a program for which a thread waits in the kernel. A mutex
	 * spins before it sleeps, and records a second beginning there. */
	{.name = "lock",
	 .pair = "first " LOCK_BEGINS " -> " LOCK_ENDS " on tid == tid && " LOCK " == " LOCK,
	 .begin = "contention_begin",
	 .end = "contention_end",
	 .keys = "lock_addr|uaddr|args[0]",
	 .syscalls = true},
	/* a page fault: the function of the kernel that resolves it, or older LTTng's events */
	{.name = "fault",
	 .pair = "kind == \"enter\" && name == \"handle_mm_fault\" || "
		 "type == \"page_fault_entry\" -> "
		 "kind == \"leave\" && name == \"handle_mm_fault\" || type == \"page_fault_exit\" "
		 "on tid == tid",
	 .begin = "call of handle_mm_fault",
	 .end = "call of handle_mm_fault",
	 .keys = "comm|tid"},
	{.name = "irq",
	 .pair = "type in {\"irq_handler_entry\", \"irq_entry\"} -> "
		 "type in {\"irq_handler_exit\", \"irq_exit\"} "
		 "on cpu == cpu && .irq|name == .irq|name",
	 .begin = "irq_handler_entry",
	 .end = "irq_handler_exit",
	 .keys = "irq|irq_id"},
	{.name = "softirq",
	 .pair = "type in {\"softirq_entry\", \"irq_softirq_entry\"} -> "
		 "type in {\"softirq_exit\", \"irq_softirq_exit\"} "
		 "on cpu == cpu && .vec|.softirq_id == .vec|.softirq_id",
	 .begin = "softirq_entry",
	 .end = "softirq_exit",
	 .keys = "vec|softirq_id"},
	/* from the issue of a request to the device until its completion */
	{.name = "block",
	 .pair = "type in {\"block_rq_issue\", \"rq_issue_fs\", \"blk_issue\"} -> "
		 "type in {\"block_rq_complete\", \"rq_complete_fs\", \"blk_complete\"} "
		 "on .dev|group == .dev|group && .sector|.hard_sector == .sector|.hard_sector",
	 .begin = "block_rq_issue",
	 .end = "block_rq_complete",
	 .keys = "dev|group"},
	/* before that, from the queue of a request until its issue */
	{.name = "block-queue",
	 .pair = "type in {\"block_rq_insert\", \"rq_insert_fs\", \"blk_insert\"} -> "
		 "type in {\"block_rq_issue\", \"rq_issue_fs\", \"blk_issue\"} "
		 "on .dev|group == .dev|group && .sector|.hard_sector == .sector|.hard_sector",
	 .begin = "block_rq_insert",
	 .end = "block_rq_issue",
	 .keys = "dev|group"},
	/* a packet to be sent, from the queue of its device until the device has taken it */
	{.name = "net",
	 .pair = "net_dev_queue -> net_dev_xmit on .skbaddr == .skbaddr && .name == .name",
	 .begin = "net_dev_queue",
	 .end = "net_dev_xmit",
	 .keys = ".name"},
	/* a packet that was received, until a program reads it */
	{.name = "net-receive",
	 .pair = "netif_receive_skb -> skb_copy_datagram_iovec on .skbaddr == .skbaddr",
	 .begin = "netif_receive_skb",
	 .end = "skb_copy_datagram_iovec",
	 .keys = ".name"},
	/* from one frame of a thread to the next one */
	{.name = "frame",
	 .pair = PRESENT " -> " PRESENT " on tid == tid",
	 .begin = "call that ends a frame",
	 .end = "call that ends a frame",
	 .keys = "tid"},
	/* a system call on a file */
	{.name = "fs",
	 .pair = FILE_ENTERS " -> " FILE_LEAVES " on tid == tid && name == name",
	 .begin = "call of openat",
	 .end = "call of openat",
	 .keys = "path",
	 .files = true,
	 .place = PLACE_THREAD},
	/* memory of a program, from the return of the function that allocates it */
	{.name = "alloc",
	 /* addresses of rows are texts */
	 .pair = "kind == \"leave\" && (ret != 0 || ret =~ \"^0x0*[1-9a-f]\") && "
		 "name in {\"malloc\", \"calloc\", \"realloc\", \"reallocarray\", "
		 "\"aligned_alloc\", \"memalign\", \"valloc\", "
		 "\"pvalloc\", \"operator new\", \"operator new[]\"} -> "
		 "kind == \"enter\" && name in {\"free\", \"realloc\", \"reallocarray\", "
		 "\"operator delete\", \"operator delete[]\"} "
		 "on pid|input == pid|input && ret == arg.1",
	 .begin = "call of malloc",
	 .end = "call of free",
	 .keys = "caller",
	 .calls = true},
	{.name = "kmem",
	 .pair = "type in {\"kmalloc\", \"kmalloc_node\", \"kmem_cache_alloc\", "
		 "\"kmem_cache_alloc_node\", \"kmem_kmalloc\"} && ptr != 0 -> "
		 "type in {\"kfree\", \"kmem_cache_free\", \"kmem_kfree\"} on .ptr == .ptr",
	 .begin = "kmalloc",
	 .end = "kfree",
	 .keys = "call_site",
	 .bytes = "bytes_alloc"},
	{.name = "pages",
	 .pair = "type in {\"mm_page_alloc\", \"kmem_mm_page_alloc\"} && pfn + 1 != 0 -> "
		 "type in {\"mm_page_free\", \"kmem_mm_page_free\"} on .pfn == .pfn",
	 .begin = "mm_page_alloc",
	 .end = "mm_page_free",
	 .keys = "comm|tid",
	 .bytes = "order",
	 .order = true},
};

/* Functions that allocate: the arguments that are the size, and a factor of it. 0: none. */
static const struct {
	const char *name;
	uint8_t size, times;
} allocators[] = {
	{"malloc", 1, 0},	  {"calloc", 1, 2},	   {"realloc", 2, 0},
	{"reallocarray", 2, 3},	  {"aligned_alloc", 2, 0}, {"memalign", 2, 0},
	{"valloc", 1, 0},	  {"pvalloc", 1, 0},	   {"operator new", 1, 0},
	{"operator new[]", 1, 0},
};

#define BLANKS	    " \t\r\n"
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static int bad_pair(const struct lexer *pair, const char *why, struct error *e)
{
	return error_set(e, NULL, NO_OFFSET,
			 "%s in the pair '%s%.200s' (a pair is 'A -> B on .x == .y', or one of %s)",
			 why, pair->file ? "@" : "", pair->file ? pair->file : pair->text,
			 PAIR_PRESETS);
}

static bool is_blank(char c)
{
	return c && strchr(BLANKS, c);
}

/* Find a word outside of quotes, or (alone) one between blanks; NULL: there is none. */
static const char *find_word(const char *text, const char *word, bool alone)
{
	size_t n = strlen(word);
	char quote = 0;

	for (const char *p = text; *p; p++) {
		if (quote) {
			p += *p == '\\' && p[1];
			quote = *p == quote ? 0 : quote;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
		} else if (!strncmp(p, word, n) &&
			   (!alone || ((p == text || is_blank(p[-1])) && is_blank(p[n])))) {
			return p;
		}
	}
	return NULL;
}

static bool pair_is_bare(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-$@",
			    p[i]))
			return false;
	return n > 0;
}

/* Test whether keys are of the function of a call, and none is of the kind or content of an event.
 */
static bool are_of_function(const struct keys *k)
{
	bool is = false;

	for (size_t i = 0; i < k->count; i++) {
		switch (k->key[i].kind) {
		case BY_KIND:
		case BY_TYPE:
		case BY_FIELD: return false;
		case BY_NAME:
		case BY_MODULE:
		case BY_FILE:
		case BY_LINE:
		case BY_ADDRESS:
		case BY_SYMKIND:
		case BY_CLASS: is = true; break;
		default: break;
		}
	}
	return is;
}

/* Parse the side between two places of the pair, whose columns and lines are those of the pair. */
static int parse_side(struct pair_side *side, const char *text, const char *end,
		      const struct lexer *pair, struct error *e)
{
	struct lexer l = *pair;
	char *copy;
	int bad;

	while (text < end && is_blank(*text))
		text++;
	while (text < end && is_blank(end[-1]))
		end--;
	if (text == end)
		return bad_pair(pair, "an event is missing", e);
	if (pair_is_bare(text, (size_t)(end - text))) {
		side->name = strndup(text, (size_t)(end - text));
		return side->name ? 0 : error_no_memory(e);
	}
	copy = strndup(pair->text, (size_t)(end - pair->text));
	if (!copy)
		return error_no_memory(e);
	l.text = copy;
	l.at = (size_t)(text - pair->text);
	bad = parse_condition_of(&side->condition, &l);
	side->enters = !bad && are_of_function(&side->condition.keys);
	free(copy);
	return bad;
}

/* Get the key without the prefix of its side, which may be given. */
static char *on_key(char *key, const char *side)
{
	return key && !strncmp(key, side, 2) ? key + 2 : key;
}

/* Parse ".x == .y && .z == .w" from text on. */
static int parse_on(struct pair *p, const char *text, const struct lexer *pair, struct error *e)
{
	char *copy = strdup(text), *save = NULL;
	int bad = copy ? 0 : error_no_memory(e);

	for (char *at = copy; !bad && at;) {
		char *next = strstr(at, "&&"), *equal, *left, *right;

		if (next) {
			*next = '\0';
			next += 2;
		}
		equal = strstr(at, "==");
		if (!equal) {
			bad = bad_pair(pair, "'==' is missing after 'on'", e);
			break;
		}
		*equal = '\0';
		left = on_key(strtok_r(at, BLANKS, &save), "a.");
		right = on_key(strtok_r(equal + 2, BLANKS, &save), "b.");
		if (left && right && (!strncmp(left, "b.", 2) || !strncmp(right, "a.", 2))) {
			bad = bad_pair(pair, "a key of the first event belongs before '=='", e);
			break;
		}
		if (!left || !right || strtok_r(NULL, BLANKS, &save)) {
			bad = bad_pair(pair, "a key is missing", e);
			break;
		}
		bad = keys_parse(&p->a.on, left, e) || keys_parse(&p->b.on, right, e);
		at = next;
	}
	free(copy);
	if (!bad && (p->a.on.count != p->b.on.count || p->a.on.count > PAIR_ON_MOST))
		bad = bad_pair(pair, "there are too many keys after 'on'", e);
	return bad ? -1 : 0;
}

/* Skip the word "first" before A; NULL: the text begins with A, which may be of that name. */
static const char *skip_first(const char *text)
{
	const char *a = text + strspn(text, BLANKS);
	bool word;

	if (strncmp(a, "first", 5) || !is_blank(a[5]))
		return NULL;
	a += 5 + strspn(a + 5, BLANKS);
	word = !strncmp(a, "in", 2) && (is_blank(a[2]) || a[2] == '{');
	return !word && *a && !strchr("-=<>&|^+*/%~", *a) && (*a != '!' || a[1] == '(') ? a : NULL;
}

static int parse_words(struct pair *p, const struct lexer *pair, struct error *e)
{
	const char *first = skip_first(pair->text), *text = first ? first : pair->text;
	const char *arrow = find_word(text, "->", false), *on;
	struct nearest nearest;

	nearest_begin(&nearest, text, strlen(text));
	nearest_offer_words(&nearest, PAIR_PRESETS);
	if (!arrow && *nearest_hint(&nearest))
		return error_set(e, NULL, NO_OFFSET, "no such pair: '%.64s'%s", text,
				 nearest_hint(&nearest));
	if (!arrow)
		return bad_pair(pair, "'->' is missing", e);
	on = find_word(arrow + 2, "on", true);
	p->first = first != NULL;
	if (parse_side(&p->a, text, arrow, pair, e) ||
	    parse_side(&p->b, arrow + 2, on ? on : arrow + strlen(arrow), pair, e))
		return -1;
	return on ? parse_on(p, on + 2, pair, e)
		  : parse_on(p, "input == input && tid == tid", pair, e);
}

/* NULL: there is no preset of that name. */
static const struct pair_preset *pair_preset_of(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(presets); i++)
		if (!strcmp(name, presets[i].name))
			return &presets[i];
	return NULL;
}

/* Refuse keys that no single event has. */
static int pair_check_needs(const struct pair *p, struct error *e)
{
	if ((p->a.on.needs | p->b.on.needs | p->a.condition.keys.needs |
	     p->b.condition.keys.needs) &
	    (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_STACK | NEEDS_CALL))
		return error_set(e, NULL, NO_OFFSET,
				 "the events of pairs have no keys caller, depth, stack, dur, "
				 "total and self");
	return 0;
}

int pair_parse(struct pair *p, const char *text, struct error *e)
{
	struct lexer pair;

	*p = (struct pair){.text = text};
	if (lexer_begin(&pair, text, e))
		return -1;
	p->preset = pair_preset_of(pair.text + strspn(pair.text, BLANKS));
	if (p->preset)
		p->text = pair.text = p->preset->pair;
	if (parse_words(p, &pair, e))
		return -1;
	if (p->preset && p->preset->waker &&
	    (condition_parse_text(&p->w.condition, p->preset->waker, e) ||
	     keys_parse(&p->w.on, p->preset->woken, e)))
		return -1;
	if (p->preset && p->preset->bytes && keys_parse(&p->memory.bytes, p->preset->bytes, e))
		return -1;
	return pair_check_needs(p, e);
}

/* --- --cover --- */

enum cover_sets { COVER_A, COVER_BOTH, COVER_WITHOUT };

/* A set that is of pairs. */
struct cover_pairs {
	struct pair *cover; /* whose set it is */
	unsigned set;
	struct pair pair;
	uint32_t *groups; /* by number of the pending A: 1 + its group, 0 none is open */
	size_t capacity;
};

/* What is open of a group. The span is the time from since on in which `held` is true; at `at`,
 * the time of the last change, it may have ended or begun, which is known when time goes on. */
struct cover_group {
	uint64_t open[2]; /* number of open calls or pairs of A and B */
	uint64_t since, at;
	uint64_t depth; /* number of As in the span */
	bool held;
	bool spans, any; /* it has had a span; an A was open, at last until `open_at` */
	uint64_t open_at;
};

/* A span that has ended. */
struct cover_span {
	uint32_t group;
	uint64_t since, until, depth;
};

/* Data of an open call. */
struct cover_call {
	uint32_t group; /* 1 + its group */
	uint32_t sets;	/* those of which it is: 1 A, 2 B */
};

struct cover {
	const char *text; /* the caller's */
	enum cover_sets sets;
	bool calls_wanted; /* a set is of calls */
	bool by_depth;	   /* a key is the depth */
	struct cover_pairs *pairs[2];
	char *names[2]; /* of the sets, for messages */
	bool opened[2]; /* something was of the set */
	struct calls calls;
	struct intern numbers; /* of groups, by their cells */
	struct buffer key;
	struct cover_group *groups;
	size_t capacity;
	/* those that enters give to the keys: of each group, and before them of the present one */
	struct key_cell *cells;
	size_t cells_capacity;
	struct cover_span *ended;
	size_t nended, ended_capacity, taken;
	uint64_t last; /* time of the last event */
	bool failed;
};

static const struct keys no_keys;

static int cover_parse_set(struct pair *p, unsigned set, const char *text, const char *end,
			   struct lexer *l, struct error *e)
{
	struct pair_side *side = set ? &p->b : &p->a;
	struct cover_pairs *of;
	char *copy;

	while (text < end && is_blank(*text))
		text++;
	while (text < end && is_blank(end[-1]))
		end--;
	copy = p->cover->names[set] = strndup(text, (size_t)(end - text));
	if (!copy)
		return error_no_memory(e);
	if (!find_word(copy, "->", false) && !pair_preset_of(copy)) {
		p->cover->calls_wanted = true;
		return parse_side(side, text, end, l, e);
	}
	of = calloc(1, sizeof(*of));
	if (!of)
		return error_no_memory(e);
	*of = (struct cover_pairs){.cover = p, .set = set};
	p->cover->pairs[set] = of;
	return pair_parse(&of->pair, copy, e);
}

/* Find the next sign between two sets, from text on, outside of quotes and parentheses. NULL: there
 * is none. */
static const char *cover_sign(const char *start, const char *text)
{
	int inside = 0;
	char quote = 0;

	for (const char *p = start; *p; p++) {
		if (quote) {
			p += *p == '\\' && p[1];
			quote = *p == quote ? 0 : quote;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
		} else if (*p == '(' || *p == ')') {
			inside += *p == '(' ? 1 : -1;
		} else if (!inside && p >= text && p > start && (*p == '&' || *p == '-') &&
			   is_blank(p[-1]) && is_blank(p[1])) {
			return p;
		}
	}
	return NULL;
}

int cover_parse(struct pair *p, const char *text, struct error *e)
{
	const char *sign;
	struct lexer l;

	*p = (struct pair){.text = text};
	p->cover = calloc(1, sizeof(*p->cover));
	if (!p->cover)
		return error_no_memory(e);
	p->cover->text = text;
	if (lexer_begin(&l, text, e))
		return -1;
	sign = cover_sign(l.text, l.text);
	if (sign && cover_sign(l.text, sign + 1))
		return error_set(e, NULL, NO_OFFSET,
				 "--cover '%.200s' has more than two sets: join conditions with "
				 "&& or ||, as in 'a - name in {b, c}'",
				 text);
	p->cover->sets = !sign ? COVER_A : *sign == '&' ? COVER_BOTH : COVER_WITHOUT;
	if (cover_parse_set(p, 0, l.text, sign ? sign : l.text + strlen(l.text), &l, e) ||
	    (sign && cover_parse_set(p, 1, sign + 1, sign + strlen(sign), &l, e)))
		return -1;
	return pair_check_needs(p, e);
}

/* Make all keys but times and depth those of enters, and of As. */
static void begin_keys(struct keys *k)
{
	/* no cell depends on the row that ends */
	k->needs |= NEEDS_EVENT;
	k->begins = 0;
	for (size_t i = 0; i < k->count; i++) {
		struct key *key = &k->key[i];

		key->begins = false;
		for (struct key *a = key; a; a = a->other) {
			if (a->kind == BY_TIME || a->kind == BY_DURATION || a->kind == BY_SELF ||
			    a->kind == BY_DEPTH)
				continue;
			a->side = KEY_OF_A;
			key->begins = true;
		}
		k->begins += key->begins;
	}
}

/* Resolve keys of -g or of a condition, which are those of enters, and of As. */
static int cover_keys(const struct cover *c, struct keys *k, struct error *e)
{
	const struct pair_task *task = NULL;

	for (size_t i = 0; i < 2 && !task; i++)
		task = c->pairs[i] && c->pairs[i]->pair.preset ? c->pairs[i]->pair.preset->begun
							       : NULL;
	for (size_t i = 0; i < k->count; i++)
		for (const struct key *a = &k->key[i]; a; a = a->other) {
			if (a->kind == BY_CALLER || (a->kind == BY_PID && task && !task->pid) ||
			    (a->kind == BY_STACK && task && !task->stack))
				return error_set(e, NULL, NO_OFFSET,
						 "what --cover '%.64s' counts has no key %s",
						 c->text, a->name);
			if (keys_side(a) != KEY_OF_EITHER)
				return error_set(e, NULL, NO_OFFSET,
						 "'%s': a span of --cover has no first and second "
						 "event; use %s",
						 a->name, a->name + 2);
		}
	if (keys_of_pair(k, NULL, task, e))
		return -1;
	begin_keys(k);
	return 0;
}

/* Resolve keys of memory, which are those of its allocation. */
static int memory_keys(const struct pair *p, struct keys *k, struct error *e)
{
	for (size_t i = 0; i < k->count; i++)
		for (const struct key *a = &k->key[i]; a; a = a->other) {
			if (a->kind == BY_DEPTH || (a->kind == BY_CALLER && !p->preset->calls))
				return error_set(e, NULL, NO_OFFSET,
						 "the memory of --pair %s has no key %s",
						 p->preset->name, a->name);
			if (keys_side(a) != KEY_OF_EITHER)
				return error_set(e, NULL, NO_OFFSET,
						 "'%s': the keys of memory are those of its "
						 "allocation; use %s",
						 a->name, a->name + 2);
		}
	if (keys_of_pair(k, NULL, NULL, e))
		return -1;
	begin_keys(k);
	return 0;
}

static int cover_check_clocks(const struct cover *c, bool ticks, bool times, struct error *e)
{
	for (size_t i = 0; i < 2; i++)
		if (c->pairs[i] && pair_check_clocks(&c->pairs[i]->pair, ticks, times, e))
			return -1;
	return 0;
}

static void cover_free(struct cover *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < 2; i++) {
		free(c->names[i]);
		if (!c->pairs[i])
			continue;
		pair_free(&c->pairs[i]->pair);
		free(c->pairs[i]->groups);
		free(c->pairs[i]);
	}
	calls_free(&c->calls);
	intern_free(&c->numbers);
	buffer_free(&c->key);
	free(c->groups);
	free(c->cells);
	free(c->ended);
	free(c);
}

static int cover_begin(struct pair *p);
static int cover_feed(struct pair *p, const struct event *e);

/* --- a pair and its clocks --- */

int pair_keys(const struct pair *p, struct keys *k, struct error *e)
{
	if (p->cover)
		return cover_keys(p->cover, k, e);
	if (pair_is_memory(p))
		return memory_keys(p, k, e);
	if (keys_of_pair(k, p->preset ? p->preset->end_fields : NULL,
			 p->preset ? p->preset->task : NULL, e))
		return -1;
	if (k->wakers && !p->w.on.count)
		return error_set(e, NULL, NO_OFFSET,
				 "keys of the event that wakes a thread, such as w.comm, are of "
				 "the pairs offcpu");
	return 0;
}

int pair_check_clocks(const struct pair *p, bool ticks, bool times, struct error *e)
{
	const struct node *of[] = {p->a.condition.root, p->b.condition.root};

	for (int i = 0; i < 2; i++)
		if ((times && expression_check_clock(of[i], "--pair", false, NULL, NULL, e)) ||
		    (ticks && expression_check_clock(of[i], "--pair", true, NULL, NULL, e)))
			return -1;
	return p->cover ? cover_check_clocks(p->cover, ticks, times, e) : 0;
}

/* --- pair --- */

enum { FIRST_SLOTS = 256 };

/* A start event (A) without an end (B) yet. Those in use are in a list by age. */
struct pending_start {
	uint64_t time;
	uint32_t hash, chain; /* chain: the next one in the same slot */
	uint32_t older, newer;
	union {
		uint64_t bytes; /* of memory */
		uint64_t last;	/* of FILE_CLOSES_MANY: the last file descriptor */
	};
	/* with preset->files: that of its file descriptor, 1 + the text of its path, and what it
	 * does if it succeeds */
	uint64_t file;
	uint32_t path;
	enum file_call { FILE_OTHER, FILE_OPENS, FILE_CLOSES, FILE_CLOSES_MANY } file_call;
	bool woken;	/* the W was seen */
	bool resized;	/* of memory: an open call may free it */
	uint32_t place; /* index of pair.places; 0: none, or not in use */
};

static size_t on_count(const struct pair *p)
{
	return p->a.on.count;
}

/* Get the number of cells that an A and a W give to the keys, and to those of the condition. */
static size_t begun_count(const struct pair *p)
{
	return p->keys->begins + (p->where ? p->where->keys.begins : 0);
}

static struct key_cell *cells_of(const struct pair *p, uint32_t w)
{
	return p->pending.cells + w * (on_count(p) + begun_count(p));
}

/* Get the cells that its A and W give to the keys. */
static struct key_cell *begun_cells(const struct pair *p, uint32_t w)
{
	return cells_of(p, w) + on_count(p);
}

static void side_free(struct pair_side *s)
{
	key_condition_free(&s->condition);
	keys_free(&s->on);
	free(s->name);
	free(s->types);
	free(s->locations);
}

void pair_free(struct pair *p)
{
	side_free(&p->a);
	side_free(&p->b);
	side_free(&p->w);
	keys_free(&p->memory.bytes);
	free(p->places.a);
	idmap_free(&p->files);
	cover_free(p->cover);
	free(p->pending.start);
	free(p->pending.cells);
	free(p->pending.marks);
	free(p->pending.slots);
	free(p->taken);
	*p = (struct pair){0};
}

int pair_begin(struct pair *p, const struct keys *keys, struct dictionary *d, struct key_texts *t)
{
	p->dictionary = d;
	p->stream = d->stream;
	p->texts = t;
	p->keys = keys;
	p->pending.mask = FIRST_SLOTS - 1;
	p->pending.slots = calloc(FIRST_SLOTS, sizeof(*p->pending.slots));
	/* or those of memory that is lost */
	p->taken = calloc(2 * begun_count(p) + 1 + (p->where ? p->where->keys.count : 0),
			  sizeof(*p->taken));
	return p->pending.slots && p->taken && (!p->cover || !cover_begin(p)) ? 0 : -1;
}

uint64_t pair_pending(const struct pair *p)
{
	return p->pending.used + p->left;
}

/* --- is the event an A or a B? --- */

static const struct key_cell *event_cell(void *ctx, size_t key)
{
	struct pair *p = ctx;
	struct event_ref s = event_ref_of(p->event);

	return keys_cell(p->asking, key, p->dictionary, p->texts, &s, &p->cell) ? NULL : &p->cell;
}

/* Get the cached answer for an entry of the dictionary, by its number; NULL: out of memory. */
static uint8_t *cached_match(uint8_t **all, size_t *size, uint32_t number)
{
	uint8_t *grown;

	if (ARRAY_REACH(*all, *size, number))
		return NULL;
	grown = *all;
	return &grown[number];
}

static bool pair_is_named(struct text_ref t, const char *name)
{
	return strlen(name) == t.size && !memcmp(t.text, name, t.size);
}

/* Where generic events of all system calls are recorded, the events of single system calls
 * repeat them. */
static bool pair_is_again(struct pair *p, const struct event *e)
{
	struct text_ref name = e->type->name;

	p->all |= pair_is_named(name, "sys_enter") || pair_is_named(name, "sys_exit");
	return p->all && syscall_prefix(name);
}

static struct event_ref ref_of(const struct pair *p, const struct event *e)
{
	struct event_ref ref = event_ref_of(e);

	ref.syscall = p->preset && p->preset->syscalls &&
		      (e->type->kind == KIND_SAMPLE || syscall_prefix(e->type->name));
	return ref;
}

/* Test whether the event is this side of the pair. */
static enum outcome is_side(struct pair *p, struct pair_side *side, const struct event *e)
{
	uint8_t *k;
	bool is;

	if (side->enters && e->type->kind == KIND_LEAVE)
		return OUTCOME_NO;
	if (!side->name) {
		p->event = e;
		p->asking = &side->condition.keys;
		is = condition_holds(&side->condition, p->texts, event_cell, p);
		return is && !(p->preset && p->preset->syscalls && pair_is_again(p, e))
			       ? OUTCOME_YES
			       : OUTCOME_NO;
	}
	k = cached_match(&side->types, &side->ntypes, e->type->number);
	if (!k)
		return OUTCOME_FAILED;
	if (!*k)
		*k = 1 + pair_is_named(e->type->name, side->name);
	if (*k == 2 || !e->location || e->type->kind != KIND_ENTER)
		return *k == 2 ? OUTCOME_YES : OUTCOME_NO;
	k = cached_match(&side->locations, &side->nlocations, e->location);
	if (!k)
		return OUTCOME_FAILED;
	if (!*k)
		*k = 1 + pair_is_named(dictionary_location_name(p->dictionary, e->location),
				       side->name);
	return *k == 2 ? OUTCOME_YES : OUTCOME_NO;
}

/* Make the cells of "on". Returns OUTCOME_NO if one is missing. */
static enum outcome on_cells(struct pair *p, const struct keys *on, const struct event *e,
			     struct key_cell *cells)
{
	struct event_ref s = ref_of(p, e);

	if (keys_cells(on, p->dictionary, p->texts, &s, cells))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < on->count; i++)
		if (cells[i].kind == KEY_MISSING)
			return OUTCOME_NO;
	return OUTCOME_YES;
}

/* --- pending As --- */

static uint32_t hash_cells(const struct pair *p, const struct key_cell *cells)
{
	return (uint32_t)key_cells_hash(p->texts, cells, on_count(p));
}

/* Get the link (slot or chain) to the pending A with these cells; 0 in it: none. */
static uint32_t *find_pending(struct pair *p, const struct key_cell *cells, uint32_t hash)
{
	uint32_t *at = &p->pending.slots[hash & p->pending.mask];

	for (; *at; at = &p->pending.start[*at].chain)
		if (p->pending.start[*at].hash == hash &&
		    key_cells_same(cells_of(p, *at), cells, on_count(p)))
			break;
	return at;
}

static void take_out(struct pair *p, uint32_t *at)
{
	uint32_t number = *at;
	struct pending_start *w = &p->pending.start[number];

	*at = w->chain;
	w->resized = false;
	if (w->older)
		p->pending.start[w->older].newer = w->newer;
	else
		p->pending.oldest = w->newer;
	if (w->newer)
		p->pending.start[w->newer].older = w->older;
	else
		p->pending.newest = w->older;
	w->chain = p->pending.free;
	w->place = 0;
	p->pending.free = number;
	p->pending.used--;
}

/* Get the index of p->places for an event; 0: of its place more may be open. */
static uint32_t pair_place_of(const struct pair *p, const struct lane *l)
{
	if (!p->preset || !p->of_cover)
		return 0;
	if (p->preset->place == PLACE_THREAD)
		return l->thread;
	return p->preset->place == PLACE_CPU && l->flags & LANE_HAS_CPU ? l->cpu_thread : 0;
}

/* An A or B is not of the A that waits at its place, whose B is missing: give that up. */
static int leave_place(struct pair *p, const struct event *e)
{
	uint32_t place = pair_place_of(p, e->lane),
		 number = place < p->places.count ? p->places.a[place] : 0;
	struct pending_start *w;

	if (!number)
		return 0;
	p->places.a[place] = 0;
	w = &p->pending.start[number];
	if (w->place != place)
		return 0;
	take_out(p, find_pending(p, cells_of(p, number), w->hash));
	p->left++;
	return p->watch.left(p->watch.ctx, number);
}

static int grow_slots(struct pair *p)
{
	uint32_t size = 2 * (p->pending.mask + 1), *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -1;
	free(p->pending.slots);
	p->pending.slots = slots;
	p->pending.mask = size - 1;
	for (uint32_t i = p->pending.oldest; i; i = p->pending.start[i].newer) {
		uint32_t *slot = &slots[p->pending.start[i].hash & p->pending.mask];

		p->pending.start[i].chain = *slot;
		*slot = i;
	}
	return 0;
}

static int grow_marks(struct pair *p, size_t n)
{
	struct state_mark *marks = reallocarray(p->pending.marks, n, sizeof(*marks));

	if (!marks)
		return -1;
	p->pending.marks = marks;
	return 0;
}

/* Make the mark of the task of a pair at its A. */
static int mark_task(struct pair *p, const struct event *e, const struct key_cell *on,
		     struct state_mark *mark)
{
	bool of_task = p->preset && p->preset->task && on->kind == KEY_UNSIGNED;
	int64_t tid = of_task			      ? (int64_t)on->value
		      : e->lane->flags & LANE_HAS_TID ? e->lane->tid
						      : 0;

	return states_mark_tid(p->states, tid, e->time, mark);
}

/* Get the number of an unused entry; 0: out of memory. */
static uint32_t unused_pending(struct pair *p)
{
	size_t size = on_count(p) + begun_count(p), n;
	struct pending_start *pending;
	struct key_cell *cells;
	uint32_t number = p->pending.free;

	if (number) {
		p->pending.free = p->pending.start[number].chain;
		return number;
	}
	if (p->pending.used == (pair_is_memory(p) ? PAIR_MEMORY_LIMIT : (uint32_t)PAIR_LIMIT)) {
		uint32_t oldest = p->pending.oldest;

		take_out(p, find_pending(p, cells_of(p, oldest), p->pending.start[oldest].hash));
		p->forgotten++;
		p->pending.free = p->pending.start[oldest].chain;
		return oldest;
	}
	if (p->pending.used > p->pending.mask && grow_slots(p))
		return 0;
	if (p->pending.used + 1 >= p->pending.count) {
		n = p->pending.count ? 2 * (size_t)p->pending.count : 64;
		pending = realloc(p->pending.start, n * sizeof(*pending));
		if (pending)
			p->pending.start = pending;
		cells = reallocarray(p->pending.cells, n, size * sizeof(*cells));
		if (cells)
			p->pending.cells = cells;
		if (!pending || !cells || (p->states && grow_marks(p, n)))
			return 0;
		p->pending.count = (uint32_t)n;
	}
	return p->pending.used + 1;
}

int pair_event_ref(const struct pair *p, const struct event *e, struct event_ref *ref)
{
	uint32_t stack = p->stacks ? event_stack(p->stacks->calls->dictionary, e) : 0;

	*ref = ref_of(p, e);
	ref->caller = p->call.caller;
	ref->stack = p->call.stack;
	return stack ? call_stacks_recorded(p->stacks, STACK_ROOT, stack, &ref->stack) : 0;
}

/* --- memory --- */

static uint64_t multiply(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* Get an argument of a call; 0: it is not recorded. */
static uint64_t allocation_argument(const struct pair *p, const struct event *e, unsigned number)
{
	struct field_value v;
	char name[16];

	snprintf(name, sizeof name, "arg.%u", number);
	return event_ref_field(p->dictionary, e, name, &v) &&
			       (v.form == FORM_UINT || (v.form == FORM_INT && v.i > 0))
		       ? v.u
		       : 0;
}

/* Keep the bytes that a call allocates, which its enter records, for its leave. */
static void note_size(struct pair *p, const struct event *e)
{
	struct text_ref name = dictionary_location_name(p->dictionary, e->location);

	for (size_t i = 0; i < COUNT_OF(allocators); i++)
		if (pair_is_named(name, allocators[i].name)) {
			p->call.data->bytes = allocation_argument(p, e, allocators[i].size);
			if (allocators[i].times)
				p->call.data->bytes =
					multiply(p->call.data->bytes,
						 allocation_argument(p, e, allocators[i].times));
		}
}

enum { PAGE_BYTES = 4096 };

/* Get the bytes that an A allocates. Returns -1 when out of memory. */
static int bytes_of(struct pair *p, const struct event *e, uint64_t *bytes)
{
	struct key_cell cell = {.kind = KEY_MISSING};
	struct event_ref ref = event_ref_of(e);

	*bytes = p->call.data ? p->call.data->bytes : 0;
	if (!p->memory.bytes.count)
		return 0;
	if (keys_cell(&p->memory.bytes, 0, p->dictionary, p->texts, &ref, &cell))
		return -1;
	*bytes = key_is_number(&cell) ? cell.value : 0;
	if (p->preset->order)
		*bytes = *bytes < 32 ? (uint64_t)PAGE_BYTES << *bytes : 0;
	return 0;
}

/* An A has the address of memory that waits: it was freed in between. */
static void lose_memory(struct pair *p, uint32_t number)
{
	struct key_cell *cells = p->taken + begun_count(p);

	memcpy(cells, begun_cells(p, number), begun_count(p) * sizeof(*cells));
	p->memory.lost = (struct pair_memory){cells, p->pending.start[number].time,
					      p->pending.start[number].bytes};
}

/* --- files --- */

/* Get a number of a file descriptor, of the process of the event; 0: it is none. */
static uint64_t file_id(const struct pair *p, const struct event *e, const char *field)
{
	const struct lane *l = e->lane;
	struct field_value v;

	if (!event_ref_field(p->dictionary, e, field, &v) || v.form == FORM_TEXT || v.i < 0)
		return 0;
	return (uint64_t)(uint32_t)(l->flags & LANE_HAS_PID ? l->pid : l->tid) << 32 |
	       ((uint32_t)v.i + 1);
}

/* Test whether fcntl duplicates a file descriptor: F_DUPFD is 0, F_DUPFD_CLOEXEC 1030. */
static bool duplicates(const struct pair *p, const struct event *e)
{
	struct field_value v;

	if (!event_ref_field(p->dictionary, e, "cmd", &v))
		return false;
	return v.form == FORM_TEXT ? v.size >= 7 && !memcmp(v.text, "F_DUPFD", 7)
				   : v.i == 0 || v.i == 1030;
}

/* Test whether close_range closes its files: CLOSE_RANGE_CLOEXEC is 4. */
static bool closes_now(const struct pair *p, const struct event *e)
{
	struct field_value v;

	if (!event_ref_field(p->dictionary, e, "flags", &v))
		return true;
	return v.form == FORM_TEXT ? !memmem(v.text, v.size, "CLOEXEC", 7) : !(v.u & 4);
}

static enum file_call file_call_of(const struct pair *p, const struct event *e)
{
	static const char *const opens[] = {"open", "openat", "openat2", "creat",
					    "dup",  "dup2",   "dup3"};
	struct text_ref name = dictionary_location_name(p->dictionary, e->location);

	for (size_t i = 0; i < COUNT_OF(opens); i++)
		if (pair_is_named(name, opens[i]))
			return FILE_OPENS;
	if (pair_is_named(name, "fcntl") && duplicates(p, e))
		return FILE_OPENS;
	if (pair_is_named(name, "close_range"))
		return FILE_CLOSES_MANY;
	return pair_is_named(name, "close") ? FILE_CLOSES : FILE_OTHER;
}

/* Find the path of a call: its argument, or that of its file descriptor. Returns -1 when out of
 * memory. */
static int find_path(struct pair *p, const struct event *e, struct pending_start *w)
{
	static const char *const paths[] = {"filename", "pathname", "path",
					    "oldname",	"fd_path",  "fildes_path"},
				 *const files[] = {"fd", "fildes", "oldfd", "in_fd", "dfd"};
	struct field_value v;
	struct key_cell cell;

	w->file_call = file_call_of(p, e);
	w->file = w->path = 0;
	for (size_t i = 0; i < COUNT_OF(files) && !w->file; i++)
		w->file = file_id(p, e, files[i]);
	w->path = w->file ? idmap_get(&p->files, w->file) : 0;
	if (w->file_call == FILE_CLOSES_MANY) {
		w->path = 0;
		w->file = closes_now(p, e) ? w->file : 0;
		w->last = event_ref_field(p->dictionary, e, "max_fd", &v) && v.form != FORM_TEXT
				  ? v.u
				  : INT32_MAX;
	}
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		if (event_ref_field(p->dictionary, e, paths[i], &v) && v.form == FORM_TEXT &&
		    v.size) {
			if (key_text(p->texts, v.text, v.size, &cell))
				return -1;
			w->path = cell.text + 1;
			break;
		}
	return 0;
}

/* Set the cells of keys that are the path. */
static void name_path(const struct keys *k, uint32_t path, struct key_cell *cells)
{
	for (size_t i = 0; path && i < k->count; i++) {
		if (k->key[i].begins && k->key[i].kind == BY_FIELD &&
		    !strcmp(k->key[i].field, "path"))
			*cells = (struct key_cell){.kind = KEY_TEXT, .text = path - 1};
		cells += k->key[i].begins;
	}
}

/* Number of file descriptors that the calls of close_range in a stream may close: more than those
 * of programs do, and few enough for a moment. */
enum { CLOSE_MOST = 1 << 24 };

/* Close the file descriptors of a process from w->file on. Returns -1 when out of memory. */
static int close_files(struct pair *p, const struct pending_start *w)
{
	uint32_t last = w->last < p->fds.highest ? (uint32_t)w->last : p->fds.highest;
	uint64_t file = w->file;

	for (; (uint32_t)file <= last + 1 && p->fds.closed < CLOSE_MOST; file++, p->fds.closed++)
		if (idmap_get(&p->files, file) && idmap_set(&p->files, file, 0))
			return -1;
	return 0;
}

/* Note which file descriptor a call has opened or closed. Returns -1 when out of memory. */
static int note_file(struct pair *p, const struct event *e, const struct pending_start *w)
{
	uint64_t opened = w->file_call == FILE_OPENS ? file_id(p, e, "ret") : 0;

	if (w->file_call == FILE_CLOSES && w->file && file_id(p, e, "ret"))
		return idmap_set(&p->files, w->file, 0);
	if (w->file_call == FILE_CLOSES_MANY && w->file && file_id(p, e, "ret"))
		return close_files(p, w);
	if (opened && (uint32_t)opened - 1 > p->fds.highest)
		p->fds.highest = (uint32_t)opened - 1;
	return opened ? idmap_set(&p->files, opened, w->path) : 0;
}

/* Add a pending A. */
static int put_pending(struct pair *p, const struct event *e, const struct key_cell *on)
{
	bool memory = pair_is_memory(p);
	uint64_t bytes = 0;
	uint32_t hash = hash_cells(p, on), *at = find_pending(p, on, hash), number = *at;
	struct pending_start *w, file = {0};
	struct event_ref s;

	if (number) {
		p->replaced++;
		if (p->first)
			return 0;
		if (memory)
			lose_memory(p, number);
		take_out(p, at);
	}
	number = unused_pending(p);
	if (!number || (memory && bytes_of(p, e, &bytes)))
		return -1;
	memcpy(cells_of(p, number), on, on_count(p) * sizeof(*on));
	if (pair_event_ref(p, e, &s) ||
	    keys_begin_cells(p->keys, p->dictionary, p->texts, &s, begun_cells(p, number)) ||
	    (p->where && keys_begin_cells(&p->where->keys, p->dictionary, p->texts, &s,
					  begun_cells(p, number) + p->keys->begins)) ||
	    (p->states && mark_task(p, e, on, &p->pending.marks[number])))
		return -1;
	if (p->preset && p->preset->files) {
		if (find_path(p, e, &file))
			return -1;
		name_path(p->keys, file.path, begun_cells(p, number));
		if (p->where)
			name_path(&p->where->keys, file.path,
				  begun_cells(p, number) + p->keys->begins);
	}
	w = &p->pending.start[number];
	*w = (struct pending_start){.time = e->time,
				    .hash = hash,
				    .bytes = bytes,
				    .file = file.file,
				    .path = file.path,
				    .file_call = file.file_call,
				    .older = p->pending.newest,
				    .place = pair_place_of(p, e->lane)};
	if (w->place) {
		if (ARRAY_REACH(p->places.a, p->places.count, w->place))
			return -1;
		p->places.a[w->place] = number;
	}
	if (w->file_call == FILE_CLOSES_MANY)
		w->last = file.last;
	w->chain = p->pending.slots[hash & p->pending.mask];
	p->pending.slots[hash & p->pending.mask] = number;
	if (p->pending.newest)
		p->pending.start[p->pending.newest].newer = number;
	else
		p->pending.oldest = number;
	p->pending.newest = number;
	p->pending.used++;
	return p->watch.put ? p->watch.put(p->watch.ctx, number, e) : 0;
}

static void forget_pending(struct pair *p)
{
	for (uint32_t i = p->pending.oldest; i; i = p->pending.start[i].newer) {
		p->pending.start[i].place = 0;
		p->pending.start[i].resized = false;
	}
	memset(p->pending.slots, 0, (p->pending.mask + (size_t)1) * sizeof(*p->pending.slots));
	p->pending.used = p->pending.free = p->pending.oldest = p->pending.newest = 0;
}

int pair_end_stream(struct pair *p)
{
	for (uint32_t i = p->pending.oldest; p->watch.left && i; i = p->pending.start[i].newer)
		if (p->watch.left(p->watch.ctx, i))
			return -1;
	idmap_clear(&p->files);
	p->fds.highest = p->fds.closed = 0;
	p->left += p->pending.used;
	forget_pending(p);
	return 0;
}

int pair_drain(struct pair *p, int (*take)(struct pair *p, const struct key_cell *on,
					   const struct key_cell *begun, uint64_t time))
{
	for (uint32_t i = p->pending.oldest; i; i = p->pending.start[i].newer)
		if (take(p, cells_of(p, i), begun_cells(p, i), p->pending.start[i].time))
			return -1;
	forget_pending(p);
	return 0;
}

static const struct key_cell *pair_where_cell(void *ctx, size_t key)
{
	const struct pair *p = ctx;

	return &p->taken[begun_count(p) + key];
}

/* Test whether a pair counts that the event ends, whose A and W gave the cells in p->taken. */
static enum outcome is_selected(struct pair *p, const struct event *e, uint64_t time)
{
	struct event_ref s;

	if (!p->where)
		return OUTCOME_YES;
	s = ref_of(p, e);
	s.timed = true;
	s.total = s.self = time;
	s.entered = p->taken + p->keys->begins;
	if (p->states)
		s.states = states_of(p->states, &(struct state_span){.mark = p->pending.marks,
								     .end = e->time,
								     .total = time});
	if (keys_cells(&p->where->keys, p->dictionary, p->texts, &s, p->taken + begun_count(p)))
		return OUTCOME_FAILED;
	return condition_holds(p->where, p->texts, pair_where_cell, p) ? OUTCOME_YES : OUTCOME_NO;
}

/* End the pair of the pending A at a link. */
static enum outcome end_pending(struct pair *p, const struct event *e, uint32_t *at,
				struct pair_end *end)
{
	enum outcome is;

	end->time = e->time > p->pending.start[*at].time ? e->time - p->pending.start[*at].time : 0;
	end->at = e->time;
	end->level = 0;
	/* an A of the same event may reuse this entry, so copy its cells first */
	memcpy(p->taken, begun_cells(p, *at), begun_count(p) * sizeof(*p->taken));
	end->entered = p->taken;
	if (pair_is_memory(p))
		p->memory.freed = (struct pair_memory){p->taken, p->pending.start[*at].time,
						       p->pending.start[*at].bytes};
	if (p->states)
		p->pending.marks[0] = p->pending.marks[*at];
	if (p->preset && p->preset->files && note_file(p, e, &p->pending.start[*at]))
		return OUTCOME_FAILED;
	is = is_selected(p, e, end->time);
	if (is == OUTCOME_YES && p->watch.end && p->watch.end(p->watch.ctx, *at, e, end->time))
		return OUTCOME_FAILED;
	take_out(p, at);
	p->pairs++;
	return is;
}

/* End the pair of an event. is: whether it is a B. */
static enum outcome end_pair(struct pair *p, const struct event *e, enum outcome is,
			     struct pair_end *end)
{
	struct key_cell on[PAIR_ON_MOST];
	uint32_t *at;

	end->open = NULL;
	if (is == OUTCOME_YES)
		is = on_cells(p, &p->b.on, e, on);
	if (is != OUTCOME_YES)
		return is;
	at = find_pending(p, on, hash_cells(p, on));
	if (!*at && p->edges) {
		is = p->note_first(p->edges, on, PAIR_B, &end->open);
		p->ended += is == OUTCOME_NO;
		return is;
	}
	if (!*at) {
		p->ended++;
		return OUTCOME_NO;
	}
	/* a realloc that fails frees nothing, but one of 0 bytes does */
	if (p->call.data && p->call.data->bytes) {
		p->call.data->resized = *at;
		p->pending.start[*at].resized = true;
		return OUTCOME_NO;
	}
	return end_pending(p, e, at, end);
}

/* End the pair of the memory that a call has resized, at its leave. is: whether it is an A. */
static enum outcome end_resized(struct pair *p, const struct event *e, enum outcome is,
				struct pair_end *end)
{
	uint32_t number = p->call.data && e->type->kind == KIND_LEAVE ? p->call.data->resized : 0;
	struct pending_start *w;
	struct field_value v;

	/* another call may have returned the address since, as it was free */
	if (!number || !p->pending.start[number].resized)
		return OUTCOME_NO;
	w = &p->pending.start[number];
	w->resized = false;
	if (is == OUTCOME_NO && event_ref_field(p->dictionary, e, "ret", &v))
		return OUTCOME_NO;
	return end_pending(p, e, find_pending(p, cells_of(p, number), w->hash), end);
}

/* Take an event that may be a W. */
static enum outcome note_waker(struct pair *p, const struct event *e)
{
	struct key_cell on[PAIR_ON_MOST];
	bool asked = p->keys->wakers || (p->where && p->where->keys.wakers);
	enum outcome is = asked ? is_side(p, &p->w, e) : OUTCOME_NO;
	struct key_cell *cells;
	struct event_ref s;
	uint32_t number;

	if (is == OUTCOME_YES)
		is = on_cells(p, &p->w.on, e, on);
	if (is != OUTCOME_YES)
		return is;
	number = *find_pending(p, on, hash_cells(p, on));
	if (!number || p->pending.start[number].woken)
		return OUTCOME_NO;
	p->pending.start[number].woken = true;
	cells = begun_cells(p, number);
	if (pair_event_ref(p, e, &s) ||
	    keys_waker_cells(p->keys, p->dictionary, p->texts, &s, cells) ||
	    (p->where && keys_waker_cells(&p->where->keys, p->dictionary, p->texts, &s,
					  cells + p->keys->begins)))
		return OUTCOME_FAILED;
	return OUTCOME_NO;
}

enum outcome pair_feed(struct pair *p, const struct event *e, struct pair_end *end)
{
	struct key_cell on[PAIR_ON_MOST];
	struct aggregate *entry;
	enum outcome ended, is, is_end;

	if (p->symbol_changes != p->dictionary->symbol_changes) {
		p->symbol_changes = p->dictionary->symbol_changes;
		if (p->a.locations)
			memset(p->a.locations, 0, p->a.nlocations);
		if (p->b.locations)
			memset(p->b.locations, 0, p->b.nlocations);
	}
	if (p->cover)
		return cover_feed(p, e) ? OUTCOME_FAILED : OUTCOME_NO;
	p->memory.allocated = p->memory.freed = p->memory.lost = (struct pair_memory){0};
	if (p->call.data && e->type->kind == KIND_ENTER)
		note_size(p, e);
	if (p->stream != p->dictionary->stream) {
		p->stream = p->dictionary->stream;
		if (pair_end_stream(p))
			return OUTCOME_FAILED;
	}
	is_end = is_side(p, &p->b, e);
	ended = end_pair(p, e, is_end, end);
	if (ended == OUTCOME_FAILED || note_waker(p, e) == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	is = is_side(p, &p->a, e);
	if (ended == OUTCOME_NO && is != OUTCOME_FAILED)
		ended = end_resized(p, e, is, end);
	if (ended == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	if ((is == OUTCOME_YES || is_end == OUTCOME_YES) && leave_place(p, e))
		return OUTCOME_FAILED;
	if (is == OUTCOME_YES)
		is = on_cells(p, &p->a.on, e, on);
	if (is == OUTCOME_YES && p->edges &&
	    p->note_first(p->edges, on, PAIR_A, &entry) == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	if (is == OUTCOME_FAILED || (is == OUTCOME_YES && put_pending(p, e, on)))
		return OUTCOME_FAILED;
	end->mark = p->pending.marks;
	if (is == OUTCOME_YES && pair_is_memory(p))
		p->memory.allocated =
			(struct pair_memory){begun_cells(p, p->pending.newest), e->time,
					     p->pending.start[p->pending.newest].bytes};
	return ended;
}

/* --- covers: groups --- */

static struct key_cell *cover_cells(const struct pair *p, uint32_t group)
{
	return p->cover->cells + (group + (size_t)1) * p->keys->begins;
}

/* Make room for the cells of that group. Returns -1 when out of memory. */
static int cover_reserve_cells(struct pair *p, uint32_t group)
{
	struct cover *c = p->cover;

	return ARRAY_REACH(c->cells, c->cells_capacity, (group + (size_t)2) * p->keys->begins);
}

/* Find the group of an event that begins a call or pair. path: 1 + the text of the file's path, or
 * 0. INTERN_NONE: out of memory. */
static uint32_t cover_group_of(struct pair *p, const struct event *e, uint32_t path)
{
	struct cover *c = p->cover;
	struct event_ref ref;
	uint32_t number;
	size_t at = 0;
	int bad;

	if (pair_event_ref(p, e, &ref) ||
	    keys_begin_cells(p->keys, p->dictionary, p->texts, &ref, c->cells))
		return INTERN_NONE;
	name_path(p->keys, path, c->cells);
	c->key.size = 0;
	bad = buffer_u32(&c->key, 0);
	for (size_t i = 0; i < p->keys->count; i++) {
		const struct key *k = &p->keys->key[i];
		struct key_cell cell;

		if (!k->begins)
			continue;
		cell = k->transform ? key_transform(k, c->cells[at]) : c->cells[at];
		bad |= key_cell_append(&c->key, &cell);
		at++;
	}
	number = bad ? INTERN_NONE : intern(&c->numbers, c->key.data, c->key.size);
	if (number == INTERN_NONE || ARRAY_REACH(c->groups, c->capacity, number) ||
	    cover_reserve_cells(p, number))
		return INTERN_NONE;
	memcpy(cover_cells(p, number), c->cells, p->keys->begins * sizeof(*c->cells));
	return number;
}

/* Test whether the time counts in which so many are open. */
static bool cover_holds(const struct cover *c, const struct cover_group *g)
{
	return g->open[0] && (c->sets == COVER_A || (c->sets == COVER_BOTH) == (g->open[1] > 0));
}

static int cover_add_span(struct cover *c, struct cover_group *g, uint64_t until)
{
	if (!g->held || until <= g->since)
		return 0;
	if (ARRAY_GROW(c->ended, c->ended_capacity, c->nended))
		return -1;
	g->spans = true;
	c->ended[c->nended++] = (struct cover_span){
		.group = (uint32_t)(g - c->groups),
		.since = g->since,
		.until = until,
		.depth = g->depth,
	};
	return 0;
}

/* A group in which A was open, but not as the sets require, counts with no time. */
static int cover_add_none(struct cover *c, const struct cover_group *g)
{
	uint64_t at = g->open[0] ? c->last : g->open_at;

	if (ARRAY_GROW(c->ended, c->ended_capacity, c->nended))
		return -1;
	c->ended[c->nended++] = (struct cover_span){(uint32_t)(g - c->groups), at, at, 0};
	return 0;
}

/* End the span if the last change did so, as nothing changes it at that time any more. */
static int cover_settle(struct cover *c, struct cover_group *g)
{
	bool holds = cover_holds(c, g);

	if (holds == g->held && (!holds || !c->by_depth || g->depth == g->open[0]))
		return 0;
	if (cover_add_span(c, g, g->at))
		return -1;
	g->since = g->at;
	g->held = holds;
	g->depth = g->open[0];
	return 0;
}

/* Open or close a call or pair of a set. */
static int cover_change(struct cover *c, uint32_t group, unsigned set, bool open, uint64_t time)
{
	struct cover_group *g = &c->groups[group];

	if (time > g->at) {
		if (cover_settle(c, g))
			return -1;
		g->at = time;
	}
	if (!set) {
		g->any = true;
		g->open_at = time;
	}
	c->opened[set] = true;
	if (open)
		g->open[set]++;
	else if (g->open[set])
		g->open[set]--;
	return 0;
}

/* --- covers: pairs --- */

static int cover_pair_close(void *ctx, size_t number)
{
	struct cover_pairs *of = ctx;
	uint32_t group = number < of->capacity ? of->groups[number] : 0;
	struct cover *c = of->cover->cover;

	if (!group)
		return 0;
	of->groups[number] = 0;
	return cover_change(c, group - 1, of->set, false, c->last);
}

static int cover_pair_open(void *ctx, size_t number, const struct event *a)
{
	struct cover_pairs *of = ctx;
	uint32_t group;

	if (cover_pair_close(ctx, number) || ARRAY_REACH(of->groups, of->capacity, number))
		return -1;
	group = cover_group_of(of->cover, a, of->pair.pending.start[number].path);
	if (group == INTERN_NONE)
		return -1;
	of->groups[number] = group + 1;
	return cover_change(of->cover->cover, group, of->set, true, a->time);
}

static int cover_pair_end(void *ctx, size_t number, const struct event *b, uint64_t time)
{
	(void)b;
	(void)time;
	return cover_pair_close(ctx, number);
}

/* --- covers: calls --- */

static int cover_open_call(struct pair *p, const struct event *e, struct cover_call *call,
			   uint64_t time)
{
	struct cover *c = p->cover;
	uint32_t group;

	if (!call)
		return 0;
	*call = (struct cover_call){0};
	for (unsigned set = 0; set < 2; set++) {
		struct pair_side *side = set ? &p->b : &p->a;
		enum outcome is = OUTCOME_NO;

		if (!c->pairs[set] && (!set || c->sets != COVER_A))
			is = is_side(p, side, e);
		if (is == OUTCOME_FAILED)
			return -1;
		call->sets |= is == OUTCOME_YES ? 1u << set : 0;
	}
	if (!call->sets)
		return 0;
	group = cover_group_of(p, e, 0);
	if (group == INTERN_NONE)
		return -1;
	call->group = group + 1;
	for (unsigned set = 0; set < 2; set++)
		if (call->sets & 1u << set && cover_change(c, group, set, true, time))
			return -1;
	return 0;
}

static int cover_close_call(struct cover *c, struct cover_call *call)
{
	for (unsigned set = 0; call && set < 2; set++)
		if (call->sets & 1u << set && cover_change(c, call->group - 1, set, false, c->last))
			return -1;
	if (call)
		call->sets = 0;
	return 0;
}

/* An event has shown that the call is over. */
static void cover_lost_call(void *ctx, struct stack *s, const struct frame *f, void *data,
			    enum calls_lost why)
{
	struct cover *c = ctx;

	(void)s;
	(void)f;
	(void)why;
	c->failed |= cover_close_call(c, data) != 0;
}

static void cover_forget_call(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	cover_lost_call(ctx, s, f, data, LOST_DEPTH);
}

static int cover_restore_call(void *ctx, const struct event *e, const struct call *call)
{
	struct pair *p = ctx;

	return cover_open_call(p, e, call->data, p->cover->last);
}

static void cover_begin_calls(struct pair *p)
{
	struct cover *c = p->cover;

	calls_init(&c->calls, p->dictionary);
	c->calls.data_size = sizeof(struct cover_call);
	c->calls.on_lost = cover_lost_call;
	c->calls.on_forget = cover_forget_call;
	c->calls.on_lost_ctx = c;
	c->calls.on_restore = cover_restore_call;
	c->calls.on_restore_ctx = p;
}

int cover_restore(struct pair *p, const struct block *b)
{
	struct cover *c = p->cover;
	struct error e;

	cover_pass(p, b->last);
	return c->calls_wanted && calls_restore(&c->calls, b, &e) ? -1 : 0;
}

/* --- covers: events --- */

static int cover_begin(struct pair *p)
{
	struct cover *c = p->cover;

	for (size_t i = 0; i < p->keys->count; i++)
		c->by_depth |= p->keys->key[i].kind == BY_DEPTH;
	for (size_t i = 0; i < 2; i++) {
		struct pair *of = c->pairs[i] ? &c->pairs[i]->pair : NULL;

		if (!of)
			continue;
		of->watch.ctx = c->pairs[i];
		of->watch.put = cover_pair_open;
		of->watch.end = cover_pair_end;
		of->watch.left = cover_pair_close;
		of->of_cover = true;
		if (pair_begin(of, &no_keys, p->dictionary, p->texts))
			return -1;
	}
	cover_begin_calls(p);
	return cover_reserve_cells(p, 0);
}

void cover_pass(struct pair *p, uint64_t time)
{
	struct cover *c = p->cover;

	c->last = time > c->last ? time : c->last;
}

static int cover_end_pairs(struct cover *c)
{
	for (size_t i = 0; i < 2; i++)
		if (c->pairs[i] && pair_end_stream(&c->pairs[i]->pair))
			return -1;
	return 0;
}

int cover_end(struct pair *p)
{
	struct cover *c = p->cover;

	if (cover_end_pairs(c))
		return -1;
	for (uint32_t i = 0; i < c->numbers.count; i++) {
		struct cover_group *g = &c->groups[i];

		if ((c->last > g->at && cover_settle(c, g)) || cover_add_span(c, g, c->last))
			return -1;
		if (g->any && !g->spans && !c->by_depth && cover_add_none(c, g))
			return -1;
		*g = (struct cover_group){0};
	}
	calls_free(&c->calls);
	cover_begin_calls(p);
	c->last = 0;
	return 0;
}

static int cover_feed(struct pair *p, const struct event *e)
{
	struct cover *c = p->cover;
	enum calls_result got;
	struct pair_end end;
	struct call call;
	int bad = 0;

	if (p->stream != p->dictionary->stream) {
		p->stream = p->dictionary->stream;
		if (cover_end(p))
			return -1;
	}
	cover_pass(p, e->time);
	for (size_t i = 0; i < 2; i++)
		if (c->pairs[i] && pair_feed(&c->pairs[i]->pair, e, &end) == OUTCOME_FAILED)
			return -1;
	if (!c->calls_wanted)
		return 0;
	got = calls_next(&c->calls, e, &call);
	if (got == CALLS_ENTER)
		bad = cover_open_call(p, e, call.data, e->time);
	else if (got == CALLS_LEAVE)
		bad = cover_close_call(c, call.data);
	return bad || c->failed || c->calls.out_of_memory ? -1 : 0;
}

bool cover_next(struct pair *p, struct pair_end *end)
{
	struct cover *c = p->cover;
	const struct cover_span *s;

	if (c->taken == c->nended) {
		c->taken = c->nended = 0;
		return false;
	}
	s = &c->ended[c->taken++];
	p->pairs += s->until > s->since;
	*end = (struct pair_end){.time = s->until - s->since,
				 .at = s->until,
				 .level = s->depth > UINT32_MAX ? UINT32_MAX : (uint32_t)s->depth,
				 .entered = cover_cells(p, s->group)};
	return true;
}

/* Report what strace and ltrace record in another way than as events of the pairs. */
static void pair_report_calls(const struct pair *p)
{
	const struct dictionary *d = p->dictionary;
	const struct pair_preset *preset = p->preset;
	bool timeless = false, of_calls = false;

	if (!d || !preset || !(preset->calls || preset->files || preset->syscalls))
		return;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);
		bool of = t->used && pair_is_named(t->group, "strace");

		of_calls |= of;
		timeless |= of && t->kind == KIND_INSTANT;
	}
	if (of_calls && preset->place && preset->syscalls && !p->pairs)
		remark(NULL, "the system calls of strace are calls: %s",
		       p->of_cover ? "use --cover 'group == \"strace\"'"
				   : "count them without --pair, as with --where 'name == "
				     "\"futex\"'");
	else if (timeless)
		remark(NULL, "calls without their times are no pairs of %s: record with -T",
		       preset->name);
}

/* Report the sets of which nothing was. */
static void cover_report(const struct pair *p)
{
	const struct cover *c = p->cover;

	for (unsigned set = 0; set < 2; set++) {
		char *lacks = NULL;

		if (c->opened[set] || !c->names[set])
			continue;
		if (c->pairs[set] && p->dictionary)
			lacks = pair_lacks(p->dictionary, &c->pairs[set]->pair);
		remark(NULL, "no call or pair is of %s'%s'%s%s",
		       c->sets == COVER_A ? "--cover " : "the set ", c->names[set],
		       lacks ? ": the trace has " : "", lacks ? lacks : "");
		free(lacks);
		if (c->pairs[set])
			pair_report_calls(&c->pairs[set]->pair);
	}
}

/* --- report --- */

void pair_report(const struct pair *p, bool verbose)
{
	const char *name = p->preset ? p->preset->name : p->text;
	bool none = !p->pairs && p->dictionary && !p->cover;
	char *lacks = none ? pair_lacks(p->dictionary, p) : NULL;
	char *hint = none ? pair_hint(p->dictionary, p) : NULL;

	if (p->cover) {
		cover_report(p);
		return;
	}
	/* beginnings and ends without the other are usual at the ends of a trace, and a thread that
	 * is woken twice runs once */
	verbose |= !p->preset;
	if (!p->pairs && lacks)
		remark(NULL, "no pair of %s: the trace has %s", name, lacks);
	else if (!p->pairs)
		remark(NULL, "no event ends a pair of %s%s%s", name, hint ? ": " : "",
		       hint ? hint : "");
	free(lacks);
	free(hint);
	pair_report_calls(p);
	if (verbose) {
		remark_count(
			p->replaced,
			"{beginning|beginnings} of pairs {was|were} repeated before {its|their} "
			"end");
		remark_count(pair_pending(p), "{beginning|beginnings} of pairs without an end");
		remark_count(p->ended, "{end|ends} of pairs without a beginning");
	}
	remark_count(p->forgotten,
		     "{beginning|beginnings} of pairs given up, as too many waited for their end");
}

/* --- declared names --- */

static enum declared_kind kind_of_key(const struct key *k)
{
	static const enum declared_kind kinds[] = {
		[BY_FIELD] = DECLARED_FIELD,	 [BY_KIND] = DECLARED_KIND,
		[BY_NAME] = DECLARED_NAME,	 [BY_TYPE] = DECLARED_TYPE,
		[BY_GROUP] = DECLARED_GROUP,	 [BY_CALLER] = DECLARED_CALLER,
		[BY_COMM] = DECLARED_COMM,	 [BY_TID] = DECLARED_TID,
		[BY_PID] = DECLARED_PID,	 [BY_MODULE] = DECLARED_MODULE,
		[BY_FILE] = DECLARED_FILE,	 [BY_CLASS] = DECLARED_CLASS,
		[BY_BUFFER] = DECLARED_BUFFER,	 [BY_INPUT] = DECLARED_INPUT,
		[BY_DURATION] = DECLARED_TIMES,	 [BY_SELF] = DECLARED_TIMES,
		[BY_DEPTH] = DECLARED_DEPTH,	 [BY_STACK] = DECLARED_STACK,
		[BY_SYMKIND] = DECLARED_SYMKIND,
	};

	return kinds[k->kind]; /* of others, DECLARED_OTHER */
}

static enum declared_kind pair_kind_of(void *ctx, const struct operand *o, const char **name)
{
	const struct key *k = &((const struct keys *)ctx)->key[o->field];

	*name = k->field;
	/* those of pairs are not of calls */
	if (((const struct keys *)ctx)->pairs && k->kind != BY_FIELD &&
	    kind_of_key(k) < DECLARED_NAME && k->kind != BY_KIND && k->kind != BY_SYMKIND)
		return DECLARED_OTHER;
	return kind_of_key(k);
}

int key_check_name(const struct declared *check, const char *name, struct error *e)
{
	struct keys keys = {0};
	int bad;

	if (!keys_has_name(name))
		return declared_field(check, name, false, e);
	bad = keys_parse(&keys, name, e);
	if (!bad)
		declared_need(check, kind_of_key(&keys.key[0]), name);
	keys_free(&keys);
	return bad;
}

int key_condition_check_names(struct declared *check, const struct condition *c, struct error *e)
{
	check->kind = pair_kind_of;
	check->ctx = (void *)(uintptr_t)&c->keys;
	return c->root ? declared_condition(check, c->root, e) : 0;
}

/* Check the first of A|B, unless events have another of them. */
static int check_key(const struct declared *check, const struct key *k, struct error *e)
{
	if (k->kind == BY_FILE || k->kind == BY_LINE)
		declared_line(check);
	if (k->kind != BY_FIELD)
		return 0;
	for (const struct key *other = k->other; other; other = other->other)
		if (other->kind != BY_FIELD || declared_has(check->dictionary, other->field))
			return 0;
	return declared_field(check, k->field, false, e);
}

int keys_check_names(const struct declared *check, const struct keys *k, struct error *e)
{
	for (size_t i = 0; i < k->count; i++)
		if (check_key(check, &k->key[i], e))
			return -1;
	return 0;
}

static int pair_check_side(struct declared *check, const struct pair_side *side, struct error *e)
{
	if (side->name &&
	    !declared_name(check, DECLARED_NAME, side->name, strlen(side->name), NULL))
		return 0;
	return key_condition_check_names(check, &side->condition, e) ||
			       keys_check_names(check, &side->on, e)
		       ? -1
		       : 0;
}

/* Get the field that the pairs add to their events: the path of files; NULL: there is none. */
static const char *pair_own_field(const struct pair *p)
{
	bool files = p->preset && p->preset->files;

	for (size_t i = 0; p->cover && i < 2 && !files; i++)
		files = p->cover->pairs[i] && pair_own_field(&p->cover->pairs[i]->pair);
	return files ? "path" : NULL;
}

int pair_check_names(struct declared *check, const struct pair *p, struct error *e)
{
	check->own = pair_own_field(p);
	/* those of presets are of several recorders */
	return !p->preset && (pair_check_side(check, &p->a, e) || pair_check_side(check, &p->b, e))
		       ? -1
		       : 0;
}

/* Get the names of a side, separated by commas, or the usual name that a preset has for them, if
 * the stream lacks all of them. */
static char *side_lacks(struct declared *check, const struct pair_side *side, const char *usual)
{
	struct buffer names = {0};
	char *text = NULL;

	check->kind = pair_kind_of;
	check->ctx = (void *)(uintptr_t)&side->condition.keys;
	if (side->name)
		return declared_name(check, DECLARED_NAME, side->name, strlen(side->name), NULL)
			       ? NULL
			       : strdup(side->name);
	if (side->condition.root && declared_lacks(check, side->condition.root, &names) == 1)
		text = usual ? strdup(usual) : strndup((const char *)names.data, names.size);
	buffer_free(&names);
	return text;
}

/* Test whether a type that may be of a side has a field. */
static bool side_has(const struct dictionary *d, const struct pair_side *side, const char *field)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->used && (!side->name || !strcmp(t->name.text, side->name)) &&
		    field_find(t, field))
			return true;
	}
	return false;
}

static const char *meaning_of(enum key_kind kind)
{
	switch (kind) {
	case BY_PID: return "the process that made the event";
	case BY_TID: return "the thread that made the event";
	case BY_PPID: return "the parent of the process that made the event";
	case BY_COMM: return "the name of the thread that made the event";
	case BY_CPU: return "the CPU of the event";
	default: return "not a field of the event";
	}
}

/* Get what to write instead of a key of "on" that is no field of the event, although the event
 * has a field of that name, as "pid is the process that made the event; .pid is the field"; NULL:
 * there is none, or no memory. To be freed. */
static char *pair_hint(const struct dictionary *d, const struct pair *p)
{
	const struct pair_side *const sides[] = {&p->a, &p->b};
	char *text = NULL;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < sides[i]->on.count && !p->preset; k++) {
			const struct key *key = &sides[i]->on.key[k];

			if (key->kind == BY_FIELD || !side_has(d, sides[i], key->name))
				continue;
			if (asprintf(&text, "%s is %s; .%s is the field", key->name,
				     meaning_of(key->kind), key->name) < 0)
				text = NULL;
			return text;
		}
	return text;
}

char *pair_lacks(struct dictionary *d, const struct pair *p)
{
	struct declared check = {.dictionary = d, .quiet = true};
	const struct pair_preset *preset = p->preset;
	char *a = side_lacks(&check, &p->a, preset ? preset->begin : NULL);
	char *b = side_lacks(&check, &p->b, preset ? preset->end : NULL), *text = NULL;
	bool both = a && b && strcmp(a, b) != 0;

	if ((a || b) &&
	    asprintf(&text, "no %s%s%s", a ? a : b, both ? " and no " : "", both ? b : "") < 0)
		text = NULL;
	free(a);
	free(b);
	return text;
}
