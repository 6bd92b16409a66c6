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

#include "common/ftrace/event_format.h"
#include "common/ftrace/print_line.h"

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
		       const uint8_t *record, size_t size, struct line *out);

/* Append " name=value" for each field except the common ones, with its raw value. As by
 * libtraceevent, an array of characters is a text up to the first record where it has other bytes.
 */
void print_fields_text(struct event_format *f, const uint8_t *record, size_t size, bool big,
		       struct line *out);

/* Decode the escapes of a text in C's notation (\n, \", \x1b ...). Returns its size. */
size_t print_unescape(char *to, const char *from, size_t n);

enum { PRINT_WHY = 128 };

#endif
