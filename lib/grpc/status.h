/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: how a gRPC call ends: its code, and the text of the header grpc-message. Pure. */
#ifndef RAILHEAD_LIB_GRPC_STATUS_H
#define RAILHEAD_LIB_GRPC_STATUS_H

#include "lib/base/err.h"

/* Codes of gRPC (grpc/doc/statuscodes.md). A peer may send others. */
enum grpc_code {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
};

#define GRPC_TEXT_LEN    256
#define GRPC_ENCODED_LEN (3 * GRPC_TEXT_LEN)

struct grpc_status {
	uint32_t code;
	char text[GRPC_TEXT_LEN]; /* decoded, cut at a character boundary; may be empty */
};

/* grpc_status_name - "UNAVAILABLE"; "unknown" for a code that gRPC does not define. */
const char *grpc_status_name(uint32_t code);

/* grpc_status_parse - the value of grpc-status, len digits. -1: it is not a number. */
int grpc_status_parse(const char *value, size_t len, uint32_t *out) must_check;

/*
 * grpc_status_text - the value of grpc-message, len bytes with %XX for some. A broken escape stays
 * as it is (PROTOCOL-HTTP2.md of gRPC asks for that). Control characters and bytes that are not
 * UTF-8 become '?'.
 */
void grpc_status_text(const char *value, size_t len, char out[GRPC_TEXT_LEN]);

/* grpc_status_encode - text as the value of grpc-message: %XX for what is not printable ASCII. */
void grpc_status_encode(const char *text, char out[GRPC_ENCODED_LEN]);

/*
 * grpc_status_of - the status that tells a client of an error: UNAVAILABLE if a later call can
 * succeed, INVALID_ARGUMENT, NOT_FOUND or FAILED_PRECONDITION of what it asks for, else INTERNAL.
 */
void grpc_status_of(const struct err *e, struct grpc_status *out);

/* grpc_status_error - "status 14 (UNAVAILABLE): text", as ERR_AGAIN if a later call can succeed,
 * else ERR_IO. Returns -1. */
int grpc_status_error(const struct grpc_status *s, struct err *e);

#endif
