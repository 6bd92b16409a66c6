/*
 * perfetto.h - what trencode writes into Perfetto's format for trdecode
 *
 * Viewers make the tracks of CPUs and the states of threads from bundles of ftrace events. Where
 * such an event is also in the trace as an instant or a sample, with more than a bundle can hold,
 * its bundle is of this sequence of packets, and trdecode leaves the bundle out. Sequences of other
 * writers have small numbers.
 */
#ifndef TR_FORMATS_PERFETTO_H
#define TR_FORMATS_PERFETTO_H

enum { PERFETTO_DERIVED_SEQUENCE = 0x74727574 };

/* The mark of a part (part.h) is the name of the session in a packet with a configuration of a
 * trace. The first packet of the file is one, with the mark as it is known at the begin: until=-.
 * The last packet has the whole mark. */
enum { PERFETTO_TRACE_CONFIG = 33, PERFETTO_SESSION_NAME = 22 };

#endif
