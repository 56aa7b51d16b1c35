/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unary.h: one unary gRPC call as a client, without system calls: bytes from the peer go in, bytes
 * for the peer come out.
 *
 * The connection carries this one call: HTTP/2 with prior knowledge, as gRPC over a unix socket
 * has it (PROTOCOL-HTTP2.md of gRPC). An error of grpc_unary_in or grpc_unary_out ends the call.
 */
#ifndef RAILHEAD_LIB_GRPC_UNARY_H
#define RAILHEAD_LIB_GRPC_UNARY_H

#include "lib/grpc/status.h"

struct grpc_request {
	const char *path;       /* "/package.Service/Method" */
	const uint8_t *message; /* encoded; NULL with len 0 */
	uint32_t len;
	size_t max_answer;   /* bytes of the answer's message */
	uint32_t timeout_ms; /* for the peer, which gives up then; at least 1 */
};

struct grpc_answer {
	struct grpc_status status;
	uint8_t *message; /* owned; NULL unless the status is GRPC_OK and there are bytes */
	size_t len;
};

void grpc_answer_clear(struct grpc_answer *a);
#define auto_grpc_answer auto_clean(grpc_answer_clear)

struct grpc_unary;

/* grpc_unary_new - begin a call; the request is borrowed until grpc_unary_free. ERR_NOMEM. */
int grpc_unary_new(const struct grpc_request *r, struct grpc_unary **out, struct err *e) must_check;
void grpc_unary_free(struct grpc_unary *u);

/*
 * grpc_unary_out - the next bytes for the peer, valid until the next call of a function here; *len
 * 0: there are none until something arrives. ERR_IO, ERR_NOMEM.
 */
int grpc_unary_out(struct grpc_unary *u, const uint8_t **data, size_t *len,
		   struct err *e) must_check;

/*
 * grpc_unary_in - bytes from the peer. ERR_IO: they are not the HTTP/2 or gRPC of a server, or the
 * message is too long; ERR_NOMEM.
 */
int grpc_unary_in(struct grpc_unary *u, const uint8_t *data, size_t len, struct err *e) must_check;

/* grpc_unary_is_done - the peer has ended the call. */
bool grpc_unary_is_done(const struct grpc_unary *u);

/*
 * grpc_unary_take - of a call that is done: the answer, which the caller clears. Only one call.
 * ERR_IO: the peer gave no status, or the status is GRPC_OK and the message is not whole.
 */
int grpc_unary_take(struct grpc_unary *u, struct grpc_answer *out, struct err *e) must_check;

static inline void grpc_unary_free_at(struct grpc_unary **u)
{
	grpc_unary_free(*u);
}
#define auto_grpc_unary auto_clean(grpc_unary_free_at)

#endif
