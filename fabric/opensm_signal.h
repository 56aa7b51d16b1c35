/* SPDX-License-Identifier: Apache-2.0 */
/* opensm_signal.h: have opensm read its partitions again. */
#ifndef RAILHEAD_FABRIC_OPENSM_SIGNAL_H
#define RAILHEAD_FABRIC_OPENSM_SIGNAL_H

#include "lib/base/ctx.h"

/*
 * opensm_reload - SIGHUP to the process of the file pid_file; NULL: to each process of root that
 * is called opensm. *n: how many got it, maybe 0. A stale file is as none: the process that has the
 * number now is not opensm.
 */
int opensm_reload(const struct ctx *ctx, const char *pid_file, size_t *n, struct err *e) must_check;

#endif
