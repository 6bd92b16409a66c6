/*
 * count_calls.c - prints the number of calls of each function of a stream, and their self time
 *
 *     cc count_calls.c $(pkg-config --cflags --libs libtrstream) -o count_calls
 *     trdecode uftrace.data | trsym | ./count_calls
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <trstream.h>

struct function {
	const char *name; /* equal names have equal pointers */
	uint64_t calls, self;
};

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "-";
	struct trstream_reader *r = trstream_reader_open(path);
	struct function *functions = NULL, *f;
	struct trstream_totals totals;
	struct trstream_call call;
	size_t n = 0;
	int got;

	if (!r)
		return perror(path), 2;
	while ((got = trstream_reader_next_call(r, &call))) {
		if (got < 0) {
			fprintf(stderr, "count_calls: %s\n", trstream_reader_error(r));
			continue; /* after the damage */
		}
		for (f = functions; f < functions + n && f->name != call.name; f++)
			;
		if (f == functions + n) {
			f = realloc(functions, (n + 1) * sizeof *f);
			if (!f)
				return perror("count_calls"), 2;
			functions = f;
			f += n++;
			*f = (struct function){.name = call.name};
		}
		f->calls++;
		f->self += call.self;
	}
	for (f = functions; f < functions + n; f++)
		printf("%" PRIu64 "\t%" PRIu64 "\t%s\n", f->calls, f->self, f->name);
	trstream_reader_totals(r, &totals);
	trstream_reader_close(r);
	free(functions);
	return totals.status;
}
