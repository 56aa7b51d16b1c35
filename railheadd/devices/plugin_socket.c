/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_socket.c: whether a file in a folder that is not ours may be replaced. */
#include "railheadd/devices/plugin_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/hash.h"

#define TRIES 3 /* a dead agent's socket is removed, and another process may be quicker */

void plugin_socket_name(const char *resource, char out[PLUGIN_SOCKET_NAME_LEN])
{
	const char *slash = strchr(resource, '/');

	(void)snprintf(out, PLUGIN_SOCKET_NAME_LEN, "railhead-%.32s-%08x.sock",
		       slash ? slash + 1 : resource, (uint32_t)hash_add_text(HASH_START, resource));
}

/* A file system may give the number of a removed file to the next one. */
bool plugin_socket_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool is_listened_at(const struct sockaddr_un *at)
{
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* Every other error may mean that a process listens: EAGAIN if many clients wait. */
	return fd < 0 || connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 ||
	       errno != ECONNREFUSED;
}

static int remove_dead(const struct sockaddr_un *at, struct err *e)
{
	struct stat st, now;

	if (lstat(at->sun_path, &st))
		return errno == ENOENT ? 0 : err_set(e, ERR_IO, errno, "%s", at->sun_path);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return err_set(e, ERR_BUSY, 0, "%s: it is %s; it is left alone", at->sun_path,
			       S_ISSOCK(st.st_mode) ? "another user's" : "not a socket");
	if (is_listened_at(at))
		return err_set(e, ERR_BUSY, 0,
			       "%s: another process listens there; it is left alone", at->sun_path);
	if (lstat(at->sun_path, &now) || !plugin_socket_same(&st, &now))
		return 0;
	if (unlink(at->sun_path) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "%s", at->sun_path);
	return 0;
}

static int open_at(const struct sockaddr_un *at, struct err *e)
{
	int fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = listen_at((const struct sockaddr *)at, sizeof(*at), at->sun_path, e);
		if (fd >= 0 || e->errnum != EADDRINUSE)
			break;
		if (remove_dead(at, e))
			return -1;
	}
	if (fd < 0 && e->errnum == ENOENT)
		e->code = ERR_NOTFOUND;
	return fd;
}

int plugin_socket_open(const char *folder, const char *name, struct plugin_socket *out,
		       struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", folder, name);
	struct plugin_socket s;

	if (n < 0 || (size_t)n >= sizeof(at.sun_path))
		return err_set(e, ERR_CONFIG, 0,
			       "%.200s/%s: the path of a socket may have %zu bytes", folder, name,
			       sizeof(at.sun_path) - 1);
	s.fd = open_at(&at, e);
	if (s.fd < 0)
		return -1;
	memcpy(s.path, at.sun_path, sizeof(s.path));
	/* The kubelet may have removed it already: then it is not there. */
	if (lstat(s.path, &s.is))
		s.is = (struct stat){ .st_ino = 0 };
	*out = s;
	return 0;
}

bool plugin_socket_is_there(const struct plugin_socket *s)
{
	struct stat now;

	return s->fd >= 0 && lstat(s->path, &now) == 0 && plugin_socket_same(&now, &s->is);
}

void plugin_socket_close(struct plugin_socket *s)
{
	if (s->fd < 0)
		return;
	if (plugin_socket_is_there(s))
		(void)unlink(s->path);
	(void)close(s->fd);
	s->fd = -1;
}
