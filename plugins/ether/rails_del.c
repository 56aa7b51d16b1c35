/* SPDX-License-Identifier: Apache-2.0 */
/* rails_del.c: DEL without a record: interfaces by names and aliases, VFs by their owners. */
#include <string.h>

#include "plugins/ether/rails_priv.h"
#include "cni/engine/staged.h"
#include "cni/record/part.h"
#include "plugins/ether/ipoib.h"
#include "plugins/sriov/member.h"
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
	const struct attach_type *kind = rails_kind_of(call->conf.tree);
	const struct name_visit v = {
		.names = names_of(call),
		.conf = &call->conf,
		.fn = fn,
		.arg = arg,
	};

	return kind && kind->role == ATTACH_MAKES ? each_name_of(&v, kind->kind) : 0;
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
	    (!c.another && (claim_release(ctx, x->vf, owner, (struct netns_id){ 0 }, u->e) ||
			    ib_member_remove(ctx, owner, u->e))))
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

static int release_vfs(const struct cni_call *call, struct err *e)
{
	struct unrecorded_vfs u = { .call = call, .names = names_of(call), .e = e };
	const struct name_visit v = {
		.names = u.names, .conf = &call->conf, .fn = release_named, .arg = &u
	};

	return vf_state_each(&call->ctx, release_vf, &u, e) || u.rc || each_name_of(&v, "") ? -1
											    : 0;
}

/* ---- children of IPoIB ---- */

static int match_child(const char *ifname, const char *alias, void *arg)
{
	const struct record_key *key = arg;
	const struct record_key one = { key->network, key->container, ifname };
	char text[LINK_ALIAS_LEN];

	staged_alias(&one, text);
	return strcmp(text, alias) == 0;
}

static int is_child(const struct link_info *link, void *arg)
{
	const struct cni_call *call = arg;
	struct record_key key = { call->conf.name, call->env.container, "" };
	const struct name_visit v = {
		.names = names_of(call), .conf = &call->conf, .fn = match_child, .arg = &key
	};

	return each_name_of(&v, link->alias);
}

/* Those that the kernel handed back to the host when the pod's namespace ended. */
static int release_children(const struct cni_call *call, struct err *e)
{
	const struct staged_orphans which = { ipoib_type.kind, call->conf.name, is_child,
					      (void *)(uintptr_t)call };

	return staged_sweep(&call->ctx, &which, e);
}

int rails_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	if (r)
		return 0;
	if (rails_kind_of(call->conf.tree) == &ipoib_type)
		return release_children(call, e);
	return rails_moves(call->conf.tree) ? release_vfs(call, e) : 0;
}
