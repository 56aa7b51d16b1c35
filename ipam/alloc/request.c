/* SPDX-License-Identifier: Apache-2.0 */
/* request.c: reads the owner and the requested addresses from the environment and configuration. */
#include "ipam/alloc/request.h"

#include <stdlib.h>
#include <string.h>

#include "cni/protocol/delegate.h"
#include "lib/base/guid.h"

#define IP_ARG_MAX (SOURCE_SETS_MAX * PREFIX_STR_LEN) /* of CNI_ARGS IP */

static bool env_is(const char *name, const char *value)
{
	const char *text = getenv(name);

	return text && strcmp(text, value) == 0;
}

/* What follows "guid" in the variable: "" or "=GUID". NULL: the lease is not of a GUID. */
static const char *guid_request(void)
{
	const char *text = getenv(DELEGATE_LEASE);
	const size_t len = strlen(DELEGATE_LEASE_GUID);

	if (!text || strncmp(text, DELEGATE_LEASE_GUID, len) != 0)
		return NULL;
	return text[len] == '\0' || text[len] == '=' ? text + len : NULL;
}

void request_owner(const struct cni_env *env, const struct cni_conf *conf, struct request *out)
{
	*out = (struct request){ .owner = { .network = conf->name,
					    .container = env->container,
					    .ifname = env->ifname,
					    .ns = out->ns,
					    .pod = out->pod,
					    .uid = out->uid },
				 .guid = guid_request() != NULL };
	if (out->guid)
		out->owner.ifname = owner_of_guid(env->ifname, out->ifname);
}

static int add_want(struct request *r, const char *text, const char *where, struct err *e)
{
	struct ip_prefix p;

	if (ip_parse_prefix(text, &p) && ip_parse(text, &p.addr))
		return err_set(e, ERR_CONFIG, 0, "%s: \"%.64s\" is not an IP address", where, text);
	p.addr = ip_unmap(p.addr);
	for (size_t i = 0; i < r->n_want; i++) {
		if (ip_equal(r->want[i], p.addr))
			return 0;
	}
	if (r->n_want == SOURCE_SETS_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s: more than %d addresses are requested", where,
			       SOURCE_SETS_MAX);
	r->want[r->n_want++] = p.addr;
	return 0;
}

static int add_array(struct request *r, const struct json *list, const char *where, struct err *e)
{
	if (list && json_type(list) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s: must be an array of addresses, got %s", where,
			       json_type_name(list));
	json_each (item, list) {
		if (!json_str(item))
			return err_set(e, ERR_DECODE, 0, "%s: must hold strings, got %s", where,
				       json_type_name(item));
		if (add_want(r, json_str(item), where, e))
			return -1;
	}
	return 0;
}

static int request_add_env(struct request *r, const struct cni_env *env, struct err *e)
{
	char value[IP_ARG_MAX], one[PREFIX_STR_LEN + 16];
	struct slice rest, part;

	int rc = cni_args_get(env->args, "IP", value, sizeof(value), e);
	if (rc <= 0)
		return rc;
	rest = (struct slice){ value, strlen(value) };
	while (slice_next(&rest, ',', &part)) {
		if (part.len == 0)
			continue;
		if (slice_copy(part, one, sizeof(one)) || add_want(r, one, "CNI_ARGS: IP", e)) {
			err_set(e, ERR_ENV, 0,
				"CNI_ARGS: IP=%.128s is not a list of at most %d addresses", value,
				SOURCE_SETS_MAX);
			return -1;
		}
	}
	return 0;
}

/*
 * The policy of a pool depends on these keys. Two different values may mean that a user put a key
 * into an address or MAC that was copied into CNI_ARGS. Thin Multus passes every key twice with one
 * value: its pkg/types/conf.go appends the CNI_ARGS of the runtime to its own.
 */
static int check_one_value(const char *args, const char *key, struct err *e)
{
	struct slice rest = { args, strlen(args) }, pair, first = { NULL, 0 };
	size_t len = strlen(key);

	while (slice_next(&rest, ';', &pair)) {
		if (pair.len <= len || pair.p[len] != '=' || memcmp(pair.p, key, len) != 0)
			continue;
		if (!first.p)
			first = pair;
		else if (pair.len != first.len || memcmp(pair.p, first.p, pair.len) != 0)
			return err_set(e, ERR_ENV, 0, "CNI_ARGS: %s has two values", key);
	}
	return 0;
}

static int load_name(const struct cni_env *env, const char *key, char *buf, struct err *e)
{
	int rc = cni_args_get(env->args, key, buf, REQUEST_NAME_MAX, e);

	if (rc < 0 || check_one_value(env->args, key, e))
		return -1;
	if (rc == 0)
		*buf = '\0';
	if (!utf8_valid(buf, strlen(buf)))
		return err_set(e, ERR_ENV, 0, "CNI_ARGS: %s is not UTF-8 text", key);
	return 0;
}

/* The requested addresses are those of the interface: a GUID is asked for by the plugin. */
static int load_guid(struct request *out, struct err *e)
{
	const char *text = guid_request();
	struct guid guid;

	if (!*text)
		return 0;
	if (guid_parse(text + 1, &guid))
		return err_set(e, ERR_ENV, 0, DELEGATE_LEASE ": \"%.64s\" is not a GUID", text + 1);
	out->want[out->n_want++] = guid_gid(guid);
	return 0;
}

int request_load(const struct cni_env *env, const struct cni_conf *conf, struct request *out,
		 struct err *e)
{
	const struct json *args = json_get(conf->args_cni, "ips");

	request_owner(env, conf, out);
	/* The store keeps it as JSON text, which must be UTF-8. */
	if (!utf8_valid(env->ifname, strlen(env->ifname)))
		return err_set(e, ERR_ENV, 0, "CNI_IFNAME is not UTF-8 text");
	if (load_name(env, "K8S_POD_NAMESPACE", out->ns, e) ||
	    load_name(env, "K8S_POD_NAME", out->pod, e) ||
	    load_name(env, "K8S_POD_UID", out->uid, e))
		return -1;
	if (out->guid)
		return load_guid(out, e);
	if (add_array(out, json_get(conf->runtime, "ips"), "runtimeConfig.ips", e) ||
	    add_array(out, args, "args.cni.ips", e))
		return -1;
	return json_len(args) ? 0 : request_add_env(out, env, e);
}

/* A wrong value does no harm: DEL looks only for addresses of the owner. */
size_t request_conflicts(struct ip *out, size_t cap)
{
	const char *text = getenv(DELEGATE_CONFLICT);
	struct slice rest = { text, text ? strlen(text) : 0 }, item;
	char one[IP_STR_LEN];
	size_t n = 0;

	while (n < cap && text && slice_next(&rest, ',', &item)) {
		if (slice_copy(item, one, sizeof(one)) == 0 && ip_parse(one, &out[n]) == 0)
			n++;
	}
	return n;
}

bool request_probes(const char *value)
{
	return env_is(DELEGATE_PROBE, value);
}
