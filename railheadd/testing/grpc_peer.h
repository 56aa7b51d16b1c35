/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_peer.h: a gRPC client at a unix socket, on the event loop of a test. */
#ifndef RAILHEAD_RAILHEADD_TESTING_GRPC_PEER_H
#define RAILHEAD_RAILHEADD_TESTING_GRPC_PEER_H

#include "lib/grpc/testing/client.h"

struct event;
struct event_base;

struct grpc_peer {
	struct testing_client *client;
	struct event *event;
	int fd;
	bool ended;                      /* the server has closed the connection */
	const struct testing_call *call; /* the last one */
	size_t number;                   /* of the last call */
	size_t want;                     /* bytes of its answer */
};

/* grpc_peer_join - connect to the socket at path. grpc_peer_leave - close, also after the end. */
void grpc_peer_join(struct grpc_peer *p, struct event_base *base, const char *path);
void grpc_peer_leave(struct grpc_peer *p);

/* grpc_peer_call - begin a call; r is borrowed until its end. want: bytes for _has_answer. */
void grpc_peer_call(struct grpc_peer *p, const struct testing_request *r, size_t want);

/* grpc_peer_cancel - reset the stream of the last call. grpc_peer_goaway - no more calls come. */
void grpc_peer_cancel(struct grpc_peer *p);
void grpc_peer_goaway(struct grpc_peer *p);

/* Conditions for loop_until(), of a struct grpc_peer: the last call has its bytes; it has ended;
 * the connection has ended. */
bool grpc_peer_has_answer(const void *peer);
bool grpc_peer_call_ended(const void *peer);
bool grpc_peer_has_ended(const void *peer);

#endif
