/*
 * print_format.h - the print fmt of a kernel event, compiled once and printed for each record
 *
 *     print fmt: "irq=%d name=%s", REC->irq, __get_str(name)
 *
 * What the kernel itself would print: expressions are those of C, computed with C's types in the
 * word size of the recorded kernel, from fields read in its byte order. %p and its extensions give
 * the text of libtraceevent where the kernel's needs the running kernel. A format that cannot be
 * evaluated as a whole (because it calls a function of the kernel, for example) is not compiled.
 */
#ifndef TR_FTRACE_PRINT_FORMAT_H
#define TR_FTRACE_PRINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct event_format;

/*
 * The text of one event.
 *
 * A zero-initialised line is empty. A text longer than PRINT_LINE_MOST is truncated: the kernel's
 * own limit is a page, so only a hostile format reaches it. No function returns an error;
 * line->failed means out of memory.
 */

enum { PRINT_LINE_MOST = 1 << 20 };

struct print_line {
	char *data;
	size_t size, capacity;
	bool failed;
};

/* Make room for n more bytes, n <= PRINT_LINE_MOST. False: there is no room, now and later. */
bool line_grow(struct print_line *l, size_t n);
void line_free(struct print_line *l);

static inline bool line_room(struct print_line *l, size_t n)
{
	return __builtin_expect(l->capacity - l->size >= n, 1) || line_grow(l, n);
}

static inline void line_put(struct print_line *l, const char *p, size_t n)
{
	if (n > PRINT_LINE_MOST)
		n = PRINT_LINE_MOST;
	if (!n || !line_room(l, n))
		return;
	memcpy(l->data + l->size, p, n);
	l->size += n;
}

static inline void line_puts(struct print_line *l, const char *s)
{
	line_put(l, s, strlen(s));
}

static inline void line_char(struct print_line *l, char c)
{
	if (line_room(l, 1))
		l->data[l->size++] = c;
}

/* Append c n times. */
void line_pad(struct print_line *l, char c, size_t n);

/* Decimal. */
void line_u64(struct print_line *l, uint64_t v);
void line_i64(struct print_line *l, int64_t v);

/* Decimal with at least width characters, filled with pad on the left; width <= 32. */
void line_u64_wide(struct print_line *l, uint64_t v, unsigned width, char pad);

/* Hexadecimal, lower case, no "0x", at least width digits (filled with '0'); width <= 32. */
void line_hex(struct print_line *l, uint64_t v, unsigned width);

/* Format the text appended since the line had the size start as a column: truncated to most
 * bytes (< 0: no limit), then filled with blanks up to width, on the right if left. */
void line_column(struct print_line *l, size_t start, int width, int most, bool left);

/* Look-ups in the recorded kernel. */
struct print_kernel {
	void *context;
	/* Find the symbol of an address, *size bytes, and the offset in it; NULL: none. */
	const char *(*symbol)(void *context, uint64_t address, size_t *size, uint64_t *offset);
	/* Find the address of a symbol; 0: none. */
	uint64_t (*address)(void *context, const char *name, size_t size);
	/* Find a constant string of the kernel (printk_formats) by its address; NULL: none. */
	const char *(*string)(void *context, uint64_t address, size_t *size);
	bool plugins; /* a print fmt may call the functions of trace-cmd's plug-ins */
};

struct print_format;

/*
 * Compile a format file's text, which is copied. kernel may be NULL; its address function is called
 * now, the others when printing. NULL: it cannot be compiled, and why (128 bytes) contains the
 * reason in a few words; "" when out of memory.
 */
struct print_format *print_format_compile(const char *text, size_t n, unsigned word, bool big,
					  const struct print_kernel *kernel, char *why);

/* Compile the format string of a trace_bprintk() call, without its arguments and its quotes. */
struct print_format *print_format_compile_binary(const char *text, size_t n, unsigned word,
						 bool big, char *why);
void print_format_free(struct print_format *f);

/* Append the message of a record: the bytes of the event from common_type on. For a binary format:
 * the bytes of its arguments, as vbin_printf() packed them. */
void print_format_text(const struct print_format *f, const struct print_kernel *kernel,
		       const uint8_t *record, size_t size, struct print_line *out);

/* Append " name=value" for each field except the common ones, with its raw value. As by
 * libtraceevent, an array of characters is a text up to the first record where it has other bytes.
 */
void print_fields_text(struct event_format *f, const uint8_t *record, size_t size, bool big,
		       struct print_line *out);

/* Decode the escapes of a text in C's notation (\n, \", \x1b ...). Returns its size. */
size_t print_unescape(char *to, const char *from, size_t n);

enum { PRINT_WHY = 128 };

#endif
