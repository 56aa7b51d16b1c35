/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h: the frame of one message on a gRPC stream: a flag (0: not compressed), four bytes of
 * length, most significant first, and the message. Pure.
 */
#ifndef RAILHEAD_LIB_GRPC_MESSAGE_H
#define RAILHEAD_LIB_GRPC_MESSAGE_H

#include "lib/base/err.h"

#define GRPC_PREFIX_LEN 5

/* The one message that a unary call sends or answers, as far as it has arrived. */
struct grpc_message {
	size_t max; /* the longest message that is accepted; set by the owner */
	uint8_t prefix[GRPC_PREFIX_LEN];
	size_t n_prefix;
	uint32_t len;  /* valid once the prefix is complete */
	uint8_t *data; /* owned; grows with what arrives, not with what is announced */
	size_t n;
};

/*
 * grpc_message_add - take the next bytes of the stream. ERR_IO: the message is compressed, is
 * longer than max, or a second one follows. ERR_NOMEM.
 */
int grpc_message_add(struct grpc_message *m, const uint8_t *bytes, size_t n,
		     struct err *e) must_check;

/* grpc_message_is_whole - the prefix and all bytes that it announces have arrived. */
bool grpc_message_is_whole(const struct grpc_message *m);

/* grpc_message_prefix - write the prefix of a message of len bytes. */
void grpc_message_prefix(uint32_t len, uint8_t out[GRPC_PREFIX_LEN]);

void grpc_message_clear(struct grpc_message *m);
#define auto_grpc_message auto_clean(grpc_message_clear)

#endif
