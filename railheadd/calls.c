/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c: the table of calls. */
#include "railheadd/calls.h"

#include <string.h>

#include "lib/base/version.h"
#include "railheadd/pools/conflict.h"
#include "railheadd/pools/node_forget.h"
#include "railheadd/pools/change.h"
#include "railheadd/pools/machine_need.h"
#include "railheadd/pools/address_find.h"
#include "railheadd/pools/nodes.h"
#include "railheadd/pools/reserved_change.h"
#include "railheadd/pool_open.h"

#define WAIT_MAX_MS     60000
#define ADDRESSES_MAX   64
#define DEFAULT_WAIT_MS 5000

/* ---- need ---- */

struct need_args {
	const char *pool, *address, *identity;
	uint32_t addresses, wait_ms;
};

#define NEED_POOL                                                                                  \
	{                                                                                          \
		"pool", J_STRING, J_AT(struct need_args, pool), .flags = J_REQUIRED, .min = 1,     \
								.max = 30                          \
	}
#define NEED_WAIT                                                                                  \
	{                                                                                          \
		"waitMs", J_U32, J_AT(struct need_args, wait_ms), .max = WAIT_MAX_MS               \
	}

static const struct json_field need_fields[] = {
	NEED_POOL,
	{ "identity", J_STRING, J_AT(struct need_args, identity), .min = 1,
	  .max = IDENTITY_LEN - 1 },
	{ "addresses", J_U32, J_AT(struct need_args, addresses), .min = 1, .max = ADDRESSES_MAX },
	NEED_WAIT,
	{ 0 },
};

static const struct json_field need_address_fields[] = {
	NEED_POOL,
	{ "address", J_STRING, J_AT(struct need_args, address), .flags = J_REQUIRED },
	NEED_WAIT,
	{ 0 },
};

static void need_done(void *arg, const struct err *why)
{
	struct server_request *r = arg;

	if (why)
		server_refuse(r, why);
	else
		server_answer(r, NULL);
}

static void forget_need(void *what)
{
	driver_need_cancel(what);
}

/* ---- of a pod whose address moves with it ---- */

static void machine_done(void *arg, const char *identity, const struct err *why)
{
	auto_json struct json *answer = identity && !why ? json_new_object() : NULL;
	struct err e;

	if (answer && json_add_str(answer, "identity", identity)) {
		(void)err_nomem(&e);
		server_refuse(arg, &e);
	} else if (why) {
		/* The pod that has its address may be gone: the caller looks. */
		server_refuse_as(arg, why, identity);
	} else {
		server_answer(arg, answer);
	}
}

static void forget_machine(void *what)
{
	machine_need_cancel(what);
}

static void begin_identity(const struct calls_to *to, struct server_request *r,
			   const struct driver_need_ask *ask)
{
	const struct machine_need_at at = { to->base, to->driver, to->store };
	const struct machine_need_end end = { machine_done, r };
	struct machine_need *n = machine_need(&at, ask, &end);
	struct err e;

	if (n) {
		server_later(r, forget_machine, n);
		return;
	}
	(void)err_nomem(&e);
	server_refuse(r, &e);
}

/* ---- of any pod ---- */

static void calls_begin_need(const struct calls_to *to, struct server_request *r,
			     const struct driver_need_ask *ask)
{
	struct driver_need *n = driver_need(to->driver, ask, need_done, r);
	struct err e;

	if (n) {
		server_later(r, forget_need, n);
		return;
	}
	(void)err_nomem(&e);
	server_refuse(r, &e);
}

static void call_need(const struct calls_to *to, struct server_request *r, const struct json *args)
{
	struct need_args a = { .addresses = 1, .wait_ms = DEFAULT_WAIT_MS };
	struct err e;

	if (json_decode(args, "args", need_fields, &a, &e)) {
		server_refuse(r, &e);
		return;
	}
	const struct driver_need_ask ask = { .pool = a.pool,
					     .identity = a.identity,
					     .addresses = a.addresses,
					     .wait_ms = a.wait_ms };
	if (a.identity)
		begin_identity(to, r, &ask);
	else
		calls_begin_need(to, r, &ask);
}

static int calls_take_address(const char *text, struct ip *out, struct err *e)
{
	if (ip_parse(text, out) == 0)
		return 0;
	return err_set(e, ERR_CONFIG, 0, "args.address: \"%.64s\" is not an IP address", text);
}

static void call_need_address(const struct calls_to *to, struct server_request *r,
			      const struct json *args)
{
	struct need_args a = { .wait_ms = DEFAULT_WAIT_MS };
	struct ip ip;
	struct err e;

	if (json_decode(args, "args", need_address_fields, &a, &e) ||
	    calls_take_address(a.address, &ip, &e)) {
		server_refuse(r, &e);
		return;
	}
	calls_begin_need(
		to, r, &(struct driver_need_ask){ .pool = a.pool, .wait_ms = a.wait_ms, .ip = ip });
}

/* ---- pools of the cluster ---- */

struct pool_args {
	const char *pool;
	const struct json *definition;
};

#define POOL                                                                                       \
	{                                                                                          \
		"pool", J_STRING, J_AT(struct pool_args, pool), .flags = J_REQUIRED, .min = 1,     \
								.max = 30                          \
	}

static const struct json_field pool_put_fields[] = {
	POOL,
	{ "definition", J_OBJECT, J_AT(struct pool_args, definition), .flags = J_REQUIRED },
	{ 0 },
};

static const struct json_field pool_name_fields[] = { POOL, { .key = NULL } };

static void call_pool_put(const struct calls_to *to, struct server_request *r,
			  const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *c = NULL;
	struct pool_args a = { .pool = NULL };
	struct err e;

	if (json_decode(args, "args", pool_put_fields, &a, &e) == 0)
		c = pool_change_put(to->driver, a.pool, a.definition, &end, &e);
	server_await(r, c, &e);
}

static void call_pool_remove(const struct calls_to *to, struct server_request *r,
			     const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *c = NULL;
	struct pool_args a = { .pool = NULL };
	struct err e;

	if (json_decode(args, "args", pool_name_fields, &a, &e) == 0)
		c = pool_change_remove(to->driver, a.pool, &end, &e);
	server_await(r, c, &e);
}

/* ---- nodes of the cluster ---- */

struct node_args {
	const char *node;
};

static const struct json_field node_fields[] = {
	{ "node", J_STRING, J_AT(struct node_args, node), .flags = J_REQUIRED, .min = 1,
	  .max = 63 },
	{ 0 },
};

static void call_node_forget(const struct calls_to *to, struct server_request *r,
			     const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *f = NULL;
	struct node_args a = { .node = NULL };
	struct err e;

	if (json_decode(args, "args", node_fields, &a, &e) == 0)
		f = node_forget_begin(to->driver, a.node, &end, &e);
	server_await(r, f, &e);
}

static void call_nodes(const struct calls_to *to, struct server_request *r, const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *a;
	struct err e;

	(void)args;
	a = nodes_ask(to->nodes, &end, &e);
	server_await(r, a, &e);
}

static void call_pools(const struct calls_to *to, struct server_request *r, const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *a;
	struct err e;

	(void)args;
	a = nodes_ask_pools(to->nodes, NULL, &end, &e);
	server_await(r, a, &e);
}

struct fabric_args {
	const char *after, *from;
};

static void call_fabric(const struct calls_to *to, struct server_request *r,
			const struct json *args)
{
	static const struct json_field fields[] = {
		{ "after", J_STRING, J_AT(struct fabric_args, after), .max = NODE_NAME_LEN - 1 },
		{ "from", J_STRING, J_AT(struct fabric_args, from), .max = 4096 },
		{ 0 },
	};
	const struct ask_end end = server_end(r);
	struct fabric_args a = { .after = "", .from = "" };
	struct ask *ask = NULL;
	struct err e;

	if (json_decode(args, "args", fields, &a, &e) == 0)
		ask = nodes_ask_rails(to->nodes, a.after, a.from, &end, &e);
	server_await(r, ask, &e);
}

static void call_pool_nodes(const struct calls_to *to, struct server_request *r,
			    const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct pool_args a = { .definition = NULL };
	struct ask *ask = NULL;
	struct err e;

	if (json_decode(args, "args", pool_name_fields, &a, &e) == 0)
		ask = nodes_ask_pool(to->nodes, a.pool, &end, &e);
	server_await(r, ask, &e);
}

static void call_reserved_nodes(const struct calls_to *to, struct server_request *r,
				const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *a;
	struct err e;

	(void)args;
	a = nodes_ask_reserved(to->nodes, &end, &e);
	server_await(r, a, &e);
}

/* ---- an address of the cluster ---- */

static const struct json_field find_fields[] = {
	{ "address", J_STRING, J_AT(struct need_args, address), .flags = J_REQUIRED },
	{ 0 },
};

static void call_find(const struct calls_to *to, struct server_request *r, const struct json *args)
{
	struct address_find_ask ask = {
		.base = to->base, .store = to->store, .node = to->node, .end = server_end(r)
	};
	struct need_args a = { .address = NULL };
	struct ask *f = NULL;
	struct err e;

	if (json_decode(args, "args", find_fields, &a, &e) == 0 &&
	    calls_take_address(a.address, &ask.ip, &e) == 0)
		f = address_find(&ask, &e);
	server_await(r, f, &e);
}

static void call_pool_open(const struct calls_to *to, struct server_request *r,
			   const struct json *args)
{
	struct pool_args a = { .definition = NULL };
	struct err e;

	if (json_decode(args, "args", pool_name_fields, &a, &e))
		server_refuse(r, &e);
	else
		pool_open(&(struct pool_open_at){ to->driver, to->nodes, r, a.pool });
}

/* ---- reserved addresses ---- */

static const struct json_field reserved_fields[] = {
	{ "add", J_ARRAY, J_AT(struct reserved_change_ask, add) },
	{ "remove", J_ARRAY, J_AT(struct reserved_change_ask, remove) },
	{ 0 },
};

static void call_reserved(const struct calls_to *to, struct server_request *r,
			  const struct json *args)
{
	struct reserved_change_ask ask = { .base = to->base,
					   .store = to->store,
					   .end = server_end(r) };
	struct ask *c = NULL;
	struct err e;

	if (json_decode(args, "args", reserved_fields, &ask, &e) == 0)
		c = reserved_change(&ask, &e);
	server_await(r, c, &e);
}

/* ---- status ---- */

static void call_status(const struct calls_to *to, struct server_request *r,
			const struct json *args)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	(void)args;
	if (!status || json_add_str(status, "version", RAILHEAD_VERSION)) {
		(void)err_nomem(&e);
		server_refuse(r, &e);
	} else if (driver_status(to->driver, status, &e) ||
		   reserved_status(to->reserved, status, &e) ||
		   repairer_status(to->repairer, status, &e) ||
		   plugin_watch_status(to->plugins, status, &e) ||
		   rail_watch_status(to->rails, status, &e) ||
		   transport_watch_status(to->transports, status, &e) ||
		   neighbour_watch_status(to->neighbours, status, &e) ||
		   devices_status(&to->devices, status, &e)) {
		server_refuse(r, &e);
	} else {
		server_answer(r, status);
	}
}

/* ---- conflicts ---- */

static void call_conflicts(const struct calls_to *to, struct server_request *r,
			   const struct json *args)
{
	const struct ask_end end = server_end(r);
	struct ask *a;
	struct err e;

	(void)args;
	a = conflict_ask_begin(to->driver, &end, &e);
	server_await(r, a, &e);
}

/* ---- repair ---- */

/* The answer does not wait for the pass: who asks is a GC, and has its own to do. */
static void call_repair(const struct calls_to *to, struct server_request *r,
			const struct json *args)
{
	(void)args;
	repairer_soon(to->repairer);
	server_answer(r, NULL);
}

static const struct {
	const char *name;
	void (*fn)(const struct calls_to *to, struct server_request *r, const struct json *args);
} calls[] = {
	{ "conflicts", call_conflicts },
	{ "fabric", call_fabric },
	{ "find", call_find },
	{ "need", call_need },
	{ "need-address", call_need_address },
	{ "node-forget", call_node_forget },
	{ "nodes", call_nodes },
	{ "pool-nodes", call_pool_nodes },
	{ "pool-open", call_pool_open },
	{ "pool-put", call_pool_put },
	{ "pool-remove", call_pool_remove },
	{ "pools", call_pools },
	{ "repair", call_repair },
	{ "reserved", call_reserved },
	{ "reserved-nodes", call_reserved_nodes },
	{ "status", call_status },
};

void calls_answer(void *arg, struct server_request *r, const struct agent_call *call)
{
	const struct calls_to *to = arg;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (strcmp(calls[i].name, call->call) == 0) {
			calls[i].fn(to, r, call->args);
			return;
		}
	}
	err_set(&e, ERR_FIELD, 0, "request.call: the agent does not know \"%.32s\"", call->call);
	(void)err_hint(&e, "install railheadd and railctl of one release");
	server_refuse(r, &e);
}

void calls_hint(void *arg, const struct hint *h)
{
	const struct calls_to *to = arg;

	if (h->after == HINT_ADD)
		histogram_observe(&to->latency[h->outcome], h->micros);
	driver_look(to->driver);
}
