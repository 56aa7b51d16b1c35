/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_server.h: a gRPC server at a unix socket, on the event loop.
 *
 * Only root may call, and the agent's own user: the peer's credentials are compared. Connections
 * have a limit, and so has what waits for a client that does not read.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_GRPC_SERVER_H
#define RAILHEAD_RAILHEADD_DEVICES_GRPC_SERVER_H

#include "lib/base/ctx.h"
#include "lib/grpc/proto.h"
#include "lib/grpc/session.h"
#include "railheadd/devices/plugin_socket.h"

struct event_base;
struct grpc_server;

#define GRPC_CONNECTIONS_MAX 8

/* Everything is borrowed. arg is handed to the methods of the service. */
struct grpc_server_conf {
	struct event_base *base;
	const struct ctx *ctx;
	const char *path; /* of the socket, for the log */
	const struct grpc_service *service;
	void *arg;
};

/*
 * grpc_server_new - serve at fd, which listens, is non-blocking, and stays the caller's. ERR_NOMEM.
 * grpc_server_free - its calls are gone. Clients get what waits for them, as far as they can take
 * it at once. Not within a method; NULL is fine.
 */
int grpc_server_new(const struct grpc_server_conf *conf, int fd, struct grpc_server **out,
		    struct err *e) must_check;
void grpc_server_free(struct grpc_server *s);

/* A server at a socket in a folder of the kubelet. */
struct grpc_listener {
	struct plugin_socket socket; /* fd -1: none; a new listener has that */
	struct grpc_server *server;  /* NULL: it does not serve */
};

/* grpc_listen - conf->path is that of the socket, whatever it was. Errors as of
 * plugin_socket_open(). grpc_unlisten - one that does not serve is fine. */
int grpc_listen(const char *folder, const char *name, struct grpc_server_conf *conf,
		struct grpc_listener *out, struct err *e) must_check;
void grpc_unlisten(struct grpc_listener *l);

/* grpc_answer - grpc_call_answer() with a message, which is freed. No memory: refuse the call. */
void grpc_answer(struct grpc_call *call, struct proto_bytes m);

#endif
