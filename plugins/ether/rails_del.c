/* SPDX-License-Identifier: Apache-2.0 */
/* rails_del.c: DEL without a record: interfaces by their names, VFs by their owners. */
#include <string.h>

#include "plugins/ether/rails_priv.h"
#include "cni/record/part.h"
#include "sriov/claim/claim.h"

static struct rails_names names_of(const struct cni_call *call)
{
	const char *template = json_text(call->conf.tree, "ifname");

	return (struct rails_names){ *template ? template : NULL, call->env.ifname };
}

/* ---- interfaces that were made ---- */

struct name_visit {
	struct rails_names names;
	const struct cni_conf *conf;
	attach_name_fn fn;
	void *arg;
};

static int rails_del_visit(const struct name_visit *v, const char *name, const char *kind)
{
	return !v->conf->prev_result || cni_conf_made(v->conf, name) ? v->fn(name, kind, v->arg)
								     : 0;
}

/* Rails may have come and gone since ADD: every number is tried. */
static int each_name_of(const struct name_visit *v, const char *kind)
{
	char name[IFNAME_LEN];
	struct err ignored;
	int rc = v->names.template ? 0 : rails_del_visit(v, v->names.ifname, kind);

	for (uint32_t n = 0; rc == 0 && n <= RAIL_NUMBER_MAX; n++)
		if (rails_name(&v->names, 1, n, name, &ignored) == 0)
			rc = rails_del_visit(v, name, kind);
	return rc;
}

int rails_each_name(const struct cni_call *call, attach_name_fn fn, void *arg)
{
	const char *kind = json_text(call->conf.tree, "kind");
	const struct name_visit v = {
		.names = names_of(call),
		.conf = &call->conf,
		.fn = fn,
		.arg = arg,
	};

	for (size_t i = 0; i < RAILS_KINDS; i++)
		if (*rails_kinds[i]->kind && strcmp(kind, rails_kinds[i]->name) == 0)
			return each_name_of(&v, rails_kinds[i]->kind);
	return 0;
}

/* ---- VFs ---- */

/* Rails may have come and gone since ADD: every number is tried. */
static bool can_have_name(const struct rails_names *names, const char *ifname)
{
	char name[IFNAME_LEN];
	struct err ignored;

	if (!names->template && strcmp(ifname, names->ifname) == 0)
		return true;
	for (uint32_t n = 0; n <= RAIL_NUMBER_MAX; n++)
		if (rails_name(names, 1, n, name, &ignored) == 0 && strcmp(name, ifname) == 0)
			return true;
	return false;
}

/* Another attachment of the same network and container can have VFs, too: its record says so. */
struct claimed_by {
	const struct record_key *owner; /* of the VF */
	bool another;
};

static int compare_record(const struct record *r, void *arg)
{
	struct claimed_by *c = arg;
	struct record part;

	for (size_t i = 0; r->tree && i < record_parts(r); i++) {
		record_part(r, i, &part);
		c->another |= strcmp(part.key.container, c->owner->container) == 0 &&
			      strcmp(part.key.ifname, c->owner->ifname) == 0;
	}
	return c->another;
}

struct unrecorded_vfs {
	const struct cni_call *call;
	struct rails_names names;
	struct err *e;
	int rc;
};

static int release_vf(const struct vf_entry *x, void *arg)
{
	struct unrecorded_vfs *u = arg;
	const struct ctx *ctx = &u->call->ctx;
	const struct record_key *owner = &x->owner.key;
	struct claimed_by c = { .owner = owner };

	if (!x->owned || strcmp(owner->network, u->call->conf.name) != 0 ||
	    strcmp(owner->container, u->call->env.container) != 0 ||
	    !can_have_name(&u->names, owner->ifname))
		return 0;
	if (record_each(ctx, owner->network, compare_record, &c, u->e) ||
	    (!c.another && claim_release(ctx, x->vf, owner, (struct netns_id){ 0 }, u->e)))
		u->rc = -1;
	return u->rc;
}

/* Neither its state nor its record is left. */
static int release_named(const char *ifname, const char *kind, void *arg)
{
	struct unrecorded_vfs *u = arg;
	const struct cni_call *call = u->call;
	const struct record_key key = { call->conf.name, call->env.container, ifname };

	(void)kind;
	u->rc = claim_release_named(&call->ctx, &call->conf, &key, call->env.netns, u->e);
	return u->rc;
}

int rails_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	struct unrecorded_vfs u = { .call = call, .names = names_of(call), .e = e };

	if (r || strcmp(json_text(call->conf.tree, "kind"), "sriov") != 0)
		return 0;
	const struct name_visit v = {
		.names = u.names, .conf = &call->conf, .fn = release_named, .arg = &u
	};

	return vf_state_each(&call->ctx, release_vf, &u, e) || u.rc || each_name_of(&v, "") ? -1
											    : 0;
}
