/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.c: moves an RDMA device into a pod, and judges the numbers that it has there.
 *
 * The kernel recreates the character devices and gives them the lowest free numbers. A pod may have
 * the old numbers since before ADD.
 */
#include "lib/rdma/move.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- the move ---- */

static int move_to_pod(struct rdma_move *m, struct err *e)
{
	struct err why;

	if (nl_rdma_move(m->host_rdma, m->link.index, m->pod, NULL, &why) == 0)
		return 0;
	/* Linux 7.3: the pod has a device with this name, so rename ours before the move. */
	if (why.errnum == EEXIST && m->name)
		return nl_rdma_move(m->host_rdma, m->link.index, m->pod, m->name, e);
	return err_pass(e, &why);
}

static int rename_in_pod(struct rdma_move *m, struct err *e)
{
	struct err back;
	int rc;

	if (!m->name || strcmp(m->name, m->pod_name) == 0)
		return 0;
	if (netns_enter(m->pod, e))
		return -1;
	rc = nl_rdma_rename(m->pod_rdma, m->link.index, m->name, e);
	if (netns_enter(m->host, &back)) {
		*e = back;
		return err_wrap(e, "return to the network namespace of this process");
	}
	if (rc)
		return -1;
	(void)snprintf(m->pod_name, sizeof(m->pod_name), "%s", m->name);
	return 0;
}

static int judge_chardevs(struct rdma_move *m, struct err *e)
{
	struct rdma_chardevs now;
	char what[RDMA_NAME_LEN + 16];

	(void)snprintf(what, sizeof(what), "RDMA device %s", m->pod_name);
	if (rdma_chardevs_read(m->pod_rdma, &m->link, &now, e) ||
	    rdma_numbers_judge(m->numbers, &m->chardevs, &now, what, e))
		return -1;
	m->chardevs = now;
	return 0;
}

int rdma_move(struct rdma_move *m, struct err *e)
{
	struct rdma_link there;

	if (move_to_pod(m, e) || nl_rdma_get(m->pod_rdma, m->link.index, &there, e))
		return -1;
	memcpy(m->pod_name, there.name, sizeof(m->pod_name));
	return judge_chardevs(m, e) || rename_in_pod(m, e) ? -1 : 0;
}

/* ---- CHECK ---- */

int rdma_check_moved(struct nl *pod_rdma, const struct rdma_away *d, struct rdma_moved *out,
		     struct err *e)
{
	struct rdma_moved is;
	char uverbs[RDMA_NAME_LEN];

	if (nl_rdma_get(pod_rdma, d->index, &is.link, e)) {
		if (e->code != ERR_NOTFOUND)
			return -1;
		return err_set(e, ERR_STATE, 0, "RDMA device %s is not in the pod any more",
			       d->name);
	}
	if (rdma_chardevs_read(pod_rdma, &is.link, &is.chardevs, e))
		return -1;
	if (strcmp(rdma_chardev_text(&is.chardevs.uverbs, uverbs, sizeof(uverbs)), d->uverbs) != 0)
		return err_set(e, ERR_STATE, 0,
			       "RDMA device %s has the character device %s, ADD left it with %s",
			       is.link.name, uverbs, d->uverbs);
	*out = is;
	return 0;
}
