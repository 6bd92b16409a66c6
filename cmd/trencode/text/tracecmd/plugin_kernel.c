/* plugin_kernel.c - texts of the scheduler, of timers, memory, futexes and of mac80211 */
#include "cmd/trencode/text/tracecmd/plugin_event.h"

/* --- sched_switch, sched_wakeup --- */

enum { COMM, PID, PRIO, SUCCESS, TARGET_CPU }; /* fields of sched_wakeup */
enum { PREVIOUS = 0, NEXT = 3, STATE = 6 };    /* of sched_switch: COMM, PID, PRIO; COMM ... */

/* Append "COMM:PID". */
static bool put_task(const struct plugin_event *e, unsigned comm, struct line *out)
{
	uint64_t pid;

	if (!plugin_require(e, comm + PID, &pid, out)) {
		line_char(out, '!');
		return false;
	}
	if (e->type->field[comm]) {
		plugin_put_text(e, e->type->field[comm], out);
		line_char(out, ':');
	}
	line_i64(out, (int64_t)pid);
	return true;
}

bool plugin_wakeup(const struct plugin_event *e, struct line *out)
{
	uint64_t v;

	if (!put_task(e, COMM, out))
		return false;
	if (plugin_require(e, PRIO, &v, out)) {
		line_puts(out, " [");
		line_i64(out, (int64_t)v);
		line_char(out, ']');
	}
	if (plugin_number(e, SUCCESS, &v)) {
		line_puts(out, " success=");
		line_i64(out, (int64_t)v);
	}
	if (plugin_number(e, TARGET_CPU, &v)) {
		line_puts(out, " CPU:");
		line_u64_wide(out, v, 3, '0');
	}
	return true;
}

static void put_state(uint64_t state, struct line *out)
{
	static const char states[] = "SDTtZXxW";
	bool any = false;

	for (unsigned i = 0; i < sizeof states - 1; i++) {
		if (!(state >> i & 1))
			continue;
		if (any)
			line_char(out, '|');
		line_char(out, states[i]);
		any = true;
	}
	if (!any)
		line_char(out, 'R');
}

bool plugin_switch(const struct plugin_event *e, struct line *out)
{
	uint64_t v;

	if (!put_task(e, PREVIOUS, out))
		return false;
	line_char(out, ' ');
	if (plugin_require(e, PREVIOUS + PRIO, &v, out)) {
		line_char(out, '[');
		line_i64(out, (int32_t)v);
		line_puts(out, "] ");
	}
	if (plugin_require(e, STATE, &v, out))
		put_state(v, out);
	line_puts(out, " ==> ");
	if (!put_task(e, NEXT, out))
		return false;
	if (plugin_require(e, NEXT + PRIO, &v, out)) {
		line_puts(out, " [");
		line_i64(out, (int32_t)v);
		line_char(out, ']');
	}
	return true;
}

/* --- hrtimer --- */

enum { TIMER, HRTIMER, FUNCTION, EXPIRES, SOFTEXPIRES, NOW = EXPIRES }; /* fields */

static void put_timer(const struct plugin_event *e, struct line *out)
{
	line_puts(out, "hrtimer=");
	plugin_put(e, e->type->field[TIMER] ? TIMER : HRTIMER, "0x", 'X', out);
}

/* Append " function=NAME/OFFSET". */
static void put_function(const struct plugin_event *e, struct line *out)
{
	uint64_t address, offset;
	const char *name;
	size_t size;

	if (!plugin_number(e, FUNCTION, &address))
		return;
	line_puts(out, " function=");
	name = plugin_symbol(e, address, &size, &offset);
	if (!name) {
		line_puts(out, "0x");
		line_hex(out, address, 8);
		return;
	}
	line_put(out, name, size);
	line_puts(out, "/0x");
	/* libtraceevent subtracts the address from the function's */
	line_hex(out, 0 - offset, 1);
}

bool plugin_timer_start(const struct plugin_event *e, struct line *out)
{
	put_timer(e, out);
	put_function(e, out);
	line_puts(out, " expires=");
	plugin_put(e, EXPIRES, "", 'U', out);
	line_puts(out, " softexpires=");
	plugin_put(e, SOFTEXPIRES, "", 'U', out);
	return true;
}

bool plugin_timer_expire(const struct plugin_event *e, struct line *out)
{
	put_timer(e, out);
	line_puts(out, " now=");
	plugin_put(e, NOW, "", 'U', out);
	put_function(e, out);
	return true;
}

/* --- kmem, tlb --- */

bool plugin_call_site(const struct plugin_event *e, struct line *out)
{
	uint64_t address, offset;
	const char *name;
	size_t size;

	if (!plugin_number(e, 0, &address))
		return false;
	name = plugin_symbol(e, address, &size, &offset);
	if (name) {
		line_char(out, '(');
		line_put(out, name, size);
		line_puts(out, "+0x");
		line_hex(out, (uint32_t)offset, 1);
		line_puts(out, ") ");
	}
	return false;
}

bool plugin_flush(const struct plugin_event *e, struct line *out)
{
	static const char *const reasons[] = {"flush on task switch", "remote shootdown",
					      "local shootdown", "local mm shootdown"};
	uint64_t reason;

	line_puts(out, "pages=");
	plugin_put(e, 1, "", 'D', out);
	if (!plugin_require(e, 0, &reason, out))
		return false;
	line_puts(out, " reason=");
	if (reason < sizeof reasons / sizeof *reasons)
		line_puts(out, reasons[reason]);
	line_puts(out, " (");
	line_i64(out, (int64_t)reason);
	line_char(out, ')');
	return true;
}

/* --- futex --- */

enum { UADDR, OP, VAL, UTIME, UADDR2, VAL3, FUTEX_FIELDS };

/* Append " NAME=VALUE": format 'x' hexadecimal, 'u' decimal, ' ' nothing. */
static void put_futex_value(char format, const char *name, uint64_t v, struct line *out)
{
	if (format == ' ')
		return;
	line_puts(out, name);
	if (format == 'u') {
		line_u64(out, v);
	} else {
		line_puts(out, "0x");
		line_hex(out, v, 8);
	}
}

bool plugin_futex(const struct plugin_event *e, struct line *out)
{
	/* of val, utime or val2 (in decimal), uaddr2, val3 */
	static const struct {
		const char *name, *values;
	} operations[] = {
		{"WAIT", "xx  "},	    {"WAKE", "u   "},	     {"FD", "u   "},
		{"REQUEUE", "uux "},	    {"CMP_REQUEUE", "uuxx"}, {"WAKE_OP", "uuxx"},
		{"LOCK_PI", " x  "},	    {"UNLOCK_PI", "    "},   {"TRYLOCK_PI", "    "},
		{"WAIT_BITSET", "xx x"},    {"WAKE_BITSET", "u  x"}, {"WAIT_REQUEUE_PI", "xxxx"},
		{"CMP_REQUEUE_PI", "uuxx"},
	};
	enum { PRIVATE = 128, REALTIME = 256 };
	uint64_t v[FUTEX_FIELDS], operation;
	const char *values;

	for (unsigned i = 0; i < FUTEX_FIELDS; i++)
		if (!plugin_require(e, i, &v[i], out))
			return false;
	operation = v[OP] & ~(uint64_t)(PRIVATE | REALTIME);
	if (operation >= sizeof operations / sizeof *operations)
		return false;
	values = operations[operation].values;
	line_puts(out, "op=FUTEX_");
	line_puts(out, operations[operation].name);
	if (v[OP] & PRIVATE)
		line_puts(out, "|FUTEX_PRIVATE_FLAG");
	if (v[OP] & REALTIME)
		line_puts(out, "|FUTEX_CLOCK_REALTIME");
	put_futex_value('x', " uaddr=", v[UADDR], out);
	put_futex_value(values[0], " val=", v[VAL], out);
	put_futex_value(values[1], values[1] == 'u' ? " val2=" : " utime=", v[UTIME], out);
	put_futex_value(values[2], " uaddr2=", v[UADDR2], out);
	put_futex_value(values[3], " val3=", v[VAL3], out);
	return true;
}

/* --- mac80211 --- */

bool plugin_bss_info(const struct plugin_event *e, struct line *out)
{
	enum { WIPHY_NAME, VIF_NAME, VIF_TYPE, FIRST, BCNINT = 9, LAST = 13, COLUMN = 65 };

	for (unsigned i = WIPHY_NAME; i <= VIF_NAME; i++) {
		if (i == VIF_NAME)
			line_puts(out, " vif:");
		if (e->type->field[i]) {
			plugin_put_text(e, e->type->field[i], out);
		} else {
			line_puts(out, "NOTFOUND:");
			line_puts(out, plugin_field_name(e, i));
		}
	}
	if (e->type->field[VIF_TYPE]) {
		plugin_put(e, VIF_TYPE, "(", 'd', out);
		line_char(out, ')');
	} else {
		plugin_put(e, VIF_TYPE, "", 'd', out);
	}
	for (unsigned i = FIRST; i <= LAST; i++) {
		bool hex = i == BCNINT + 1 || i == BCNINT + 2;
		uint64_t v;

		if (i == FIRST || i == BCNINT || i == LAST) {
			line_char(out, '\n');
			line_pad(out, ' ', COLUMN);
		}
		if (plugin_number(e, i, &v)) {
			line_puts(out, plugin_field_name(e, i));
			line_char(out, ':');
			if (hex && (uint32_t)v) {
				line_puts(out, "0x");
				line_hex(out, (uint32_t)v, 1);
			} else {
				line_i64(out, (int32_t)v);
			}
		}
		if (i < LAST - 1)
			line_char(out, ' ');
	}
	return true;
}
