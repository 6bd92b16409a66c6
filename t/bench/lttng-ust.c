/*
 * lttng-ust.c - a program that records the kernel's busiest events with LTTng 2, with the fields
 * that they have in a legacy trace: what a present reader is measured with
 *
 * usage: lttng-ust EVENTS [PAUSE]
 *
 * With PAUSE: events that have the numbers from 0 on, and a pause of so many microseconds after
 * each thousand of them.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "t/bench/lttng-ust-events.h"

#include <stdlib.h>
#include <unistd.h>

static void numbered(long n, useconds_t pause)
{
	for (long i = 0; i < n; i++) {
		lttng_ust_tracepoint(kernel, numbered, (uint64_t)i);
		if (pause && i % 1000 == 999)
			usleep(pause);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	uint32_t r = 1;

	if (argc > 2) {
		numbered(n, (useconds_t)atol(argv[2]));
		return 0;
	}
	for (long i = 0; i < n; i++) {
		r = r * 1103515245 + 12345;
		switch (r >> 16 & 7) {
		case 0:
		case 1: lttng_ust_tracepoint(kernel, sched_change, r & 4095, r >> 20, r & 1); break;
		case 2: lttng_ust_tracepoint(kernel, irq_begin, r & 15, r & 1); break;
		case 3: lttng_ust_tracepoint(kernel, irq_end); break;
		case 4:
		case 5:
			lttng_ust_tracepoint(kernel, sysc_begin, r & 255, 0xc0100000 + (r >> 12));
			break;
		default: lttng_ust_tracepoint(kernel, sysc_end, -(int32_t)(r & 15));
		}
	}
	return 0;
}
