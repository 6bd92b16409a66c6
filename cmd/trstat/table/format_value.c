/*
 * format_value.c - numbers, times and texts, for human-readable and machine formats
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/util/utf8.h"
#include "common/value/shortest.h"
#include "cmd/trstat/table/format.h"

#define ELLIPSIS       "..."
#define ELLIPSIS_WIDTH 3

size_t format_value(char out[static VALUE_SIZE], enum column_unit unit, int128 number)
{
	char digits[I128_SIZE];
	size_t n, sign = number < 0, whole;

	if (unit != UNIT_THOUSANDTHS && unit != UNIT_PERCENT)
		return i128_decimal(out, number);

	/* "-5" is -0.005: at least four digits, the point before the last three. */
	n = u128_decimal(digits, magnitude(number));
	whole = n > 3 ? n - 3 : 1;
	if (sign)
		out[0] = '-';
	if (n > 3)
		memcpy(out + sign, digits, whole);
	else
		out[sign] = '0';
	memcpy(out + sign + whole, ".000", 5);
	n = n > 3 ? 3 : n;
	memcpy(out + sign + whole + 4 - n, digits + strlen(digits) - n, n);
	return sign + whole + 4;
}

size_t format_number(char out[static VALUE_SIZE], enum column_unit unit, struct column_value v)
{
	double real = number_real(v.number, v.fraction);
	size_t n;

	if (v.fraction == 0)
		return format_value(out, unit, v.number);
	if (unit == UNIT_THOUSANDTHS)
		return (size_t)snprintf(out, VALUE_SIZE, "%.15g", real / 1000);
	n = shortest_double(out, real);
	out[n] = '\0';
	return n;
}

size_t format_key(char out[static VALUE_SIZE], const struct key_cell *cell)
{
	if (cell->kind == KEY_SIGNED)
		return i128_decimal(out, (int64_t)cell->value);
	if (cell->kind == KEY_ADDRESS)
		return (size_t)snprintf(out, VALUE_SIZE, "0x%" PRIx64, cell->value);
	if (cell->kind == KEY_REAL) {
		size_t n = shortest_double(out, key_real_value(cell));

		out[n] = '\0';
		return n;
	}
	return u128_decimal(out, cell->value);
}

size_t format_key_aligned(char out[static VALUE_SIZE], const struct keys *by, size_t key,
			  const struct key_cell *cell, bool ticks)
{
	const struct key *k = by && key < by->count ? &by->key[key] : NULL;
	bool time = k && k->kind == BY_TIME && !k->other &&
		    (k->transform == KEY_AS_IT_IS || k->transform == KEY_BUCKET);

	return time && !ticks && cell->kind == KEY_UNSIGNED ? format_time(out, cell->value)
							    : format_key(out, cell);
}

size_t format_duration(char out[static VALUE_SIZE], int128 duration, bool ticks)
{
	static const struct {
		uint64_t below, thousandth;
		const char *unit;
	} scales[] = {
		{1000000, 1, " us"},
		{1000000000, 1000, " ms"},
		{0, 1000000, " s"},
	};
	size_t i = 0, n;

	if (ticks)
		return i128_decimal(out, duration);
	while (scales[i].below && magnitude(duration) >= scales[i].below)
		i++;
	n = format_value(out, UNIT_THOUSANDTHS, duration / scales[i].thousandth);
	strcpy(out + n, scales[i].unit);
	return n + strlen(scales[i].unit);
}

size_t format_time(char out[static VALUE_SIZE], uint64_t ns)
{
	uint64_t rest = ns % 1000000000;
	size_t n = u128_decimal(out, ns / 1000000000);

	out[n] = '.';
	for (size_t i = 9; i > 0; i--, rest /= 10)
		out[n + i] = (char)('0' + rest % 10);
	out[n + 10] = '\0';
	return n + 10;
}

size_t format_column(char out[static VALUE_SIZE], const struct column *column,
		     struct column_value v, bool ticks)
{
	enum column_unit unit = column_unit(column);
	size_t n;

	out[0] = '\0';
	if (!v.present)
		return 0;
	ticks = column_counts_ticks(column, ticks);
	if (unit == UNIT_DURATION)
		return format_duration(out, v.number, ticks);
	if (!ticks && unit == UNIT_TIME)
		return format_time(out, (uint64_t)v.number);
	n = format_number(out, unit, v);
	if (unit != UNIT_PERCENT)
		return n;
	strcpy(out + n, " %");
	return n + 2;
}

/* Read the character at p: its length in bytes, and whether it is printable. */
static size_t character(const char *p, size_t n, bool *printable)
{
	size_t length = utf8_length(p, n);
	unsigned char c = (unsigned char)*p;

	*printable = length && c >= 0x20 && c != 0x7f &&
		     !(length == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0);
	return length ? length : 1;
}

size_t format_characters(const char *p, size_t n)
{
	size_t count = 0;
	bool printable;

	while (n) {
		size_t length = character(p, n, &printable);

		p += length;
		n -= length;
		count++;
	}
	return count;
}

size_t format_elided(struct text *out, const char *p, size_t n, size_t width)
{
	size_t count = format_characters(p, n), head = count, tail = count;

	if (count > width) {
		head = (width - ELLIPSIS_WIDTH + 1) / 2;
		tail = count - (width - ELLIPSIS_WIDTH - head);
	}
	for (size_t i = 0; n; i++) {
		bool printable;
		size_t length = character(p, n, &printable);

		if (i == head && count > width)
			text_put(out, ELLIPSIS, ELLIPSIS_WIDTH);
		if (i < head || i >= tail) {
			if (printable)
				text_put(out, p, length);
			else
				text_char(out, '?');
		}
		p += length;
		n -= length;
	}
	return count < width ? count : width;
}
