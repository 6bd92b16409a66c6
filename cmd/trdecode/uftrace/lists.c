#include "cmd/trdecode/uftrace/lists.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/symbols/demangle.h"
#include "common/util/bisect.h"
#include "common/util/pattern.h"

/* Items of one list; a command line has far fewer. */
#define ITEMS_MAX 65536

/* Patterns of one list: each is matched with the name of every function that has arguments. */
#define PATTERNS_MAX 256

#define PATTERN_LENGTH_MAX 1024
#define PATTERN_SIZE_MAX   2048 /* as pattern.h counts */

/* A function name with one of these is a pattern. */
#define PATTERN_CHARS ".?*+-^$|()[]{}"

struct uftrace_auto_entry {
	char *name;
	struct uftrace_spec_list specs;
	uint32_t order;
};

static void free_pass(struct uftrace_pass *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		free(p->items[i].name);
		uftrace_spec_list_free(&p->items[i].specs);
		if (p->items[i].match == UFTRACE_MATCH_REGEX)
			regfree(&p->items[i].regex);
	}
	free(p->items);
	free(p->exact);
	free(p->patterns);
	free(p->text);
}

/* Is the expression cheap to match? Back references are not; names of functions do not need them.
 */
static bool regex_is_modest(const char *s)
{
	if (strlen(s) > PATTERN_LENGTH_MAX || !pattern_is_small(s, PATTERN_SIZE_MAX))
		return false;
	for (; *s; s++)
		if (*s == '\\') {
			if (s[1] >= '1' && s[1] <= '9')
				return false;
			s += s[1] != 0;
		}
	return true;
}

static void compile_pattern(struct uftrace_item *item, enum uftrace_pattern pattern)
{
	item->match = UFTRACE_MATCH_EXACT;
	if (!strpbrk(item->name, PATTERN_CHARS))
		return;
	if (pattern == UFTRACE_PATTERN_GLOB && strlen(item->name) <= PATTERN_LENGTH_MAX)
		item->match = UFTRACE_MATCH_GLOB;
	/* "operator new[]" is a name */
	if (pattern != UFTRACE_PATTERN_REGEX || !strncmp(item->name, "operator ", 9) ||
	    !regex_is_modest(item->name))
		return;
	if (!regcomp(&item->regex, item->name, REG_NOSUB | REG_EXTENDED))
		item->match = UFTRACE_MATCH_REGEX;
}

static int compare_exact(const void *a, const void *b, void *arg)
{
	const struct uftrace_item *items = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(items[x].name, items[y].name);

	return c ? c : (x > y) - (x < y);
}

static int index_pass(struct uftrace_pass *p)
{
	p->exact = calloc(p->nr + 1, sizeof(*p->exact));
	p->patterns = calloc(p->nr + 1, sizeof(*p->patterns));
	if (!p->exact || !p->patterns)
		return -1;
	for (uint32_t i = 0; i < p->nr; i++) {
		if (p->items[i].match == UFTRACE_MATCH_EXACT)
			p->exact[p->nr_exact++] = i;
		else if (p->nr_patterns < PATTERNS_MAX)
			p->patterns[p->nr_patterns++] = i;
	}
	qsort_r(p->exact, p->nr_exact, sizeof(*p->exact), compare_exact, p->items);
	return 0;
}

/* Parse a list. A spec that cannot be parsed voids its item, for the recorder as well. Returns
 * -1 when out of memory. */
static int add_pass(struct uftrace_lists *l, const struct uftrace_info *info, const char *list,
		    enum uftrace_phase phase, bool is_auto)
{
	struct uftrace_pass *p = &l->passes[l->nr_passes++];
	size_t room = 0;
	char *next;

	p->phase = phase;
	p->is_auto = is_auto;
	p->text = strdup(list);
	if (!p->text)
		return -1;
	for (char *text = p->text; text && p->nr < ITEMS_MAX; text = next) {
		struct uftrace_item *item;
		char *at;

		next = strchr(text, ';');
		if (next)
			*next++ = 0;
		if (ARRAY_GROW(p->items, room, p->nr))
			return -1;
		item = p->items;
		item += p->nr;
		memset(item, 0, sizeof(*item));
		at = strchr(text, '@');
		if (at)
			*at++ = 0;
		if (at &&
		    uftrace_spec_parse_list(at, info, phase, &item->specs, &item->module) < 0) {
			uftrace_spec_list_free(&item->specs);
			continue;
		}
		item->name = demangle(text, DEMANGLE_SIMPLE);
		if (!item->name) {
			uftrace_spec_list_free(&item->specs);
			return -1;
		}
		compile_pattern(item, info->pattern);
		p->nr++;
	}
	return index_pass(p);
}

static int compare_autos(const void *a, const void *b)
{
	const struct uftrace_auto_entry *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Entries of one name add up in the first one. */
static int merge_autos(struct uftrace_auto_table *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		struct uftrace_auto_entry *e = &t->entries[i];
		struct uftrace_auto_entry *last = kept ? &t->entries[kept - 1] : NULL;

		if (!last || strcmp(last->name, e->name)) {
			t->entries[kept++] = *e;
			continue;
		}
		for (uint32_t k = 0; k < e->specs.nr; k++)
			uftrace_spec_add(&last->specs, &e->specs.specs[k], true);
		uftrace_spec_list_free(&e->specs);
		free(e->name);
	}
	t->nr = kept;
	return 0;
}

static int read_autos(struct uftrace_lists *l, const struct uftrace_info *info, const char *list,
		      enum uftrace_phase phase)
{
	struct uftrace_auto_table *t = &l->autos[phase];
	size_t room = 0;
	char *next;

	t->text = strdup(list);
	if (!t->text)
		return -1;
	for (char *text = t->text; text && t->nr < ITEMS_MAX; text = next) {
		struct uftrace_auto_entry entry = {.order = t->nr};
		char *at;

		next = strchr(text, ';');
		if (next)
			*next++ = 0;
		at = strchr(text, '@');
		if (!at)
			continue;
		*at++ = 0;
		if (uftrace_spec_parse_list(at, info, phase, &entry.specs, NULL) < 0 ||
		    !entry.specs.nr) {
			uftrace_spec_list_free(&entry.specs);
			continue;
		}
		entry.name = demangle(text, DEMANGLE_SIMPLE);
		if (!entry.name || ARRAY_GROW(t->entries, room, t->nr)) {
			free(entry.name);
			uftrace_spec_list_free(&entry.specs);
			return -1;
		}
		t->entries[t->nr++] = entry;
	}
	if (t->nr)
		qsort(t->entries, t->nr, sizeof(*t->entries), compare_autos);
	return merge_autos(t);
}

const struct uftrace_spec_list *uftrace_lists_auto(const struct uftrace_lists *l,
						   enum uftrace_phase phase, const char *name)
{
	const struct uftrace_auto_table *t = &l->autos[phase];
	size_t low = BISECT(t->nr, i, strcmp(t->entries[i].name, name) < 0);

	return low < t->nr && !strcmp(t->entries[low].name, name) ? &t->entries[low].specs : NULL;
}

/* Add argspec, retspec, then what -a adds. Old recorders wrote return values into argspec. */
static int add_passes(struct uftrace_lists *l, const struct uftrace_info *info, const char *args,
		      const char *rets, bool is_auto)
{
	if (args && add_pass(l, info, args, UFTRACE_PHASE_ARGS, is_auto) < 0)
		return -1;
	if (rets && add_pass(l, info, rets, UFTRACE_PHASE_RETVAL, is_auto) < 0)
		return -1;
	if (args && strstr(args, "retval"))
		return add_pass(l, info, args, UFTRACE_PHASE_RETVAL, is_auto);
	return 0;
}

int uftrace_lists_read(struct uftrace_lists *l, const struct uftrace_info *info)
{
	const char *args = info->argauto, *rets = info->retauto;

	if (!uftrace_info_has(info, UFTRACE_INFO_ARG_SPEC))
		return 0;
	if (info->feat_mask & UFTRACE_FEAT_AUTO_ARGS) {
		if (args && read_autos(l, info, args, UFTRACE_PHASE_ARGS) < 0)
			return -1;
		if (rets && read_autos(l, info, rets, UFTRACE_PHASE_RETVAL) < 0)
			return -1;
		if (info->enumauto) {
			l->enum_text = strdup(info->enumauto);
			if (!l->enum_text || uftrace_enum_add(&l->enums, l->enum_text) < 0)
				return -1;
		}
	}
	if (add_passes(l, info, info->argspec, info->retspec, false) < 0)
		return -1;
	if (!info->auto_args)
		return 0;
	if (info->feat_mask & UFTRACE_FEAT_DEBUG_INFO)
		args = rets = info->pattern == UFTRACE_PATTERN_REGEX ? "." : "*";
	return add_passes(l, info, args, rets, true);
}

void uftrace_lists_free(struct uftrace_lists *l)
{
	for (int i = 0; i < l->nr_passes; i++)
		free_pass(&l->passes[i]);
	for (int i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < l->autos[i].nr; k++) {
			free(l->autos[i].entries[k].name);
			uftrace_spec_list_free(&l->autos[i].entries[k].specs);
		}
		free(l->autos[i].entries);
		free(l->autos[i].text);
	}
	uftrace_enum_free(&l->enums);
	free(l->enum_text);
}

/* ---- matching ---- */

static bool pattern_fits(const struct uftrace_item *item, const char *name)
{
	if (item->match == UFTRACE_MATCH_GLOB)
		return !fnmatch(item->name, name, 0);
	return !regexec(&item->regex, name, 0, NULL, 0);
}

static int compare_hits(const void *a, const void *b)
{
	const struct uftrace_hit *x = a, *y = b;

	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Return the number of the first exact item with that name in p->exact. */
static uint32_t find_exact(const struct uftrace_pass *p, const char *name)
{
	return BISECT(p->nr_exact, i, strcmp(p->items[p->exact[i]].name, name) < 0);
}

static int push_hit(struct uftrace_hits *h, uint32_t item, uint32_t name)
{
	if (ARRAY_GROW(h->hits, h->room, h->nr))
		return -1;
	h->hits[h->nr++] = (struct uftrace_hit){.item = item, .name = name};
	return 0;
}

int uftrace_pass_match(const struct uftrace_pass *p, char *const *names, uint32_t nr,
		       struct uftrace_hits *hits)
{
	size_t first = hits->nr;

	for (uint32_t name = 0; name < nr; name++) {
		for (uint32_t i = find_exact(p, names[name]); i < p->nr_exact; i++) {
			if (strcmp(p->items[p->exact[i]].name, names[name]))
				break;
			if (push_hit(hits, p->exact[i], name) < 0)
				return -1;
		}
		for (uint32_t i = 0; i < p->nr_patterns; i++)
			if (pattern_fits(&p->items[p->patterns[i]], names[name]) &&
			    push_hit(hits, p->patterns[i], name) < 0)
				return -1;
	}
	if (hits->nr > first)
		qsort(hits->hits + first, hits->nr - first, sizeof(*hits->hits), compare_hits);
	return 0;
}
