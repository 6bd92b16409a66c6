/*
 * ctf.h - what trencode adds to a trace of CTF, and trdecode reads back
 *
 * The variable tracer_name of env is "trencode". model.emf.uri of an event class is
 * urn:trutils:ROLE:FLAG...#GROUP, where the role is enter, leave, instant, gap or event.
 * The string field args has the arguments of an event as an object of JSON. For each function with
 * named arguments, a variable of env has an array of JSON: the name of the function, then those of
 * its arguments.
 */
#ifndef TR_FORMATS_CTF_H
#define TR_FORMATS_CTF_H

/* The name of these variables, before a number. */
#define CTF_ARGUMENTS "arguments_"
/* The role of the counter of lost events in a packet of CTF 2. */
#define CTF2_DISCARDED "discarded-event-record-counter-snapshot"

#endif
