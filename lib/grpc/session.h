/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: one connection of a gRPC server, without system calls: bytes of the client go in,
 * bytes for it come out.
 *
 * A call has one message as its request. Its answer is one message or several, and then a status.
 * HTTP/2 with prior knowledge, as gRPC over a unix socket has it (PROTOCOL-HTTP2.md of gRPC). An
 * error of grpc_session_in or grpc_session_out ends the connection.
 *
 * The client decides how long it waits: a call that it gives up is gone.
 */
#ifndef RAILHEAD_LIB_GRPC_SESSION_H
#define RAILHEAD_LIB_GRPC_SESSION_H

#include "lib/grpc/status.h"

struct grpc_session;
struct grpc_call; /* of a client; it belongs to its session */

/* Begins a call, and ends it now or later. The message is borrowed until the function returns. */
typedef void (*grpc_call_fn)(void *arg, struct grpc_call *call, const uint8_t *message, size_t len);

struct grpc_method {
	const char *path; /* "/package.Service/Method"; NULL: the end of the table */
	grpc_call_fn fn;
};

struct grpc_service {
	const struct grpc_method *methods;
	size_t max_request; /* bytes of a request's message */
	uint32_t max_calls; /* of one connection at a time */
};

/*
 * Of one connection. All is borrowed until grpc_session_free. arg is handed to the methods. wake is
 * called when there may be new bytes for the client; it must not call the session.
 */
struct grpc_session_conf {
	const struct grpc_service *service;
	void *arg;
	void (*wake)(void *waker);
	void *waker;
};

/* grpc_session_new - ERR_NOMEM. grpc_session_free - its calls are gone; not within a method. */
int grpc_session_new(const struct grpc_session_conf *conf, struct grpc_session **out,
		     struct err *e) must_check;
void grpc_session_free(struct grpc_session *s);

/* grpc_session_in - bytes of the client. ERR_IO: they are no HTTP/2; ERR_NOMEM. */
int grpc_session_in(struct grpc_session *s, const uint8_t *data, size_t len,
		    struct err *e) must_check;

/*
 * grpc_session_out - the next bytes for the client, valid until the next call of a function here;
 * *len 0: there are none now. ERR_NOMEM, ERR_IO.
 */
int grpc_session_out(struct grpc_session *s, const uint8_t **data, size_t *len,
		     struct err *e) must_check;

/* grpc_session_is_over - once its last bytes are sent, the connection is to be closed. */
bool grpc_session_is_over(const struct grpc_session *s);

/* ---- of a call ---- */

/*
 * grpc_call_send - a message of the answer, which is copied. If the one before has not begun to be
 * sent, the new one takes its place: a client that reads slowly misses what is out of date. -1: no
 * memory; the connection ends then.
 */
int grpc_call_send(struct grpc_call *c, const uint8_t *message, size_t len) must_check;

/*
 * grpc_call_end - the status, behind the message that waits. grpc_call_answer - one message, and
 * GRPC_OK. grpc_call_refuse - the status of an error. The caller forgets the call then.
 */
void grpc_call_end(struct grpc_call *c, const struct grpc_status *status);
void grpc_call_answer(struct grpc_call *c, const uint8_t *message, size_t len);
void grpc_call_refuse(struct grpc_call *c, const struct err *why);

/* grpc_call_later - if the call is gone before its end, gone(what) is called, once. */
void grpc_call_later(struct grpc_call *c, void (*gone)(void *what), void *what);

static inline void grpc_session_free_at(struct grpc_session **s)
{
	grpc_session_free(*s);
}
#define auto_grpc_session auto_clean(grpc_session_free_at)

#endif
