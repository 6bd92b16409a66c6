/* links: cmd/trstat */
/* Groups by keys: cells that are equal, missing or texts. */
#include "t/unit/tap.h"

#include "cmd/trstat/table.h"
#include "cmd/trstat/groups.h"

#include <stdlib.h>

int main(void)
{
	struct columns c = {0};
	struct groups g;
	struct error e;
	struct key_cell k[3] = {{0}}, x, y;
	struct aggregate *a, *b, **kept;
	enum { MANY = 300000 };
	bool good = true;

	columns_parse(&c, "count,p50", &e);
	groups_init(&g, 0, &c.wanted);
	a = groups_find(&g, k);
	ok(a && groups_find(&g, k) == a && g.count == 1, "without keys there is one group");
	groups_free(&g);

	groups_init(&g, 3, &c.wanted);
	k[0] = key_signed(5);
	ok(!groups_text(&g, "main", 4, &k[1]), "a text");
	a = groups_find(&g, k);
	k[0] = key_unsigned(5);
	ok(groups_find(&g, k) == a, "signed and unsigned 5 are one");
	ok(!groups_text(&g, "main", 4, &k[1]) && groups_find(&g, k) == a, "so are equal texts");
	k[2] = key_unsigned(0);
	b = groups_find(&g, k);
	ok(b && b != a, "a missing cell is not 0");
	ok(groups_cells(&g, b)[0].value == 5 && groups_cells(&g, b)[2].kind == KEY_UNSIGNED,
	   "the cells of a group");
	groups_free(&g);

	groups_init(&g, 1, &c.wanted);
	kept = calloc(MANY, sizeof *kept);
	for (unsigned i = 0; i < MANY; i++) {
		k[0] = key_unsigned((uint64_t)i << 20);
		kept[i] = groups_find(&g, k);
		good &= kept[i] && !aggregate_call(kept[i], &c.wanted, i, i, false, i);
	}
	for (unsigned i = 0; i < MANY; i++) {
		k[0] = key_unsigned((uint64_t)i << 20);
		good &= groups_find(&g, k) == kept[i] && groups_at(&g, i) == kept[i];
		good &= kept[i]->calls == 1 && kept[i]->total == i;
	}
	ok(good && g.count == MANY, "many groups, which do not move");
	free(kept);
	groups_free(&g);

	groups_init(&g, 1, &c.wanted);
	x = key_signed(-2);
	y = key_signed(-1);
	ok(groups_compare(&g, &x, &y) < 0, "-2 before -1");
	x = key_unsigned(UINT64_MAX);
	ok(groups_compare(&g, &x, &y) > 0, "2^64 - 1 after -1");
	groups_text(&g, "", 0, &y);
	ok(groups_compare(&g, &x, &y) < 0, "numbers before texts");
	x = (struct key_cell){0};
	ok(groups_compare(&g, &x, &y) > 0, "nothing sorts after the empty text");
	groups_text(&g, "ab", 2, &x);
	groups_text(&g, "ab\0", 3, &y);
	ok(groups_compare(&g, &x, &y) < 0, "a beginning before the whole");
	groups_text(&g, "\xff", 1, &y);
	ok(groups_compare(&g, &x, &y) < 0, "bytes are unsigned");
	groups_free(&g);
	columns_free(&c);
	return done();
}
