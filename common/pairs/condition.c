#include "common/pairs/condition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/expr/evaluate.h"

/* --- the keys of a condition --- */

static enum known_form form_of(const struct key *k)
{
	switch (k->kind) {
	case BY_TID:
	case BY_PID:
	case BY_PPID:
	case BY_CPU:
	case BY_LINE:
	case BY_ADDRESS:
	case BY_DEPTH:
	case BY_TIME: return KNOWN_NUMBER;
	case BY_DURATION:
	case BY_SELF:
	case BY_FIELD: return KNOWN_NOTHING;
	default: return KNOWN_TEXT;
	}
}

static bool is_time(const struct key *k)
{
	return k->transform == KEY_AS_IT_IS &&
	       (k->kind == BY_TIME || k->kind == BY_DURATION || k->kind == BY_SELF);
}

const char *const *condition_words(const struct key *k)
{
	if (k->transform != KEY_AS_IT_IS || k->other)
		return NULL;
	return k->kind == BY_KIND ? expression_kinds : k->kind == BY_SYMKIND ? key_symkinds : NULL;
}

/* Find the key of that name, or add it. */
static int find_key(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	struct keys *k = ctx;
	char *name;
	int bad;

	if (asprintf(&name, "%s%s", quoted ? "." : "", o->name) < 0)
		return lexer_error(l, o->column, "out of memory");
	while (o->field < k->count && strcmp(k->names[o->field], name) != 0)
		o->field++;
	bad = o->field == k->count ? keys_parse(k, name, l->error) : 0;
	free(name);
	if (bad)
		return -1;
	o->form = form_of(&k->key[o->field]);
	o->words = condition_words(&k->key[o->field]);
	o->of_time = is_time(&k->key[o->field]);
	return 0;
}

static const struct language language = {
	.field = find_key,
	.no_calls = "under() and over() are trfilter's, which belongs before this program then",
};

int condition_parse(struct condition *c, struct lexer *l)
{
	struct language of_keys = language;

	of_keys.ctx = &c->keys;
	c->root = expression_parse_part(l, &of_keys);
	return c->root ? 0 : -1;
}

int condition_parse_text(struct condition *c, const char *text, struct error *e)
{
	struct lexer l = {.text = text, .error = e};
	int bad = lexer_next(&l) || condition_parse(c, &l);

	if (!bad && l.token.kind != TOKEN_END)
		bad = lexer_error(&l, l.token.column, "unexpected text after the condition");
	lexer_free(&l);
	return bad ? -1 : 0;
}

void condition_free(struct condition *c)
{
	expression_free(c->root, &language);
	keys_free(&c->keys);
	*c = (struct condition){0};
}

struct key_times {
	const struct keys *keys;
	const struct clocks *clocks;
	bool weights;
};

static bool key_of_time(const void *ctx, unsigned key)
{
	const struct key_times *of = ctx;

	return key_is_time(&of->keys->key[key], of->clocks);
}

static bool key_of_ticks(const void *ctx, unsigned key)
{
	const struct key_times *of = ctx;
	const struct key *k = &of->keys->key[key];

	return is_time(k) && (k->kind == BY_TIME || !of->weights);
}

int condition_check_clocks(const struct condition *c, const char *option,
			   const struct clocks *clocks, bool weights, struct error *e)
{
	const struct key_times times = {&c->keys, clocks, weights};

	return (clocks->ticks &&
		expression_check_clock(c->root, option, true, key_of_ticks, &times, e)) ||
			       expression_check_clock(c->root, option, false, key_of_time, &times,
						      e)
		       ? -1
		       : 0;
}

/* --- evaluation --- */

/* Convert the text of a constant, or of a float that is not finite, to its number. Other texts are
 * no numbers, as in events. */
static void make_number(struct scalar *s)
{
	static const struct {
		const char *text;
		float real;
	} texts[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};

	if (s->form != SCALAR_TEXT || scalar_constant(s->text, s->size, s))
		return;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (s->size == strlen(texts[i].text) && !memcmp(s->text, texts[i].text, s->size)) {
			*s = (struct scalar){.form = SCALAR_REAL, .real = texts[i].real};
			return;
		}
	}
}

struct asking {
	const struct condition *condition;
	const struct key_texts *texts;
	condition_cell *cell;
	void *ctx;
};

static struct scalar real_scalar(const struct key_cell *cell)
{
	double real = key_real_value(cell);

	return (struct scalar){.form = SCALAR_REAL,
			       .real = cell->single ? (float)real : real,
			       .real_size = cell->single ? 4 : 8};
}

struct scalar condition_scalar(const struct key_texts *g, const struct key_cell *cell, bool path)
{
	struct scalar s = {.form = SCALAR_NONE};

	switch (cell->kind) {
	case KEY_MISSING:
	case KEY_PENDING: return s;
	case KEY_SIGNED: return (struct scalar){.form = SCALAR_INT, .u = cell->value};
	case KEY_ADDRESS:
	case KEY_UNSIGNED: return (struct scalar){.form = SCALAR_UINT, .u = cell->value};
	case KEY_REAL: return real_scalar(cell);
	case KEY_TEXT:
	case KEY_STACK: break;
	}
	if (!key_cell_text(g, cell, &s.text, &s.size))
		return s;
	if (cell->label) {
		s.form = cell->is_signed ? SCALAR_INT : SCALAR_UINT;
		s.u = cell->value;
		return s;
	}
	s.form = SCALAR_TEXT;
	s.path = path;
	return s;
}

static void give_cell(void *ctx, struct operand *o, struct scalar *s)
{
	const struct asking *ask = ctx;
	const struct key_cell *cell = ask->cell(ask->ctx, o->field);
	enum key_kind kind = ask->condition->keys.key[o->field].kind;

	if (cell)
		*s = condition_scalar(ask->texts, cell, kind == BY_MODULE || kind == BY_FILE);
}

bool condition_holds(const struct condition *c, const struct key_texts *g, condition_cell *cell,
		     void *ctx)
{
	struct asking ask = {c, g, cell, ctx};
	const struct expression_values values = {give_cell, make_number, &ask};

	return !c->root || expression_holds(&values, c->root);
}
