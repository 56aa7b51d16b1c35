/* SPDX-License-Identifier: Apache-2.0 */
/* socket.h: the sockets of the agent, which one process of a node has. */
#ifndef RAILHEAD_RAILHEADD_SOCKET_H
#define RAILHEAD_RAILHEADD_SOCKET_H

#include "lib/base/ctx.h"
#include "lib/sys/listen.h"

struct agent_socket {
	int fd; /* listens, or gets datagrams; non-blocking */
	char path[LISTEN_PATH_LEN];
};

/*
 * socket_lock - the lock of the node's agent, to be held as long as it runs: a descriptor.
 * ERR_BUSY: another agent runs.
 */
int socket_lock(const struct ctx *ctx, struct err *e) must_check;

/*
 * socket_open - <run_dir>/agent.sock, for root alone. The caller has the lock: a socket that is
 * there was left by a dead agent, and is replaced. socket_close - remove it, and close it (not -1).
 */
int socket_open(const struct ctx *ctx, struct agent_socket *out, struct err *e) must_check;
void socket_close(struct agent_socket *s);

/* socket_open_hints - the same for datagrams: <run_dir>/hint.sock, with SO_PASSCRED. */
int socket_open_hints(const struct ctx *ctx, struct agent_socket *out, struct err *e) must_check;

/* socket_peer_is_root - whether the process that connected is root's, or of our own user. */
bool socket_peer_is_root(int fd);

#endif
