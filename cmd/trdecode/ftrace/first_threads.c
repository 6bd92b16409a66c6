/*
 * first_threads.c - the threads of function_graph text without the option funcgraph-proc
 *
 *     CPU)  COMM-TID  =>  COMM-TID
 *
 * is printed where the thread of a CPU changes. The first such line of a CPU names the thread of
 * all lines before it.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

int ftrace_cpu_thread(struct ftrace *f, const struct ftrace_line *l)
{
	struct ftrace_cpu *cpu = ftrace_cpu(f, l->cpu);
	uint32_t comm = intern(&f->names, l->comm.at, span_size(l->comm));

	if (!cpu || comm == INTERN_NONE)
		return -1;
	cpu->tid = l->tid;
	cpu->comm = comm + 1;
	return 0;
}

int ftrace_first_threads(struct ftrace *f)
{
	const struct buffer *data = &f->lines.data;
	const char *first, *arrow, *newline;
	struct span text;

	if (!data->size)
		return 0;
	first = (const char *)data->data + f->lines.begin;
	text = (struct span){first, (const char *)data->data + data->size};
	if (!span_find(text, "# tracer: function_graph"))
		return 0;
	for (; (arrow = span_find(text, " =>")); text.at = newline) {
		struct ftrace_line l, before;
		struct span line = {arrow, NULL};
		struct ftrace_cpu *cpu;

		newline = memchr(arrow, '\n', (size_t)(text.end - arrow));
		newline = newline ? newline : text.end;
		line.end = newline;
		while (line.at > first && line.at[-1] != '\n' && arrow - line.at < LINE_HEAD_MOST)
			line.at--;
		ftrace_line_parse(line, &l);
		if (l.kind != LINE_SWITCH)
			continue;
		before = l;
		cpu = ftrace_cpu(f, l.cpu);
		if (!cpu ||
		    (cpu->tid < 0 && ftrace_task(l.text, &before) && ftrace_cpu_thread(f, &before)))
			return -1;
	}
	return 0;
}
