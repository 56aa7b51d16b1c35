/* SPDX-License-Identifier: Apache-2.0 */
/* demand_state.c: the file of a master on demand. Pure. */
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"

#define WHAT "file of a master on demand"

void demand_state_clear(struct demand_state *s)
{
	json_free(s->users);
	*s = (struct demand_state){ .users = NULL };
}

/* ---- users ---- */

static bool is_user(const struct json *o, const struct record_key *key)
{
	return strcmp(json_text(o, "network"), key->network) == 0 &&
	       strcmp(json_text(o, "container"), key->container) == 0 &&
	       strcmp(json_text(o, "ifname"), key->ifname) == 0;
}

static int push_user(struct json *users, const struct record_key *key)
{
	struct json *o = json_push_object(users);

	return !o || json_add_str(o, "network", key->network) ||
			       json_add_str(o, "container", key->container) ||
			       json_add_str(o, "ifname", key->ifname)
		       ? -1
		       : 0;
}

int demand_add_user(struct demand_state *s, const struct record_key *key, struct err *e)
{
	json_each (it, s->users) {
		if (is_user(it, key))
			return 0;
	}
	if (json_len(s->users) >= DEMAND_USERS_MAX) {
		err_set(e, ERR_BUSY, 0, "master: %s has %d users, and cannot have more",
			s->link.name, DEMAND_USERS_MAX);
		return err_hint(e, "`railctl attachments repair` drops those whose pod is gone");
	}
	if (!s->users)
		s->users = json_new_array();
	return s->users && push_user(s->users, key) == 0 ? 0 : err_nomem(e);
}

int demand_drop_user(struct demand_state *s, const struct record_key *key)
{
	auto_json struct json *left = json_new_array();
	bool was_there = false;

	if (!left)
		return -1;
	json_each (it, s->users) {
		const bool same = is_user(it, key);

		was_there |= same;
		if (!same && json_push(left, json_dup(it)))
			return -1;
	}
	if (!was_there)
		return 0;
	json_free(s->users);
	s->users = TAKE_PTR(left);
	return 1;
}

/* ---- writing ---- */

static int add_data(struct json *o, const struct demand_link *l)
{
	const union link_data *d = &l->data;

	if (l->kind == DEMAND_VLAN)
		return json_add_int(o, "vlan", d->vlan.id);
	return json_add_int(o, "mode", d->bond.mode) || json_add_int(o, "miimon", d->bond.miimon) ||
			       json_add_int(o, "xmitHashPolicy", d->bond.xmit_hash_policy) ||
			       json_add_int(o, "lacpRate", d->bond.lacp_rate)
		       ? -1
		       : 0;
}

static int add_lower(struct json *list, const struct demand_lower *l)
{
	struct json *o = json_push_object(list);
	char addr[HW_ADDR_STR_LEN], perm[HW_ADDR_STR_LEN];

	return !o || json_add_str(o, "name", l->name) || json_add_int(o, "ifindex", l->ifindex) ||
			       json_add_bool(o, "up", l->was_up) ||
			       json_add_int(o, "mtu", l->mtu) ||
			       json_add_known(o, "mac", hw_addr_format(l->addr, addr)) ||
			       json_add_known(o, "permanentMac", hw_addr_format(l->perm, perm))
		       ? -1
		       : 0;
}

static int add_all(struct json *o, const struct demand_state *s)
{
	const struct demand_link *l = &s->link;
	struct json *list;

	if (json_add_int(o, "version", 1) || json_add_str(o, "name", l->name) ||
	    json_add_str(o, "kind", demand_kind_name(l->kind)) ||
	    json_add_str(o, "boot", s->boot) ||
	    json_add_int(o, "netnsDev", (int64_t)s->netns.dev) ||
	    json_add_int(o, "netnsInode", (int64_t)s->netns.ino) ||
	    json_add_int(o, "netnsCookie", (int64_t)s->netns.cookie) ||
	    json_add_int(o, "ifindex", l->ifindex) || json_add_int(o, "mtu", l->mtu) ||
	    (s->making && json_add_bool(o, "making", true)) || add_data(o, l))
		return -1;
	list = json_add_array(o, "lower");
	for (size_t i = 0; list && i < l->n; i++)
		if (add_lower(list, &l->lower[i]))
			return -1;
	if (!list)
		return -1;
	return s->users ? json_add_copy(o, "users", s->users) : !json_add_array(o, "users");
}

char *demand_state_print(const struct demand_state *s)
{
	auto_json struct json *o = json_new_object();

	return o && !add_all(o, s) ? json_print(o, false) : NULL;
}

/* ---- reading ---- */

struct state_text {
	int kind;
	const char *name, *boot;
	int64_t version, dev, ino, cookie, ifindex;
	uint32_t mtu, vlan, mode, miimon, policy, rate;
	bool making;
	const struct json *lower, *users;
};

struct lower_text {
	const char *name;
	int64_t ifindex;
	uint32_t mtu;
	bool up;
	struct hw_addr addr, perm;
};

static const struct json_enum kinds[] = { { "vlan", DEMAND_VLAN }, { "bond", DEMAND_BOND }, { 0 } };

#define AT(member) offsetof(struct state_text, member)
#define U32(k, member)                                                                             \
	{                                                                                          \
		k, J_U32, AT(member), 0, 0, 0, NULL                                                \
	}
#define I64(k, member, least, most)                                                                \
	{                                                                                          \
		k, J_I64, AT(member), 0, least, most, NULL                                         \
	}

static const struct json_field fields[] = {
	{ "version", J_I64, AT(version), J_REQUIRED, 1, 1, NULL },
	{ "name", J_STRING, AT(name), J_REQUIRED, 1, IFNAME_LEN - 1, NULL },
	{ "kind", J_ENUM, AT(kind), J_REQUIRED, 0, 0, kinds },
	{ "boot", J_STRING, AT(boot), J_REQUIRED, CTX_BOOT_ID_LEN, CTX_BOOT_ID_LEN, NULL },
	{ "ifindex", J_I64, AT(ifindex), J_REQUIRED, 1, INT32_MAX, NULL },
	I64("netnsDev", dev, 0, INT64_MAX),
	I64("netnsInode", ino, 0, INT64_MAX),
	I64("netnsCookie", cookie, 0, INT64_MAX),
	U32("mtu", mtu),
	U32("vlan", vlan),
	U32("mode", mode),
	U32("miimon", miimon),
	U32("xmitHashPolicy", policy),
	U32("lacpRate", rate),
	{ "making", J_BOOL, AT(making), 0, 0, 0, NULL },
	{ "lower", J_ARRAY, AT(lower), J_REQUIRED, 0, 0, NULL },
	{ "users", J_ARRAY, AT(users), J_REQUIRED, 0, 0, NULL },
	{ 0 },
};

#define LOWER(member) offsetof(struct lower_text, member)
static const struct json_field lower_fields[] = {
	{ "name", J_STRING, LOWER(name), J_REQUIRED, 1, IFNAME_LEN - 1, NULL },
	{ "ifindex", J_I64, LOWER(ifindex), J_REQUIRED, 1, INT32_MAX, NULL },
	{ "up", J_BOOL, LOWER(up), J_REQUIRED, 0, 0, NULL },
	{ "mtu", J_U32, LOWER(mtu), 0, 0, 0, NULL },
	{ "mac", J_HW_ADDR, LOWER(addr), 0, 0, 0, NULL },
	{ "permanentMac", J_HW_ADDR, LOWER(perm), 0, 0, 0, NULL },
	{ 0 },
};

static int read_lower(const struct json *list, struct demand_link *l, struct err *e)
{
	json_each (it, list) {
		struct demand_lower *x = &l->lower[l->n];
		struct lower_text t = { .name = "" };

		if (l->n == DEMAND_LOWER_MAX)
			return err_set(e, ERR_DECODE, 0, WHAT ": more than %d in \"lower\"",
				       DEMAND_LOWER_MAX);
		if (json_decode(it, WHAT ".lower", lower_fields, &t, e))
			return -1;
		(void)snprintf(x->name, sizeof(x->name), "%.15s", t.name);
		x->ifindex = (int)t.ifindex;
		x->was_up = t.up;
		x->mtu = t.mtu;
		x->addr = t.addr;
		x->perm = t.perm;
		l->n++;
	}
	return l->n ? 0 : err_set(e, ERR_DECODE, 0, WHAT ": \"lower\" is empty");
}

static int read_users(const struct json *list, struct demand_state *s, struct err *e)
{
	if (json_len(list) > DEMAND_USERS_MAX)
		return err_set(e, ERR_DECODE, 0, WHAT ": more than %d users", DEMAND_USERS_MAX);
	json_each (it, list) {
		const struct record_key key = { json_text(it, "network"),
						json_text(it, "container"),
						json_text(it, "ifname") };

		if (!*key.network || !*key.container || !*key.ifname)
			return err_set(e, ERR_DECODE, 0,
				       WHAT ": a user is not network, container "
					    "and ifname");
		if (demand_add_user(s, &key, e))
			return -1;
	}
	return 0;
}

static void take_text(const struct state_text *t, struct demand_state *s)
{
	struct demand_link *l = &s->link;

	l->kind = (enum demand_kind)t->kind;
	(void)snprintf(l->name, sizeof(l->name), "%.15s", t->name);
	(void)snprintf(s->boot, sizeof(s->boot), "%.36s", t->boot);
	l->ifindex = (int)t->ifindex;
	l->mtu = t->mtu;
	s->making = t->making;
	s->netns = (struct netns_id){ (uint64_t)t->dev, (uint64_t)t->ino, (uint64_t)t->cookie };
	if (l->kind == DEMAND_VLAN) {
		l->data.vlan.id = t->vlan;
		l->data.vlan.protocol = LINK_VLAN_8021Q;
		return;
	}
	l->data.bond.mode = t->mode;
	l->data.bond.miimon = t->miimon;
	l->data.bond.xmit_hash_policy = t->policy;
	l->data.bond.lacp_rate = t->rate;
}

int demand_state_decode(const char *text, size_t len, struct demand_state *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	auto_demand_state struct demand_state s = { .users = NULL };
	struct state_text t = { .name = "" };

	if (json_parse(text, len, WHAT, &tree, e))
		return -1;
	if (json_decode(tree, WHAT, fields, &t, e) || read_lower(t.lower, &s.link, e) ||
	    read_users(t.users, &s, e)) {
		if (e->code != ERR_NOMEM)
			e->code = ERR_DECODE; /* whatever it would be in a configuration: we wrote
						 this */
		return -1;
	}
	take_text(&t, &s);
	*out = s;
	s.users = NULL;
	return 0;
}
