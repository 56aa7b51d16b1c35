/* SPDX-License-Identifier: Apache-2.0 */
/* block_value.c: decodes and prints the records of blocks and of the node; each length is checked.
 */
#include "ipam/lease/block_value.h"

#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/json/json.h"

/* Of a block with loans: an older plugin would assign their addresses. */
#define LENDING (BLOCK_LOST + 1)

static const struct json_enum states[] = {
	{ "wanted", BLOCK_WANTED },       { "asked", BLOCK_ASKED },
	{ "granted", BLOCK_GRANTED },     { "returning", BLOCK_RETURNING },
	{ "contested", BLOCK_CONTESTED }, { "lost", BLOCK_LOST },
	{ "lending", LENDING },           { 0 },
};

struct block_value {
	struct block_record r;
	int state;
	uint32_t at;
	const struct json *lent;
};

static const struct json_field block_fields[] = {
	{ "state", J_ENUM, J_AT(struct block_value, state), .flags = J_REQUIRED, .names = states },
	{ "token", J_HEX64, J_AT(struct block_value, r.token), .flags = J_EMPTY_OK },
	{ "epoch", J_DIGITS, J_AT(struct block_value, r.epoch), .flags = J_EMPTY_OK | J_OMIT },
	{ "since", J_DIGITS, J_AT(struct block_value, r.since), .flags = J_EMPTY_OK | J_OMIT,
	  .max = INT64_MAX },
	{ "identity", J_CHARS, J_AT(struct block_value, r.identity), .flags = J_OMIT },
	{ "lender", J_CHARS, J_AT(struct block_value, r.lender), .flags = J_OMIT },
	{ "probe", J_BOOL, J_AT(struct block_value, r.probe), .flags = J_OMIT },
	{ "unwanted", J_BOOL, J_AT(struct block_value, r.unwanted), .flags = J_OMIT },
	{ "at", J_UINT, J_AT(struct block_value, at), .flags = J_OMIT, .max = LOAN_ANY - 2 },
	{ "lent", J_ARRAY, J_AT(struct block_value, lent), .flags = J_READ },
	{ 0 },
};

struct node_value {
	struct node_record r;
	bool is_limited; /* by give_until */
};

/* Older agents wrote no fenceUntil: a strict pool waits for the next renewal. */
static const struct json_field node_fields[] = {
	{ "holder", J_CHARS, J_AT(struct node_value, r.holder) },
	{ "boot", J_CHARS, J_AT(struct node_value, r.boot) },
	{ "epoch", J_DIGITS, J_AT(struct node_value, r.epoch), .flags = J_EMPTY_OK | J_OMIT },
	{ "giveUntil", J_DIGITS, J_AT(struct node_value, r.give_until), .flags = J_EMPTY_OK | J_IF,
	  .max = INT64_MAX, .has = offsetof(struct node_value, is_limited) },
	{ "fenceUntil", J_DIGITS, J_AT(struct node_value, r.fence_until),
	  .flags = J_EMPTY_OK | J_OMIT, .max = INT64_MAX },
	{ "uid", J_CHARS, J_AT(struct node_value, r.beat.uid) },
	{ "version", J_CHARS, J_AT(struct node_value, r.beat.version) },
	{ "beats", J_DIGITS, J_AT(struct node_value, r.beats), .flags = J_EMPTY_OK | J_OMIT },
	{ "frozen", J_DIGITS, J_AT(struct node_value, r.frozen), .flags = J_EMPTY_OK | J_OMIT,
	  .max = INT64_MAX },
	{ "strays", J_BOOL, J_AT(struct node_value, r.strays), .flags = J_OMIT },
	{ 0 },
};

const char *block_state_name(enum block_state s)
{
	return states[s].name;
}

/* Every malformed record is ERR_STORE, whatever is wrong with it. */
static int block_value_refuse(const char *key, const char *text, struct err *e)
{
	if (e->code == ERR_NOMEM)
		return -1;
	err_wrap(e, "the store's record %.200s is damaged (%.100s)", key, text);
	e->code = ERR_STORE;
	return err_hint(e, "run `railctl ipam verify --repair`");
}

static int read_key(const char *key, const struct block_value *raw, struct block_key *out,
		    struct err *e)
{
	struct key_address a;
	const uint32_t at = raw->at;
	bool is_loan = key_parse_loan(key, &a) == 0;

	if ((!is_loan && key_parse_block(key, &a)) || a.ip.v < at || !key_pool_of(a.scope) ||
	    strlen(key_pool_of(a.scope)) > GRID_POOL_MAX)
		return err_set(e, ERR_STORE, 0, "it is not the key of a block");
	if (!is_loan && at)
		return err_set(e, ERR_STORE, 0, "at: only the loan of an address has it");
	if (is_loan && raw->lent)
		return err_set(e, ERR_STORE, 0, "lent: the loan of an address lends nothing");
	(void)snprintf(out->pool, sizeof(out->pool), "%s", key_pool_of(a.scope));
	out->start = a.ip;
	out->start.v -= at;
	out->one = is_loan ? at + 1 : 0;
	return 0;
}

static int parse(const char *key, const char *text, struct block_record *out, struct lending *lends,
		 struct err *e)
{
	struct block_value v = { .at = 0 };
	auto_json struct json *tree = NULL;
	struct lending l = { .n = 0 };

	if (json_parse(text, strlen(text), "block", &tree, e) ||
	    json_decode(tree, "block", block_fields, &v, e) || read_key(key, &v, &v.r.key, e) ||
	    loans_from_json(v.lent, "block", l.loans, &l.n, e))
		return block_value_refuse(key, text, e);
	v.r.state = v.state == LENDING ? BLOCK_GRANTED : (enum block_state)v.state;
	l.key = v.r.key;
	*out = v.r;
	*lends = l;
	return 0;
}

int block_value_parse(const char *key, const char *text, struct block_record *out, struct err *e)
{
	struct lending ignored;

	return parse(key, text, out, &ignored, e);
}

int block_value_lends(const char *key, const char *text, struct lending *out, struct err *e)
{
	struct block_record ignored;

	if (strstr(text, "\"lent\""))
		return parse(key, text, &ignored, out, e);
	*out = (struct lending){ .n = 0 };
	return 0;
}

char *block_value_print_lending(const struct block_record *r, const struct lending *l)
{
	struct block_value v = { .r = *r, .state = (int)r->state };
	auto_json struct json *o = NULL;

	if (l->n && r->state == BLOCK_GRANTED)
		v.state = LENDING;
	if (r->key.one > 1)
		v.at = r->key.one - 1;
	o = json_encoded(block_fields, &v);
	return !o || loans_to_json(o, "lent", l->loans, l->n) ? NULL : json_print(o, false);
}

char *block_value_print(const struct block_record *r)
{
	static const struct lending none;

	return block_value_print_lending(r, &none);
}

void block_value_key(const struct block_key *b, struct key *out)
{
	char scope[KEY_SCOPE_MAX];

	key_scope(scope, 'p', b->pool);
	if (b->one)
		key_of_loan(out, scope, block_key_ip(b));
	else
		key_of_block(out, scope, b->start);
}

int node_value_parse(const char *text, struct node_record *out, struct err *e)
{
	struct node_value v = { .r = { .give_until = text ? INT64_MAX : 0 } };
	auto_json struct json *tree = NULL;

	if (text && (json_parse(text, strlen(text), "node", &tree, e) ||
		     json_decode(tree, "", node_fields, &v, e)))
		return block_value_refuse(KEY_NODE, text, e);
	*out = v.r;
	return 0;
}

static void at_least_0(int64_t *time)
{
	*time = *time < 0 ? 0 : *time;
}

char *node_value_print(const struct node_record *r)
{
	struct node_value v = { *r, r->give_until != INT64_MAX };

	at_least_0(&v.r.give_until);
	at_least_0(&v.r.fence_until);
	at_least_0(&v.r.frozen);
	return json_print_fields(node_fields, &v, false);
}

void block_identity(const struct owner *o, char out[IDENTITY_LEN])
{
	const char *const parts[] = { o->ns, o->pod, o->ifname };
	int len = snprintf(out, IDENTITY_LEN, "%s/%s/%s", o->ns, o->pod, o->ifname);
	bool is_one = len > 0 && len < IDENTITY_LEN;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		is_one = is_one && *parts[i] && !strchr(parts[i], '/');
	if (!is_one)
		*out = '\0';
}
