/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: a watch is of an inode, so a folder that was replaced needs a new watch. */
#include "railheadd/watch/folder.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define EVENTS                                                                                     \
	(IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |   \
	 IN_MOVE_SELF | IN_ONLYDIR)

struct folder_watch {
	struct folder_watch_conf conf;
	int fd;
	int watch;       /* -1: the folder is not watched */
	struct stat dir; /* the folder that is watched */
	struct event *event;
};

bool folder_watch_renew(struct folder_watch *w)
{
	struct stat now;
	bool is_there = stat(w->conf.path, &now) == 0;

	if (w->watch >= 0 && is_there && now.st_dev == w->dir.st_dev && now.st_ino == w->dir.st_ino)
		return false;
	if (w->watch >= 0)
		(void)inotify_rm_watch(w->fd, w->watch);
	w->watch = is_there ? inotify_add_watch(w->fd, w->conf.path, EVENTS) : -1;
	w->dir = now;
	return w->watch >= 0;
}

/* Which events they are does not matter, nor whether some were lost. */
static void folder_watch_readable(evutil_socket_t fd, short what, void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct folder_watch *w = arg;
	bool any = false;

	(void)what;
	while (read(fd, buf, sizeof(buf)) > 0)
		any = true;
	if (!any)
		return;
	(void)folder_watch_renew(w);
	w->conf.changed(w->conf.arg);
}

int folder_watch_new(const struct folder_watch_conf *conf, struct folder_watch **out, struct err *e)
{
	struct folder_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_nomem(e);
	*w = (struct folder_watch){ .conf = *conf, .watch = -1 };
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0) {
		err_set(e, ERR_IO, errno, "%s: inotify", conf->path);
		folder_watch_free(w);
		return -1;
	}
	w->event = event_new(conf->base, w->fd, EV_READ | EV_PERSIST, folder_watch_readable, w);
	if (!w->event || event_add(w->event, NULL)) {
		folder_watch_free(w);
		return err_nomem(e);
	}
	(void)folder_watch_renew(w);
	*out = w;
	return 0;
}

void folder_watch_free(struct folder_watch *w)
{
	if (!w)
		return;
	if (w->event)
		event_free(w->event);
	if (w->fd >= 0)
		(void)close(w->fd);
	free(w);
}
