/* print_address.c - prints %pM, %pI, %pU and %ph as the kernel's printf() does */
#include "common/ftrace/print_tree.h"

enum { FAMILY_IP4 = 2, FAMILY_IP6 = 10 };

void print_mac(struct line *out, const char *extension, struct byte_range r)
{
	char separator = extension[1] == 'F' ? '-' : ':';
	bool reverse = extension[1] == 'R';

	if (r.size < 6) {
		line_puts(out, "INVALIDMAC");
		return;
	}
	for (int i = 0; i < 6; i++) {
		if (i && extension[0] == 'M')
			line_char(out, separator);
		line_hex(out, r.data[reverse ? 5 - i : i], 2);
	}
}

void print_uuid(struct line *out, const char *extension, struct byte_range r)
{
	static const uint8_t guid[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool little = extension[1] == 'l' || extension[1] == 'L';
	bool upper = extension[1] == 'L' || extension[1] == 'B';
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	if (r.size < 16) {
		line_puts(out, "INVALIDUUID");
		return;
	}
	for (int i = 0; i < 16; i++) {
		uint8_t v = r.data[little ? guid[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			line_char(out, '-');
		line_char(out, digits[v >> 4]);
		line_char(out, digits[v & 15]);
	}
}

static void ip4(struct line *out, const uint8_t *p, bool zeros, bool reverse)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			line_char(out, '.');
		line_u64_wide(out, p[reverse ? 3 - i : i], zeros ? 3 : 1, '0');
	}
}

static void ip6(struct line *out, const uint8_t *p, bool colons)
{
	for (int i = 0; i < 8; i++) {
		if (i && colons)
			line_char(out, ':');
		line_hex(out, (uint64_t)p[2 * i] << 8 | p[2 * i + 1], 4);
	}
}

static uint16_t group(const uint8_t *p, int i)
{
	return (uint16_t)(p[2 * i] << 8 | p[2 * i + 1]);
}

/* Find the first of the longest runs of at least two zero groups. */
static void longest_zeros(const uint8_t *p, int groups, int *at, int *length)
{
	*at = -1;
	*length = 1;
	for (int i = 0; i < groups; i++) {
		int n = 0;

		while (i + n < groups && !group(p, i + n))
			n++;
		if (n > *length) {
			*at = i;
			*length = n;
		}
	}
}

static void ip6_short(struct line *out, const uint8_t *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t isatap[3] = {0, 0x5e, 0xfe};
	bool v4 = !memcmp(p, mapped, 12) || ((p[8] | 2) == 2 && !memcmp(p + 9, isatap, 3));
	int groups = v4 ? 6 : 8, at, length;
	bool colon = false;

	longest_zeros(p, groups, &at, &length);
	for (int i = 0; i < groups; i++) {
		if (i == at) {
			line_puts(out, colon || !i ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		if (colon)
			line_char(out, ':');
		line_hex(out, group(p, i), 1);
		colon = true;
	}
	if (v4) {
		if (colon)
			line_char(out, ':');
		ip4(out, p + 12, false, false);
	}
}

/* Print a struct sockaddr: the family in the kernel's byte order, the rest in the network's. */
static void socket_address(struct line *out, const char *extension, struct byte_range r, bool big)
{
	bool port = false, compact = false;
	unsigned family;

	for (const char *p = extension + 2; *p; p++) {
		port |= *p == 'p';
		compact |= *p == 'c';
	}
	family = r.size >= 2 ? (unsigned)get_uint(r.data, 2, big) : 0;
	if (family == FAMILY_IP4 && r.size >= 8) {
		ip4(out, r.data + 4, extension[0] == 'i', false);
	} else if (family == FAMILY_IP6 && r.size >= 24) {
		if (port)
			line_char(out, '[');
		if (compact && extension[0] == 'I')
			ip6_short(out, r.data + 8);
		else
			ip6(out, r.data + 8, extension[0] == 'I');
		if (port)
			line_char(out, ']');
	} else {
		if (family == FAMILY_IP4)
			line_puts(out, "INVALIDIPv4");
		else if (family == FAMILY_IP6)
			line_puts(out, "INVALIDIPv6");
		return;
	}
	if (port) {
		line_char(out, ':');
		line_u64(out, (uint64_t)r.data[2] << 8 | r.data[3]);
	}
}

void print_ip(struct line *out, const char *extension, struct byte_range r, bool big)
{
	bool reverse = extension[2] == 'l' || (extension[2] == 'h' && !big);

	switch (extension[1]) {
	case '4':
		if (r.size < 4)
			line_puts(out, "INVALIDIPv4");
		else
			ip4(out, r.data, extension[0] == 'i', reverse);
		break;
	case '6':
		if (r.size < 16)
			line_puts(out, "INVALIDIPv6");
		else if (extension[0] == 'I' && extension[2] == 'c')
			ip6_short(out, r.data);
		else
			ip6(out, r.data, extension[0] == 'I');
		break;
	case 'S': socket_address(out, extension, r, big); break;
	}
}

void print_bytes(struct line *out, const char *extension, struct byte_range r, size_t n)
{
	char separator = extension[1] == 'C' ? ':' : extension[1] == 'D' ? '-' : ' ';

	for (size_t i = 0; i < n && i < r.size; i++) {
		if (i && extension[1] != 'N')
			line_char(out, separator);
		line_hex(out, r.data[i], 2);
	}
}
