/* SPDX-License-Identifier: Apache-2.0 */
/* proto.h: messages of Protocol Buffers as bytes, by protobuf-c. */
#ifndef RAILHEAD_LIB_GRPC_PROTO_H
#define RAILHEAD_LIB_GRPC_PROTO_H

#include <protobuf-c/protobuf-c.h>

#include "lib/base/err.h"

/* Owned by whoever gets it; data NULL: no memory. */
struct proto_bytes {
	uint8_t *data;
	size_t len;
};

/* proto_pack - the bytes of a message. proto_text - a text for it; packing does not change it. */
struct proto_bytes proto_pack(const ProtobufCMessage *m);
static inline char *proto_text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/*
 * proto_unpack - the message of these bytes, which takes at most limit bytes of memory; empty texts
 * need the most. NULL: *e is ERR_DECODE or ERR_NOMEM, and its text begins with what.
 * proto_free - NULL is fine.
 */
struct proto_source {
	const char *what;
	const uint8_t *bytes;
	size_t len, limit;
};
void *proto_unpack(const ProtobufCMessageDescriptor *of, const struct proto_source *from,
		   struct err *e) must_check;
void proto_free(void *message);

#endif
