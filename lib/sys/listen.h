/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h: listening sockets of a daemon: non-blocking, closed at an exec. And who is at the other
 * end of a unix socket.
 */
#ifndef RAILHEAD_LIB_SYS_LISTEN_H
#define RAILHEAD_LIB_SYS_LISTEN_H

#include <sys/socket.h>

#include "lib/base/err.h"

#define LISTEN_PATH_LEN 108 /* of struct sockaddr_un */

/*
 * listen_unix - a unix socket folder/name, for root alone. A socket that is there is replaced: the
 * caller knows that no process listens at it. path is set as soon as the old one is gone. Returns a
 * descriptor, or -1. ERR_CONFIG: the path is too long. ERR_IO.
 */
int listen_unix(const char *folder, const char *name, char path[LISTEN_PATH_LEN],
		struct err *e) must_check;

/* listen_datagrams - the same for datagrams, each of which comes with its sender (SO_PASSCRED). */
int listen_datagrams(const char *folder, const char *name, char path[LISTEN_PATH_LEN],
		     struct err *e) must_check;

/* listen_at - any address of len bytes; name is for errors. Returns a descriptor, or -1: ERR_IO. */
int listen_at(const struct sockaddr *at, socklen_t len, const char *name, struct err *e) must_check;

/*
 * peer_check - 0: the other end of a connected unix socket is a process of root, or of the
 * caller's own user. ERR_FORBIDDEN: it is another user's; the message says so of a server, without
 * the path. ERR_IO.
 */
int peer_check(int fd, struct err *e) must_check;

#endif
