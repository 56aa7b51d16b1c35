/* SPDX-License-Identifier: Apache-2.0 */
/* object_json.c: the values of blocks, heartbeats and nodes; each length and number is checked. */
#include "ipam/block/object_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_LEN 17
/* After the token of a block with loans: an agent that does not know them cannot read it. */
#define LENDS '+'

/* As json_decode() fills it: texts are borrowed from the tree. */
struct value {
	const char *pool_uid, *node, *holder, *token, *boot, *machine, *version, *uid, *identity;
	int64_t touched, count, at;
	uint32_t used, loan_at, loan;
	bool probe, contested, kept, migrates, twin, any, taken, returned;
	const struct json *ask, *parked, *forgotten, *loans;
};

#define TEXT(name, member, size)                                                                   \
	{                                                                                          \
		.key = (name), .kind = J_STRING, .offset = offsetof(struct value, member),         \
		.flags = J_EMPTY_OK, .min = 1, .max = (size)-1                                     \
	}
#define FLAG(name, member)                                                                         \
	{                                                                                          \
		.key = (name), .kind = J_BOOL, .offset = offsetof(struct value, member)            \
	}
#define PARTY                                                                                      \
	TEXT("node", node, NODE_NAME_LEN), TEXT("holder", holder, HOLDER_LEN),                     \
		TEXT("token", token, TOKEN_LEN + 1)

static const struct json_field block_fields[] = {
	TEXT("poolUID", pool_uid, CLUSTER_UID_LEN),
	PARTY,
	{ .key = "touched",
	  .kind = J_I64,
	  .offset = offsetof(struct value, touched),
	  .max = 1LL << 53 },
	{ .key = "used", .kind = J_U32, .offset = offsetof(struct value, used) },
	FLAG("probe", probe),
	TEXT("identity", identity, IDENTITY_LEN),
	{ .key = "parked", .kind = J_OBJECT, .offset = offsetof(struct value, parked) },
	{ .key = "ask", .kind = J_OBJECT, .offset = offsetof(struct value, ask) },
	{ .key = "loans", .kind = J_ARRAY, .offset = offsetof(struct value, loans) },
	{ .key = NULL },
};

static const struct json_field loan_fields[] = {
	PARTY,
	{ .key = "at",
	  .kind = J_U32,
	  .offset = offsetof(struct value, loan_at),
	  .flags = J_REQUIRED,
	  .max = LOAN_ANY - 2 },
	FLAG("taken", taken),
	FLAG("returned", returned),
	{ .key = NULL },
};

static const struct json_field parked_fields[] = {
	TEXT("by", node, NODE_NAME_LEN),
	{ .key = "at", .kind = J_I64, .offset = offsetof(struct value, at), .max = 1LL << 53 },
	{ .key = NULL },
};

static const struct json_field ask_fields[] = {
	PARTY,
	FLAG("contested", contested),
	FLAG("kept", kept),
	FLAG("migrates", migrates),
	FLAG("any", any),
	{ .key = "loan",
	  .kind = J_U32,
	  .offset = offsetof(struct value, loan),
	  .max = LOAN_ANY - 1 },
	{ .key = NULL },
};

static const struct json_field heartbeat_fields[] = {
	TEXT("holder", holder, HOLDER_LEN),
	TEXT("boot", boot, sizeof(((struct heartbeat *)0)->boot)),
	TEXT("machine", machine, sizeof(((struct heartbeat *)0)->machine)),
	FLAG("twin", twin),
	{ .key = "count",
	  .kind = J_I64,
	  .offset = offsetof(struct value, count),
	  .max = 1LL << 53 },
	{ .key = NULL },
};

static const struct json_field node_fields[] = {
	TEXT("holder", holder, HOLDER_LEN),
	TEXT("boot", boot, sizeof(((struct cluster_node *)0)->boot)),
	TEXT("machine", machine, sizeof(((struct cluster_node *)0)->machine)),
	TEXT("version", version, AGENT_VERSION_LEN),
	{ .key = "forgotten", .kind = J_OBJECT, .offset = offsetof(struct value, forgotten) },
	{ .key = NULL },
};

static const struct json_field evidence_fields[] = {
	TEXT("uid", uid, CLUSTER_UID_LEN),
	TEXT("version", version, CLUSTER_VERSION_LEN),
	{ .key = NULL },
};

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from ? from : "");
}

/* 0: absent, as in a free block. */
static int token_of(const char *text, const char *where, uint64_t *out, struct err *e)
{
	*out = 0;
	if (!text)
		return 0;
	if (strlen(text) != TOKEN_LEN - 1 || strspn(text, "0123456789abcdef") != TOKEN_LEN - 1)
		return err_set(e, ERR_CONFIG, 0, "%s.token: \"%.32s\" is not 16 hexadecimal digits",
			       where, text);
	*out = strtoull(text, NULL, 16);
	return 0;
}

static int party_of(const struct value *v, const char *where, struct block_party *out,
		    struct err *e)
{
	copy(out->node, sizeof(out->node), v->node);
	copy(out->holder, sizeof(out->holder), v->holder);
	return token_of(v->token, where, &out->token, e);
}

int loans_from_json(const struct json *array, const char *where, struct loan out[LOANS_MAX],
		    unsigned *n, struct err *e)
{
	unsigned count = 0;

	if (json_len(array) > LOANS_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s.loans: more than %d", where, LOANS_MAX);
	json_each (item, array) {
		struct loan *l = &out[count++];
		struct value v = { 0 };

		*l = (struct loan){ 0 };
		if (json_decode(item, "loans", loan_fields, &v, e) ||
		    party_of(&v, "loans", &l->to, e))
			return err_wrap(e, "%s", where);
		l->at = v.loan_at;
		l->taken = v.taken;
		l->returned = v.returned;
	}
	*n = count;
	return 0;
}

/* Without the sign that the block lends, if it has loans. */
static int read_sign(const struct value *v, char token[TOKEN_LEN + 1], const char *where,
		     struct err *e)
{
	size_t len = v->token ? strlen(v->token) : 0;
	bool lends = len && v->token[len - 1] == LENDS;

	copy(token, TOKEN_LEN + 1, v->token);
	if (lends != (json_len(v->loans) > 0))
		return err_set(e, ERR_CONFIG, 0, "%s.token: \"%.32s\" %s", where,
			       v->token ? v->token : "",
			       lends ? "is of a block with loans, and it has none"
				     : "is of a block without loans, and it has some");
	if (lends)
		token[len - 1] = '\0';
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
	struct value v = { 0 }, asks = { 0 }, parked = { 0 };
	struct block b = { 0 };
	char token[TOKEN_LEN + 1];

	if (json_decode(value, where, block_fields, &v, e) || read_sign(&v, token, where, e))
		return -1;
	v.token = *token ? token : NULL;
	if (loans_from_json(v.loans, where, b.loans, &b.n_loans, e) || check_once(&b, where, e) ||
	    party_of(&v, where, &b.owner, e))
		return -1;
	if (json_decode(v.ask, "ask", ask_fields, &asks, e) ||
	    party_of(&asks, "ask", &b.asker, e) ||
	    json_decode(v.parked, "parked", parked_fields, &parked, e))
		return err_wrap(e, "%s", where);
	copy(b.pool_uid, sizeof(b.pool_uid), v.pool_uid);
	b.touched = (uint64_t)v.touched;
	b.used = v.used;
	b.probe = v.probe;
	copy(b.identity, sizeof(b.identity), v.identity);
	copy(b.parked_by, sizeof(b.parked_by), parked.node);
	b.parked = parked.at;
	b.contested = asks.contested;
	b.kept = asks.kept;
	b.migrates = asks.migrates;
	b.asks_one = asks.any ? LOAN_ANY : asks.loan;
	*out = b;
	return 0;
}

int heartbeat_from_json(const struct json *value, const char *where, struct heartbeat *out,
			struct err *e)
{
	struct value v = { 0 };

	if (json_decode(value, where, heartbeat_fields, &v, e))
		return -1;
	copy(out->holder, sizeof(out->holder), v.holder);
	copy(out->boot, sizeof(out->boot), v.boot);
	copy(out->machine, sizeof(out->machine), v.machine);
	out->count = (uint64_t)v.count;
	out->twin = v.twin;
	return 0;
}

int node_from_json(const struct json *value, const char *where, struct cluster_node *out,
		   struct err *e)
{
	struct value v = { 0 }, evidence = { 0 };

	if (json_decode(value, where, node_fields, &v, e))
		return -1;
	if (json_decode(v.forgotten, "forgotten", evidence_fields, &evidence, e))
		return err_wrap(e, "%s", where);
	copy(out->holder, sizeof(out->holder), v.holder);
	copy(out->boot, sizeof(out->boot), v.boot);
	copy(out->machine, sizeof(out->machine), v.machine);
	copy(out->version, sizeof(out->version), v.version);
	out->forgotten = v.forgotten != NULL;
	copy(out->evidence.uid, sizeof(out->evidence.uid), evidence.uid);
	copy(out->evidence.version, sizeof(out->evidence.version), evidence.version);
	return 0;
}

/* ---- writing ---- */

static int add_party(struct json *to, const struct block_party *p)
{
	char token[TOKEN_LEN];

	(void)snprintf(token, sizeof(token), "%016" PRIx64, p->token);
	return json_add_str(to, "node", p->node) || json_add_str(to, "holder", p->holder) ||
			       json_add_str(to, "token", token)
		       ? -1
		       : 0;
}

static int add_ask(struct json *to, const struct block *b)
{
	struct json *ask = json_add_object(to, "ask");

	if (!ask || add_party(ask, &b->asker))
		return -1;
	if (b->contested && json_add_bool(ask, "contested", true))
		return -1;
	if (b->migrates && json_add_bool(ask, "migrates", true))
		return -1;
	if (b->asks_one == LOAN_ANY && json_add_bool(ask, "any", true))
		return -1;
	if (b->asks_one && b->asks_one != LOAN_ANY && json_add_int(ask, "loan", b->asks_one))
		return -1;
	return b->kept ? json_add_bool(ask, "kept", true) : 0;
}

static int add_identity(struct json *v, const struct block *b)
{
	struct json *parked;

	if (*b->identity && json_add_str(v, "identity", b->identity))
		return -1;
	if (!block_is_parked(b) && !*b->parked_by)
		return 0;
	parked = json_add_object(v, "parked");
	return !parked || (*b->parked_by && json_add_str(parked, "by", b->parked_by)) ||
			       json_add_int(parked, "at", b->parked)
		       ? -1
		       : 0;
}

int loans_to_json(struct json *to, const char *key, const struct loan *loans, unsigned n)
{
	struct json *array = n ? json_add_array(to, key) : NULL;

	for (unsigned i = 0; i < n; i++) {
		struct json *o = array ? json_push_object(array) : NULL;

		if (!o || json_add_int(o, "at", loans[i].at) || add_party(o, &loans[i].to) ||
		    (loans[i].taken && json_add_bool(o, "taken", true)) ||
		    (loans[i].returned && json_add_bool(o, "returned", true)))
			return -1;
	}
	return 0;
}

static int add_loans(struct json *v, const struct block *b)
{
	char token[TOKEN_LEN + 1] = "";

	if (!b->n_loans)
		return 0;
	if (*b->owner.node)
		(void)snprintf(token, sizeof(token), "%016" PRIx64, b->owner.token);
	token[strlen(token)] = LENDS;
	json_del(v, "token");
	return json_add_str(v, "token", token) || loans_to_json(v, "loans", b->loans, b->n_loans)
		       ? -1
		       : 0;
}

struct json *block_to_json(const struct block *b)
{
	struct json *v = json_new_object();

	if (!v)
		return NULL;
	if (json_add_str(v, "poolUID", b->pool_uid) ||
	    (*b->owner.node && add_party(v, &b->owner)) ||
	    json_add_int(v, "touched", (int64_t)b->touched) || json_add_int(v, "used", b->used) ||
	    (b->probe && json_add_bool(v, "probe", true)) || (*b->asker.node && add_ask(v, b)) ||
	    add_identity(v, b) || add_loans(v, b)) {
		json_free(v);
		return NULL;
	}
	return v;
}

struct json *heartbeat_to_json(const struct heartbeat *h)
{
	struct json *v = json_new_object();

	if (!v)
		return NULL;
	if (json_add_str(v, "holder", h->holder) || json_add_str(v, "boot", h->boot) ||
	    (*h->machine && json_add_str(v, "machine", h->machine)) ||
	    (h->twin && json_add_bool(v, "twin", true)) ||
	    json_add_int(v, "count", (int64_t)h->count)) {
		json_free(v);
		return NULL;
	}
	return v;
}

static int add_evidence(struct json *v, const struct cluster_version *at)
{
	struct json *o = json_add_object(v, "forgotten");

	return !o || json_add_str(o, "uid", at->uid) || json_add_str(o, "version", at->version) ? -1
												: 0;
}

struct json *node_to_json(const struct cluster_node *n)
{
	struct json *v = json_new_object();

	if (!v)
		return NULL;
	if (json_add_str(v, "holder", n->holder) || json_add_str(v, "boot", n->boot) ||
	    (*n->machine && json_add_str(v, "machine", n->machine)) ||
	    json_add_str(v, "version", n->version) ||
	    (n->forgotten && add_evidence(v, &n->evidence))) {
		json_free(v);
		return NULL;
	}
	return v;
}

/* ---- what a node has taken over ---- */

struct reported {
	const char *name, *uid, *waits;
	int64_t generation, number;
};

#define REPORTED(k, member, size)                                                                  \
	{                                                                                          \
		.key = (k), .kind = J_STRING, .offset = offsetof(struct reported, member),         \
		.flags = J_EMPTY_OK, .min = 1, .max = (size)-1                                     \
	}

static const struct json_field report_fields[] = {
	REPORTED("name", name, GRID_POOL_MAX + 1),
	REPORTED("uid", uid, CLUSTER_UID_LEN),
	REPORTED("waits", waits, NODE_POOL_WAITS_LEN),
	{ .key = "generation",
	  .kind = J_I64,
	  .offset = offsetof(struct reported, generation),
	  .max = 1LL << 53 },
	{ .key = "number",
	  .kind = J_I64,
	  .offset = offsetof(struct reported, number),
	  .max = UINT32_MAX },
	{ .key = NULL },
};

static int write_report(struct json *o, const struct node_pool *p)
{
	return !o || json_add_str(o, "name", p->name) || json_add_str(o, "uid", p->uid) ||
			       json_add_int(o, "generation", p->generation) ||
			       (*p->waits && json_add_str(o, "waits", p->waits))
		       ? -1
		       : 0;
}

static bool read_report(const struct json *item, const char *key, struct node_pool *out)
{
	struct reported r = { .number = -1 };
	struct err ignored;

	if (!item || json_decode(item, key, report_fields, &r, &ignored))
		return false;
	*out = (struct node_pool){ .generation = r.generation, .number = r.number };
	(void)snprintf(out->name, sizeof(out->name), "%s", r.name ? r.name : "");
	(void)snprintf(out->uid, sizeof(out->uid), "%s", r.uid ? r.uid : "");
	(void)snprintf(out->waits, sizeof(out->waits), "%s", r.waits ? r.waits : "");
	return true;
}

int node_pool_add(struct json *list, const struct node_pool *p)
{
	struct json *o = json_push_object(list);

	return write_report(o, p) || (p->number >= 0 && json_add_int(o, "number", p->number)) ? -1
											      : 0;
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

int node_reserved_put(struct json *value, const struct node_pool *p)
{
	return write_report(json_add_object(value, "reserved"), p);
}

bool node_reserved_find(const struct json *value, struct node_pool *out)
{
	return read_report(json_get(value, "reserved"), "reserved", out);
}
