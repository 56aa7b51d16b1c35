// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * queues.c: protection domains, completion queues, queue pairs, memory regions and address handles.
 * A send is complete when it is posted. Only the kernel's own users have a data path: programs can
 * make all objects, but send nothing.
 */
#include <linux/slab.h>
#include <linux/version.h>
#include "conformance/vm/fabric/wire.h"

struct fab_pd {
	struct ib_pd ib;
};

struct done {
	struct list_head list;
	struct ib_wc wc;
};

struct recv {
	struct list_head list;
	u64 wr_id;
	int sges;
	struct ib_sge sge[];
};

static atomic_t keys = ATOMIC_INIT(1), numbers = ATOMIC_INIT(0x40);

static struct fab_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct fab_qp, ib);
}

static struct fab_function *function(struct ib_qp *ib)
{
	return container_of(ib->device, struct fab_device, ib)->function;
}

/* ---- completion queues ---- */

void fab_complete(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct fab_cq *cq = container_of(ib, struct fab_cq, ib);
	struct done *d = kmalloc(sizeof(*d), GFP_ATOMIC);

	if (!d)
		return;
	d->wc = *wc;
	list_add_tail(&d->list, &cq->done);
	if (cq->armed) {
		cq->armed = false;
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	}
}

static int create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct fab_cq *cq = container_of(ib, struct fab_cq, ib);

	INIT_LIST_HEAD(&cq->done);
	cq->ib.cqe = attr->cqe;
	return 0;
}

/* purge: forget completions of a queue pair (NULL: of all). Under fab_lock. */
static void purge(struct ib_cq *ib, struct ib_qp *qp)
{
	struct fab_cq *cq = container_of(ib, struct fab_cq, ib);
	struct done *d, *next;

	list_for_each_entry_safe(d, next, &cq->done, list)
		if (!qp || d->wc.qp == qp) {
			list_del(&d->list);
			kfree(d);
		}
}

static int destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	unsigned long flags;

	spin_lock_irqsave(&fab_lock, flags);
	purge(ib, NULL);
	spin_unlock_irqrestore(&fab_lock, flags);
	return 0;
}

static int poll_cq(struct ib_cq *ib, int entries, struct ib_wc *wc)
{
	struct fab_cq *cq = container_of(ib, struct fab_cq, ib);
	unsigned long flags;
	struct done *d;
	int n;

	spin_lock_irqsave(&fab_lock, flags);
	for (n = 0; n < entries && !list_empty(&cq->done); n++) {
		d = list_first_entry(&cq->done, struct done, list);
		wc[n] = d->wc;
		list_del(&d->list);
		kfree(d);
	}
	spin_unlock_irqrestore(&fab_lock, flags);
	return n;
}

static int req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags how)
{
	struct fab_cq *cq = container_of(ib, struct fab_cq, ib);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&fab_lock, flags);
	cq->armed = true;
	missed = (how & IB_CQ_REPORT_MISSED_EVENTS) && !list_empty(&cq->done);
	spin_unlock_irqrestore(&fab_lock, flags);
	return missed;
}

/* ---- queue pairs ---- */

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct fab_qp *qp = to_qp(ib);

	if (attr->qp_type > IB_QPT_UD || attr->srq)
		return -EOPNOTSUPP;
	INIT_LIST_HEAD(&qp->recvs);
	INIT_LIST_HEAD(&qp->groups);
	qp->user = udata;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	ib->qp_num = attr->qp_type <= IB_QPT_GSI ? attr->qp_type
						 : atomic_inc_return(&numbers) & 0xffffff;
	fab_qp_list(qp);
	return 0;
}

static void finish_recv(struct fab_qp *qp, struct recv *r, struct ib_wc *wc)
{
	wc->wr_id = r->wr_id;
	wc->qp = &qp->ib;
	wc->opcode = IB_WC_RECV;
	wc->port_num = FAB_PORT;
	fab_complete(qp->ib.recv_cq, wc);
	kfree(r);
}

/* flush: end all receives, with or without telling. Under fab_lock. */
static void flush(struct fab_qp *qp, bool tell)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct recv *r, *next;

	list_for_each_entry_safe(r, next, &qp->recvs, list) {
		list_del(&r->list);
		if (tell)
			finish_recv(qp, r, &wc);
		else
			kfree(r);
	}
}

static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct fab_qp *qp = to_qp(ib);
	unsigned long flags;

	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index >= FAB_PKEYS)
		return -EINVAL;
	spin_lock_irqsave(&fab_lock, flags);
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_DEST_QPN)
		qp->dest_qp = attr->dest_qp_num;
	if (mask & IB_QP_AV)
		qp->dest_lid = rdma_ah_get_dlid(&attr->ah_attr);
	if (mask & IB_QP_STATE) {
		qp->state = attr->qp_state;
		if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET)
			flush(qp, qp->state == IB_QPS_ERR);
	}
	spin_unlock_irqrestore(&fab_lock, flags);
	return 0;
}

static int query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct fab_qp *qp = to_qp(ib);

	attr->qp_state = attr->cur_qp_state = qp->state;
	attr->qkey = qp->qkey;
	attr->dest_qp_num = qp->dest_qp;
	attr->pkey_index = qp->pkey_index;
	attr->port_num = FAB_PORT;
	return 0;
}

static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct fab_qp *qp = to_qp(ib);
	unsigned long flags;

	fab_qp_unlist(qp);
	spin_lock_irqsave(&fab_lock, flags);
	flush(qp, false);
	if (ib->send_cq)
		purge(ib->send_cq, ib);
	if (ib->recv_cq)
		purge(ib->recv_cq, ib);
	spin_unlock_irqrestore(&fab_lock, flags);
	return 0;
}

static struct fab_packet *packet_of(struct fab_qp *qp, const struct ib_send_wr *wr)
{
	struct fab_packet *p;
	u32 length = 0, at = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	p = fab_packet_new(function(&qp->ib), length);
	if (!p)
		return NULL;
	for (i = 0; i < wr->num_sge; at += wr->sg_list[i++].length)
		memcpy(p->data + at, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
	p->src_qp = qp->ib.qp_num;
	p->pkey = p->from->pkeys[qp->pkey_index];
	p->with_imm = wr->opcode == IB_WR_SEND_WITH_IMM;
	p->imm = wr->ex.imm_data;
	if (qp->ib.qp_type == IB_QPT_RC || qp->ib.qp_type == IB_QPT_UC) {
		p->reliable = true;
		p->dest_qp = qp->dest_qp;
		p->dlid = qp->dest_lid;
	} else {
		const struct ib_ud_wr *ud = ud_wr(wr);
		const struct rdma_ah_attr *ah = &container_of(ud->ah, struct fab_ah, ib)->attr;

		p->dest_qp = ud->remote_qpn;
		p->qkey = ud->remote_qkey & BIT(31) ? qp->qkey : ud->remote_qkey;
		p->dlid = rdma_ah_get_dlid(ah);
		p->sl = rdma_ah_get_sl(ah);
		p->grh = rdma_ah_get_ah_flags(ah) & IB_AH_GRH;
		if (p->grh)
			p->dgid = ah->grh.dgid;
	}
	return p;
}

static int post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct fab_qp *qp = to_qp(ib);
	unsigned long flags;

	for (; wr; wr = wr->next) {
		struct ib_wc wc = { .wr_id = wr->wr_id, .qp = ib, .opcode = IB_WC_SEND };
		bool is_send = wr->opcode == IB_WR_SEND || wr->opcode == IB_WR_SEND_WITH_IMM;
		struct fab_packet *p = NULL;

		if (qp->user || (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR)) {
			*bad = wr;
			return -EINVAL;
		}
		if (qp->state == IB_QPS_ERR)
			wc.status = IB_WC_WR_FLUSH_ERR;
		else if (!is_send)
			wc.status = IB_WC_REM_INV_REQ_ERR;
		else
			p = packet_of(qp, wr);
		if (wc.status || qp->signal_all || (wr->send_flags & IB_SEND_SIGNALED)) {
			spin_lock_irqsave(&fab_lock, flags);
			fab_complete(ib->send_cq, &wc);
			spin_unlock_irqrestore(&fab_lock, flags);
		}
		if (p)
			fab_send(p);
	}
	return 0;
}

static int post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct fab_qp *qp = to_qp(ib);
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	unsigned long flags;
	struct recv *r;

	for (; wr; wr = wr->next) {
		r = qp->user ? NULL : kmalloc(struct_size(r, sge, wr->num_sge), GFP_ATOMIC);
		if (!r) {
			*bad = wr;
			return -ENOMEM;
		}
		r->wr_id = wr->wr_id;
		r->sges = wr->num_sge;
		memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof(*r->sge));
		spin_lock_irqsave(&fab_lock, flags);
		if (qp->state == IB_QPS_ERR)
			finish_recv(qp, r, &wc);
		else
			list_add_tail(&r->list, &qp->recvs);
		spin_unlock_irqrestore(&fab_lock, flags);
	}
	return 0;
}

/* scatter: copy into a receive's memory, from its byte AT on. False: it is too short. */
static bool scatter(const struct recv *r, u32 at, const void *from, u32 length)
{
	const char *next = from;
	u32 part;
	int i;

	for (i = 0; i < r->sges && length; i++) {
		if (at >= r->sge[i].length) {
			at -= r->sge[i].length;
			continue;
		}
		part = min(length, r->sge[i].length - at);
		memcpy((char *)(uintptr_t)r->sge[i].addr + at, next, part);
		next += part;
		length -= part;
		at = 0;
	}
	return !length;
}

/* A datagram comes behind 40 bytes for its global route header. */
void fab_receive(struct fab_qp *qp, const struct fab_packet *p, u16 slid)
{
	u32 header = p->reliable ? 0 : sizeof(struct ib_grh);
	struct ib_wc wc = {
		.byte_len = header + p->length, .src_qp = p->src_qp, .slid = slid, .sl = p->sl
	};
	struct recv *r = list_first_entry_or_null(&qp->recvs, struct recv, list);
	struct ib_grh grh = { .sgid = fab_gid(p->from->port_guid), .dgid = p->dgid };

	if (!r)
		return;
	list_del(&r->list);
	wc.pkey_index = qp->pkey_index;
	if (p->with_imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = p->imm;
	}
	if (p->grh && header) {
		wc.wc_flags |= IB_WC_GRH;
		scatter(r, 0, &grh, sizeof(grh));
	}
	if (!scatter(r, header, p->data, p->length))
		wc.status = IB_WC_LOC_LEN_ERR;
	finish_recv(qp, r, &wc);
}

/* ---- the rest ---- */

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static struct ib_mr *new_mr(void)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->lkey = mr->rkey = atomic_inc_return(&keys) << 8;
	return mr;
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	return new_mr();
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access,
				 struct ib_dmah *dmah, struct ib_udata *udata)
#else
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access,
				 struct ib_udata *udata)
#endif
{
	return new_mr();
}

static int dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static int create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct fab_ah *ah = container_of(ib, struct fab_ah, ib);

	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;
	return 0;
}

static int query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = container_of(ib, struct fab_ah, ib)->attr;
	return 0;
}

static int destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

const struct ib_device_ops fab_queue_ops = {
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	.attach_mcast = fab_attach,
	.detach_mcast = fab_detach,
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = reg_user_mr,
	.dereg_mr = dereg_mr,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.query_ah = query_ah,
	.destroy_ah = destroy_ah,
	INIT_RDMA_OBJ_SIZE(ib_pd, fab_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, fab_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, fab_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_ah, fab_ah, ib),
};
