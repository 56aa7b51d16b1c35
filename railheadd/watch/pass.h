/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h: one look at all attachments and VFs of this host, and the repair of what is due.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_PASS_H
#define RAILHEAD_RAILHEADD_WATCH_PASS_H

#include "railheadd/watch/waiting.h"

/*
 * pass_main - for a child: it repairs what is due. Standard output gets the leftovers, and at the
 * end LEFTOVER_END. An error is logged, and then there is no end. Returns the exit status.
 */
int pass_main(const struct waiting_due *due);

#endif
