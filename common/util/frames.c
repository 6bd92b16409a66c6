/*
 * frames.c - data in Zstandard frames, with the seek table of the Zstandard seekable format
 */
#include "common/util/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/hash.h"
#include "common/util/output.h"

enum {
	FRAMES_SKIP = 0x184d2a50,  /* and the 15 numbers after it: frames without data */
	FRAMES_ASIDE = 0x184d2a5d, /* of what is in the file beside the data */
	FRAMES_TABLE = 0x184d2a5e, /* of the seek table */
	FRAMES_CHECKSUMS = 0x80,   /* flag of its entries: they have checksums */
	FRAMES_RESERVED = 0x7c,	   /* flags that are 0 */
	FRAMES_HAS_CHECK = 4,	   /* flag of a frame: a checksum follows its data */
	FRAMES_LEAST = 8,	   /* bytes of a frame */
	FRAMES_FOOT = 9,	   /* u32 frames, u8 flags, u32 FRAMES_END */
	FRAMES_ENTRY = 12,	   /* u32 compressed size, u32 size, u32 checksum */
	FRAMES_BUFFER = 128 * 1024,
	FRAMES_BACK = 256 * 1024,    /* bytes that are kept of a frame, to search them */
	FRAMES_WINDOW = 27,	     /* log2 of the largest window */
	FRAMES_ASIDE_MOST = 2 << 20, /* bytes of a frame that has something beside the data */
	FRAMES_MOST =
		1 << 30, /* bytes of data in a frame, so that an entry can have their number */
};
#define FRAMES_ENDED	 "the compressed data end within a frame"
#define FRAMES_BAD_TABLE "a damaged seek table (trdecode --reindex makes a new one)"
#define FRAMES_BAD_INDEX "a damaged index (trdecode --reindex makes a new one)"
#define FRAMES_END	 0x8f92eab1u
#define FRAMES_AGAIN	 (64ull << 20) /* bytes that may be searched or filled in without progress */
#define FRAMES_EMPTY	 0x51d8e999u   /* the checksum of no data */
#define FRAMES_GOOD	 0x2144df1cu   /* CRC-32 of bytes and their CRC-32 */

/* --- writing --- */

struct frames_out {
	struct output_filter filter;
	ZSTD_CCtx *context;
	struct buffer table; /* entries */
	uint8_t *out;
	uint64_t packed, size; /* bytes of the present frame */
	uint8_t last[4];       /* the last bytes of it: its checksum */
};

static struct frames_out *frames_of(const struct output *o)
{
	return (struct frames_out *)o->filter;
}

/* Write what need not be compressed. */
static int frames_write(struct output *o, const void *data, size_t n, struct error *e)
{
	int bad;

	o->filter->writes = true;
	bad = output_write(o, data, n, e);
	o->filter->writes = false;
	return bad;
}

/* Compress, and write what is ready. */
static int frames_compress(struct output *o, ZSTD_inBuffer *in, ZSTD_EndDirective mode,
			   struct error *e)
{
	struct frames_out *f = frames_of(o);
	size_t left, from = in->pos;

	do {
		ZSTD_outBuffer out = {f->out, FRAMES_BUFFER, 0};

		left = ZSTD_compressStream2(f->context, &out, in, mode);
		if (ZSTD_isError(left)) {
			o->failed = true;
			return error_no_memory(e);
		}
		f->packed += out.pos;
		for (size_t i = out.pos > 4 ? out.pos - 4 : 0; i < out.pos; i++) {
			memmove(f->last, f->last + 1, 3);
			f->last[3] = f->out[i];
		}
		if (out.pos && frames_write(o, f->out, out.pos, e))
			return -1;
	} while (mode == ZSTD_e_continue ? in->pos < in->size : left > 0);
	f->size += in->pos - from;
	return 0;
}

/* Add a frame to the table. */
static int frames_note(struct frames_out *f, uint64_t packed, uint64_t size, uint32_t check,
		       struct error *e)
{
	if (buffer_u32(&f->table, (uint32_t)packed) || buffer_u32(&f->table, (uint32_t)size) ||
	    buffer_u32(&f->table, check))
		return error_no_memory(e);
	return 0;
}

int frames_cut(struct output *o, struct error *e)
{
	struct frames_out *f = frames_of(o);
	ZSTD_inBuffer none = {NULL, 0, 0};

	if (!f || !f->size)
		return 0;
	if (frames_compress(o, &none, ZSTD_e_end, e) ||
	    frames_note(f, f->packed, f->size, get_u32(f->last), e))
		return -1;
	f->packed = f->size = 0;
	return 0;
}

int frames_put_aside(struct output *o, const void *data, size_t n, struct error *e)
{
	uint8_t head[8];

	put_u32(head, FRAMES_ASIDE);
	put_u32(head + 4, (uint32_t)n);
	return frames_cut(o, e) || frames_write(o, head, sizeof head, e) ||
			       frames_write(o, data, n, e) ||
			       frames_note(frames_of(o), sizeof head + n, 0, FRAMES_EMPTY, e)
		       ? -1
		       : 0;
}

static int frames_put(struct output *o, const void *data, size_t n, struct error *e)
{
	ZSTD_inBuffer in = {data, n, 0};

	if (frames_of(o)->size + n > FRAMES_MOST && frames_cut(o, e))
		return -1;
	return frames_compress(o, &in, ZSTD_e_continue, e);
}

static int frames_flush(struct output *o, struct error *e)
{
	ZSTD_inBuffer none = {NULL, 0, 0};

	return frames_of(o)->size ? frames_compress(o, &none, ZSTD_e_flush, e) : 0;
}

static int frames_finish(struct output *o, struct error *e)
{
	struct frames_out *f = frames_of(o);
	uint8_t head[8], foot[FRAMES_FOOT];

	if (frames_cut(o, e))
		return -1;
	put_u32(head, FRAMES_TABLE);
	put_u32(head + 4, (uint32_t)(f->table.size + FRAMES_FOOT));
	put_u32(foot, (uint32_t)(f->table.size / FRAMES_ENTRY));
	foot[4] = FRAMES_CHECKSUMS;
	put_u32(foot + 5, FRAMES_END);
	return frames_write(o, head, sizeof head, e) ||
			       frames_write(o, f->table.data, f->table.size, e) ||
			       frames_write(o, foot, sizeof foot, e)
		       ? -1
		       : 0;
}

static void frames_drop(struct output *o)
{
	struct frames_out *f = frames_of(o);

	o->filter = NULL;
	ZSTD_freeCCtx(f->context);
	buffer_free(&f->table);
	free(f->out);
	free(f);
}

int frames_create(struct output *o, int level)
{
	struct frames_out *f = calloc(1, sizeof *f);

	if (!f)
		return -1;
	f->filter =
		(struct output_filter){frames_put, frames_flush, frames_finish, frames_drop, false};
	f->context = ZSTD_createCCtx();
	f->out = malloc(FRAMES_BUFFER);
	o->filter = &f->filter;
	if (!f->context || !f->out ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(f->context, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(f->context, ZSTD_c_checksumFlag, 1))) {
		frames_drop(o);
		return -1;
	}
	return 0;
}

/* --- reading --- */

/* Where a frame begins. */
struct frame_place {
	uint64_t packed, plain;
};

struct frames_in {
	int fd;
	ZSTD_DCtx *context;
	uint8_t *data; /* bytes of the file: up to at they were used */
	size_t at, filled, capacity;
	uint64_t offset; /* of data[0] in the file */
	bool inside;	 /* a frame */
	uint64_t begin;	 /* of that frame, in the file */
	uint64_t plain;	 /* bytes of data so far, from the beginning */
	uint64_t skip;	 /* bytes of data to leave out */
	uint64_t fill;	 /* zeros to put in place of lost data */
	uint64_t again;	 /* bytes that were searched again or filled in */
	/* of all frames since the last seek table: CRC-32 of the entries that the next table should
	 * have, and its length; known: all of them were read */
	uint32_t entries;
	uint64_t length;
	bool known;
	uint64_t frame_plain; /* where the data of that frame begin */
	bool end, lost, tabled;
	bool apart; /* the offset of fd is another reader's */
	bool whole; /* the file is read from its beginning */
	const char *fault;
	uint64_t fault_at;
	struct frame_place *table; /* the last is the end */
	size_t frames, frames_capacity;
};

static bool frames_is_magic(uint32_t magic)
{
	return magic == ZSTD_MAGICNUMBER || (magic & 0xfffffff0u) == FRAMES_SKIP;
}

bool frames_begin(const void *data, size_t n)
{
	return n >= 4 && get_u32(data) == ZSTD_MAGICNUMBER;
}

size_t frames_peek(const void *data, size_t size, void *to, size_t n)
{
	ZSTD_DCtx *context = frames_begin(data, size) ? ZSTD_createDCtx() : NULL;
	ZSTD_inBuffer in = {data, size, 0};
	ZSTD_outBuffer out = {to, n, 0};

	if (context)
		ZSTD_decompressStream(context, &out, &in);
	ZSTD_freeDCtx(context);
	return out.pos;
}

struct frames_in *frames_open(int fd, const void *peeked, size_t n)
{
	struct frames_in *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->fd = fd;
	f->apart = !peeked;
	f->capacity = FRAMES_BACK + FRAMES_BUFFER + n;
	f->context = ZSTD_createDCtx();
	f->data = malloc(f->capacity);
	if (!f->context || !f->data ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(f->context, ZSTD_d_windowLogMax, FRAMES_WINDOW))) {
		frames_close(f);
		return NULL;
	}
	if (n)
		memcpy(f->data, peeked, n);
	f->filled = n;
	f->known = true;
	f->whole = f->apart || lseek(fd, 0, SEEK_CUR) == (off_t)n;
	return f;
}

void frames_close(struct frames_in *f)
{
	if (!f)
		return;
	ZSTD_freeDCtx(f->context);
	free(f->data);
	free(f->table);
	free(f);
}

const char *frames_fault(struct frames_in *f, uint64_t *at)
{
	const char *fault = f->fault;

	*at = f->fault_at;
	f->fault = NULL;
	return fault;
}

bool frames_lost(const struct frames_in *f)
{
	return f->lost;
}

/* Go to an offset of the file. */
static int frames_go(struct frames_in *f, uint64_t packed)
{
	if (!f->apart && lseek(f->fd, (off_t)packed, SEEK_SET) < 0)
		return -1;
	f->offset = packed;
	f->at = f->filled = 0;
	f->inside = f->end = f->known = false;
	ZSTD_DCtx_reset(f->context, ZSTD_reset_session_only);
	return 0;
}

/* Read more of the file. 1, 0: the end, -1. */
static int frames_more(struct frames_in *f)
{
	size_t room;
	ssize_t got;

	if (f->filled + FRAMES_BUFFER > f->capacity) {
		size_t drop = f->at > FRAMES_BACK ? f->at - FRAMES_BACK : 0;

		if (!f->inside || f->begin > f->offset + f->at)
			drop = f->at;
		memmove(f->data, f->data + drop, f->filled - drop);
		f->at -= drop;
		f->filled -= drop;
		f->offset += drop;
	}
	if (f->end)
		return 0;
	room = f->capacity - f->filled < FRAMES_BUFFER ? f->capacity - f->filled : FRAMES_BUFFER;
	got = f->apart ? io_read_at(f->fd, f->data + f->filled, room, f->offset + f->filled)
		       : io_read(f->fd, f->data + f->filled, room);
	if (got < 0)
		return -1;
	f->end = !got;
	f->filled += (size_t)got;
	return got > 0;
}

/* Make n bytes of the file available. 1, 0: they do not exist, -1. */
static int frames_need(struct frames_in *f, size_t n)
{
	int got = 1;

	while (f->filled - f->at < n && (got = frames_more(f)) > 0)
		;
	return f->filled - f->at >= n ? 1 : got;
}

/* Find the first frame of the table that begins after, or at, an offset in the file. */
static size_t frames_find(const struct frames_in *f, uint64_t packed)
{
	size_t low = 0, high = f->frames;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->table[middle].packed < packed)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Go to the next frame by the table, and put zeros in place of what is missing. false: it is not
 * known. */
static bool frames_next_known(struct frames_in *f)
{
	bool tabled = frames_size(f) != 0;
	size_t next = tabled ? frames_find(f, f->begin + 1) : 0;
	uint64_t missing;

	if (!tabled || next > f->frames - 1 || f->table[next].plain < f->plain)
		return false;
	missing = f->table[next].plain - f->plain;
	f->again += missing;
	if (f->again > FRAMES_AGAIN + 64 * f->begin || frames_go(f, f->table[next].packed))
		return false;
	f->fill = missing;
	return true;
}

/* Search the next frame. The file is read on; at the end of the file there is none. */
static int frames_search(struct frames_in *f)
{
	uint64_t from = f->begin + 1 > f->offset ? f->begin + 1 - f->offset : 0;
	size_t used = f->at;

	f->inside = f->known = false;
	f->lost = true;
	ZSTD_DCtx_reset(f->context, ZSTD_reset_session_only);
	if (from < used) {
		f->again += used - from;
		if (f->again <= FRAMES_AGAIN + f->offset)
			f->at = (size_t)from;
	} else {
		f->at = from > f->filled ? f->filled : (size_t)from;
	}
	for (;;) {
		int got = frames_need(f, 4);

		if (got <= 0) {
			f->at = f->filled;
			return got;
		}
		while (f->filled - f->at >= 4 && get_u32(f->data + f->at) != ZSTD_MAGICNUMBER)
			f->at++;
		if (f->filled - f->at >= 4)
			return 1;
	}
}

/* Note damage of the present frame, and go on after it. 0, or -1. */
static int frames_damage(struct frames_in *f, const char *what)
{
	if (!f->fault) {
		f->fault = what;
		f->fault_at = f->begin;
	}
	if (frames_next_known(f))
		return 0;
	return frames_search(f) < 0 ? -1 : 0;
}

/* Add the frame that ends here to those that the next seek table should have. */
static void frames_expect(struct frames_in *f, uint64_t size, uint32_t check)
{
	uint8_t entry[FRAMES_ENTRY];

	put_u32(entry, (uint32_t)(f->offset + f->at - f->begin));
	put_u32(entry + 4, (uint32_t)size);
	put_u32(entry + 8, check);
	f->entries = checksum(f->entries, entry, sizeof entry);
	f->length += sizeof entry;
}

/* Consume n bytes, and extend a CRC-32 by them. As frames_need. */
static int frames_consume(struct frames_in *f, uint64_t n, uint32_t *crc)
{
	for (;;) {
		size_t have = f->filled - f->at, step = have < n ? have : (size_t)n;
		int got;

		*crc = checksum(*crc, f->data + f->at, step);
		f->at += step;
		n -= step;
		if (!n)
			return 1;
		got = frames_more(f);
		if (got <= 0)
			return got;
	}
}

/* Check a seek table, of which n bytes of content follow. As frames_need; *good is set. */
static int frames_check_table(struct frames_in *f, uint64_t n, bool *good)
{
	uint32_t crc = 0, least = n < FRAMES_FOOT ? (uint32_t)n : FRAMES_FOOT;
	int got = frames_consume(f, n - least, &crc);
	const uint8_t *foot;

	if (got > 0)
		got = frames_need(f, least);
	if (got <= 0)
		return got;
	foot = f->data + f->at;
	f->at += least;
	*good = least == FRAMES_FOOT && get_u32(foot + 5) == FRAMES_END;
	if (!*good)
		return 1;
	if (foot[4] == FRAMES_CHECKSUMS)
		*good = n - least == (uint64_t)get_u32(foot) * FRAMES_ENTRY &&
			(!f->known || (n - least == f->length && crc == f->entries));
	else
		*good = !foot[4] && n - least == (uint64_t)get_u32(foot) * (FRAMES_ENTRY - 4);
	return 1;
}

/* Skip a frame without data, of which 8 bytes are read, and check its content. */
static int frames_pass(struct frames_in *f)
{
	uint32_t magic = get_u32(f->data + f->at), n = get_u32(f->data + f->at + 4), crc = 0;
	bool table = magic == FRAMES_TABLE, good = true;
	int got;

	f->at += 8;
	if (magic == FRAMES_ASIDE && n > FRAMES_ASIDE_MOST)
		return frames_damage(f, FRAMES_BAD_INDEX);
	if (table && f->known && n > f->length + FRAMES_FOOT)
		return frames_damage(f, FRAMES_BAD_TABLE);
	if (table) {
		got = frames_check_table(f, n, &good);
	} else {
		got = frames_consume(f, n, &crc);
		good = magic != FRAMES_ASIDE || crc == FRAMES_GOOD;
	}
	if (got < 0)
		return -1;
	if (!got)
		return frames_damage(f, FRAMES_ENDED);
	if (!good) {
		f->fault = table ? FRAMES_BAD_TABLE : FRAMES_BAD_INDEX;
		f->fault_at = f->begin;
	}
	if (table) {
		f->known = true;
		f->entries = 0;
		f->length = 0;
	} else {
		/* a frame that others made is not in our table */
		frames_expect(f, 0, FRAMES_EMPTY + (magic - FRAMES_ASIDE));
	}
	return 0;
}

/* Begin a frame. 1: one with data, 0: the end, -1, 2: call again. */
static int frames_enter(struct frames_in *f)
{
	int got = frames_need(f, 8);
	size_t have = f->filled - f->at;

	if (got < 0)
		return -1;
	f->begin = f->offset + f->at;
	if (!have)
		return 0;
	if (have < 4 || !frames_is_magic(get_u32(f->data + f->at)))
		return frames_damage(f, "no compressed frame begins here") ? -1 : 2;
	if (get_u32(f->data + f->at) == ZSTD_MAGICNUMBER) {
		f->inside = true;
		f->frame_plain = f->plain;
		/* else its checksum in a table is not known */
		f->known = f->known && have > 4 && f->data[f->at + 4] & FRAMES_HAS_CHECK;
		return 1;
	}
	if (have < 8)
		return frames_damage(f, FRAMES_ENDED) ? -1 : 2;
	return frames_pass(f) ? -1 : 2;
}

/* Get the checksum at the end of the frame that ends here. */
static uint32_t frames_checksum(const struct frames_in *f)
{
	return f->at >= 4 ? get_u32(f->data + f->at - 4) : 0;
}

/* Unpack up to n bytes of the present frame. */
static ssize_t frames_step(struct frames_in *f, void *to, size_t n)
{
	ZSTD_outBuffer out = {to, n, 0};

	while (!out.pos) {
		ZSTD_inBuffer in = {f->data + f->at, f->filled - f->at, 0};
		size_t left = ZSTD_decompressStream(f->context, &out, &in);
		int got;

		f->at += in.pos;
		if (ZSTD_isError(left)) {
			if (frames_damage(f, "a damaged compressed frame"))
				return -1;
			break;
		}
		if (!left) {
			f->inside = false;
			frames_expect(f, f->plain + out.pos - f->frame_plain, frames_checksum(f));
			break;
		}
		if (out.pos)
			break;
		got = frames_more(f);
		if (got < 0)
			return -1;
		if (!got) {
			if (frames_damage(f, FRAMES_ENDED))
				return -1;
			break;
		}
	}
	f->plain += out.pos;
	return (ssize_t)out.pos;
}

ssize_t frames_read(struct frames_in *f, void *to, size_t n)
{
	while (n) {
		size_t most = f->skip && f->skip < n ? (size_t)f->skip : n;
		ssize_t got;

		if (f->fill) {
			got = (ssize_t)(f->fill < most ? f->fill : most);
			memset(to, 0, (size_t)got);
			f->fill -= (uint64_t)got;
			f->plain += (uint64_t)got;
		} else if (!f->inside) {
			int entered = frames_enter(f);

			if (entered <= 0)
				return entered;
			continue;
		} else {
			got = frames_step(f, to, most);
		}
		if (got < 0)
			return -1;
		if (f->skip) {
			f->skip -= (uint64_t)got;
			continue;
		}
		if (got)
			return got;
	}
	return 0;
}

/* --- the seek table --- */

/* Add `count` frames before `end`, whose entries are at `entries` in the file, the last one first.
 * As frames_add_table. */
static uint64_t frames_add(struct frames_in *f, uint64_t end, uint64_t entries, uint64_t count,
			   size_t entry)
{
	enum { AT_ONCE = 1024 };
	uint8_t read[AT_ONCE * FRAMES_ENTRY];

	while (count) {
		size_t n = count < AT_ONCE ? (size_t)count : AT_ONCE, bytes = n * entry;

		count -= n;
		if (io_read_at(f->fd, read, bytes, entries + count * entry) != (ssize_t)bytes)
			return UINT64_MAX;
		for (size_t i = n; i--;) {
			uint32_t packed = get_u32(read + i * entry);

			if (packed < FRAMES_LEAST || packed > end ||
			    ARRAY_GROW(f->table, f->frames_capacity, f->frames))
				return UINT64_MAX;
			end -= packed;
			/* plain: a size, of which frames_turn_table makes an offset */
			f->table[f->frames++] =
				(struct frame_place){end, get_u32(read + i * entry + 4)};
		}
	}
	return end;
}

/* Add the frames of the table that ends at an offset of the file, the last one first. Returns the
 * offset where they begin; UINT64_MAX: there is no table, or no memory. */
static uint64_t frames_add_table(struct frames_in *f, uint64_t end)
{
	uint8_t foot[FRAMES_FOOT], head[8];
	uint64_t count, size;
	size_t entry;

	if (end < 8 + FRAMES_FOOT ||
	    io_read_at(f->fd, foot, FRAMES_FOOT, end - FRAMES_FOOT) != FRAMES_FOOT ||
	    get_u32(foot + 5) != FRAMES_END || foot[4] & FRAMES_RESERVED)
		return UINT64_MAX;
	entry = foot[4] & FRAMES_CHECKSUMS ? FRAMES_ENTRY : FRAMES_ENTRY - 4;
	count = get_u32(foot);
	size = sizeof head + count * entry + FRAMES_FOOT;
	if (size > end || io_read_at(f->fd, head, sizeof head, end - size) != sizeof head ||
	    get_u32(head) != FRAMES_TABLE || get_u32(head + 4) != size - sizeof head)
		return UINT64_MAX;
	return frames_add(f, end - size, end - size + sizeof head, count, entry);
}

/* Turn the table, whose last frame is the first, and set where the data of each begin. */
static int frames_turn_table(struct frames_in *f, uint64_t end)
{
	uint64_t plain = 0;

	for (size_t i = 0, j = f->frames; i + 1 < j; i++) {
		struct frame_place swap = f->table[i];

		f->table[i] = f->table[--j];
		f->table[j] = swap;
	}
	if (ARRAY_GROW(f->table, f->frames_capacity, f->frames))
		return -1;
	f->table[f->frames++] = (struct frame_place){end, 0};
	for (size_t i = 0; i < f->frames; i++) {
		uint64_t size = f->table[i].plain;

		f->table[i].plain = plain;
		plain += size;
	}
	return 0;
}

uint64_t frames_size(struct frames_in *f)
{
	struct stat st;
	uint64_t at;

	if (f->tabled)
		return f->table[f->frames - 1].plain;
	if (!f->whole || fstat(f->fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	f->whole = false; /* the answer will be the same */
	for (at = (uint64_t)st.st_size; at && at != UINT64_MAX;) {
		uint64_t begin = frames_add_table(f, at);

		at = begin < at ? begin : UINT64_MAX;
	}
	if (at || frames_turn_table(f, (uint64_t)st.st_size))
		return 0;
	f->tabled = true;
	return f->table[f->frames - 1].plain;
}

int frames_aside(struct frames_in *f, size_t *at, struct buffer *to, uint64_t *plain)
{
	for (; frames_size(f) && *at + 1 < f->frames; ++*at) {
		const struct frame_place *p = &f->table[*at];
		uint64_t size = p[1].packed - p->packed;
		uint8_t head[FRAMES_LEAST];

		/* a seek table may be between the two */
		if (p[1].plain != p->plain || size < sizeof head ||
		    io_read_at(f->fd, head, sizeof head, p->packed) != sizeof head ||
		    get_u32(head) != FRAMES_ASIDE || get_u32(head + 4) > size - sizeof head ||
		    get_u32(head + 4) > FRAMES_ASIDE_MOST)
			continue;
		size = get_u32(head + 4);
		to->size = 0;
		if (buffer_reserve(to, size))
			return -1;
		++*at;
		*plain = p->plain;
		if (io_read_at(f->fd, to->data, size, p->packed + sizeof head) == (ssize_t)size &&
		    checksum(0, to->data, size) == FRAMES_GOOD)
			to->size = size;
		return 1;
	}
	return 0;
}

int frames_seek(struct frames_in *f, uint64_t offset)
{
	size_t low = 0, high = f->frames;

	if (!f->tabled)
		return -1;
	/* the last frame that begins at or before the offset */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (f->table[middle].plain <= offset)
			low = middle;
		else
			high = middle;
	}
	if (frames_go(f, f->table[low].packed))
		return -1;
	f->plain = f->table[low].plain;
	f->skip = offset - f->plain;
	f->fill = 0;
	f->lost = false;
	return 0;
}
