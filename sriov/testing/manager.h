/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.h: a PF of which the test says how many VFs it has. In a /sys of files nothing
 * comes or goes: all VFs are there, with their interfaces, and sriov_numvfs says how many count.
 */
#ifndef RAILHEAD_SRIOV_TESTING_MANAGER_H
#define RAILHEAD_SRIOV_TESTING_MANAGER_H

#include "sriov/admin/manager.h"
#include "sriov/testing/vf.h"

#define STATE "/mnt/state"
#define BOOK  STATE "/vf/" WORLD_PF /* what is remembered of the PF */

struct told {
	char said[4096];         /* by the last creation */
	bool autoprobe;          /* drivers took new VFs while they were made */
	const char *num_becomes; /* sriov_numvfs becomes a link to this before it is set */
};
extern struct told told;

/* manager_world - there are VFs at most, of which now count; waiting takes no time. */
struct world manager_world(uint32_t vfs, const char *now);

/* book - put this text there. */
void pf_state(const char *text);

void set_num(const char *n);
void num_is(const char *n);
bool autoprobe(void);

/* create, created, refused - VFs for a PF: what may fail, what must work, what must not. */
int create(const struct world *w, const struct vf_order *o, struct vf_order_result *made,
	   struct err *e);
struct vf_order_result created(const struct world *w, uint32_t count);
struct err refused(const struct world *w, const struct vf_order *o);

/* pf_mac - the PF's own. */
void pf_mac(const struct world *w, uint8_t out[MAC_LEN]);

#endif
