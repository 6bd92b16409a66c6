/*
 * symbols_elf_debuginfod.c - debug files from the servers in DEBUGINFOD_URLS
 *
 * The client's library is loaded only where the variable is set, as libdw does: without servers it
 * is not needed. The client keeps fetched files below ~/.cache/debuginfod_client.
 */
#include "common/symbols/symbols_elf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* of elfutils/debuginfod.h, since 0.178; length 0: the id is hexadecimal */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *id, int length, char **path);
typedef void end_function(void *client);

char *elf_debuginfod_find(const char *build_id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	begin_function *begin;
	find_function *find;
	end_function *end;
	void *library, *client;
	char *path = NULL;
	int fd;

	if (!urls || !*urls)
		return NULL;
	/* not unloaded: it may have threads and handlers of its own */
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NODELETE);
	if (!library)
		return NULL;
	begin = (begin_function *)dlsym(library, "debuginfod_begin");
	find = (find_function *)dlsym(library, "debuginfod_find_debuginfo");
	end = (end_function *)dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		fd = find(client, (const unsigned char *)build_id, 0, &path);
		if (fd >= 0)
			close(fd);
		else
			path = NULL;
		end(client);
	}
	dlclose(library);
	return path;
}
