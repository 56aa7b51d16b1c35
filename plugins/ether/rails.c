/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: the type rails for the engine: a call for each rail, and one for the IPAM. */
#include "plugins/ether/rails.h"

#include <stdio.h>

#include "cni/engine/staged.h"
#include "cni/record/record.h"
#include "plugins/ether/ipoib.h"
#include "plugins/ether/rails_priv.h"
#include "plugins/sriov/member.h"
#include "sriov/claim/claim.h"

/* The engine borrows all of this until the end of the call. */
struct rails_calls {
	struct rails_made made;
	struct cni_call part[RAIL_LIST_MAX], ipam;
	struct json *note;
};

struct rails_state {
	struct rails_conf conf; /* the fields are its own: it comes first */
	struct rails_calls *calls;
	struct rails_rdma rdma;
};

_Static_assert(sizeof(struct rails_state) <= ATTACH_STATE_MAX, "the state is too large");
_Static_assert(RAIL_LIST_MAX <= ATTACH_PARTS_MAX, "more rails than interfaces of one ADD");

static void ether_rails_clear(void *state)
{
	struct rails_state *s = state;
	struct rails_calls *c = s->calls;

	rails_rdma_clear(&s->rdma);
	if (!c)
		return;
	for (size_t i = 0; i < c->made.n; i++)
		json_free(c->part[i].conf.tree);
	free(c->ipam.conf.text);
	json_free(c->note);
	free(c);
}

/* CHECK compares what ADD made, whatever rails the node has by now. */
static int find_made(struct attach *a, struct rails_made *out, struct err *e)
{
	auto_record struct record r = { 0 };

	if (a->call->env.cmd != CNI_CHECK)
		return rails_choose(a, out, e);
	return attach_read_record(a, &r, e) ||
			       rails_read_note(json_get(r.device, RAILS_KEY), out, e)
		       ? -1
		       : 0;
}

static int make_calls(const struct cni_call *call, const struct attach_type *type,
		      struct rails_calls *c, struct err *e)
{
	for (size_t i = 0; i < c->made.n; i++) {
		c->part[i] = *call;
		c->part[i].data = type;
		c->part[i].env.ifname = c->made.rail[i].ifname;
		c->part[i].conf.tree = rails_part(call->conf.tree, &c->made, i);
		if (!c->part[i].conf.tree)
			return err_nomem(e);
		/* CNIDeviceInfoFile has one device, and Multus gives it to each interface. */
		if (c->made.n > 1)
			c->part[i].conf.runtime = NULL;
	}
	c->ipam = *call;
	c->ipam.conf.text = NULL;
	return *call->conf.ipam_type ? rails_ipam(call->conf.tree, &c->made, &c->ipam.conf.text,
						  &c->ipam.conf.len, e)
				     : 0;
}

/* The record has {"rails": NOTE}: DEL and repair go by the record's parts, CHECK by this. */
static int keep_note(struct attach *a, struct rails_calls *c, struct err *e)
{
	auto_json struct json *device = json_new_object();

	c->note = rails_note(&c->made);
	if (!c->note || !device || json_add_copy(device, RAILS_KEY, c->note))
		return err_nomem(e);
	json_free(a->device);
	a->device = TAKE_PTR(device);
	return 0;
}

static int parts(struct attach *a, struct attach_parts *out, struct err *e)
{
	struct rails_state *s = (void *)a->state;
	struct rails_calls *c = s->calls = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	if ((s->conf.rdma == RAILS_RDMA_SHARED && rails_rdma_check_mode(e)) ||
	    find_made(a, &c->made, e) || make_calls(a->call, rails_kinds[s->conf.kind], c, e) ||
	    keep_note(a, c, e))
		return -1;
	a->master_from = c->made.from;
	if (a->conf.routing.is_default && c->made.n > 1)
		return err_set(e, ERR_CONFIG, 0,
			       "routing.default: one rail of a pod can have the default route of "
			       "the pod, and these are %zu",
			       c->made.n);
	for (size_t i = 0; i < c->made.n; i++) {
		out->call[i] = &c->part[i];
		(void)snprintf(out->what[i], sizeof(out->what[i]), "rail %u",
			       c->made.rail[i].number);
	}
	out->n = c->made.n;
	out->ipam = c->ipam.conf.text ? &c->ipam : NULL;
	out->key = RAILS_KEY;
	out->note = c->note;
	return 0;
}

static int rails_verify(struct attach *a, struct attach *part, const struct cni_result *ips,
			struct err *e)
{
	struct rails_state *s = (void *)a->state;

	return s->conf.rdma == RAILS_RDMA_SHARED ? rails_rdma_verify(&s->rdma, part, ips, e) : 0;
}

static const struct attach_restore_type restorers[] = {
	{ "sriov", sriov_restore }, { "ib-sriov", ib_restore }, { "ipoib", staged_restore }, { 0 }
};

/* Children of IPoIB that the kernel handed back after the DEL. */
static int rails_sweep(const struct cni_call *call, struct err *e)
{
	const struct staged_orphans which = { .kind = ipoib_type.kind, .network = call->conf.name };

	return staged_sweep(&call->ctx, &which, e);
}

static const struct attach_several several = {
	.parts = parts,
	.verify = rails_verify,
	.restorers = restorers,
	.each_name = rails_each_name,
};

const struct attach_type rails_type = {
	.name = "rails",
	.role = ATTACH_MAKES,
	.kind = "",
	.fields = rails_fields,
	.clear = ether_rails_clear,
	.several = &several,
	.validate = rails_validate,
	.release = rails_release,
	.sweep = rails_sweep,
};
