/* SPDX-License-Identifier: Apache-2.0 */
/* block_value.c: decodes and prints the records of blocks and of the node; each length is checked.
 */
#include "ipam/lease/block_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/json/json.h"

#define TOKEN_DIGITS 16
#define LENDING      "lending"

static const struct json_enum states[] = {
	{ "wanted", BLOCK_WANTED },
	{ "asked", BLOCK_ASKED },
	{ "granted", BLOCK_GRANTED },
	{ "returning", BLOCK_RETURNING },
	{ "contested", BLOCK_CONTESTED },
	{ "lost", BLOCK_LOST },
	/* Of a block with loans: an older plugin would assign their addresses. */
	{ LENDING, BLOCK_GRANTED },
	{ 0 },
};

struct raw {
	int state;
	bool probe, strays, unwanted;
	uint32_t at;
	const struct json *lent;
	const char *token, *since, *epoch, *holder, *boot, *give_until, *fence_until, *uid,
		*version, *beats, *frozen, *identity, *lender;
};

#define TEXT(k, field, size)                                                                       \
	{                                                                                          \
		.key = k, .kind = J_STRING, .offset = offsetof(struct raw, field), .min = 1,       \
		.max = (size)-1, .flags = J_EMPTY_OK                                               \
	}

static const struct json_field block_fields[] = {
	{ .key = "state",
	  .kind = J_ENUM,
	  .offset = offsetof(struct raw, state),
	  .names = states,
	  .flags = J_REQUIRED },
	TEXT("token", token, TOKEN_DIGITS + 1),
	TEXT("epoch", epoch, 24),
	TEXT("since", since, 24),
	TEXT("identity", identity, IDENTITY_LEN),
	TEXT("lender", lender, NODE_NAME_LEN),
	{ .key = "probe", .kind = J_BOOL, .offset = offsetof(struct raw, probe) },
	{ .key = "unwanted", .kind = J_BOOL, .offset = offsetof(struct raw, unwanted) },
	{ .key = "at", .kind = J_U32, .offset = offsetof(struct raw, at), .max = LOAN_ANY - 2 },
	{ .key = "lent", .kind = J_ARRAY, .offset = offsetof(struct raw, lent) },
	{ 0 },
};

static const struct json_field node_fields[] = {
	TEXT("holder", holder, HOLDER_LEN),
	TEXT("boot", boot, sizeof(((struct node_record *)0)->boot)),
	TEXT("epoch", epoch, 24),
	TEXT("giveUntil", give_until, 24),
	TEXT("fenceUntil", fence_until, 24),
	TEXT("uid", uid, CLUSTER_UID_LEN),
	TEXT("version", version, CLUSTER_VERSION_LEN),
	TEXT("beats", beats, 24),
	TEXT("frozen", frozen, 24),
	{ .key = "strays", .kind = J_BOOL, .offset = offsetof(struct raw, strays) },
	{ 0 },
};

const char *block_state_name(enum block_state s)
{
	return states[s].name;
}

/* Every malformed record is ERR_STORE, whatever is wrong with it. */
static int refuse(const char *key, const char *text, struct err *e)
{
	if (e->code == ERR_NOMEM)
		return -1;
	err_wrap(e, "the store's record %.200s is damaged (%.100s)", key, text);
	e->code = ERR_STORE;
	return err_hint(e, "run `railctl ipam verify --repair`");
}

static int read_number(const char *text, const char *name, uint64_t most, uint64_t *out,
		       struct err *e)
{
	*out = 0;
	if (!text || parse_u64(text, 0, most, out) == 0)
		return 0;
	return err_set(e, ERR_STORE, 0, "%s: \"%.32s\" is not a number", name, text);
}

static int read_token(const char *text, uint64_t *out, struct err *e)
{
	*out = 0;
	if (!text)
		return 0;
	if (strlen(text) != TOKEN_DIGITS || strspn(text, HEX_DIGITS) != TOKEN_DIGITS)
		return err_set(e, ERR_STORE, 0, "token: \"%.32s\" is not %d hexadecimal digits",
			       text, TOKEN_DIGITS);
	*out = strtoull(text, NULL, 16);
	return 0;
}

static int read_key(const char *key, const struct raw *raw, struct block_key *out, struct err *e)
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

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from ? from : "");
}

static int parse(const char *key, const char *text, struct block_record *out, struct lending *lends,
		 struct err *e)
{
	struct raw raw = { .token = NULL };
	auto_json struct json *tree = NULL;
	struct block_record r = { .token = 0 };
	struct lending l = { .n = 0 };
	uint64_t since = 0;

	if (json_parse(text, strlen(text), "block", &tree, e) ||
	    json_decode(tree, "block", block_fields, &raw, e) || read_key(key, &raw, &r.key, e) ||
	    loans_from_json(raw.lent, "block", l.loans, &l.n, e) ||
	    read_token(raw.token, &r.token, e) ||
	    read_number(raw.epoch, "epoch", UINT64_MAX, &r.epoch, e) ||
	    read_number(raw.since, "since", INT64_MAX, &since, e))
		return refuse(key, text, e);
	for (const struct json_enum *s = states; s->name; s++) {
		if (s->value == raw.state)
			r.state = (enum block_state)s->value;
	}
	r.probe = raw.probe;
	r.unwanted = raw.unwanted;
	r.since = (int64_t)since;
	copy(r.identity, sizeof(r.identity), raw.identity);
	copy(r.lender, sizeof(r.lender), raw.lender);
	l.key = r.key;
	*out = r;
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

static int add_number(struct json *o, const char *key, uint64_t n)
{
	char text[24];

	if (!n)
		return 0;
	(void)snprintf(text, sizeof(text), "%" PRIu64, n);
	return json_add_str(o, key, text);
}

char *block_value_print_lending(const struct block_record *r, const struct lending *l)
{
	auto_json struct json *o = json_new_object();
	char token[TOKEN_DIGITS + 1];

	(void)snprintf(token, sizeof(token), "%016" PRIx64, r->token);
	const char *state =
		l->n && r->state == BLOCK_GRANTED ? LENDING : block_state_name(r->state);

	if (!o || json_add_str(o, "state", state) || json_add_str(o, "token", token) ||
	    add_number(o, "epoch", r->epoch) || add_number(o, "since", (uint64_t)r->since) ||
	    (*r->identity && json_add_str(o, "identity", r->identity)) ||
	    (*r->lender && json_add_str(o, "lender", r->lender)) ||
	    (r->probe && json_add_bool(o, "probe", true)) ||
	    (r->unwanted && json_add_bool(o, "unwanted", true)) ||
	    (r->key.one > 1 && json_add_int(o, "at", r->key.one - 1)) ||
	    loans_to_json(o, "lent", l->loans, l->n))
		return NULL;
	return json_print(o, false);
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
	struct raw raw = { .token = NULL };
	auto_json struct json *tree = NULL;
	struct node_record r = { .epoch = 0 };
	uint64_t until = 0, fence = 0, frozen = 0;

	if (text && (json_parse(text, strlen(text), "node", &tree, e) ||
		     json_decode(tree, "node", node_fields, &raw, e) ||
		     read_number(raw.epoch, "epoch", UINT64_MAX, &r.epoch, e) ||
		     read_number(raw.beats, "beats", UINT64_MAX, &r.beats, e) ||
		     read_number(raw.frozen, "frozen", INT64_MAX, &frozen, e) ||
		     read_number(raw.fence_until, "fenceUntil", INT64_MAX, &fence, e) ||
		     read_number(raw.give_until, "giveUntil", INT64_MAX, &until, e)))
		return refuse(KEY_NODE, text, e);
	if (text)
		r.give_until = raw.give_until ? (int64_t)until : INT64_MAX;
	copy(r.holder, sizeof(r.holder), raw.holder);
	copy(r.boot, sizeof(r.boot), raw.boot);
	copy(r.beat.uid, sizeof(r.beat.uid), raw.uid);
	copy(r.beat.version, sizeof(r.beat.version), raw.version);
	/* Older agents wrote none: a strict pool waits for the next renewal. */
	r.fence_until = (int64_t)fence;
	r.frozen = (int64_t)frozen;
	r.strays = raw.strays;
	*out = r;
	return 0;
}

char *node_value_print(const struct node_record *r)
{
	auto_json struct json *o = json_new_object();
	char until[24];

	(void)snprintf(until, sizeof(until), "%" PRId64, r->give_until < 0 ? 0 : r->give_until);
	if (!o || json_add_str(o, "holder", r->holder) || json_add_str(o, "boot", r->boot) ||
	    add_number(o, "epoch", r->epoch) ||
	    (r->give_until != INT64_MAX && json_add_str(o, "giveUntil", until)) ||
	    (r->fence_until > 0 && add_number(o, "fenceUntil", (uint64_t)r->fence_until)) ||
	    json_add_str(o, "uid", r->beat.uid) || json_add_str(o, "version", r->beat.version) ||
	    add_number(o, "beats", r->beats) ||
	    (r->frozen > 0 && add_number(o, "frozen", (uint64_t)r->frozen)) ||
	    (r->strays && json_add_bool(o, "strays", true)))
		return NULL;
	return json_print(o, false);
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
