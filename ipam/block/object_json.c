/* SPDX-License-Identifier: Apache-2.0 */
/* object_json.c: the values of blocks, heartbeats and nodes; each length and number is checked. */
#include "ipam/block/object_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/parse.h"

#define TOKEN_LEN 17
/* After the token of a block with loans: an agent that does not know them cannot read it. */
#define LENDS '+'

#define PARTY(T, member)                                                                           \
	{ "node", J_CHARS, J_AT(struct T, member.node) },                                          \
		{ "holder", J_CHARS, J_AT(struct T, member.holder) },                              \
	{                                                                                          \
		"token", J_HEX64, J_AT(struct T, member.token), .flags = J_EMPTY_OK                \
	}

/* Of an ask for a loan, two members say what block.asks_one does. */
struct ask {
	struct block_party party;
	bool contested, kept, migrates, any;
	uint32_t loan;
};

static const struct json_field ask_fields[] = {
	PARTY(ask, party),
	{ "contested", J_BOOL, J_AT(struct ask, contested), .flags = J_OMIT },
	{ "migrates", J_BOOL, J_AT(struct ask, migrates), .flags = J_OMIT },
	{ "any", J_BOOL, J_AT(struct ask, any), .flags = J_OMIT },
	{ "loan", J_UINT, J_AT(struct ask, loan), .flags = J_OMIT, .max = LOAN_ANY - 1 },
	{ "kept", J_BOOL, J_AT(struct ask, kept), .flags = J_OMIT },
	{ 0 },
};

static const struct json_field parked_fields[] = {
	{ "by", J_CHARS, J_AT(struct block, parked_by), .flags = J_OMIT },
	{ "at", J_UINT, J_AT(struct block, parked) },
	{ 0 },
};

struct value {
	struct block b;
	struct ask ask;
	bool is_parked;
	char token[TOKEN_LEN + 1];
	const struct json *loans;
};

static const struct json_field block_fields[] = {
	{ "poolUID", J_CHARS, J_AT(struct value, b.pool_uid) },
	{ "node", J_CHARS, J_AT(struct value, b.owner.node), .flags = J_OMIT },
	{ "holder", J_CHARS, J_AT(struct value, b.owner.holder), .flags = J_IF_TEXT,
	  .has = offsetof(struct value, b.owner.node) },
	{ "token", J_CHARS, J_AT(struct value, token), .flags = J_OMIT },
	{ "touched", J_UINT, J_AT(struct value, b.touched) },
	{ "used", J_UINT, J_AT(struct value, b.used) },
	{ "probe", J_BOOL, J_AT(struct value, b.probe), .flags = J_OMIT },
	{ "ask", J_NESTED, J_AT(struct value, ask), .flags = J_IF_TEXT,
	  .has = offsetof(struct value, ask.party.node), .of = ask_fields },
	{ "identity", J_CHARS, J_AT(struct value, b.identity), .flags = J_OMIT },
	{ "parked", J_NESTED, J_AT(struct value, b), .flags = J_IF,
	  .has = offsetof(struct value, is_parked), .of = parked_fields },
	{ "loans", J_ARRAY, J_AT(struct value, loans), .flags = J_READ },
	{ 0 },
};

static const struct json_field loan_fields[] = {
	{ "at", J_UINT, J_AT(struct loan, at), .flags = J_REQUIRED, .max = LOAN_ANY - 2 },
	PARTY(loan, to),
	{ "taken", J_BOOL, J_AT(struct loan, taken), .flags = J_OMIT },
	{ "returned", J_BOOL, J_AT(struct loan, returned), .flags = J_OMIT },
	{ 0 },
};

static const struct json_field heartbeat_fields[] = {
	{ "holder", J_CHARS, J_AT(struct heartbeat, holder) },
	{ "boot", J_CHARS, J_AT(struct heartbeat, boot) },
	{ "machine", J_CHARS, J_AT(struct heartbeat, machine), .flags = J_OMIT },
	{ "twin", J_BOOL, J_AT(struct heartbeat, twin), .flags = J_OMIT },
	{ "count", J_UINT, J_AT(struct heartbeat, count) },
	{ 0 },
};

static const struct json_field evidence_fields[] = {
	{ "uid", J_CHARS, J_AT(struct cluster_version, uid) },
	{ "version", J_CHARS, J_AT(struct cluster_version, version) },
	{ 0 },
};

static const struct json_field node_fields[] = {
	{ "holder", J_CHARS, J_AT(struct cluster_node, holder) },
	{ "boot", J_CHARS, J_AT(struct cluster_node, boot) },
	{ "machine", J_CHARS, J_AT(struct cluster_node, machine), .flags = J_OMIT },
	{ "version", J_CHARS, J_AT(struct cluster_node, version) },
	{ "forgotten", J_NESTED, J_AT(struct cluster_node, evidence), .flags = J_IF,
	  .has = offsetof(struct cluster_node, forgotten), .of = evidence_fields },
	{ 0 },
};

int loans_from_json(const struct json *array, const char *where, struct loan out[LOANS_MAX],
		    unsigned *n, struct err *e)
{
	unsigned count = 0;

	if (json_len(array) > LOANS_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s.loans: more than %d", where, LOANS_MAX);
	json_each (item, array) {
		out[count] = (struct loan){ 0 };
		if (json_decode(item, "loans", loan_fields, &out[count++], e))
			return err_wrap(e, "%s", where);
	}
	*n = count;
	return 0;
}

/* The token of the owner, without the sign that the block lends, if it has loans. */
static int object_json_read_token(struct value *v, const char *where, struct err *e)
{
	size_t len = strlen(v->token);
	bool lends = len && v->token[len - 1] == LENDS;

	if (lends != (json_len(v->loans) > 0))
		return err_set(e, ERR_CONFIG, 0, "%s.token: \"%.32s\" %s", where, v->token,
			       lends ? "is of a block with loans, and it has none"
				     : "is of a block without loans, and it has some");
	if (lends)
		v->token[--len] = '\0';
	if (len && (len != TOKEN_LEN - 1 || strspn(v->token, HEX_DIGITS) != len))
		return err_set(e, ERR_CONFIG, 0, "%s.token: \"%.32s\" is not 16 hexadecimal digits",
			       where, v->token);
	v->b.owner.token = len ? strtoull(v->token, NULL, 16) : 0;
	return 0;
}

/* Two borrowers of one address cannot be right. */
static int check_once(const struct block *b, const char *where, struct err *e)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		for (unsigned k = 0; k < i; k++) {
			if (b->loans[i].at == b->loans[k].at)
				return err_set(e, ERR_CONFIG, 0, "%s.loans: address %u twice",
					       where, (unsigned)b->loans[i].at);
		}
	}
	return 0;
}

int block_from_json(const struct json *value, const char *where, struct block *out, struct err *e)
{
	struct value v = { .loans = NULL };
	struct block *b = &v.b;

	if (json_decode(value, where, block_fields, &v, e) ||
	    object_json_read_token(&v, where, e) ||
	    loans_from_json(v.loans, where, b->loans, &b->n_loans, e) || check_once(b, where, e))
		return -1;
	b->asker = v.ask.party;
	b->contested = v.ask.contested;
	b->kept = v.ask.kept;
	b->migrates = v.ask.migrates;
	b->asks_one = v.ask.any ? LOAN_ANY : v.ask.loan;
	*out = *b;
	return 0;
}

int heartbeat_from_json(const struct json *value, const char *where, struct heartbeat *out,
			struct err *e)
{
	struct heartbeat h = { 0 };

	if (json_decode(value, where, heartbeat_fields, &h, e))
		return -1;
	*out = h;
	return 0;
}

int node_from_json(const struct json *value, const char *where, struct cluster_node *out,
		   struct err *e)
{
	struct cluster_node n = { 0 };

	if (json_decode(value, where, node_fields, &n, e))
		return -1;
	*out = n;
	return 0;
}

/* ---- writing ---- */

int loans_to_json(struct json *to, const char *key, const struct loan *loans, unsigned n)
{
	struct json *array = n ? json_add_array(to, key) : NULL;

	for (unsigned i = 0; i < n; i++)
		if (json_encode(json_push_object(array), loan_fields, &loans[i]))
			return -1;
	return 0;
}

/* The token with its sign stands before the loans. */
static int object_json_add_loans(struct json *v, const char *token, const struct block *b)
{
	char lends[TOKEN_LEN + 1];

	if (!b->n_loans)
		return 0;
	(void)snprintf(lends, sizeof(lends), "%.16s%c", token, LENDS);
	json_del(v, "token");
	return json_add_str(v, "token", lends) || loans_to_json(v, "loans", b->loans, b->n_loans);
}

struct json *block_to_json(const struct block *b)
{
	struct value v = {
		.b = *b,
		.ask = { b->asker, b->contested, b->kept, b->migrates, b->asks_one == LOAN_ANY,
			 b->asks_one == LOAN_ANY ? 0 : b->asks_one },
		.is_parked = block_is_parked(b) || *b->parked_by,
	};
	auto_json struct json *o = NULL;

	if (*b->owner.node)
		(void)snprintf(v.token, sizeof(v.token), "%016" PRIx64, b->owner.token);
	o = json_encoded(block_fields, &v);
	return !o || object_json_add_loans(o, v.token, b) ? NULL : TAKE_PTR(o);
}

struct json *heartbeat_to_json(const struct heartbeat *h)
{
	return json_encoded(heartbeat_fields, h);
}

struct json *node_to_json(const struct cluster_node *n)
{
	return json_encoded(node_fields, n);
}

/* ---- what a node has taken over ---- */

static const struct json_field report_fields[] = {
	{ "name", J_CHARS, J_AT(struct node_pool, name) },
	{ "uid", J_CHARS, J_AT(struct node_pool, uid) },
	{ "generation", J_UINT, J_AT(struct node_pool, generation) },
	{ "waits", J_CHARS, J_AT(struct node_pool, waits), .flags = J_OMIT },
	{ 0 },
};

static bool read_report(const struct json *item, const char *key, struct node_pool *out)
{
	struct node_pool r = { 0 };
	struct err ignored;

	if (!item || json_decode(item, key, report_fields, &r, &ignored))
		return false;
	*out = r;
	return true;
}

int node_pool_add(struct json *list, const struct node_pool *p)
{
	struct json *o = json_push_object(list);

	return json_encode(o, report_fields, p);
}

bool node_pool_find(const struct json *value, const char *name, struct node_pool *out)
{
	json_each (item, json_get(value, "pools")) {
		const char *its = json_str(json_get(item, "name"));

		if (its && strcmp(its, name) == 0)
			return read_report(item, "pools", out);
	}
	return false;
}

uint64_t node_pool_mark(const char *uid, int64_t generation)
{
	char text[CLUSTER_UID_LEN + 24];

	(void)snprintf(text, sizeof(text), "%s %lld", uid, (long long)generation);
	return hash_add_text(HASH_START, text);
}

struct elsewhere {
	uint64_t sum;
};

static const struct json_field elsewhere_fields[] = {
	{ "elsewhere", J_HEX64, J_AT(struct elsewhere, sum), .flags = J_OMIT },
	{ 0 },
};

int node_elsewhere_put(struct json *value, uint64_t sum)
{
	return json_encode(value, elsewhere_fields, &(struct elsewhere){ sum });
}

uint64_t node_elsewhere_find(const struct json *value)
{
	struct elsewhere x = { 0 };
	struct err ignored;

	return json_decode(value, "node", elsewhere_fields, &x, &ignored) ? 0 : x.sum;
}

int node_reserved_put(struct json *value, const struct node_pool *p)
{
	return json_encode(json_add_object(value, "reserved"), report_fields, p);
}

bool node_reserved_find(const struct json *value, struct node_pool *out)
{
	return read_report(json_get(value, "reserved"), "reserved", out);
}
