/*
 * callers.h - the stacks of callers that were met before
 *
 * Most samples of a program have callers that an earlier sample had; only the innermost frame
 * differs. The stack of the callers is then found by one digest of all their addresses, not frame
 * by frame. Without it, trdecode takes 1.2 times the CPU, and 2 times where threads have tens of
 * thousands of stacks.
 *
 * The digest has 128 bits and a secret key (NH of RFC 4418, with words of 64 bits): two different
 * lists of as many addresses have the same one with a probability of 2^-64, whatever a file holds.
 */
#ifndef TR_TRDECODE_PERF_CALLERS_H
#define TR_TRDECODE_PERF_CALLERS_H

#include <stddef.h>
#include <stdint.h>

enum { CALLERS_NUMBERS = 4, CALLERS_MOST = 252 };

struct callers_digest {
	uint64_t low, high;
};

/* The cached stacks: 1.5 MB. */
struct callers;

struct callers *callers_new(void); /* NULL: out of memory */
void callers_free(struct callers *c);
/* Digest n <= CALLERS_MOST addresses of 8 bytes each, and the numbers on which their stack depends
 * too. One of the numbers is n. */
struct callers_digest callers_digest(const struct callers *c, const uint8_t *addresses, size_t n,
				     const uint64_t numbers[CALLERS_NUMBERS]);
/* Find a stack; 0: it is not known. */
uint32_t callers_find(const struct callers *c, struct callers_digest digest);
void callers_put(struct callers *c, struct callers_digest digest, uint32_t stack);

#endif
