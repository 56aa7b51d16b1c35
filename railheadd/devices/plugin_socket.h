/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_socket.h: the socket of one resource in the kubelet's folder, where sockets of other
 * plugins are, too.
 *
 * Nothing there is replaced unless it is a socket of our name and our user at which no process
 * listens: a dead agent left it.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_PLUGIN_SOCKET_H
#define RAILHEAD_RAILHEADD_DEVICES_PLUGIN_SOCKET_H

#include <sys/stat.h>

#include "lib/sys/listen.h"

#define PLUGIN_SOCKET_NAME_LEN 64

struct plugin_socket {
	int fd; /* listens, non-blocking; -1: none */
	char path[LISTEN_PATH_LEN];
	struct stat is; /* of the file that we made */
};

/*
 * plugin_socket_name - the name of the file for a resource: "railhead-rail0-1a2b3c4d.sock", of the
 * part behind the slash and a hash of all. The kubelet gets it as the endpoint.
 */
void plugin_socket_name(const char *resource, char out[PLUGIN_SOCKET_NAME_LEN]);

/*
 * plugin_socket_open - ERR_BUSY: another process listens there, or it is not a socket, or another
 * user's; ERR_NOTFOUND: there is no such folder; ERR_CONFIG: the path is too long; ERR_IO.
 */
int plugin_socket_open(const char *folder, const char *name, struct plugin_socket *out,
		       struct err *e) must_check;

/* plugin_socket_same - both are of one file. plugin_socket_is_there - its file is still the one
 * that we made. */
bool plugin_socket_same(const struct stat *a, const struct stat *b);
bool plugin_socket_is_there(const struct plugin_socket *s);

/* plugin_socket_close - close it, and remove the file if it is ours; -1 is fine. */
void plugin_socket_close(struct plugin_socket *s);

#endif
