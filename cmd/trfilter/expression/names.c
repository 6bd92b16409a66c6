#include "cmd/trfilter/expression/names.h"

#include <string.h>

static const struct plain_name plain[] = {
	{"name", ASK_NAME, KNOWN_TEXT, DEPENDS_NAME, "name of the function, or of the type"},
	{"type", ASK_TYPE, KNOWN_TEXT, DEPENDS_TYPE | DEPENDS_KIND, "name of the event's type"},
	{"group", ASK_GROUP, KNOWN_TEXT, DEPENDS_TYPE, "group of the type"},
	{"kind", ASK_KIND, KNOWN_TEXT, DEPENDS_TYPE | DEPENDS_KIND,
	 "call, enter, leave, instant, counter, sample or gap"},
	{"time", ASK_TIME, KNOWN_NUMBER, DEPENDS_LANE | DEPENDS_ROW | DEPENDS_CALL,
	 "time of the event's clock, in ns or ticks"},
	{"depth", ASK_DEPTH, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_CALL,
	 "number of calls around a call, as recorded"},
	{"tid", ASK_TID, KNOWN_NUMBER, DEPENDS_LANE, "thread"},
	{"pid", ASK_PID, KNOWN_NUMBER, DEPENDS_LANE, "process"},
	{"ppid", ASK_PPID, KNOWN_NUMBER, DEPENDS_LANE, "parent process"},
	{"comm", ASK_COMM, KNOWN_TEXT, DEPENDS_LANE, "name of the thread"},
	{"cpu", ASK_CPU, KNOWN_NUMBER, DEPENDS_LANE | DEPENDS_ROW, "CPU of the event"},
	{"module", ASK_MODULE, KNOWN_TEXT, DEPENDS_LOCATION,
	 "file that contains the function: path or name"},
	{"file", ASK_FILE, KNOWN_TEXT, DEPENDS_LOCATION, "source file of the function"},
	{"line", ASK_LINE, KNOWN_NUMBER, DEPENDS_LOCATION, "line in the source file"},
	{"address", ASK_ADDRESS, KNOWN_NUMBER, DEPENDS_LOCATION, "address of the function"},
	{"class", ASK_CLASS, KNOWN_TEXT, DEPENDS_LOCATION,
	 "class of a graphics call: draw, render, frame, target, marker or query"},
	{"buffer", ASK_BUFFER, KNOWN_TEXT, DEPENDS_LANE, "instance of ftrace, channel of LTTng"},
	{"input", ASK_INPUT, KNOWN_TEXT, DEPENDS_LANE,
	 "input of trdecode, as given on its command line"},
	{"format", ASK_FORMAT, KNOWN_TEXT, DEPENDS_LANE, "format of the input"},
	{"ret", ASK_RETURN, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "return value of a call, or a field ret"},
	{"dur", ASK_DURATION, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "time from a call's enter to its leave, in ns or ticks"},
	{"self", ASK_SELF, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "dur less the time of the callees, in ns or ticks"},
	{"children", ASK_CHILDREN, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "number of calls that the call made directly"},
	{"caller", ASK_CALLER, KNOWN_TEXT, DEPENDS_ROW | DEPENDS_STACK,
	 "function that made the call, or that contains the event"},
	{"stack", ASK_STACK, KNOWN_TEXT, DEPENDS_ROW | DEPENDS_STACK,
	 "names of the open functions, the outermost first: \"main;f;g\""},
	{NULL, ASK_FIELD, KNOWN_NOTHING, 0, NULL},
};

static bool same(const char *a, const char *b, size_t n)
{
	return strlen(a) == n && !memcmp(a, b, n);
}

const struct plain_name *names_find(const char *name, size_t n)
{
	for (const struct plain_name *p = plain; p->name; p++)
		if (same(p->name, name, n))
			return p;
	return NULL;
}

const struct plain_name *names_all(void)
{
	return plain;
}

const char *names_refused(const char *name, size_t n)
{
	return same("total", name, n) ? "dur" : NULL;
}
