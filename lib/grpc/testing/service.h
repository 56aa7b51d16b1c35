/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h: a service of three methods for tests of a gRPC server: Echo answers with the
 * request, Fail refuses, Watch answers with the request and does not end. For test programs and
 * fuzz targets only.
 */
#ifndef RAILHEAD_LIB_GRPC_TESTING_SERVICE_H
#define RAILHEAD_LIB_GRPC_TESTING_SERVICE_H

#include "lib/grpc/session.h"

struct testing_service {
	struct grpc_call *waits; /* the last one of Watch; NULL: none, or gone */
	unsigned begun;          /* calls, but not of Fail */
	unsigned open;           /* of Watch that have not ended */
	unsigned gone, woken;
};

static inline void testing_service_gone(void *what)
{
	struct testing_service *s = what;

	s->gone++;
	s->open--;
	s->waits = NULL;
}

static inline void testing_service_wake(void *waker)
{
	((struct testing_service *)waker)->woken++;
}

static inline void testing_service_echo(void *arg, struct grpc_call *call, const uint8_t *message,
					size_t len)
{
	((struct testing_service *)arg)->begun++;
	grpc_call_answer(call, message, len);
}

static inline void testing_service_fail(void *arg, struct grpc_call *call, const uint8_t *message,
					size_t len)
{
	struct err e;

	(void)arg;
	(void)message;
	(void)len;
	err_set(&e, ERR_NOTFOUND, 0, "no device \"%%1\" of \xc3\xbc");
	grpc_call_refuse(call, &e);
}

static inline void testing_service_watch(void *arg, struct grpc_call *call, const uint8_t *message,
					 size_t len)
{
	struct testing_service *s = arg;

	s->begun++;
	s->open++;
	s->waits = call;
	grpc_call_later(call, testing_service_gone, s);
	(void)!grpc_call_send(call, message, len);
}

#define TESTING_REQUEST_MAX 32 /* bytes */
#define TESTING_CALLS       4  /* of a connection */

/* testing_service_conf - of a session; s is borrowed. */
static inline struct grpc_session_conf testing_service_conf(struct testing_service *s)
{
	static const struct grpc_method methods[] = { { "/t.S/Echo", testing_service_echo },
						      { "/t.S/Fail", testing_service_fail },
						      { "/t.S/Watch", testing_service_watch },
						      { NULL, NULL } };
	static const struct grpc_service service = { methods, TESTING_REQUEST_MAX, TESTING_CALLS };

	return (struct grpc_session_conf){ &service, s, testing_service_wake, s };
}

#endif
