// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * switch.c: the subnet's one switch. Messages go to queue pairs by LID and number, or to all that
 * attached to a multicast group, if both ports are active and the partition keys match.
 */
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "conformance/vm/fabric/wire.h"

#define MULTICAST_LID 0xc000

struct group {
	struct list_head list;
	union ib_gid gid;
};

static struct workqueue_struct *queue;
static LIST_HEAD(packets); /* under fab_lock */
static LIST_HEAD(qps);     /* all but those for management; under fab_lock */

static struct fab_device *device_of(struct fab_qp *qp)
{
	return container_of(qp->ib.device, struct fab_device, ib);
}

void fab_qp_list(struct fab_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&fab_lock, flags);
	if (qp->ib.qp_num <= 1)
		device_of(qp)->mad_qps[qp->ib.qp_num] = qp;
	else
		list_add_tail(&qp->all, &qps);
	spin_unlock_irqrestore(&fab_lock, flags);
}

void fab_qp_unlist(struct fab_qp *qp)
{
	struct group *g, *next;
	unsigned long flags;

	spin_lock_irqsave(&fab_lock, flags);
	if (qp->ib.qp_num <= 1)
		device_of(qp)->mad_qps[qp->ib.qp_num] = NULL;
	else
		list_del(&qp->all);
	list_for_each_entry_safe(g, next, &qp->groups, list)
		kfree(g);
	spin_unlock_irqrestore(&fab_lock, flags);
}

int fab_attach(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct fab_qp *qp = container_of(ib, struct fab_qp, ib);
	struct group *g = kmalloc(sizeof(*g), GFP_KERNEL);
	unsigned long flags;

	if (!g)
		return -ENOMEM;
	g->gid = *gid;
	spin_lock_irqsave(&fab_lock, flags);
	list_add_tail(&g->list, &qp->groups);
	spin_unlock_irqrestore(&fab_lock, flags);
	return 0;
}

static struct group *membership(struct fab_qp *qp, const union ib_gid *gid)
{
	struct group *g;

	list_for_each_entry(g, &qp->groups, list)
		if (!memcmp(&g->gid, gid, sizeof(*gid)))
			return g;
	return NULL;
}

int fab_detach(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	unsigned long flags;
	struct group *g;

	spin_lock_irqsave(&fab_lock, flags);
	g = membership(container_of(ib, struct fab_qp, ib), gid);
	if (g)
		list_del(&g->list);
	spin_unlock_irqrestore(&fab_lock, flags);
	kfree(g);
	return g ? 0 : -EINVAL;
}

struct fab_packet *fab_packet_new(struct fab_function *from, u32 length)
{
	struct fab_packet *p = kzalloc(struct_size(p, data, length), GFP_ATOMIC);

	if (p) {
		p->from = from;
		p->length = length;
	}
	return p;
}

/* Two keys match if their partition is the same and one of them is a full member. */
static bool same_partition(u16 a, u16 b)
{
	return (a & 0x7fff) && !((a ^ b) & 0x7fff) && ((a | b) & 0x8000);
}

/* Datagrams between queue pairs of users need the receiver's key; those of management have one for
 * all. */
static bool receives(struct fab_qp *qp, const struct fab_packet *p)
{
	struct fab_function *f = device_of(qp)->function;

	if ((qp->state != IB_QPS_RTR && qp->state != IB_QPS_RTS) || fab_state(f) != IB_PORT_ACTIVE)
		return false;
	return qp->ib.qp_num <= 1 || (same_partition(p->pkey, f->pkeys[qp->pkey_index]) &&
				      (p->reliable || p->qkey == qp->qkey));
}

/* deliver: under fab_lock. */
static void deliver(const struct fab_packet *p)
{
	struct fab_qp *qp;
	int i;

	if (fab_state(p->from) != IB_PORT_ACTIVE)
		return;
	if (p->dest_qp <= 1) {
		for (i = 0; i < fab_count; i++)
			if (fab_functions[i].lid == p->dlid && fab_functions[i].device) {
				qp = fab_functions[i].device->mad_qps[p->dest_qp];
				if (qp && receives(qp, p))
					fab_receive(qp, p, p->from->lid);
			}
		return;
	}
	list_for_each_entry(qp, &qps, all) {
		if (!receives(qp, p) || qp->ib.qp_num == p->src_qp)
			continue;
		if (p->dlid >= MULTICAST_LID
			    ? qp->ib.qp_type == IB_QPT_UD && p->grh && membership(qp, &p->dgid)
			    : qp->ib.qp_num == p->dest_qp &&
				      device_of(qp)->function->lid == p->dlid)
			fab_receive(qp, p, p->from->lid);
	}
}

/* answer: of the subnet administrator. The request came from the port's queue pair 1, and the
 * answer goes there. */
static void answer(struct fab_packet *request)
{
	struct fab_packet *a;
	struct fab_qp *qp;
	unsigned long flags;

	if (fab_state(request->from) != IB_PORT_ACTIVE)
		return;
	a = fab_sa_answer(request);
	if (!a)
		return;
	spin_lock_irqsave(&fab_lock, flags);
	qp = request->from->device ? request->from->device->mad_qps[1] : NULL;
	if (qp && receives(qp, a))
		fab_receive(qp, a, request->dlid);
	spin_unlock_irqrestore(&fab_lock, flags);
	kfree(a);
}

static bool is_for_sa(const struct fab_packet *p)
{
	const struct ib_mad_hdr *mad = (const void *)p->data;

	return p->dest_qp == 1 && p->dlid == p->from->sm_lid &&
	       p->length == sizeof(struct ib_sa_mad) && mad->mgmt_class == IB_MGMT_CLASS_SUBN_ADM &&
	       !(mad->method & IB_MGMT_METHOD_RESP);
}

static void run(struct work_struct *work)
{
	struct fab_packet *p;
	unsigned long flags;

	for (;;) {
		spin_lock_irqsave(&fab_lock, flags);
		p = list_first_entry_or_null(&packets, struct fab_packet, list);
		if (p)
			list_del(&p->list);
		if (p && !is_for_sa(p))
			deliver(p);
		spin_unlock_irqrestore(&fab_lock, flags);
		if (!p)
			return;
		if (is_for_sa(p))
			answer(p);
		kfree(p);
	}
}

static DECLARE_WORK(work, run);

void fab_send(struct fab_packet *p)
{
	unsigned long flags;

	spin_lock_irqsave(&fab_lock, flags);
	list_add_tail(&p->list, &packets);
	spin_unlock_irqrestore(&fab_lock, flags);
	queue_work(queue, &work);
}

int fab_switch_init(void)
{
	queue = alloc_ordered_workqueue("fabric", WQ_MEM_RECLAIM);
	return queue ? 0 : -ENOMEM;
}

void fab_switch_exit(void)
{
	destroy_workqueue(queue);
}
