/* SPDX-License-Identifier: Apache-2.0 */
/* job_facts.c: the rails of this rank, as they are compared with those of the others. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/version.h"
#include "lib/device/sysfs.h"
#include "lib/sys/fs.h"
#include "rdma/inventory/rail.h"
#include "rdma/probe/job.h"

#define CPU_STAT "/sys/fs/cgroup/cpu.stat"
#define STAT_MAX 65536

static void read_text(const struct ctx *ctx, const char *dir, const char *name, char *out,
		      size_t size)
{
	struct err ignored = { 0 };
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (sysfs_read(ctx->sysfs, path, out, size, &ignored))
		*out = '\0';
}

/* "16.0 GT/s PCIe" and lanes, in Mbit/s of data: 128 of 130 bits, up to 5 GT/s 8 of 10. */
static uint32_t slot_mbps(const struct ctx *ctx, const char *dir, const char *which)
{
	char name[64], speed[64], width[64];
	double gt = 0, lanes = 0;

	(void)snprintf(name, sizeof(name), "%s_link_speed", which);
	read_text(ctx, dir, name, speed, sizeof(speed));
	(void)snprintf(name, sizeof(name), "%s_link_width", which);
	read_text(ctx, dir, name, width, sizeof(width));
	gt = strtod(speed, NULL);
	lanes = strtod(width, NULL);
	if (gt <= 0 || gt > 1000 || lanes <= 0 || lanes > 32)
		return 0;
	return (uint32_t)(gt * 1000 * lanes * (gt > 5.5 ? 128.0 / 130 : 0.8));
}

/* The slot of a VF is that of its PF. */
static void read_card(const struct ctx *ctx, const char *device, struct job_rail *out)
{
	char dir[128], pf[160], vendor[32], id[32];
	uint32_t max;

	(void)snprintf(dir, sizeof(dir), "class/infiniband/%s/device", device);
	(void)snprintf(pf, sizeof(pf), "%s/physfn", dir);
	read_text(ctx, dir, "vendor", vendor, sizeof(vendor));
	read_text(ctx, dir, "device", id, sizeof(id));
	if (strncmp(vendor, "0x", 2) == 0 && strncmp(id, "0x", 2) == 0)
		(void)snprintf(out->card, sizeof(out->card), "%s:%s", vendor + 2, id + 2);
	out->slot_mbps = slot_mbps(ctx, pf, "current");
	max = slot_mbps(ctx, pf, "max");
	if (!out->slot_mbps) {
		out->slot_mbps = slot_mbps(ctx, dir, "current");
		max = slot_mbps(ctx, dir, "max");
	}
	out->slot_max_mbps = max;
}

static struct counters_of counters_at(const struct ctx *ctx, const struct job_own_rail *rail)
{
	return (struct counters_of){ ctx->sysfs, rail->count.device, rail->count.port,
				     rail->count.netdev };
}

/* Errors at this end of the cable, and packets that came out of order, twice or not at all. */
void job_counted(const struct ctx *ctx, const struct job_own_rail *rail, char out[JOB_TEXT])
{
	static const struct {
		enum port_counter what;
		const char *name;
	} names[] = {
		{ COUNT_LINK_ERROR, "link errors" },
		{ COUNT_LINK_DOWN, "link down" },
		{ COUNT_RETRY, "packets sent again" },
		{ COUNT_SEQUENCE, "packets out of order" },
	};
	const struct counters_of of = counters_at(ctx, rail);
	struct port_counters now;
	struct err ignored = { 0 };
	size_t n = 0;

	*out = '\0';
	if (counters_read(&of, &now, &ignored))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const uint64_t more = counters_moved(&rail->count.first, &now, names[i].what);

		if (more)
			n += (size_t)snprintf(out + n, JOB_TEXT - n, "%s%s +%llu",
					      n ? ", " : "counted ", names[i].name,
					      (unsigned long long)more);
	}
	if (!n && !counters_are_seen(&now))
		(void)snprintf(out, JOB_TEXT, JOB_BLIND);
}

static void find_address(const struct rdma_rail *r, struct job_own_rail *own, struct job_rail *out)
{
	const struct inv_gid *g = r->v4 ? r->v4 : r->v6;

	if (r->port->layer == IB_LAYER_INFINIBAND) {
		(void)snprintf(own->device, sizeof(own->device), "%s", r->device->link.name);
		own->port = r->port->port;
		(void)snprintf(out->gid_kind, sizeof(out->gid_kind), "InfiniBand");
		return;
	}
	if (!g) {
		(void)snprintf(out->problem, sizeof(out->problem),
			       "%s has no RoCE v2 GID of an address",
			       r->netdev ? r->netdev->link.name : r->device->link.name);
		return;
	}
	own->address = gid_to_ip(&g->entry.gid);
	(void)snprintf(out->gid_kind, sizeof(out->gid_kind), r->v4 ? "IPv4" : "IPv6");
}

static void describe(const struct ctx *ctx, const struct conf *c, const struct rdma_rail *r,
		     struct job_own_rail *own, struct job_rail *out)
{
	int tc = c->has_tc ? c->tc : c->nccl.tc, sl = c->nccl.sl > 0 ? c->nccl.sl : c->sl;
	bool ib = r->port->layer == IB_LAYER_INFINIBAND;
	char port[RAIL_PORT_LEN];
	struct err ignored = { 0 };

	*out = (struct job_rail){ .rate_mbps = r->port->rate_mbps };
	(void)snprintf(out->interface, sizeof(out->interface), "%.63s",
		       r->netdev ? r->netdev->link.name : r->device->link.name);
	(void)snprintf(out->hca, sizeof(out->hca), "%.63s", rail_port(r, port));
	out->tclass = (uint16_t)(ib ? sl : tc >= 0 ? tc : r->port->traffic_class);
	out->mtu = r->netdev && !ib ? inv_rdma_mtu(r->netdev->link.mtu) : 0;
	read_card(ctx, r->device->link.name, out);
	(void)snprintf(own->count.device, JOB_NAME, "%.63s", r->device->link.name);
	(void)snprintf(own->count.netdev, IFNAME_LEN, "%s", r->port->netdev);
	own->count.port = r->port->port;
	const struct counters_of of = counters_at(ctx, own);
	if (counters_read(&of, &own->count.first, &ignored))
		own->count.first = (struct port_counters){ 0 };
	find_address(r, own, out);
	if (r->port->state != RDMA_PORT_ACTIVE)
		(void)snprintf(out->problem, sizeof(out->problem), "port %s is not ACTIVE but %s",
			       port, rdma_port_state_name(r->port->state));
}

struct in_use {
	bool others; /* processes that this container does not see, or that ended, have some */
	unsigned qps;
	uint32_t pid; /* that of one of them */
};

static int count_connected(const struct rdma_qp *q, void *arg)
{
	struct in_use *use = arg;

	if (q->type != RDMA_QP_RC || q->state != RDMA_QP_RTS)
		return 0;
	use->others |= !q->pid;
	if (q->pid) {
		use->qps++;
		use->pid = q->pid;
	}
	return 0;
}

static void find_users(const struct rdma_rail *r, struct job_msg *join)
{
	auto_nl struct nl *nl = NULL;
	struct in_use use = { 0 };
	struct err ignored = { 0 };

	if (*join->busy)
		return;
	if (nl_rdma_open(&nl, &ignored) ||
	    nl_rdma_qps(nl, r->device->link.index, count_connected, &use, &ignored)) {
		join->blind = true;
		return;
	}
	join->blind |= use.others;
	if (!use.qps)
		return;
	(void)snprintf(join->busy, sizeof(join->busy),
		       "process %u has connected queue pairs on %s (%u in all)", use.pid,
		       r->device->link.name, use.qps);
}

static int no_rails(struct err *e)
{
	err_set(e, ERR_UNAVAILABLE, 0, "this pod has no RDMA rail");
	return err_hint(e, "\"railctl rdma check\" says why");
}

int job_facts(const struct ctx *ctx, const struct conf *c, struct job_own *out, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_rails struct rails rails = { 0 };
	struct job_msg *join = &out->join;

	if (rdma_inventory_read(ctx, &v, e) || rails_find(&v, &rails, e))
		return -1;
	join->type = JOB_JOIN;
	for (size_t i = 0; i < rails.n; i++) {
		const struct rdma_rail *r = &rails.rail[i];
		/* The pod's own network is not a rail, even where its card can do RDMA. */
		if (r->netdev && r->netdev->link.ifindex == v.default_ifindex)
			continue;
		if (*c->device && strcmp(c->device, r->device->link.name) != 0)
			continue;
		if (join->n_rails == JOB_RAILS)
			return err_set(e, ERR_CONFIG, 0,
				       "this pod has more than %u rails: name one with --device",
				       JOB_RAILS);
		describe(ctx, c, r, &out->rails[join->n_rails], &join->rails[join->n_rails]);
		find_users(r, join);
		join->n_rails++;
	}
	const char *node = getenv("NODE_NAME");
	if (node && *node)
		(void)snprintf(join->node, sizeof(join->node), "%.63s", node);
	else if (gethostname(join->node, sizeof(join->node) - 1))
		*join->node = '\0';
	read_text(ctx, "class/dmi/id", "product_name", join->host, sizeof(join->host));
	(void)snprintf(join->version, sizeof(join->version), "%s", RAILHEAD_VERSION);
	return join->n_rails ? 0 : no_rails(e);
}

uint64_t job_throttled(void)
{
	auto_free char *text = NULL;
	struct err ignored = { 0 };
	const char *at;

	if (fs_read_at(AT_FDCWD, CPU_STAT, STAT_MAX, &text, &ignored) < 0)
		return 0;
	at = strstr(text, "nr_throttled ");
	return at ? strtoull(at + strlen("nr_throttled "), NULL, 10) : 0;
}
