/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h: a gRPC server that gives each unary call the same answer: in memory, or at a unix
 * socket. HTTP/2 is that of nghttp2.
 */
#ifndef RAILHEAD_LIB_GRPC_TESTING_SERVER_H
#define RAILHEAD_LIB_GRPC_TESTING_SERVER_H

#include <sys/types.h>

#include "lib/base/base.h"

struct grpc_script {
	const char *http_status;  /* NULL: "200" */
	const char *content_type; /* NULL: "application/grpc"; "": none */
	const void *body;         /* with its frame; NULL: the headers end the call */
	size_t n_body;
	const char *status, *text; /* grpc-status and grpc-message; NULL: none */
	uint32_t reset;            /* not 0: RST_STREAM with this code instead of an answer */
	bool silent;               /* take the call, and never answer it */
	unsigned busy;             /* so many calls are refused first, as by a rate limit */
};

/* testing_grpc_frame - body of one message: prefix and bytes, in a static buffer of 256. */
const void *testing_grpc_frame(const void *message, uint8_t len);

struct testing_grpc; /* one connection of the server */

/* testing_grpc_new - a connection that answers as the script says. testing_grpc_free - end it. */
struct testing_grpc *testing_grpc_new(const struct grpc_script *s);
void testing_grpc_free(struct testing_grpc *g);
/* testing_grpc_in - bytes of the client. testing_grpc_out - the next ones for it; 0: none now. */
void testing_grpc_in(struct testing_grpc *g, const uint8_t *data, size_t len);
size_t testing_grpc_out(struct testing_grpc *g, const uint8_t **data);
/* testing_grpc_seen - the headers of the calls, a line "name: value" each. */
const char *testing_grpc_seen(const struct testing_grpc *g);

/*
 * testing_grpc_serve - serve at this path in a child, one connection after the other. Returns its
 * pid; testing_grpc_stop ends it. testing_grpc_raw - the same, but each client gets these bytes,
 * and then the connection stays open, or is closed.
 */
pid_t testing_grpc_serve(const char *path, const struct grpc_script *s);
pid_t testing_grpc_raw(const char *path, const void *bytes, size_t len, bool close_it);
void testing_grpc_stop(pid_t child);

#endif
