/* SPDX-License-Identifier: Apache-2.0 */
/* repairer_priv.h: the state of the repairer, for its own files. */
#ifndef RAILHEAD_RAILHEADD_WATCH_REPAIRER_PRIV_H
#define RAILHEAD_RAILHEADD_WATCH_REPAIRER_PRIV_H

#include "railheadd/watch/child.h"
#include "railheadd/watch/repairer.h"
#include "railheadd/watch/waiting.h"

struct repairer {
	struct repairer_conf conf;
	struct timer *timer; /* the next pass */
	struct child *child;
	struct waiting waiting;
	struct repairer_counts counts;
	int64_t ended; /* ctx_mono_ms() of the last pass; 0: none yet */
	bool again;    /* a pass was asked for while one runs */
	bool complete; /* the pass that runs has told its end */
	bool killed;   /* the pass that runs was killed, and the log says why */
};

#endif
