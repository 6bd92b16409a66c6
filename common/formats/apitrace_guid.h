/*
 * apitrace_guid.h - the tables of apitrace_guid()
 */
#ifndef TR_FORMATS_APITRACE_GUID_H
#define TR_FORMATS_APITRACE_GUID_H

#include <stddef.h>

/* The name of one identifier. */
struct apitrace_guid {
	const char *uuid; /* as "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
	const char *name;
};

/* Both sorted by uuid */
extern const struct apitrace_guid apitrace_guids_3d[], apitrace_guids_2d[];
extern const size_t apitrace_nguids_3d, apitrace_nguids_2d;

#endif
