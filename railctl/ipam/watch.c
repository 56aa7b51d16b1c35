/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: waits for changes of the store's folder with inotify, and shows what a command
 * prints. Several changes within a moment are shown once.
 */
#include "railctl/ipam/watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define DATA_FILE "data.mdb" /* of the store, see ipam/store/lmdb.c */
#define PAUSE_MS  200        /* between two looks at the store */
#define EVENTS    (IN_MODIFY | IN_CREATE | IN_MOVED_TO)
#define CLEAR     "\033[H\033[J" /* to the top, and all below it away */

static int open_watch(struct cmd_run *r, struct err *e)
{
	const struct ctl *ctl = r->own;
	auto_fd int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char dir[PATH_MAX];

	if (ipam_dir(&r->ctx, ctl->data_dir, dir, sizeof(dir), e))
		return -1;
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "watch %.256s", dir);
	if (inotify_add_watch(fd, dir, EVENTS) >= 0)
		return TAKE_FD(fd);
	if (errno == ENOENT)
		return err_set(e, ERR_NOTFOUND, 0, "this node has no store yet: %.256s", dir);
	return err_set(e, ERR_IO, errno, "watch %.256s", dir);
}

/* Read all events. A look at the store writes to its lock file, which is not a change. */
static bool has_changed(int fd)
{
	_Alignas(struct inotify_event) char buf[4096];
	bool changed = false;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (const char *at = buf; at < buf + n;) {
			struct inotify_event event;

			memcpy(&event, at, sizeof(event));
			changed = changed || (event.mask & IN_Q_OVERFLOW) ||
				  (event.len && strcmp(at + sizeof(event), DATA_FILE) == 0);
			at += sizeof(event) + event.len;
		}
	}
	return changed;
}

/* Wait for a change, then for the end of the moment. 1: the reader of the output is gone. */
static int wait_change(int fd, int out)
{
	struct pollfd p[2] = { { fd, POLLIN, 0 }, { out, 0, 0 } };

	do {
		while (poll(p, 2, -1) < 0 && errno == EINTR)
			;
		if (p[1].revents & (POLLERR | POLLHUP))
			return 1;
	} while (!has_changed(fd));
	(void)poll(NULL, 0, PAUSE_MS);
	(void)has_changed(fd);
	return 0;
}

/* Let the command print into a text. */
static int draw_text(struct cmd_run *r, ctl_draw_fn draw, char **out, struct err *e)
{
	FILE *to = r->out.to;
	size_t len;

	r->out.to = open_memstream(out, &len);
	if (!r->out.to) {
		r->out.to = to;
		return err_nomem(e);
	}
	int rc = draw(r, e);
	if (fclose(r->out.to) && rc == 0)
		rc = err_nomem(e);
	r->out.to = to;
	return rc;
}

static int watch_show(struct cmd_run *r, const char *text, bool first, struct err *e)
{
	const char *between = r->out.terminal ? CLEAR : first || r->out.json ? "" : "\n";

	(void)fprintf(r->out.to, "%s%s", between, text);
	return out_finish(&r->out, e);
}

int ctl_watch(struct cmd_run *r, ctl_draw_fn draw, struct err *e)
{
	auto_fd int fd = open_watch(r, e);
	auto_free char *last = NULL;
	int rc = fd < 0 ? -1 : 0;

	while (rc == 0) {
		auto_free char *text = NULL;

		if (draw_text(r, draw, &text, e))
			return -1;
		if (!last || strcmp(last, text) != 0) {
			if (watch_show(r, text, !last, e))
				return -1;
			free(last);
			last = TAKE_PTR(text);
		}
		if (wait_change(fd, fileno(r->out.to)))
			return 0;
	}
	return rc;
}
