/* SPDX-License-Identifier: Apache-2.0 */
/* object_json.c: the values of blocks, heartbeats and nodes; each length and number is checked. */
#include "cluster/protocol/object_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_LEN 17

/* As json_decode() fills it: texts are borrowed from the tree. */
struct value {
	const char *pool_uid, *node, *holder, *token, *boot, *machine, *version, *uid, *identity;
	int64_t touched, count, at;
	uint32_t used;
	bool probe, contested, kept, migrates, twin;
	const struct json *ask, *parked, *forgotten;
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
		TEXT("token", token, TOKEN_LEN)

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

int block_from_json(const struct json *value, const char *where, struct block *out, struct err *e)
{
	struct value v = { 0 }, asks = { 0 }, parked = { 0 };
	struct block b = { 0 };

	if (json_decode(value, where, block_fields, &v, e) || party_of(&v, where, &b.owner, e))
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

struct json *block_to_json(const struct block *b)
{
	struct json *v = json_new_object();

	if (!v)
		return NULL;
	if (json_add_str(v, "poolUID", b->pool_uid) ||
	    (*b->owner.node && add_party(v, &b->owner)) ||
	    json_add_int(v, "touched", (int64_t)b->touched) || json_add_int(v, "used", b->used) ||
	    (b->probe && json_add_bool(v, "probe", true)) || (*b->asker.node && add_ask(v, b)) ||
	    add_identity(v, b)) {
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
