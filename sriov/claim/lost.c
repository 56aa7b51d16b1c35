/* SPDX-License-Identifier: Apache-2.0 */
/* lost.c: makes the state of a VF again, from the record of its attachment and with safe values. */
#include "sriov/claim/lost.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lib/rdma/bus.h"

#define MTU 1500 /* of Ethernet */

/* ---- the baseline ---- */

/* The tenant may go on to use its MAC, on another VF. */
static int choose_mac(struct hw_addr *out, struct err *e)
{
	uint8_t mac[MAC_LEN];

	if (getrandom(mac, sizeof(mac), 0) != sizeof(mac))
		return err_set(e, ERR_IO, 0, "the kernel gives no random bytes");
	mac[0] = (uint8_t)((mac[0] & 0xfcu) | 2); /* of one station, locally administered */
	*out = hw_addr_of_mac(mac);
	return 0;
}

static int set_baseline(const struct lost_vf *l, struct vf_entry *x, struct err *e)
{
	struct vf_baseline *b = &x->base;
	struct vf_place p = { 0 };

	if (pci_driver(l->ctx->sysfs, l->vf, p.driver, e))
		return -1;
	b->pf_side = (struct vf_info){
		.has = l->infiniband ? VF_LINK_STATE : VF_ETHERNET & ~(unsigned)VF_MAC,
		.vlan_proto = VLAN_PROTO_8021Q,
		.spoofchk = true,
	};
	x->to_restore = l->infiniband ? VF_LINK_STATE | VF_GUIDS : VF_ETHERNET;
	b->has_netdev = *p.driver && !vf_has_userspace_driver(&p);
	if (l->name && !ifname_problem(l->name))
		(void)snprintf(b->name, sizeof(b->name), "%s", l->name);
	else
		vf_spare_name(l->vf, b->name);
	b->own_mac = !l->infiniband;
	b->mtu = l->infiniband ? 0 : MTU;
	b->addr.len = HW_ADDR_MAX;
	return l->infiniband ? 0 : choose_mac(&b->addr, e);
}

/* ---- the RDMA device ---- */

struct rdma_search {
	struct nl *nl;
	const char *uverbs;
	struct vf_rdma *out;
};

static int lost_is_of_vf(const struct rdma_link *d, void *arg)
{
	struct rdma_search *s = arg;
	struct rdma_chardev c;
	struct err ignored;

	if (rdma_chardev_find(s->nl,
			      (struct rdma_chardev_of){ .type = "uverbs", .index = d->index }, &c,
			      &ignored) ||
	    strcmp(c.name, s->uverbs) != 0)
		return 0;
	s->out->index = d->index;
	memcpy(s->out->name, d->name, sizeof(d->name));
	(void)rdma_chardev_text(&c, s->out->uverbs, sizeof(s->out->uverbs));
	return 1;
}

/* sysfs of the host shows the character device also while the device is in the pod. */
static int lost_find_rdma(const struct lost_vf *l, const struct netns *pod, struct vf_rdma *out,
			  struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	char uverbs[RDMA_CHARDEV_LEN];
	struct rdma_search s = { .uverbs = uverbs, .out = out };
	struct err why;

	if (!rdma_bus_verbs(l->ctx->sysfs, l->vf, uverbs))
		return 0;
	if (netns_open_self(&host, e))
		return -1;
	if (netns_same(host.id, pod->id))
		return 0;
	if (nl_rdma_open_in(pod, &host, &nl, &why)) {
		/* A kernel without RDMA has no devices. */
		if (why.errnum == EPROTONOSUPPORT)
			return 0;
		return err_pass(e, &why);
	}
	s.nl = nl;
	return nl_rdma_list(nl, lost_is_of_vf, &s, e);
}

static int set_owner(const struct lost_vf *l, struct vf_entry *x, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	struct err ignored;

	x->owned = true;
	x->owner = *l->owner;
	if (!x->base.has_netdev)
		x->owner.ifindex = 0;
	else if (!x->owner.ifindex)
		x->owner.ifindex = INT_MAX; /* it has one, but nothing says which */
	/* From a dead pod the kernel returns it. */
	return vf_owner_netns(l->ctx, &x->owner, &pod, &ignored) == 1
		       ? lost_find_rdma(l, &pod, &x->owner.rdma, e)
		       : 0;
}

int lost_entry(const struct lost_vf *l, struct vf_entry *out, struct err *e)
{
	struct vf_entry x = { .base_lost = true };

	if (ctx_boot_id(l->ctx, x.boot, e) || vf_life(l->ctx, l->vf, &x.life, e) ||
	    pci_physfn(l->ctx->sysfs, l->vf, x.pf, e) ||
	    pci_vf_index(l->ctx->sysfs, x.pf, l->vf, &x.index, e) || set_baseline(l, &x, e))
		return -1;
	(void)snprintf(x.vf, sizeof(x.vf), "%s", l->vf);
	if (l->owner && set_owner(l, &x, e))
		return -1;
	*out = x;
	return 0;
}

int lost_unowned(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
		 struct vf_entry *out, struct err *e)
{
	struct lost_vf l = { .ctx = ctx, .vf = p->vf, .name = *p->name ? p->name : NULL };
	struct vf_baseline now;

	if (vf_capture(ctx, nl, p, &now, e))
		return -1;
	l.infiniband = now.pf_side.has & VF_GUIDS;
	return lost_entry(&l, out, e);
}

/* ---- by a record ---- */

/* It borrows from the record. 1: the VF is gone, or was created again since. */
static int of_record(const struct ctx *ctx, const struct record *part, struct vf_entry *out,
		     struct err *e)
{
	const struct vf_owner owner = { .key = part->key,
					.netns = part->netns,
					.netns_id = part->netns_id,
					.from = part->from,
					.ifindex = part->ifindex };
	const struct lost_vf l = {
		.ctx = ctx,
		.vf = sriov_device_vf(part),
		.name = json_str(json_get(part->device, "name")),
		.infiniband = strcmp(part->plugin, "ib-sriov") == 0,
		.owner = &owner,
	};
	const struct json *of_add = json_get(part->device, "life");
	char boot[CTX_BOOT_ID_LEN + 1];
	struct pci_addr addr;
	uint64_t life;

	if (pci_parse(l.vf, &addr))
		return 1;
	if (ctx_boot_id(ctx, boot, e))
		return -1;
	if (vf_life(ctx, l.vf, &life, e))
		return e->code == ERR_NOTFOUND ? 1 : -1;
	if ((of_add && (uint64_t)json_num(of_add) != life) ||
	    (*part->boot && strcmp(part->boot, boot) != 0))
		return 1;
	return lost_entry(&l, out, e);
}

struct lost_search {
	const struct ctx *ctx;
	const char *vf;
	struct vf_entry *out;
	bool found;
	int rc;
	struct err *e;
};

/* The text form owns its strings; the record goes. */
static int lost_keep(struct lost_search *s, const struct vf_entry *x)
{
	auto_free char *text = vf_state_print(x);

	if (!text)
		return err_nomem(s->e);
	vf_entry_clear(s->out);
	s->found = true;
	return vf_state_decode(text, strlen(text), s->out, s->e);
}

/* A record without a DEL may name a VF that a living pod has since. */
static int consider(const struct record *part, void *arg)
{
	struct lost_search *s = arg;
	struct vf_entry x;

	if (strcmp(sriov_device_vf(part), s->vf) != 0 ||
	    (s->found && vf_owner_lives(s->ctx, s->out)))
		return 0;
	int rc = of_record(s->ctx, part, &x, s->e);
	if (rc == 0 && (!s->found || vf_owner_lives(s->ctx, &x)))
		rc = lost_keep(s, &x);
	s->rc = rc < 0 ? -1 : 0;
	return s->rc;
}

int lost_find(const struct ctx *ctx, const char *vf, struct vf_entry *out, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct lost_search s = { .ctx = ctx, .vf = vf, .out = &x, .e = e };

	if (taken_each(ctx, consider, &s, e) || s.rc)
		return -1;
	if (!s.found)
		return 0;
	log_warn(&ctx->log,
		 "VF %s: its state is lost, but a record says that container %.64s has it", vf,
		 x.owner.key.container);
	*out = x;
	x = (struct vf_entry){ 0 };
	return 1;
}
