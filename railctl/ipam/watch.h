/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h: a command that shows the store again whenever it changes. */
#ifndef RAILHEAD_RAILCTL_IPAM_WATCH_H
#define RAILHEAD_RAILCTL_IPAM_WATCH_H

#include "railctl/ipam/ipam.h"

/*
 * ctl_watch - call draw, and again after each change of the store. If the text that it prints has
 * changed, it is shown: on a terminal it replaces the last one, else it follows. The function
 * returns with an error, or if the reader of the output is gone. ERR_NOTFOUND: there is no store.
 */
typedef int (*ctl_draw_fn)(struct cmd_run *r, struct err *e);
int ctl_watch(struct cmd_run *r, ctl_draw_fn draw, struct err *e) must_check;

#endif
