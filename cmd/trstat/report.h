/*
 * report.h - --report: what a trace is and where its time goes, of one reading of the trace
 *
 * A report is a list of sections. Each section has the query of a command of trstat and shows that
 * command's numbers: the queries of all sections count the same blocks (struct counting, run.h).
 * report.c writes the report as text, Markdown and JSON, report_html.c as HTML.
 */
#ifndef TR_TRSTAT_REPORT_H
#define TR_TRSTAT_REPORT_H

#include "cmd/trstat/table.h"

struct alarms;
struct hist;
struct query;
struct slow_list;
struct stage;
struct stat_settings;

enum {
	REPORT_SECTIONS_MOST = 48,
	REPORT_FACTS = 5,
	REPORT_COMMAND = 1024,
	REPORT_ROWS = 200, /* rows of a section in JSON and HTML */
};

/* A section with rows. */
struct report_section {
	const char *id;	   /* its name in JSON and HTML */
	const char *title; /* a heading */
	const char *about; /* a sentence on what the numbers are */
	/* that prints the numbers, of the first REPORT_ROWS rows where there are more */
	char command[REPORT_COMMAND];
	size_t rows, groups;	 /* number of rows that are worth showing, and of all */
	struct table table;	 /* unless calls is set */
	struct slow_list *calls; /* the slowest calls, the slowest first; NULL: none */
	const struct hist *hist; /* the table is a histogram; NULL: it is none */
	bool tree;		 /* the last key of the table is a stack */
	bool ticks;		 /* the clock counts ticks */
};

/* A line on the trace, or an alarm: "p99 > 1ms (2.5 ms)". */
struct report_line {
	const char *name; /* "Events"; of an alarm "true", "false" or "not decided" */
	struct buffer text;
	bool holds; /* an alarm that is true */
};

struct report {
	struct report_section section[REPORT_SECTIONS_MOST];
	size_t count;
	struct report_line fact[REPORT_FACTS], *alarm; /* alarms that are true come first */
	size_t facts, alarms;
};

/* Run --report. q: the query of the conditions of --fail-if. */
void run_report(struct stage *stage, const struct stat_settings *settings, struct query *q,
		struct alarms *alarms);

/* Write one file of HTML that needs no network. Returns -1 with e filled. */
int report_html(const struct report *r, struct text *out, struct error *e);

#endif
