#include "cmd/trdecode/uftrace/dbg.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/bisect.h"
#include "common/util/lines.h"

struct uftrace_dbg_entry {
	uint64_t address;
	enum uftrace_phase phase;
	char *text; /* NULL once it is parsed */
	struct uftrace_spec_list list;
};

static int add_entry(struct uftrace_dbg *d, uint64_t address, enum uftrace_phase phase, char *text)
{
	if (ARRAY_GROW(d->entries, d->room, d->nr))
		return -1;
	d->entries[d->nr++] =
		(struct uftrace_dbg_entry){.address = address, .phase = phase, .text = text};
	return 0;
}

static int compare_key(const struct uftrace_dbg_entry *x, uint64_t address,
		       enum uftrace_phase phase)
{
	if (x->phase != phase)
		return x->phase < phase ? -1 : 1;
	return (x->address > address) - (x->address < address);
}

static int compare_entries(const void *a, const void *b)
{
	const struct uftrace_dbg_entry *y = b;

	return compare_key(a, y->address, y->phase);
}

/* Returns 1, 0 if the line cannot be read, -1 when out of memory. */
static int parse_line(struct uftrace_dbg *d, char *line, bool *in_function, uint64_t *address)
{
	char *end;
	int r;

	if (!line[0] || line[0] == '#')
		return 1;
	if (line[1] != ':' || line[2] != ' ')
		return 0;
	switch (line[0]) {
	case 'F':
		*address = strtoull(line + 3, &end, 16);
		*in_function = end > line + 3;
		return *in_function;
	case 'A':
	case 'R':
		if (!*in_function)
			return 0;
		r = add_entry(d, *address,
			      line[0] == 'A' ? UFTRACE_PHASE_ARGS : UFTRACE_PHASE_RETVAL, line + 3);
		return r < 0 ? -1 : 1;
	case 'E': r = uftrace_enum_add(&d->enums, line + 3); return r < 0 ? -1 : !r;
	case 'L': /* the source line of the function: not needed to decode records */ return 1;
	default: return 0;
	}
}

int uftrace_dbg_parse(struct uftrace_dbg *d, char *text, size_t size)
{
	bool in_function = false;
	uint64_t address = 0;
	size_t kept = 0;

	*d = (struct uftrace_dbg){.text = text};
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		int r = 0;

		/* a truncated line may lack specs, and sizes depend on each */
		if (l.whole) {
			l.line[l.size] = '\0';
			r = parse_line(d, l.line, &in_function, &address);
		}
		if (r < 0)
			return -1;
		d->damaged += !r;
	}
	if (d->nr)
		qsort(d->entries, d->nr, sizeof(*d->entries), compare_entries);
	for (size_t i = 0, j; i < d->nr; i = j) {
		j = i + 1;
		while (j < d->nr && !compare_entries(&d->entries[i], &d->entries[j]))
			j++;
		if (j == i + 1)
			d->entries[kept++] = d->entries[i];
	}
	d->nr = kept;
	return 0;
}

const struct uftrace_spec_list *uftrace_dbg_find(struct uftrace_dbg *d, uint64_t address,
						 enum uftrace_phase phase,
						 const struct uftrace_info *info)
{
	size_t low;
	struct uftrace_dbg_entry *entry;

	low = BISECT(d->nr, i, compare_key(&d->entries[i], address, phase) < 0);
	if (low == d->nr || compare_key(&d->entries[low], address, phase))
		return NULL;
	entry = &d->entries[low];
	if (entry->text) {
		char *at = strchr(entry->text, '@');

		entry->text = NULL;
		/* a spec that cannot be parsed ends the list, for the recorder too */
		if (at)
			uftrace_spec_parse_list(at + 1, info, phase, &entry->list, NULL);
	}
	return entry->list.nr ? &entry->list : NULL;
}

void uftrace_dbg_free(struct uftrace_dbg *d)
{
	for (size_t i = 0; i < d->nr; i++)
		uftrace_spec_list_free(&d->entries[i].list);
	free(d->entries);
	uftrace_enum_free(&d->enums);
	free(d->text);
	*d = (struct uftrace_dbg){0};
}
