/*
 * input.h - inputs: their formats, times and order
 */
#ifndef TR_TRDECODE_INPUT_H
#define TR_TRDECODE_INPUT_H

#include <sys/types.h>

#include "cmd/trdecode/decoder.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/text.h"

struct text_span;

/*
 * Open an operand of the command line and find its decoder.
 *
 * Functions return 0, or -1 with *e filled.
 */

/*
 * Open a directory, a file of a directory, a tar, a saved stream, or "-". Find its decoder among
 * the list, which ends with NULL and may have any order: the highest bid, of all or of the decoder
 * that format names. Fails if the operand cannot be opened or no decoder bids.
 */
int input_open(struct input *in, const char *name, const char *format,
	       const struct decoder *const *decoders, struct decoding *decoding, struct error *e);
/* Call the decoder's open. After a signal that ended the input within its header, the input is an
 * empty recording, which a remark reports. */
int input_open_trace(struct input *in, struct error *e);
/* Test whether a signal ended the input before its first byte or within its header. */
bool input_ended_early(const struct input *in);
/* Call the decoder's begin, or run. */
int input_begin(struct input *in, struct error *e);
int input_run(struct input *in, uint64_t until, struct error *e);
/* Test whether bytes of a file or directory may be unread: it is read at any place, or was not read
 * to its end. */
bool input_left(const struct input *in);
/* The decoder of another input has read a shared input to its end. */
void input_end_shared(struct input *in);
void input_close(struct input *in);

/* Get the head of an input as a text; of a directory it is empty. */
struct text_span input_head(const struct input *in);

/* Test whether the head of an input has a text. */
bool input_head_has(const struct input *in, const char *text);
/* Bid for an input that is an object of JSON: as a format that -f gives; or if the head has words
 * of the format. */
static inline enum bid input_bid_object(const struct input *in, const char *format, bool words)
{
	size_t at = in->head_size >= 3 && !memcmp(in->head, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (at < in->head_size && strchr(" \t\r\n", in->head[at]))
		at++;
	if (in->tree || at == in->head_size || in->head[at] != '{')
		return BID_NONE;
	if (in->format)
		return strcmp(in->format, format) ? BID_NONE : BID_CHANCE;
	return words ? BID_LIKELY : BID_NONE;
}

/* Test whether a descriptor is of a file that can be read again: no pipe, and no trace_pipe of
 * tracefs, which stat reports as a regular file. */
bool input_is_file(int fd);

/*
 * A file of a trace read forward through a buffer, which grows for what is larger.
 *
 * The file may be a member of a directory or of a tar, and needs no descriptor of its own.
 */

struct file_window {
	const struct tree *tree;
	const char *member;
	int fd;		 /* -1: opened for each read */
	uint64_t start;	 /* offset of the member in the descriptor */
	uint64_t size;	 /* size of the member */
	uint64_t offset; /* offset in the member of data[begin] */
	uint8_t *data;
	size_t begin, filled, capacity;
	size_t piece;	       /* bytes to read at once */
	unsigned *descriptors; /* the count with fd; NULL: fd is not counted */
};

/* Open a member. keep: keep its descriptor open. */
int window_open(struct file_window *w, const struct tree *tree, const char *member, size_t capacity,
		bool keep, struct error *e);
/* Open one of the files of an input that are read at once: they share the memory for windows, and
 * the descriptors. */
int window_open_one(struct file_window *w, const struct input *in, const char *member, size_t files,
		    struct error *e);
/* Count a descriptor that is kept open, of one of so many files. false: it must be closed. */
bool window_keep(struct decoding *d, size_t files);
void window_close(struct file_window *w);
/* Read n bytes at window_at. Returns how many there are, fewer only at the end of the file; -1:
 * cannot read. The buffer keeps the size that it grew to. */
ssize_t window_need(struct file_window *w, size_t n, struct error *e);

/* Read n bytes at an offset of the member without moving the window. Return false if they do not
 * exist. */
bool window_peek(struct file_window *w, uint64_t offset, void *to, size_t n);

static inline const uint8_t *window_at(const struct file_window *w)
{
	return w->data + w->begin;
}

static inline size_t window_have(const struct file_window *w)
{
	return w->filled - w->begin;
}

/* Skip n bytes, also beyond the window. */
static inline void window_skip(struct file_window *w, size_t n)
{
	w->offset += n;
	w->begin += n;
	if (w->begin > w->filled)
		w->begin = w->filled = 0;
}

/* Move to an offset of the member, also before the window. */
static inline void window_seek(struct file_window *w, uint64_t offset)
{
	if (offset < w->offset || offset - w->offset > window_have(w)) {
		w->begin = w->filled = 0;
		w->offset = offset;
	}
	window_skip(w, (size_t)(offset - w->offset));
}

/* Read an input from its beginning to its end into a buffer, which spills. Returns 0, or -1 with *e
 * filled. */
int input_read_all(const struct input *in, struct buffer *b, struct error *e);

/* --- the lines of an input that is text --- */

enum { LINE_MOST = 16 << 20 }; /* bytes of a line; the rest of a longer one is left out */

/* A source of text in place of the input itself. */
struct lines_source {
	/* Read up to n bytes. Returns their number; 0: the end; -1 with *e filled. */
	ssize_t (*read)(void *ctx, void *to, size_t n, struct error *e);
	void *ctx;
};

/* A text that is read from the beginning of an input. Zero-initialised: nothing was read. */
struct input_lines {
	struct lines_source source; /* read NULL: the input */
	size_t piece;		    /* bytes to read at once; 0: a default */
	struct buffer data;
	size_t begin, searched; /* of data: the next line; bytes of it without a newline */
	uint64_t offset;	/* of the last line in the input */
	uint64_t next;		/* of the next one */
	bool begun, ended;
	bool cut;   /* the last line was longer than LINE_MOST */
	bool whole; /* a newline ended the last line; false: the input did */
};

/* Get the next line, without its newline and a carriage return before it. The text is valid until
 * the next call. Returns 1; 0: no more lines; -1 with *e filled: cannot read, or out of memory. */
int input_lines_next(struct input_lines *l, const struct input *in, const char **text, size_t *n,
		     struct error *e);
/* Read until so many bytes follow the last line, or to the end. */
int input_lines_fill(struct input_lines *l, const struct input *in, size_t size, struct error *e);
enum {
	LIVE_WAIT = 20
}; /* ms that a decoder waits for the next line before it writes what it has */

/* Test whether input_lines_next need not wait: a line is there, the input has ended, or bytes of it
 * can be read within so many ms. */
bool input_lines_ready(const struct input_lines *l, const struct input *in, int ms);
void input_lines_free(struct input_lines *l);

/*
 * Merge several inputs into one stream, by time.
 *
 * Functions that take e return 0, or -1 with *e filled.
 */

/*
 * Set the shift that --clock requires: CLOCK_WALL shifts the input's times to wall time, and fails
 * if the input does not record the wall time. Times of a shifted input are times of its own clock
 * plus in->shift; wall times are these plus merge_wall(in). Fails if the shift is TIME_LIMIT or
 * more; of a wall time as far from that of the clock, reports damage and forgets it.
 */
int merge_choose_clock(struct input *in, struct error *e);

/* Set a clock of ticks that counts the rows of the input, which have no times. Such clocks need not
 * be compared: rows of several inputs are side by side. */
void merge_count_rows(struct input *in, const char *clock_name);

/*
 * Set in->next from the time of the input's first event on its own clock, shifted. Fails if
 * --offset would shift the event to before time 0, or has a unit where the clock counts ticks.
 */
int merge_first(struct input *in, uint64_t first, struct error *e);

/* Declare the clock of an input that has been chosen. is_wall: its times are wall times. Returns
 * its id, or 0 when out of memory. */
uint32_t input_declare_clock(const struct input *in, bool is_wall);

static inline int64_t merge_wall(const struct input *in)
{
	return (int64_t)((uint64_t)in->wall - (uint64_t)in->shift);
}

/* Returns time + shift, or 0 where the sum is negative, or UINT64_MAX where 64 bits are too few, as
 * only a time of TIME_LIMIT or later can make it. */
static inline uint64_t merge_shifted(uint64_t time, int64_t shift)
{
	uint64_t sum = time + (uint64_t)shift;

	if (shift < 0)
		return sum < time ? sum : 0;
	return sum < time ? UINT64_MAX : sum;
}

/* Find the last time of the input's own clock that is at most until when shifted; UINT64_MAX is
 * no limit. Return false if all times are later. */
static inline bool merge_unshifted(uint64_t until, int64_t shift, uint64_t *limit)
{
	uint64_t back = until - (uint64_t)shift;

	if (until == UINT64_MAX || (shift < 0 && back < until))
		back = UINT64_MAX;
	*limit = back;
	return shift <= 0 || until >= (uint64_t)shift;
}

/* Refuse inputs whose clocks have nothing in common, except those that have an --offset or are
 * aligned: of those, print a remark if some have ticks. Called once, after begin of all inputs. */
int merge_check_clocks(const struct input *inputs, int n, struct error *e);

/* Run all inputs to their ends or up to time `last`, the lowest time first, ties in the order of
 * the inputs. Events up to `last` that are after a later one in their input (decoder.in_order)
 * follow at the end, one input after another. */
int merge_run(struct input *inputs, int n, uint64_t last, struct error *e);

/* --- print what --info shows: names and values, as text or as a JSON object --- */

struct trace_info {
	struct text *text;
	bool json;
	bool any;	  /* a name was printed */
	const char *list; /* name of the items being listed, NULL: none */
	size_t width;	  /* most characters of a line of text; 0: no limit */
	size_t used;	  /* those of the present line */
};

/* Begin an input; the first one begins the output. The caller has set the width. */
void trace_info_begin(struct trace_info *f, struct text *text, bool json, const char *input,
		      bool first);
void trace_info_end(struct trace_info *f);
/* End the output, after the last input. */
void trace_info_close(struct text *text, bool json);

#endif
