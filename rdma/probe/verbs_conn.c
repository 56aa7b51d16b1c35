/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_conn.c: opens and closes a connection: device, memory, completion queue, queue pair. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "rdma/probe/card.h"
#include "rdma/job/stats.h"
#include "rdma/probe/verbs_priv.h"

static int refuse_resource(const struct verbs_conn *c, int errnum, const char *what, struct err *e)
{
	return err_set(e, ERR_KERNEL, errnum, "%s: cannot make %s",
		       ibv_get_device_name(c->ctx->device), what);
}

/* Registered memory is locked memory, and the limit of containers is often 64 KiB. */
static int not_registered(const struct verbs_conn *c, size_t len, int errnum, struct err *e)
{
	char size[STATS_TEXT_LEN], most[STATS_TEXT_LEN];
	struct rlimit limit;

	err_set(e, errnum == ENOMEM ? ERR_UNAVAILABLE : ERR_KERNEL, errnum,
		"%s: cannot register %s of memory", ibv_get_device_name(c->ctx->device),
		stats_size(len, size));
	if (errnum != ENOMEM || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return -1;
	return err_hint(
		e,
		"memory that may be locked is limited to %s here: \"ulimit -l unlimited\", "
		"LimitMEMLOCK=infinity for the container runtime, or the capability IPC_LOCK",
		stats_size(limit.rlim_cur, most));
}

static unsigned access_of(const struct verbs_conn *c, const struct memory *m)
{
	return IBV_ACCESS_LOCAL_WRITE | (m == &c->in ? IBV_ACCESS_REMOTE_WRITE : 0u);
}

/* The device knows it by the address that the GPU has for it. */
static int get_gpu_memory(struct verbs_conn *c, struct memory *m, size_t len, struct err *e)
{
	const struct verbs_gpu *gpu = &c->plan.gpu;
	const size_t at = gpu->at + (m == &c->in ? verbs_stride(c->plan.out) : 0);

	m->p = (void *)(uintptr_t)(gpu->address + at);
	m->len = len;
	m->mr = ibv_reg_dmabuf_mr(c->pd, at, len, gpu->address + at, gpu->fd, (int)access_of(c, m));
	return m->mr ? 0
		     : err_set(e, ERR_KERNEL, errno, "%s: cannot register memory of a GPU",
			       ibv_get_device_name(c->ctx->device));
}

static int get_memory(struct verbs_conn *c, struct memory *m, size_t len, struct err *e)
{
	if (!len)
		return 0;
	if (c->plan.gpu.address)
		return get_gpu_memory(c, m, len, e);
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return err_nomem(e);
	m->p = p;
	m->len = len;
	m->mapped = true;
	m->mr = ibv_reg_mr(c->pd, p, len, access_of(c, m));
	return m->mr ? 0 : not_registered(c, len, errno, e);
}

static int get_depth(struct verbs_conn *c, struct err *e)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(c->ctx, &attr))
		return refuse_resource(c, errno, "a query", e);
	c->depth = c->plan.depth;
	if (attr.max_qp_wr > 0 && (unsigned)attr.max_qp_wr < c->depth)
		c->depth = (unsigned)attr.max_qp_wr;
	if (attr.max_cqe > 0 && (unsigned)attr.max_cqe / 2 < c->depth)
		c->depth = (unsigned)attr.max_cqe / 2;
	return 0;
}

static int get_resources(struct verbs_conn *c, struct err *e)
{
	if (get_depth(c, e))
		return -1;
	c->pd = ibv_alloc_pd(c->ctx);
	if (!c->pd)
		return refuse_resource(c, errno, "a protection domain", e);
	if (get_memory(c, &c->out, c->plan.out, e) || get_memory(c, &c->in, c->plan.in, e))
		return -1;
	c->channel = ibv_create_comp_channel(c->ctx);
	if (!c->channel)
		return refuse_resource(c, errno, "a completion channel", e);
	c->cq = ibv_create_cq(c->ctx, (int)(2 * c->depth), NULL, c->channel, 0);
	return c->cq ? 0 : refuse_resource(c, errno, "a completion queue", e);
}

struct ibv_qp_init_attr verbs_qp_attr(const struct verbs_conn *c)
{
	return (struct ibv_qp_init_attr){
		.send_cq = c->cq,
		.recv_cq = c->cq,
		.cap = { .max_send_wr = c->depth,
			 .max_recv_wr = c->depth,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
}

static int verbs_conn_open_plain(struct verbs_conn *c, struct err *e)
{
	struct ibv_qp_init_attr attr;

	if (verbs_choose(c, e) || get_resources(c, e))
		return -1;
	attr = verbs_qp_attr(c);
	c->qp = ibv_create_qp(c->pd, &attr);
	return c->qp ? 0 : refuse_resource(c, errno, "a queue pair", e);
}

int verbs_open(const struct verbs_plan *plan, const struct wire_path *peer, struct tcp *control,
	       struct verbs_conn **out, struct err *e)
{
	auto_conn struct verbs_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	c->plan = *plan;
	c->control = control;
	if (getrandom(&c->psn, sizeof(c->psn), 0) != sizeof(c->psn))
		return err_set(e, ERR_IO, errno, "getting a random number");
	c->psn &= 0xffffff;
	if (plan->cm ? verbs_cm_open(c, peer, e) || get_resources(c, e)
		     : verbs_conn_open_plain(c, e))
		return -1;
	*out = TAKE_PTR(c);
	return 0;
}

static void free_memory(struct memory *m)
{
	if (m->mr)
		(void)ibv_dereg_mr(m->mr);
	if (m->mapped)
		(void)munmap(m->p, m->len);
}

void verbs_close(struct verbs_conn **conn)
{
	struct verbs_conn *c = *conn;

	if (!c)
		return;
	*conn = NULL;
	if (c->qp && c->plan.cm)
		rdma_destroy_qp(c->id);
	else if (c->qp)
		(void)ibv_destroy_qp(c->qp);
	if (c->cq)
		(void)ibv_destroy_cq(c->cq);
	if (c->channel)
		(void)ibv_destroy_comp_channel(c->channel);
	free_memory(&c->out);
	free_memory(&c->in);
	if (c->pd)
		(void)ibv_dealloc_pd(c->pd);
	if (c->plan.cm)
		verbs_cm_close(c);
	else if (c->ctx)
		(void)ibv_close_device(c->ctx);
	free(c);
}

void verbs_path(const struct verbs_conn *c, struct wire_path *out)
{
	*out = (struct wire_path){
		.device_port = (uint8_t)c->port,
		.mtu = (uint8_t)c->attr.active_mtu,
		.gid_index = c->gid_index,
		.lid = c->attr.link_layer == IBV_LINK_LAYER_INFINIBAND ? c->attr.lid : 0,
		.qpn = c->qp ? c->qp->qp_num : 0,
		.psn = c->psn,
		.cm_port = c->listening ? ntohs(rdma_get_src_port(c->listening)) : 0,
		.depth = c->depth,
		.address = (uintptr_t)c->in.p,
		.rkey = c->in.mr ? c->in.mr->rkey : 0,
		.length = c->in.len,
	};
	(void)snprintf(out->device, sizeof(out->device), "%s", ibv_get_device_name(c->ctx->device));
	out->card = card_of("/sys", "/proc", out->device);
	memcpy(out->gid, c->gid.raw, sizeof(out->gid));
}

int verbs_join(struct verbs_conn *c, const struct wire_path *peer, struct err *e)
{
	c->peer = *peer;
	if (c->plan.cm ? verbs_cm_join(c, e) : verbs_plain_join(c, e))
		return -1;
	if (peer->depth < c->depth)
		c->depth = peer->depth;
	return 0;
}

unsigned verbs_depth(const struct verbs_conn *c)
{
	return c->depth;
}

unsigned verbs_mtu(const struct verbs_conn *c)
{
	return c->mtu;
}

void *verbs_out(const struct verbs_conn *c)
{
	return c->out.p;
}

void *verbs_in(const struct verbs_conn *c)
{
	return c->in.p;
}
