/*
 * toy.c - writes toy traces: see the decoder
 */
#include "cmd/trencode/encoder.h"
#include "common/stream/field.h"

static int toy_begin(struct encoding *en, struct error *e)
{
	(void)e;
	text_puts(en->text, "toy 1\n");
	return 0;
}

static int toy_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct text_ref name = dictionary_location_name(en->dictionary, ev->location);
	const struct field *f = field_find(ev->type, "number");
	enum type_kind kind = ev->type->kind;
	struct field_value number;

	(void)e;
	if (kind != KIND_ENTER && kind != KIND_LEAVE && kind != KIND_COUNTER)
		return 0;
	text_u64(en->text, ev->time);
	text_char(en->text, ' ');
	text_i64(en->text, ev->lane->tid);
	text_puts(en->text, kind == KIND_ENTER ? " +" : kind == KIND_LEAVE ? " -" : " =");
	text_masked(en->text, name.text, name.size);
	if (kind == KIND_COUNTER && f) {
		field_get(ev, f, 0, &number);
		text_char(en->text, ' ');
		text_i64(en->text, number.i);
	}
	text_char(en->text, '\n');
	return 0;
}

static int toy_end(struct encoding *en, struct error *e)
{
	(void)en, (void)e;
	return 0;
}

static void toy_free(struct encoding *en)
{
	(void)en;
}

const struct encoder encoder_toy = {
	.name = "toy",
	.purpose = "a toy trace, as doc/adding-a-format.md describes",
	.output = ENCODER_TEXT,
	.begin = toy_begin,
	.event = toy_event,
	.end = toy_end,
	.free = toy_free,
};
