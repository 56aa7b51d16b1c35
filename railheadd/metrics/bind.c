/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c: makes listening sockets; libevent reads addresses, so that IPv6 needs no code here. */
#include "railheadd/metrics/bind.h"

#include <errno.h>
#include <event2/util.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

_Static_assert(BIND_PATH_LEN == sizeof(((struct sockaddr_un *)0)->sun_path), "one length");

static int bind_at(const struct sockaddr *at, int len, const char *name, struct err *e)
{
	auto_fd int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0177);
	int yes = 1, rc = -1;

	if (fd >= 0 && (at->sa_family == AF_UNIX ||
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0))
		rc = bind(fd, at, (socklen_t)len);
	if (rc == 0)
		rc = listen(fd, BACKLOG);
	(void)umask(mask);
	return rc ? err_set(e, ERR_IO, errno, "%s: listen", name) : TAKE_FD(fd);
}

int bind_socket(const struct ctx *ctx, char path[BIND_PATH_LEN], struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" BIND_SOCKET, ctx->run_dir);

	if (n < 0 || (size_t)n >= sizeof(at.sun_path))
		return err_set(e, ERR_CONFIG, 0, "%.200s/" BIND_SOCKET ": the path is too long",
			       ctx->run_dir);
	if (unlink(at.sun_path) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "%s", at.sun_path);
	memcpy(path, at.sun_path, BIND_PATH_LEN);
	return bind_at((struct sockaddr *)&at, sizeof(at), path, e);
}

int bind_port(const char *port, struct err *e)
{
	struct sockaddr_storage at = { 0 };
	int len = sizeof(at);

	if (strrchr(port, ':') && !evutil_parse_sockaddr_port(port, (struct sockaddr *)&at, &len))
		return bind_at((struct sockaddr *)&at, len, port, e);
	err_set(e, ERR_CONFIG, 0, "metrics.listen: \"%.80s\" is not an address with a port", port);
	return err_hint(e, "write it as \"127.0.0.1:9750\" or \"[::]:9750\"");
}
