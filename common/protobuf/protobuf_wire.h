/*
 * protobuf_wire.h - the wire types of Protocol Buffers
 */
#ifndef TR_PROTOBUF_PROTOBUF_WIRE_H
#define TR_PROTOBUF_PROTOBUF_WIRE_H

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_LENGTH = 2,
	PROTOBUF_FIXED32 = 5,
};

#endif
