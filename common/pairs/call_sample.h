/*
 * call_sample.h - the slow calls of a trace and the others, samples with what is known of each call
 *
 * The sample. A call has a hash of its thread and its times, and is kept while fewer than
 * SAMPLE_CALLS calls that are slower than it have a smaller hash:
 *
 *     duration   hash      with SAMPLE_CALLS 2
 *        9 ms     70       kept: no slower call
 *        8 ms     20       kept: one slower call, whose hash is larger
 *        5 ms     30       kept: one slower call has a smaller hash
 *        4 ms     90       left out: the three before have smaller ones
 *
 * So for each duration D, the SAMPLE_CALLS calls with the smallest hashes of all those longer than
 * D are among them: a uniform sample of the slow calls, wherever the quantile turns out to be, and
 * with D = 0 of all. Of n calls SAMPLE_CALLS * (1 + ln(n / SAMPLE_CALLS)) are kept, whatever their
 * order is, and the same ones in each run. A histogram (common/util/histogram.h) counts all calls,
 * for the quantile and for the sizes of both sets.
 *
 * A call that is kept is a list of items. An item is a feature with a value: "arg.mode is sync",
 * "child fsync", "cpu is 3". Values that no call of the sample has are forgotten. A value without a
 * number or a text, as a list, is an item without a value: the feature is there.
 */
#ifndef TR_PAIRS_CALL_SAMPLE_H
#define TR_PAIRS_CALL_SAMPLE_H

#include "common/calls/calls.h"
#include "common/pairs/pair.h"
#include "common/scheduling/scheduling.h"
#include "common/stream/clocks.h"
#include "common/util/buffer.h"
#include "common/util/histogram.h"

struct states;

/* Limits of what is kept. */
enum {
	SAMPLE_CALLS = 4096,
	CALL_ITEMS = 128, /* of a call; further values of a call are left out */
	TEXT_MOST = 96, /* bytes of a text: of a longer one an item is that it begins with these */
};

/* Of candidates that are the same calls the first kind is named. */
enum feature_kind {
	FEATURE_ARGUMENT, /* and every other field of the events */
	FEATURE_CHILD,
	FEATURE_BEFORE,
	FEATURE_NAME,
	FEATURE_CALLER,
	FEATURE_WAKER,
	FEATURE_RETURN,
	FEATURE_COMM,
	FEATURE_TID,
	FEATURE_PID,
	FEATURE_CPU,
	FEATURE_STATE, /* percentage of the time */
	FEATURE_CHILD_TIME,
};

/* The value of an item. The bytes of a text come after it. */
struct sample_item {
	uint32_t feature; /* number in call_sample.features */
	uint32_t form;	  /* enum field_form */
	uint64_t bits;	  /* of a number; of a text: 1 if it goes on after these bytes */
};

/* A call of the sample. */
struct sampled_call {
	uint64_t total, hash, start;
	uint32_t count;
	uint32_t item[]; /* numbers in call_sample.items */
};

struct call_sample {
	/* to read at the end */
	struct clocks clocks;
	struct calls calls;
	uint64_t any, count;	    /* number of calls of any kind, and of those that count */
	uint64_t first, last_start; /* of these: least and largest time of an enter, ns */
	struct intern features, items;
	/* the functions' own */
	struct dictionary *dictionary;
	const struct condition *where;
	struct states *states;	/* NULL: the stream has not declared any */
	uint32_t used;		/* number of types that had events when that was looked up last */
	struct key_texts texts; /* of the condition's cells */
	struct key_cell *cells;
	uint8_t *may; /* by location: can the condition be true of its calls? */
	size_t nmay;
	uint32_t symbol_changes;
	struct indexes opens;
	struct sampled_open *open;
	size_t open_capacity;
	uint32_t *last; /* by thread: location of the call that ended last */
	size_t nlast;
	struct scheduling_types scheduling;
	struct idmap woken; /* by tid: index + 1 in waker */
	struct waker *waker;
	size_t nwakers, wakers_capacity;
	struct intern wakers; /* names */
	struct histogram histogram;
	struct sampled_call **call;
	size_t ncalls, calls_capacity, prune_at;
	/* by bucket of the histogram: a call with this hash or more is left out */
	uint64_t *limit;
	uint64_t *heap;		   /* of sample_prune */
	uint32_t item[CALL_ITEMS]; /* of the call that ends */
	uint32_t nitem;
};

/* The calls to compare. */
struct chosen_calls {
	struct sampled_call **call; /* the slow ones, then the others */
	uint32_t n, s;		    /* number of these, and of the slow ones */
	uint64_t slow, all;	    /* of all calls, not only of the sample */
	uint64_t above;		    /* slow calls are longer */
	bool about;		    /* slow is that of a sample */
};

/* Returns -1 when out of memory; call_sample_free in any case. */
int call_sample_init(struct call_sample *m, const struct condition *where, struct dictionary *d);
/* Take a block. Returns -1 when out of memory. */
int call_sample_block(struct call_sample *m, const struct block *b);
/* Take the end of the stream. Returns -1 when out of memory. */
int call_sample_end(struct call_sample *m);
/* Choose the calls longer than a quantile, and others. to->call is the caller's to free, its calls
 * are of the sample. Once. Returns -1 when out of memory. */
int call_sample_choose(struct call_sample *m, double quantile, struct chosen_calls *to);
void call_sample_free(struct call_sample *m);

static inline enum feature_kind feature_kind(const struct call_sample *m, uint32_t feature)
{
	return (enum feature_kind) * intern_data(&m->features, feature);
}

static inline const char *feature_name(const struct call_sample *m, uint32_t feature)
{
	return intern_data(&m->features, feature) + 1;
}

static inline struct sample_item item_get(const struct call_sample *m, uint32_t number)
{
	struct sample_item item;

	memcpy(&item, intern_data(&m->items, number), sizeof item);
	return item;
}

static inline bool item_is_number(const struct sample_item *i)
{
	return i->form != FORM_TEXT && i->form != FORM_NONE;
}

/* Get the number of an item, which a long double has exactly. */
static inline long double item_value(const struct sample_item *i)
{
	double real;

	if (i->form == FORM_INT)
		return (int64_t)i->bits;
	if (i->form == FORM_UINT)
		return i->bits;
	memcpy(&real, &i->bits, sizeof real);
	return real;
}

/* Get the text of an item. *begins: it is only that a longer text begins so. */
static inline struct text_ref item_text(const struct call_sample *m, uint32_t number, bool *begins)
{
	*begins = item_get(m, number).bits;
	return (struct text_ref){
		.text = intern_data(&m->items, number) + sizeof(struct sample_item),
		.size = intern_size(&m->items, number) - (uint32_t)sizeof(struct sample_item)};
}

#endif
