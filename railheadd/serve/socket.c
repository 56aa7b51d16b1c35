/* SPDX-License-Identifier: Apache-2.0 */
/* socket.c: a lock tells a socket that a dead agent left from one of a living agent. */
#include "railheadd/serve/socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipam/agent/agent_wire.h"
#include "lib/sys/lock.h"
#include "lib/sys/safe_path.h"

#define BACKLOG 128

_Static_assert(SOCKET_PATH_LEN == sizeof(((struct sockaddr_un *)0)->sun_path), "one length");

int socket_lock(const struct ctx *ctx, struct err *e)
{
	auto_fd int dir = safe_open_dir(ctx->run_dir, SAFE_OWNED | SAFE_CREATE, e);
	int fd = dir < 0 ? -1 : lock_name(dir, "node agent", true, 0, e);

	if (fd >= 0 || dir < 0 || e->code != ERR_AGAIN)
		return fd;
	err_set(e, ERR_BUSY, 0, "%s: another agent runs on this node", ctx->run_dir);
	return err_hint(e, "stop it first: `systemctl stop railheadd`");
}

static int listen_at(const char *path, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int rc;

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "socket");
	memcpy(at.sun_path, path, sizeof(at.sun_path));
	if (unlink(path) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "%s", path);
	mask = umask(0177);
	rc = bind(fd, (struct sockaddr *)&at, sizeof(at));
	(void)umask(mask);
	if (rc || listen(fd, BACKLOG))
		return err_set(e, ERR_IO, errno, "%s: listen", path);
	return TAKE_FD(fd);
}

int socket_open(const struct ctx *ctx, struct agent_socket *out, struct err *e)
{
	struct agent_socket s = { .fd = -1 };
	int n = snprintf(s.path, sizeof(s.path), "%s/" AGENT_SOCKET, ctx->run_dir);

	if (n < 0 || (size_t)n >= sizeof(s.path))
		return err_set(e, ERR_CONFIG, 0, "%.200s/" AGENT_SOCKET ": the path is too long",
			       ctx->run_dir);
	s.fd = listen_at(s.path, e);
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
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}
