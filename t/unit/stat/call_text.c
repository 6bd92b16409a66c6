/* links: cmd/trstat */
/* The text of a call's arguments: left out elements, several values, values nested very deep. */
#include "t/unit/tap.h"

#include "cmd/trstat/slowest.h"
#include "common/stream/value.h"

#include <stdlib.h>

enum { DEEP = 100000 };

static struct buffer tail, text;

static const char *arguments(void)
{
	struct type type = {.flags = TYPE_TAIL | TYPE_VALUES};
	struct event ev = {.type = &type, .tail = tail.data, .tail_size = (uint32_t)tail.size};
	struct dictionary *d = calloc(1, sizeof *d);
	bool good = d && !dictionary_init(d);

	text.size = 0;
	good = good && !call_arguments(&text, d, &ev, false) && !buffer_u8(&text, 0);
	dictionary_free(d);
	free(d);
	return good ? (const char *)text.data : NULL;
}

int main(void)
{
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	buffer_u8(&tail, VALUE_REPR);
	value_put_bytes(&tail, VALUE_STRING, "a", 1);
	value_put_uint(&tail, VALUE_UINT, 3);
	value_put_detail(&tail, DETAIL_ARGUMENT, 2);
	value_put_array(&tail, 6);
	for (unsigned i = 0; i < 5; i++)
		value_put_uint(&tail, VALUE_UINT, i);
	value_put_array(&tail, 1);
	value_put_uint(&tail, VALUE_UINT, 7);
	value_put_detail(&tail, DETAIL_ARGUMENT, 3);
	value_put_uint(&tail, VALUE_UINT, 4);
	is_str(arguments(), "arg1=\"a\", arg2=[0, 1, 2, 3...], arg3=4",
	       "what is left out of a value is stepped over");

	tail.size = 0;
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	for (unsigned i = 0; i < DEEP; i++)
		buffer_u8(&tail, VALUE_REPR);
	is_str(arguments(), "arg1=", "values that nest too deep are not printed");
	buffer_free(&tail);
	buffer_free(&text);
	return done();
}
