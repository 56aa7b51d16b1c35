/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "sriov/vf/vf_priv.h"

#define PATIENCE_MS 2000 /* of a VF that its PF resets: i40e and ice need some 100 ms */

static int has_mac(const struct vf_macs *m, bool *out, struct err *e)
{
	struct link_info link;

	if (nl_link_by_index(m->nl, m->ifindex, &link, e))
		return -1;
	*out = hw_addr_equal(link.addr, hw_addr_of_mac(m->mac));
	return 0;
}

/* What a driver says that wants the administrative MAC out of the way, or a moment of time. */
static bool may_yet_work(int errnum)
{
	return errnum == EADDRNOTAVAIL || errnum == EPERM || errnum == EBUSY || errnum == EAGAIN;
}

/* The way around igbvf: without an administrative MAC it takes any, and keeps it afterwards. */
static int set_around(const struct vf_macs *m, struct err *e)
{
	const struct vf_info none = { .has = VF_MAC };
	struct err why;

	if (nl_vf_set(m->nl, m->vf, &none, VF_MAC, e))
		return -1;
	int rc = nl_link_set_hw_addr(m->nl, m->ifindex, hw_addr_of_mac(m->mac), e);
	if (nl_vf_set(m->nl, m->vf, m->pf_side, VF_MAC, &why)) {
		if (rc == 0)
			*e = why;
		return -1;
	}
	return rc;
}

static int set_effective(const struct vf_macs *m, struct err *e)
{
	const struct timespec pause = { 0, 20 * 1000000 };
	int64_t deadline = ctx_mono_ms() + PATIENCE_MS;
	struct err why;
	bool done;

	for (;;) {
		if (has_mac(m, &done, e))
			return -1;
		if (done ||
		    nl_link_set_hw_addr(m->nl, m->ifindex, hw_addr_of_mac(m->mac), &why) == 0)
			return 0;
		if (why.errnum == EADDRNOTAVAIL && set_around(m, &why) == 0)
			return 0;
		if (!may_yet_work(why.errnum) || ctx_mono_ms() >= deadline)
			break;
		(void)nanosleep(&pause, NULL);
	}
	*e = why;
	return -1;
}

int vf_set_macs(const struct vf_macs *m, struct err *e)
{
	if (nl_vf_set(m->nl, m->vf, m->pf_side, VF_MAC, e))
		return -1;
	return m->ifindex ? set_effective(m, e) : 0;
}
