/* struct pool: an array whose elements stay where they are. */
#include "common/util/intern.h"

#include "t/unit/tap.h"

int main(void)
{
	struct pool p = {.element = 12};
	uint32_t *first = NULL;
	bool zero = true, same = true;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t *e = pool_add(&p);

		if (!e) {
			zero = false;
			break;
		}
		if (!i)
			first = e;
		zero = zero && !e[0] && !e[1] && !e[2];
		e[0] = i;
		e[2] = ~i;
	}
	ok(zero, "elements begin as zeros");
	is_u64(p.count, 100000, "count");
	for (uint32_t i = 0; i < 100000; i++) {
		const uint32_t *e = pool_at(&p, i);

		same = same && e[0] == i && e[2] == ~i && !e[1];
	}
	ok(same, "each is found by its number");
	ok(pool_at(&p, 0) == first, "nothing moves");
	pool_free(&p);
	is_u64(p.count, 0, "empty again");
	ok(pool_add(&p), "and of use again");
	pool_free(&p);
	return done();
}
