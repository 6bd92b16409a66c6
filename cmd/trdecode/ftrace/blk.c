/*
 * blk.c - the lines of the tracer blk
 *
 *     MAJOR,MINOR [CGROUP] ACTION RWBS TEXT
 *     MAJOR,MINOR CPU SECONDS.NANOSECONDS PID ACTION RWBS TEXT        (option blk_classic)
 *
 * The first form follows the thread and the time. ACTION is a letter or two, with the option
 * verbose a word. The type is blk_WORD. forms.c has the texts.
 *
 * Source: kernel/trace/blktrace.c of Linux.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

static const struct blk_action {
	const char *letters, *type;
} actions[] = {
	{"Q", "blk_queue"},	{"M", "blk_backmerge"},	    {"F", "blk_frontmerge"},
	{"G", "blk_getrq"},	{"S", "blk_sleeprq"},	    {"R", "blk_requeue"},
	{"D", "blk_issue"},	{"C", "blk_complete"},	    {"P", "blk_plug"},
	{"U", "blk_unplug_io"}, {"UT", "blk_unplug_timer"}, {"I", "blk_insert"},
	{"X", "blk_split"},	{"A", "blk_remap"},	    {"m", "blk_message"},
};

/* Get the type of an ACTION. NULL: it is none. */
static const char *type_of(struct span word)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (span_is(word, actions[i].letters) || span_is(word, actions[i].type + 4))
			return actions[i].type;
	return NULL;
}

static bool is_rwbs(struct span word)
{
	size_t n = span_size(word);

	for (const char *p = word.at; p < word.end; p++)
		if (*p < 'A' || *p > 'Z')
			return false;
	return n && n < 10;
}

static bool is_device(struct span word)
{
	uint64_t number;
	const char *p = ftrace_digits(word.at, word.end, &number), *second = p + 1;

	return p > word.at && p < word.end && *p == ',' && second < word.end &&
	       ftrace_digits(second, word.end, &number) == word.end;
}

bool ftrace_blk_line(struct span s, struct ftrace_line *l)
{
	struct span rest = s, device = span_take_word(&rest), cpu, time, pid, action;
	uint64_t cpu_number, pid_number;

	if (!is_device(device))
		return false;
	cpu = span_take_word(&rest);
	time = span_take_word(&rest);
	pid = span_take_word(&rest);
	action = span_take_word(&rest);
	if (ftrace_digits(cpu.at, cpu.end, &cpu_number) != cpu.end || cpu.at == cpu.end ||
	    cpu_number > LINE_CPU_MOST || span_size(time) < 11 || time.end[-10] != '.' ||
	    !ftrace_seconds(time, &l->time) || pid.at == pid.end ||
	    ftrace_digits(pid.at, pid.end, &pid_number) != pid.end || pid_number > INT32_MAX ||
	    !type_of(action) || !is_rwbs(span_take_word(&rest)))
		return false;
	l->clock = LINE_SECONDS;
	l->cpu = (int32_t)cpu_number;
	l->tid = (int32_t)pid_number;
	l->text = s;
	return true;
}

int ftrace_blk(struct ftrace *f, const struct ftrace_line *l, bool *done)
{
	struct span s = l->text, device = span_take_word(&s), word = span_take_word(&s);
	struct span cgroup = {s.at, s.at}, rwbs;
	const char *type;

	if (l->form == LINE_BLK) {
		span_take_word(&s);
		span_take_word(&s);
		word = span_take_word(&s);
	} else if (!type_of(word)) {
		cgroup = word;
		word = span_take_word(&s);
	}
	type = type_of(word);
	rwbs = span_take_word(&s);
	f->nvalues = 0;
	if (!type || !is_rwbs(rwbs) || !ftrace_form_values(f, SPAN("blk"), device))
		return 0;
	if (cgroup.at < cgroup.end)
		ftrace_value_add(f, "cgroup", cgroup, false);
	ftrace_value_add(f, "rwbs", rwbs, false);
	word = (struct span){type, type + strlen(type)};
	if (!ftrace_form_values(f, word, span_trim(s)))
		return 0;
	*done = true;
	return ftrace_typed(f, word, NULL);
}
