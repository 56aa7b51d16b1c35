/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails_rdma.c: "rdma": "shared": whether the RDMA device below each interface carries its
 * addresses, and is still the one that ADD found.
 */
#include "cni/protocol/result_rdma.h"
#include "plugins/ether/rails.h"
#include "plugins/ether/rails_priv.h"
#include "rdma/device/gid_verify.h"

#define GIDS_MS    10000    /* as long as the plugin rdma waits */
#define SHARED_KEY "shared" /* of the device in the record of a part */

void rails_rdma_clear(struct rails_rdma *m)
{
	nl_release(m->nl);
}

int rails_rdma_check_mode(struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;

	if (nl_rdma_open(&nl, e) || nl_rdma_sys_get(nl, &sys, e))
		return err_wrap(e, "rdma");
	if (sys.mode == RDMA_SHARED)
		return 0;
	err_set(e, ERR_STATE, 0,
		"rdma: \"shared\", but this node is in RDMA mode exclusive, in which a pod sees "
		"only "
		"devices that moved into it");
	return err_hint(e, "kind \"sriov\" with \"rdma\": \"exclusive\" moves those of VFs; "
			   "`railctl rdma mode shared` sets the mode for the next boot");
}

static int verify_gids(const struct rails_rdma *m, const struct gid_carrier *at,
		       const struct cni_result *ips, struct json *gids, struct err *e)
{
	struct gid_entry entry;

	for (size_t i = 0; gid_follows_address(at->serving) && i < ips->n_ips; i++) {
		if (gid_verify(at, ips->ips[i].address.addr, m->deadline_ms, &entry, e))
			return -1;
		if (gid_add_json(gids, &entry))
			return err_nomem(e);
	}
	return 0;
}

static int rails_rdma_describe(const struct rails_rdma *m, struct attach *part,
			       const struct rdma_serving *serving, const struct json *gids,
			       struct err *e)
{
	struct rdma_chardevs chardevs;
	const struct result_rdma r = {
		.mode = RDMA_SHARED,
		.device = serving->link.name,
		.port = serving->port,
		.bus = serving->pci,
		.gids = json_len(gids) ? gids : NULL,
		.chardevs = &chardevs,
	};

	if (rdma_chardevs_read(m->nl, &serving->link, &chardevs, e))
		return -1;
	json_free(part->rdma);
	part->rdma = result_rdma_json(&r);
	return part->rdma ? 0 : err_nomem(e);
}

/* ---- the device that ADD found ---- */

struct found {
	uint32_t index, port;
	const char *name;
};

static int keep_found(struct attach *part, const struct rdma_serving *s, struct err *e)
{
	auto_json struct json *x = json_new_object();

	if (!part->device)
		part->device = json_new_object();
	return !x || json_add_int(x, "index", s->link.index) || json_add_int(x, "port", s->port) ||
			       json_add_str(x, "name", s->link.name) || !part->device ||
			       json_put(part->device, SHARED_KEY, TAKE_PTR(x))
		       ? err_nomem(e)
		       : 0;
}

/* An attachment of before the key has none. A driver that is loaded again makes another device,
 * under the same name. */
static int compare_found(const struct attach *part, const struct rdma_serving *s, struct err *e)
{
#define FIELD(m) .key = #m, .offset = offsetof(struct found, m), .flags = J_REQUIRED
	static const struct json_field fields[] = {
		{ FIELD(index), .kind = J_U32 },
		{ FIELD(port), .kind = J_U32 },
		{ FIELD(name), .kind = J_STRING },
		{ 0 },
	};
	auto_record struct record r = { 0 };
	struct found was;

	if (attach_read_record(part, &r, e))
		return -1;
	const struct json *x = json_get(r.device, SHARED_KEY);
	if (!x)
		return 0;
	if (json_decode(x, "device." SHARED_KEY, fields, &was, e))
		return -1;
	if (s->link.index == was.index && s->port == was.port)
		return 0;
	return err_set(e, ERR_STATE, 0,
		       "interface %s is served by RDMA device %s (number %u) port %u, ADD found "
		       "%.64s (number %u) port %u",
		       part->call->env.ifname, s->link.name, s->link.index, s->port, was.name,
		       was.index, was.port);
}

int rails_rdma_verify(struct rails_rdma *m, struct attach *part, const struct cni_result *ips,
		      struct err *e)
{
	auto_json struct json *gids = json_new_array();
	const bool adds = part->call->env.cmd == CNI_ADD;
	struct rdma_serving serving;

	if (!gids)
		return err_nomem(e);
	if (!m->nl && nl_rdma_open(&m->nl, e))
		return err_wrap(e, "rdma");
	if (adds && !m->deadline_ms)
		m->deadline_ms = ctx_mono_ms() + GIDS_MS;

	const struct rdma_view view = { &part->call->ctx, &part->host,  &part->pod,
					part->host_nl,    part->pod_nl, m->nl };
	const struct gid_carrier at = { part->call->ctx.sysfs, &serving, part->call->env.ifname };

	if (rdma_of_netdev(&view, at.ifname, &serving, e)) {
		if (e->code == ERR_NOTFOUND)
			e->code = ERR_STATE;
		return err_wrap(e, "rdma");
	}
	return (adds ? keep_found(part, &serving, e) : compare_found(part, &serving, e)) ||
			       verify_gids(m, &at, ips, gids, e) ||
			       rails_rdma_describe(m, part, &serving, gids, e)
		       ? err_wrap(e, "rdma")
		       : 0;
}
