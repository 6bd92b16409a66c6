#include "common/pairs/key_cell.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/util/stack_limit.h"
#include "common/util/u128.h"

enum { DEEP_STACK_MOST = 256 }; /* bytes of innermost frames */

void key_texts_init(struct key_texts *t)
{
	*t = (struct key_texts){0};
	/* The seed decides only the slots of hash tables, which no output shows. */
	if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != sizeof t->seed)
		t->seed = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)t;
}

void key_texts_free(struct key_texts *t)
{
	intern_free(&t->intern);
	if (t->path)
		buffer_free(t->path);
	free(t->path);
	*t = (struct key_texts){0};
}

int key_text(struct key_texts *t, const void *data, size_t size, struct key_cell *cell)
{
	uint32_t text = intern(&t->intern, data, size);

	if (text == INTERN_NONE)
		return -1;
	*cell = (struct key_cell){.kind = KEY_TEXT, .text = text};
	return 0;
}

struct key_cell key_real(double real, bool single)
{
	struct key_cell cell = {.kind = KEY_REAL, .single = single};
	double exact = single ? (double)(float)real : real;

	if (exact < 0 && exact >= -0x1p63 && (double)(int64_t)exact == exact)
		return key_signed((int64_t)exact);
	if (exact >= 0 && exact < 0x1p64 && (double)(uint64_t)exact == exact)
		return key_unsigned((uint64_t)exact);
	memcpy(&cell.value, &real, sizeof real);
	return cell;
}

static uint64_t hash_fold(uint64_t a, uint64_t b)
{
	uint128 product = (uint128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the kind by which a cell is compared: equal numbers are one key, whatever the base in
 * which the source prints them. */
static uint8_t compared_kind(const struct key_cell *cell)
{
	return cell->kind == KEY_ADDRESS ? KEY_UNSIGNED : cell->kind;
}

uint32_t key_cells_hash(const struct key_texts *t, const struct key_cell *cells, size_t n)
{
	uint64_t h = t->seed;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = cells[i].kind == KEY_TEXT ? cells[i].text : cells[i].value;

		h = hash_fold(h ^ v ^ (uint64_t)compared_kind(&cells[i]) << 62,
			      t->seed | 0x9e3779b97f4a7c15u);
	}
	return (uint32_t)(hash_fold(h, 0xd6e8feb86659fd93u) >> 16);
}

bool key_cells_same(const struct key_cell *a, const struct key_cell *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (compared_kind(&a[i]) != compared_kind(&b[i]) || a[i].text != b[i].text ||
		    (a[i].kind != KEY_TEXT && a[i].value != b[i].value))
			return false;
	}
	return true;
}

/* Cut the text of a stack of more than STACK_FRAMES frames to its innermost frames. */
static void cut_deep_stack(const struct key_texts *t, const char **text, size_t *size)
{
	static const char deeper[] = ";" STACK_DEEPER;
	char *p = (char *)t->path->data;
	size_t end = sizeof deeper - 1, from;

	if (!t->cut_stacks || *size <= DEEP_STACK_MOST || memcmp(p + *size - end, deeper, end) != 0)
		return;
	from = *size - DEEP_STACK_MOST;
	while (p[from] != ';')
		from++;
	from -= sizeof STACK_DEEPER - 1;
	memcpy(p + from, STACK_DEEPER, sizeof STACK_DEEPER - 1);
	*text += from;
	*size -= from;
}

bool key_cell_text(const struct key_texts *t, const struct key_cell *cell, const char **text,
		   size_t *size)
{
	if (cell->kind == KEY_TEXT) {
		*text = intern_data(&t->intern, cell->text);
		*size = intern_size(&t->intern, cell->text);
		return true;
	}
	if (cell->kind != KEY_STACK)
		return false;
	*text = "";
	*size = 0;
	if (!call_stacks_path(t->stacks, (uint32_t)cell->value, t->path) && t->path->size) {
		*text = (const char *)t->path->data;
		*size = t->path->size;
		cut_deep_stack(t, text, size);
	}
	return true;
}
