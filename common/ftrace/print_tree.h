/*
 * print_tree.h - the tree of a compiled print fmt
 *
 * Nodes are in one array, children before their parents, and refer to each other by number. Every
 * number is kept as 64 bits, extended from its type.
 */
#ifndef TR_FTRACE_PRINT_TREE_H
#define TR_FTRACE_PRINT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/ftrace/event_format.h"
#include "common/ftrace/print_format.h"
#include "common/util/buffer.h"

enum {
	NODES_MOST = 65536,
	ENTRIES_MOST = 65536,
	ITEMS_MOST = 8192,
	HEIGHT_MOST = 200, /* of the tree: limits the stack that evaluation needs */
	NESTING_MOST =
		512, /* of the source: limits the stack that parsing needs; parentheses take two */
	COLUMN_MOST = 4096, /* widths and precisions, a page as the kernel's own limit */
};

enum print_op {
	OP_NUMBER,
	OP_LOAD,    /* a scalar field: value is its offset */
	OP_ELEMENT, /* number b of the array a */
	OP_LENGTH,  /* bytes of a dynamic array: field */
	OP_CAST,
	OP_BOOL,
	OP_SWAP,
	OP_NEGATE,
	OP_NOT,
	OP_COMPLEMENT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_MODULO,
	OP_ADD,
	OP_SUBTRACT,
	OP_SHIFT_LEFT,
	OP_SHIFT_RIGHT,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_EQUAL,
	OP_NOT_EQUAL,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_BOTH,
	OP_EITHER,
	OP_CHOICE,   /* a ? b : c, of any kind */
	OP_ARRAY,    /* the bytes of field */
	OP_ADVANCE,  /* the array a from its element b on */
	OP_TEXT,     /* value: offset in texts, b bytes */
	OP_FLAGS,    /* of a; entries from b on, c of them; value, size: the delimiter */
	OP_SYMBOLIC, /* the same */
	OP_BITMASK,  /* the array a as groups of 32 bits */
	OP_CPULIST,  /* the array a as 0-3,7 */
	OP_HEX,	     /* b bytes of the array a */
	OP_HEX_STR,  /* the same, without blanks */
	OP_ELEMENTS, /* b elements of a, of c bytes */
	OP_HEX_DUMP, /* a: array, b: length, c: an OP_LIST of the rest */
	OP_LIST,     /* a, b, c; no value */
	OP_PLUGIN,   /* value: enum print_plugin, of a; a number, and a text for %s */
};

/* Functions that trace-cmd has from its plug-ins. */
enum print_plugin {
	PRINT_WRITABLE_PTE, /* is_writable_pte(pte) */
	PRINT_DEVICE_NAME,  /* jbd2_dev_to_name(dev) */
	PRINT_MILLISECONDS, /* jiffies_to_msecs(jiffies) */
	PRINT_LITTLE16,	    /* __le16_to_cpup(array) */
	PRINT_HYPERCALL,    /* xen_hypercall_name(number) */
	PRINT_CDB,	    /* scsi_trace_parse_cdb(p, array, length) */
};

enum print_kind { KIND_OF_NUMBER, KIND_OF_ARRAY, KIND_OF_TEXT };

struct print_node {
	uint8_t op, kind;
	uint8_t width;	  /* 4 or 8: bytes of the number's type, after C's promotion */
	uint8_t size;	  /* bytes loaded, or of an element; 0 not known */
	bool is_signed;	  /* the number */
	bool load_signed; /* of the value loaded, or of an element */
	bool pointer;	  /* of a pointer type */
	uint8_t common;	  /* comparisons, division: operands are made this wide first */
	bool common_signed;
	uint16_t height;
	uint32_t a, b, c;
	uint64_t value;
	const struct event_field *field;
};

struct print_entry {
	uint64_t value;
	uint32_t text, size; /* in texts */
	bool known;	     /* the value is known: a name that was not expanded matches nothing */
};

enum item_flags {
	ITEM_LEFT = 1,
	ITEM_PLUS = 2,
	ITEM_BLANK = 4,
	ITEM_ALTERNATE = 8,
	ITEM_ZERO = 16,
	ITEM_WIDTH_NODE = 32,	  /* the width is a node's value, or an argument */
	ITEM_PRECISION_NODE = 64, /* the precision is a node's value, or an argument */
	ITEM_PLAIN = 128,	  /* none of these, no width, no precision */
};

struct print_item {
	char conversion;   /* of printf; 0: a piece of text */
	char extension[8]; /* letters after %p, ended by a NUL */
	uint8_t flags;
	uint8_t length;		  /* bytes of the argument's type: 1, 2, 4 or 8 */
	int32_t width, precision; /* -1: none */
	uint32_t width_node, precision_node;
	uint32_t node; /* text: offset in texts */
	uint32_t size; /* text */
};

struct print_format {
	char *source;
	struct event_format fields;
	struct print_node *nodes;
	struct print_entry *entries;
	struct print_item *items;
	size_t node_count, entry_count, item_count;
	size_t node_capacity, entry_capacity, item_capacity;
	struct buffer texts;
	uint8_t word;
	bool big, binary;
};

/* Convert a value to a number of that type. */
static inline uint64_t print_extend(uint64_t v, unsigned size, bool is_signed)
{
	unsigned shift = 64 - 8 * size;

	if (size >= 8)
		return v;
	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

/* Compute a constant of both operands, or of the only one. */
uint64_t print_compute(const struct print_node *n, uint64_t a, uint64_t b);

/* --- the tokens of a print fmt --- */

enum print_token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_STRING, /* text: between the quotes, escapes and all */
	TOKEN_NAME,
	TOKEN_OPERATOR, /* one or two characters; "->" too */
	TOKEN_BAD,
};

struct print_token {
	enum print_token_kind kind;
	const char *text;
	size_t size;
	uint64_t value; /* TOKEN_NUMBER, with its type */
	uint8_t width;	/* 4 or 8 */
	bool is_signed;
};

struct print_lexer {
	const char *p, *end;
	unsigned word; /* bytes of a long */
	struct print_token token;
};

/* Read the next token. */
void print_lexer_next(struct print_lexer *l);

static inline bool token_is(const struct print_token *t, const char *op)
{
	return t->kind == TOKEN_OPERATOR && t->text[0] == op[0] &&
	       (op[1] ? t->size == 2 && t->text[1] == op[1] : t->size == 1);
}

#endif
