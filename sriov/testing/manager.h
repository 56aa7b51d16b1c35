/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.h: a PF whose number of VFs the test sets. In a /sys of files no VF appears or
 * disappears: all VFs exist with their interfaces, and sriov_numvfs says how many count.
 */
#ifndef RAILHEAD_SRIOV_TESTING_MANAGER_H
#define RAILHEAD_SRIOV_TESTING_MANAGER_H

#include "sriov/admin/manager.h"
#include "sriov/testing/vf.h"

#define STATE    "/mnt/state"
#define PF_STATE STATE "/vf/" TESTHOST_PF /* the file about the PF */

struct progress {
	char text[4096]; /* the lines of the last manager_create, each with a line break */
	bool autoprobe;  /* the switch was on while VFs were created */
	const char
		*num_becomes; /* not NULL: sriov_numvfs becomes a link to this before it is set */
};
extern struct progress progress;

/* manager_testhost - a host with vfs VFs, of which `now` count; waiting takes no time. */
struct testhost manager_testhost(uint32_t vfs, const char *now);

/* pf_state - write this text to PF_STATE. */
void pf_state(const char *text);

/*
 * set_num - write sriov_numvfs. num_is - the test fails unless sriov_numvfs is n. autoprobe -
 * whether sriov_drivers_autoprobe is on.
 */
void set_num(const char *n);
void num_is(const char *n);
bool autoprobe(void);

/*
 * create - call manager_create and return its result. created - the same for count VFs of pf0; the
 * test fails if it fails. refused - the test fails unless it fails; returns the error.
 */
int create(const struct testhost *w, const struct vf_order *o, struct vf_order_result *made,
	   struct err *e);
struct vf_order_result created(const struct testhost *w, uint32_t count);
struct err refused(const struct testhost *w, const struct vf_order *o);

/* pf_mac - the MAC of pf0. */
void pf_mac(const struct testhost *w, uint8_t out[MAC_LEN]);

#endif
