/* SPDX-License-Identifier: Apache-2.0 */
/* socket.c: a lock tells a socket that a dead agent left from one of a living agent. */
#include "railheadd/socket.h"

#include <unistd.h>

#include "ipam/alloc/agent_wire.h"
#include "ipam/alloc/hint.h"
#include "lib/sys/listen.h"
#include "lib/sys/lock.h"
#include "lib/sys/safe_path.h"

int socket_lock(const struct ctx *ctx, struct err *e)
{
	auto_fd int dir = safe_open_dir(ctx->run_dir, SAFE_OWNED | SAFE_CREATE, e);
	int fd = dir < 0 ? -1 : lock_name(dir, "node agent", true, 0, e);

	if (fd >= 0 || dir < 0 || e->code != ERR_AGAIN)
		return fd;
	err_set(e, ERR_BUSY, 0, "%s: another agent runs on this node", ctx->run_dir);
	return err_hint(e, "stop it first: `systemctl stop railheadd`");
}

int socket_open(const struct ctx *ctx, struct agent_socket *out, struct err *e)
{
	struct agent_socket s;

	s.fd = listen_unix(ctx->run_dir, AGENT_SOCKET, s.path, e);
	if (s.fd < 0)
		return -1;
	*out = s;
	return 0;
}

int socket_open_hints(const struct ctx *ctx, struct agent_socket *out, struct err *e)
{
	struct agent_socket s;

	s.fd = listen_datagrams(ctx->run_dir, HINT_SOCKET, s.path, e);
	if (s.fd < 0)
		return -1;
	*out = s;
	return 0;
}

void socket_close(struct agent_socket *s)
{
	if (s->fd >= 0) {
		(void)unlink(s->path);
		(void)close(s->fd);
	}
	s->fd = -1;
}

bool socket_peer_is_root(int fd)
{
	struct err e;

	return peer_check(fd, &e) == 0;
}
