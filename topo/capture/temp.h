/* SPDX-License-Identifier: Apache-2.0 */
/* temp.h: a private folder for a while. */
#ifndef RAILHEAD_TOPO_CAPTURE_TEMP_H
#define RAILHEAD_TOPO_CAPTURE_TEMP_H

#include <sys/types.h>

#include "lib/base/err.h"

struct temp_dir {
	char *path;   /* owned; NULL: there is none */
	pid_t keeper; /* the process that removes it; 0: none */
	int alive;    /* while it is open the keeper waits */
};

/*
 * temp_dir_make - below $TMPDIR or /tmp, of mode 0700. A process waits for its maker to be done
 * with it, and removes it then with all that is in it: also when its maker was killed.
 */
int temp_dir_make(struct temp_dir *out, struct err *e) must_check;
/* temp_dir_clear - when it returns, the folder is gone. */
void temp_dir_clear(struct temp_dir *t);
#define auto_temp_dir auto_clean(temp_dir_clear)

#endif
