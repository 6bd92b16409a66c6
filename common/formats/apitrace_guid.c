/*
 * apitrace_guid.c - names of COM identifiers
 */
#include "common/formats/apitrace_guid.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "common/formats/apitrace.h"

enum { UUID_SIZE = 36 };

/* The first 8 characters, as a number in the order of strcmp() */
static inline uint64_t guid_prefix(const char *uuid)
{
	uint64_t n;

	memcpy(&n, uuid, sizeof(n));
	return be64toh(n);
}

static const char *guid_find(const struct apitrace_guid *guids, size_t n, const char *uuid)
{
	uint64_t prefix = guid_prefix(uuid);

	while (n) {
		size_t half = n / 2;
		uint64_t other = guid_prefix(guids[half].uuid);
		int order = prefix != other ? (prefix > other ? 1 : -1)
					    : memcmp(uuid, guids[half].uuid, UUID_SIZE);

		if (!order)
			return guids[half].name;
		if (order > 0) {
			guids += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return NULL;
}

const char *apitrace_guid(const char *uuid)
{
	const char *name;

	if (strlen(uuid) != UUID_SIZE)
		return NULL;
	name = guid_find(apitrace_guids_3d, apitrace_nguids_3d, uuid);
	return name ? name : guid_find(apitrace_guids_2d, apitrace_nguids_2d, uuid);
}
