/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_priv.h: a run of the checks. */
#ifndef RAILHEAD_CNI_INSPECT_INSPECT_PRIV_H
#define RAILHEAD_CNI_INSPECT_INSPECT_PRIV_H

#include "cni/inspect/inspect.h"

struct inspect_run {
	const struct inspect *s;
	const char *pod;
	struct findings *out;
};

/* inspect_add - a finding about a rail, valid until the next; never NULL. */
struct finding *inspect_add(struct inspect_run *run, const struct inspect_rail *r, const char *id,
			    enum finding_state state);

/* inspect_check_link - the findings of inspect_link.c. */
void inspect_check_link(struct inspect_run *run, const struct inspect_rail *r);

#endif
