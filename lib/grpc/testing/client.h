/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h: a gRPC client in memory, with several calls at once and answers of any number of
 * messages. HTTP/2 is that of nghttp2. For test programs only.
 */
#ifndef RAILHEAD_LIB_GRPC_TESTING_CLIENT_H
#define RAILHEAD_LIB_GRPC_TESTING_CLIENT_H

#include "lib/base/base.h"

#define TESTING_CALLS_MAX 32

/* What a call has got. */
struct testing_call {
	char headers[512]; /* "name: value\n" of each header and trailer */
	char body[2048];   /* frames of messages, their beginning */
	size_t n_body;     /* all bytes, also those for which body has no room */
	bool closed;
	uint32_t reset; /* the code with which it closed */
};

struct testing_request {
	const char *method, *path, *type; /* NULL: POST, "/", application/grpc */
	const void *body;                 /* frames of messages; NULL: none */
	size_t n_body;
	bool open; /* the request does not end */
};

struct testing_client;

/* testing_client_new - window: bytes that each call takes before it reads them; 0: as usual. */
struct testing_client *testing_client_new(uint32_t window);
void testing_client_free(struct testing_client *c);

/* testing_client_call - begin a call, and return its number, from 0. */
size_t testing_client_call(struct testing_client *c, const struct testing_request *r);
/* testing_client_cancel - as a caller that has gone (RST_STREAM). testing_client_goaway - no more
 * calls will begin (GOAWAY), and those that run go on. */
void testing_client_cancel(struct testing_client *c, size_t call);
void testing_client_goaway(struct testing_client *c);
/* testing_client_read - take as many bytes more from all calls, of a client with a window. */
void testing_client_read(struct testing_client *c, size_t len);

/* testing_client_out - the next bytes for the server; 0: none now. testing_client_in - its bytes.
 */
size_t testing_client_out(struct testing_client *c, const uint8_t **data);
void testing_client_in(struct testing_client *c, const uint8_t *data, size_t len);

/* testing_client_got - valid as long as the client. */
const struct testing_call *testing_client_got(const struct testing_client *c, size_t call);

#endif
