/* SPDX-License-Identifier: Apache-2.0 */
/* demand_state.c: the file of a master on demand. Pure. */
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

static const struct json_field user_fields[] = {
	{ "network", J_STRING, J_AT(struct record_key, network) },
	{ "container", J_STRING, J_AT(struct record_key, container) },
	{ "ifname", J_STRING, J_AT(struct record_key, ifname) },
	{ 0 },
};

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
	return s->users && !json_encode(json_push_object(s->users), user_fields, key)
		       ? 0
		       : err_nomem(e);
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

/* ---- text ---- */

static const struct json_enum kinds[] = { { "vlan", DEMAND_VLAN }, { "bond", DEMAND_BOND }, { 0 } };

static const struct json_field head_fields[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "name", J_CHARS, J_AT(struct demand_state, link.name), .flags = J_REQUIRED, .min = 1 },
	{ "kind", J_ENUM, J_AT(struct demand_state, link.kind), .flags = J_REQUIRED,
	  .names = kinds },
	{ "boot", J_CHARS, J_AT(struct demand_state, boot), .flags = J_REQUIRED,
	  .min = CTX_BOOT_ID_LEN },
	{ "netnsDev", J_UINT, J_AT(struct demand_state, netns.dev) },
	{ "netnsInode", J_UINT, J_AT(struct demand_state, netns.ino) },
	{ "netnsCookie", J_UINT, J_AT(struct demand_state, netns.cookie) },
	{ "ifindex", J_UINT, J_AT(struct demand_state, link.ifindex), .flags = J_REQUIRED, .min = 1,
	  .max = INT32_MAX },
	{ "mtu", J_UINT, J_AT(struct demand_state, link.mtu) },
	{ "making", J_BOOL, J_AT(struct demand_state, making), .flags = J_OMIT },
	{ 0 },
};

static const struct json_field vlan_fields[] = {
	{ "vlan", J_UINT, J_AT(union link_data, vlan.id) },
	{ 0 },
};

static const struct json_field bond_fields[] = {
	{ "mode", J_UINT, J_AT(union link_data, bond.mode) },
	{ "miimon", J_UINT, J_AT(union link_data, bond.miimon) },
	{ "xmitHashPolicy", J_UINT, J_AT(union link_data, bond.xmit_hash_policy) },
	{ "lacpRate", J_UINT, J_AT(union link_data, bond.lacp_rate) },
	{ 0 },
};

static const struct json_field lower_fields[] = {
	{ "name", J_CHARS, J_AT(struct demand_lower, name), .flags = J_REQUIRED, .min = 1 },
	{ "ifindex", J_UINT, J_AT(struct demand_lower, ifindex), .flags = J_REQUIRED, .min = 1,
	  .max = INT32_MAX },
	{ "up", J_BOOL, J_AT(struct demand_lower, was_up), .flags = J_REQUIRED },
	{ "mtu", J_UINT, J_AT(struct demand_lower, mtu) },
	{ "mac", J_HW_ADDR, J_AT(struct demand_lower, addr) },
	{ "permanentMac", J_HW_ADDR, J_AT(struct demand_lower, perm) },
	{ 0 },
};

static const struct json_field lowers[] = {
	{ "lower", J_LIST, J_AT(struct demand_link, lower), .flags = J_REQUIRED,
	  .item = sizeof(struct demand_lower), .has = offsetof(struct demand_link, n),
	  .of = lower_fields },
	{ 0 },
};

static const struct json_field *data_fields(const struct demand_link *l)
{
	return l->kind == DEMAND_VLAN ? vlan_fields : bond_fields;
}

char *demand_state_print(const struct demand_state *s)
{
	auto_json struct json *o = json_encoded(head_fields, s);

	if (json_encode(o, data_fields(&s->link), &s->link.data) ||
	    json_encode(o, lowers, &s->link) ||
	    (s->users ? json_add_copy(o, "users", s->users) : !json_add_array(o, "users")))
		return NULL;
	return json_print(o, false);
}

static int read_users(const struct json *list, struct demand_state *s, struct err *e)
{
	if (json_type(list) != JSON_ARRAY || json_len(list) > DEMAND_USERS_MAX)
		return err_set(e, ERR_DECODE, 0, WHAT ": \"users\" is not an array of at most %d",
			       DEMAND_USERS_MAX);
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

static int decode_tree(const struct json *tree, struct demand_state *s, struct err *e)
{
	struct demand_link *l = &s->link;

	if (json_decode(tree, WHAT, head_fields, s, e) ||
	    json_decode(tree, WHAT, data_fields(l), &l->data, e) ||
	    json_decode(tree, WHAT, lowers, l, e))
		return -1;
	if (!l->n)
		return err_set(e, ERR_DECODE, 0, WHAT ": \"lower\" is empty");
	if (l->kind == DEMAND_VLAN)
		l->data.vlan.protocol = LINK_VLAN_8021Q;
	return read_users(json_get(tree, "users"), s, e);
}

int demand_state_decode(const char *text, size_t len, struct demand_state *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	auto_demand_state struct demand_state s = { .users = NULL };

	if (json_parse(text, len, WHAT, &tree, e))
		return -1;
	if (decode_tree(tree, &s, e)) {
		if (e->code != ERR_NOMEM)
			e->code = ERR_DECODE; /* whatever it would be in a configuration: we wrote
						 this */
		return -1;
	}
	*out = s;
	s.users = NULL;
	return 0;
}
