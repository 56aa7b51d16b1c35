/* SPDX-License-Identifier: Apache-2.0 */
/* temp.h: a private temporary folder, removed also if its maker is killed. */
#ifndef RAILHEAD_TOPO_CAPTURE_TEMP_H
#define RAILHEAD_TOPO_CAPTURE_TEMP_H

#include <sys/types.h>

#include "lib/base/err.h"

struct temp_dir {
	char *path;   /* owned; NULL: there is none */
	pid_t keeper; /* the process that removes it; 0: none */
	int alive;    /* the keeper waits until this pipe is closed */
};

/*
 * temp_dir_make - make a folder of mode 0700 below $TMPDIR or /tmp. A process is started that
 * removes the folder when its maker clears it, ends, or is killed.
 */
int temp_dir_make(struct temp_dir *out, struct err *e) must_check;
/* temp_dir_clear - remove the folder; waits until it is removed. */
void temp_dir_clear(struct temp_dir *t);
#define auto_temp_dir auto_clean(temp_dir_clear)

#endif
