#include "cmd/trdecode/perf/unwind_registers.h"

#include <string.h>

#include "common/formats/perf.h"
#include "common/util/bytes.h"

/* ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 ... r15 */
static const struct unwind_machine x86_64 = {EM_X86_64, 7, 8, 24, {0,  3,  2,  1,  4,  5,  6,  7,
								   16, -1, -1, -1, -1, -1, -1, -1,
								   8,  9,  10, 11, 12, 13, 14, 15}};
static const struct unwind_machine i386 = {EM_386, 7, 8, 9, {0, 3, 1, 2, 6, 7, 5, 4, 8}};
/* x0 ... x30 sp pc */
static const struct unwind_machine aarch64 = {
	EM_AARCH64, 31, 32, 33, {0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15, 16,
				 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1}};
/* r0 ... r15 */
static const struct unwind_machine arm = {
	EM_ARM, 13, 15, 16, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

const struct unwind_machine *unwind_machine_find(const char *name, uint64_t abi)
{
	bool narrow = abi == PERF_ABI_32;

	if (!name || !strcmp(name, "x86_64"))
		return narrow ? &i386 : &x86_64;
	if (!strcmp(name, "aarch64"))
		return narrow ? &arm : &aarch64;
	if (name[0] == 'i' && !strcmp(name + 2, "86"))
		return &i386;
	return !strncmp(name, "arm", 3) ? &arm : NULL;
}

bool unwind_register(const struct perf_user_state *s, unsigned number, uint64_t *value)
{
	uint64_t bit = (uint64_t)1 << number;

	if (!(s->mask & bit))
		return false;
	*value = get_uint(s->registers + 8 * __builtin_popcountll(s->mask & (bit - 1)), 8,
			  s->big_endian);
	return true;
}

bool unwind_set_registers(const struct unwind_machine *m, const struct perf_user_state *s,
			  Dwfl_Thread *thread)
{
	uint64_t value;

	for (unsigned i = 0; i < m->count; i++) {
		Dwarf_Word word;

		if (m->dwarf[i] < 0 || !unwind_register(s, i, &value))
			continue;
		word = value;
		if (!dwfl_thread_state_registers(thread, m->dwarf[i], 1, &word))
			return false;
	}
	if (!unwind_register(s, m->pc, &value))
		return false;
	dwfl_thread_state_register_pc(thread, value);
	return true;
}
