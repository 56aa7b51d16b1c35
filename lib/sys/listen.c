/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c: the mode of a unix socket comes from the umask, so that no moment has a weaker one. */
#include "lib/sys/listen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

_Static_assert(LISTEN_PATH_LEN == sizeof(((struct sockaddr_un *)0)->sun_path), "one length");

int listen_at(const struct sockaddr *at, socklen_t len, const char *name, struct err *e)
{
	auto_fd int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0177);
	int yes = 1, rc = -1;

	if (fd >= 0 && (at->sa_family == AF_UNIX ||
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0))
		rc = bind(fd, at, len);
	if (rc == 0)
		rc = listen(fd, BACKLOG);
	(void)umask(mask);
	return rc ? err_set(e, ERR_IO, errno, "%s: listen", name) : TAKE_FD(fd);
}

static int listen_replace(const char *folder, const char *name, struct sockaddr_un *at,
			  struct err *e)
{
	int n = snprintf(at->sun_path, sizeof(at->sun_path), "%s/%s", folder, name);

	at->sun_family = AF_UNIX;
	if (n < 0 || (size_t)n >= sizeof(at->sun_path))
		return err_set(e, ERR_CONFIG, 0, "%.200s/%s: the path is too long", folder, name);
	if (unlink(at->sun_path) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "%s", at->sun_path);
	return 0;
}

int listen_unix(const char *folder, const char *name, char path[LISTEN_PATH_LEN], struct err *e)
{
	struct sockaddr_un at = { 0 };

	if (listen_replace(folder, name, &at, e))
		return -1;
	memcpy(path, at.sun_path, LISTEN_PATH_LEN);
	return listen_at((struct sockaddr *)&at, sizeof(at), path, e);
}

int listen_datagrams(const char *folder, const char *name, char path[LISTEN_PATH_LEN],
		     struct err *e)
{
	auto_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at = { 0 };
	int yes = 1, rc = -1;
	mode_t mask;

	if (listen_replace(folder, name, &at, e))
		return -1;
	memcpy(path, at.sun_path, LISTEN_PATH_LEN);
	mask = umask(0177);
	/* Before the first datagram can come. */
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0)
		rc = bind(fd, (struct sockaddr *)&at, sizeof(at));
	(void)umask(mask);
	return rc ? err_set(e, ERR_IO, errno, "%s: receive", path) : TAKE_FD(fd);
}

/* The kernel noted the user when the socket was connected: unix(7). */
int peer_check(int fd, struct err *e)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return err_set(e, ERR_IO, errno, "who listens there");
	if (peer.uid == 0 || peer.uid == geteuid())
		return 0;
	return err_set(e, ERR_FORBIDDEN, 0, "user %u listens there, not root", peer.uid);
}
