/*
 * statistics_fields.c - fields of rows for the columns sum(F), min(F), max(F), avg(F), uniq(F)
 */
#include "common/value/argument.h"
#include "common/value/shortest.h"
#include "cmd/trstat/groups/statistics_private.h"

/* Get a field for columns: the time of a call, else the event's field of that name, else the name
 * of the call or event, else the lane's field. l is NULL for a row that does not count. */
static bool wanted_value(struct dictionary *d, const struct event *e, const struct lane *l,
			 const struct wanted_field *f, const struct statistics_times *times,
			 struct field_value *v)
{
	const char *name = f->name;

	if (f->time && times->known) {
		v->form = e && e->type->kind == KIND_SAMPLE && type_weight_is_signed(e->type)
				  ? FORM_INT
				  : FORM_UINT;
		v->u = f->time == TIME_TOTAL ? times->total : times->self;
		return true;
	}
	if (e && event_ref_field(d, e, name, v))
		return true;
	if (!l)
		return false;
	if (!strcmp(name, "name")) {
		uint32_t location = times->known ? times->location : e->location;
		struct text_ref text = times->known || location
					       ? dictionary_location_name(d, location)
					       : e->type->name;

		*v = (struct field_value){
			.form = FORM_TEXT, .text = (const uint8_t *)text.text, .size = text.size};
		return true;
	}
	v->form = FORM_INT;
	if (!strcmp(name, "tid") && l->flags & LANE_HAS_TID)
		v->i = l->tid;
	else if (!strcmp(name, "pid") && l->flags & LANE_HAS_PID)
		v->i = l->pid;
	else if (!strcmp(name, "cpu") && l->flags & LANE_HAS_CPU)
		v->i = l->cpu;
	else if (!strcmp(name, "comm") && l->comm.size)
		*v = (struct field_value){.form = FORM_TEXT,
					  .text = (const uint8_t *)l->comm.text,
					  .size = l->comm.size};
	else
		v->form = FORM_NONE;
	return v->form != FORM_NONE;
}

/* Make the cell of a number; other values have none. Equal numbers have one cell. */
static struct key_cell number_cell(const struct field_value *v)
{
	double real;

	if (v->form == FORM_INT)
		return key_signed(v->i);
	if (v->form == FORM_UINT)
		return key_unsigned(v->u);
	if (v->form != FORM_REAL)
		return (struct key_cell){0};
	real = v->size == 4 ? shortest_widen((float)v->real) : v->real;
	return key_real(real, v->size == 4);
}

static int add_number_cell(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
			   const struct key_cell *cell)
{
	switch (cell->kind) {
	case KEY_SIGNED: return aggregate_number(a, w, field, (int64_t)cell->value);
	case KEY_UNSIGNED: return aggregate_number(a, w, field, (int128)cell->value);
	case KEY_REAL: return aggregate_real(a, w, field, key_real_value(cell));
	default: return 0;
	}
}

size_t statistics_arguments(const struct keys *k, const struct columns_wanted *w)
{
	return k->by_type ? 0 : columns_arguments(w, w->field_count);
}

void statistics_argument_cells(const struct statistics *s, const struct event *e,
			       struct key_cell *cells)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct field_value v;

	for (uint32_t i = 0; i < w->field_count; i++) {
		const struct wanted_field *f = &w->field[i];

		if (!columns_is_argument(f))
			continue;
		cells[0] = cells[1] = (struct key_cell){0};
		if (event_ref_field(s->dictionary, e, f->name, &v)) {
			cells[0] = number_cell(&v);
			if (v.form == FORM_TEXT && f->uniq)
				cells[1] = key_unsigned(distinct_hash_bytes(v.text, v.size));
		}
		cells += 2;
	}
}

int statistics_add_arguments(struct statistics *s, struct aggregate *a, const struct event *e,
			     const struct key_cell *cells)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		int bad = 0;

		if (!columns_is_argument(&w->field[i]))
			continue;
		if (!e || !argument_given(s->dictionary, e, w->field[i].name + 4)) {
			bad = add_number_cell(a, w, i, &cells[0]);
			if (cells[1].kind == KEY_UNSIGNED)
				bad = aggregate_hash(a, w, i, cells[1].value);
		}
		if (bad)
			return -1;
		cells += 2;
	}
	return 0;
}

bool statistics_has_fields(const struct statistics *s, const struct event *e, bool waits)
{
	const struct columns_wanted *w = &s->columns->wanted;
	const struct statistics_times none = {0};
	struct field_value v;

	for (uint32_t i = 0; i < w->field_count; i++)
		if (!(waits && columns_is_argument(&w->field[i])) &&
		    wanted_value(s->dictionary, e, NULL, &w->field[i], &none, &v))
			return true;
	return false;
}

int statistics_add_fields(struct statistics *s, struct aggregate *a, const struct event *e,
			  const struct lane *lane, bool waits, const struct statistics_times *times)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		struct field_value v;
		int bad = 0;

		if ((waits && columns_is_argument(&w->field[i])) ||
		    (times->pending && w->field[i].time) ||
		    !wanted_value(s->dictionary, e, lane, &w->field[i], times, &v))
			continue;
		aggregate_field_seen(a, w, i);
		if (v.form == FORM_INT)
			bad = aggregate_number(a, w, i, v.i);
		else if (v.form == FORM_UINT)
			bad = aggregate_number(a, w, i, (int128)v.u);
		else if (v.form == FORM_TEXT)
			bad = aggregate_text(a, w, i, v.text, v.size);
		else if (v.form == FORM_REAL) {
			struct key_cell cell = number_cell(&v);

			bad = add_number_cell(a, w, i, &cell);
		}
		if (bad) {
			s->out_of_memory = true;
			return -1;
		}
	}
	return 0;
}
