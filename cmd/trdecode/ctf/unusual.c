/*
 * unusual.c - numbers of CTF 2 that version 1.8 does not have: varying, reversed or boolean
 */
#include "cmd/trdecode/ctf/layout.h"

/* Read a number in LEB128. */
static enum ctf_got read_varying(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	const uint8_t *from;
	uint64_t value = 0, have;
	unsigned size = 0, shift = 0;
	uint8_t byte;

	c->at = ctf_align(c->at, 8);
	if (!ctf_has(c, 8))
		return CTF_SHORT;
	from = c->data + (c->at - c->origin) / 8;
	have = (c->have - c->at) / 8;
	do {
		if (size == have)
			return CTF_SHORT;
		byte = from[size++];
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		/* bits above 63 must repeat the sign */
		if (shift >= 63 &&
		    (byte & 0x7f) >> (shift == 63) !=
			    (p->is_signed && value >> 63 ? 0x7f >> (shift == 63) : 0))
			return CTF_BAD;
		shift += 7;
	} while (byte & 0x80);
	if (p->is_signed && shift < 64 && byte & 0x40)
		value |= UINT64_MAX << shift;
	c->at += 8 * (uint64_t)size;
	c->width = shift;
	*n = value;
	return CTF_GOT;
}

enum ctf_got ctf_read_unusual(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	uint64_t bits, reverse = 0;

	if (p->type->varying)
		return read_varying(c, p, n);
	c->at = ctf_align(c->at, p->align);
	if (!ctf_has(c, p->size))
		return CTF_SHORT;
	bits = ctf_bits(c->data, c->at - c->origin, p->size, p->big);
	c->at += p->size;
	if (p->type->reversed) {
		for (unsigned i = 0; i < p->size; i++)
			reverse |= (bits >> i & 1) << (p->size - 1u - i);
		bits = reverse;
	}
	if (p->type->boolean)
		bits = bits != 0;
	*n = p->is_signed ? ctf_sign_bits(bits, p->size) : bits;
	return CTF_GOT;
}
