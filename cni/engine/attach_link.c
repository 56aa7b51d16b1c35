/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_link.c: the interface of a record, in the namespace of that record.
 *
 * A pod may rename its interface and put another one under the old name (KubeVirt does), so that
 * the name alone proves nothing. The number stays; and as a number can be taken again, kind and
 * lower device must fit, too.
 */
#include <errno.h>
#include <string.h>

#include "cni/engine/restore.h"

static bool matches_record(const struct record *r, const struct link_info *link)
{
	return (!*r->kind || strcmp(link->kind, r->kind) == 0) &&
	       (!r->lower_ifindex || link->lower_ifindex == r->lower_ifindex);
}

/* 1: *out is set; 0: there is none. */
static int found_or_gone(int rc, const struct err *why, struct err *e)
{
	if (rc == 0)
		return 1;
	if (why->errnum == ENODEV)
		return 0;
	*e = *why;
	return -1;
}

int attach_find_link(struct nl *pod_nl, const struct record *r, struct link_info *out,
		     enum attach_found *found, struct err *e)
{
	struct link_info link;
	struct err why;
	int rc = 0;

	if (r->ifindex) {
		rc = found_or_gone(nl_link_by_index(pod_nl, r->ifindex, &link, &why), &why, e);
		if (rc < 0)
			return -1;
	}
	if (rc > 0 && matches_record(r, &link)) {
		*out = link;
		*found = strcmp(link.name, r->key.ifname) == 0 ? FOUND_OURS : FOUND_RENAMED;
		return 0;
	}
	rc = found_or_gone(nl_link_by_name(pod_nl, r->key.ifname, &link, &why), &why, e);
	if (rc < 0)
		return -1;
	*found = FOUND_NONE;
	if (rc == 0)
		return 0;
	*out = link;
	/* Moved out of the namespace and back it may have another number: the lower device tells.
	 */
	*found = matches_record(r, &link) && (!r->ifindex || r->lower_ifindex) ? FOUND_OURS
									       : FOUND_OTHER;
	return 0;
}
