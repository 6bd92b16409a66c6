#include "common/util/status.h"

static int badness(int status)
{
	switch (status) {
	case STATUS_OK: return 0;
	case STATUS_CONDITION: return 1;
	case STATUS_DAMAGED: return 2;
	default: return 3;
	}
}

int status_worse(int a, int b)
{
	return badness(a) >= badness(b) ? a : b;
}
