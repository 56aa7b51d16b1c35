/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h: files that come to a folder, go from it or are written, by inotify on the event
 * loop. The folder itself may be missing, and may be replaced.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_FOLDER_H
#define RAILHEAD_RAILHEADD_WATCH_FOLDER_H

#include "lib/base/err.h"

struct event_base;
struct folder_watch;

/* Everything is borrowed. changed(arg) is called after that; it looks itself which.
 */
struct folder_watch_conf {
	struct event_base *base;
	const char *path;
	void (*changed)(void *arg);
	void *arg;
};

/* folder_watch_new - ERR_IO, ERR_NOMEM. folder_watch_free - NULL is fine. */
int folder_watch_new(const struct folder_watch_conf *conf, struct folder_watch **out,
		     struct err *e) must_check;
void folder_watch_free(struct folder_watch *w);

/*
 * folder_watch_renew - if the folder was missing, or is another one, watch the present one. To be
 * called from time to time. True: it is watched now and was not before, so files may have come.
 */
bool folder_watch_renew(struct folder_watch *w);

#endif
