/*
 * lttng-ust-events.h - tracepoints of lttng-ust.c, as lttng-ust(3) wants them
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kernel

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng-ust-events.h"

#if !defined(LTTNG_UST_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_UST_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	kernel, sched_change, LTTNG_UST_TP_ARGS(int32_t, prev, int32_t, next, int32_t, state),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, prev_pid, prev)
				    lttng_ust_field_integer(int32_t, next_pid, next)
					    lttng_ust_field_integer(int32_t, prev_state, state)))
LTTNG_UST_TRACEPOINT_EVENT(kernel, irq_begin, LTTNG_UST_TP_ARGS(uint32_t, irq, uint32_t, mode),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, irq_id, irq)
						       lttng_ust_field_integer(uint32_t,
									       kernel_mode, mode)))
LTTNG_UST_TRACEPOINT_EVENT(kernel, irq_end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(kernel, sysc_begin, LTTNG_UST_TP_ARGS(int32_t, id, uint32_t, address),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, syscall_id, id)
						       lttng_ust_field_integer_hex(uint32_t, ip,
										   address)))
LTTNG_UST_TRACEPOINT_EVENT(kernel, sysc_end, LTTNG_UST_TP_ARGS(int32_t, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, ret, value)))

LTTNG_UST_TRACEPOINT_EVENT(kernel, numbered, LTTNG_UST_TP_ARGS(uint64_t, n),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, n)))

#endif

#include <lttng/tracepoint-event.h>
