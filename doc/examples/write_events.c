/*
 * write_events.c - writes a stream: two calls, an event with fields, a counter and lost events
 *
 *     cc write_events.c $(pkg-config --cflags --libs libtrstream) -o write_events
 *     ./write_events | trencode
 */
#include <stdio.h>
#include <trstream.h>

int main(int argc, char **argv)
{
	static const struct trstream_field request[] = {
		{"path", TRSTREAM_TEXT}, {"bytes", TRSTREAM_INT}, {"load", TRSTREAM_REAL}};
	static const struct trstream_field depth[] = {{"depth", TRSTREAM_UINT}};
	const struct trstream_value values[] = {
		{.form = TRSTREAM_TEXT, .text = "/index.html", .size = 11},
		{.form = TRSTREAM_INT, .i = -1},
		{.form = TRSTREAM_REAL, .real = 0.5}};
	const struct trstream_value queued = {.form = TRSTREAM_UINT, .u = 7};
	const char *path = argc > 1 ? argv[1] : "-";
	struct trstream_writer *w = trstream_writer_open(path, "server", "mono");
	uint32_t thread, event, counter;
	int bad;

	if (!w)
		return perror(path), 2;
	thread = trstream_writer_thread(w, 0, 100, 100, "worker");
	event = trstream_writer_type(w, TRSTREAM_INSTANT, "request", request, 3);
	counter = trstream_writer_type(w, TRSTREAM_COUNTER, "queue", depth, 1);
	bad = trstream_writer_enter(w, 1000, thread, "serve") ||
	      trstream_writer_event(w, 1500, thread, event, NULL, values) ||
	      trstream_writer_enter(w, 2000, thread, "send") ||
	      trstream_writer_event(w, 2500, thread, counter, NULL, &queued) ||
	      trstream_writer_leave(w, 5000, thread, "send") ||
	      trstream_writer_leave(w, 9000, thread, "serve") ||
	      trstream_writer_lost(w, 9500, thread, 12);
	if (bad)
		fprintf(stderr, "%s\n", trstream_writer_error(w));
	if (trstream_writer_close(w, bad ? "an event could not be written" : NULL))
		return perror(path), 2;
	return bad ? 2 : 0;
}
