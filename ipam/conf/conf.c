/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: decodes the key "ipam": keys of every form, named pools, and the choice of the form. */
#include "ipam/conf/conf.h"

#include <stdio.h>
#include <string.h>

#include "cni/protocol/result.h"
#include "ipam/conf/priv.h"
#include "ipam/conf/pool.h"

/*
 * A Go program writes unused keys as "", so an empty text counts as absent. The exception is
 * subnet, because host-local refuses an empty one.
 */
const struct json *conf_given(const struct json *ipam, const char *key)
{
	const struct json *n = json_get(ipam, key);
	const char *text = json_str(n);

	return text && !*text && strcmp(key, "subnet") != 0 ? NULL : n;
}

static int conf_path(const char *path, const char *key, struct err *e)
{
	if (!path || *path == '/')
		return 0;
	return err_set(e, ERR_CONFIG, 0, "ipam.%s: \"%.128s\" is not an absolute path", key, path);
}

/*
 * The author of a configuration must not be able to write to files from which a shell or a daemon
 * reads commands. The names of such files do not end in ".log".
 */
static bool is_log_path(const char *path)
{
	size_t len = strlen(path);

	return *path == '/' && len > 5 && strcmp(path + len - 4, ".log") == 0 &&
	       path[len - 5] != '/';
}

/* ---- keys that all forms share ---- */

static const struct json_field common_fields[] = {
	{ "dataDir", J_STRING, J_AT(struct ipam_conf, data_dir), .flags = J_EMPTY_OK },
	{ "auditLog", J_STRING, J_AT(struct ipam_conf, audit_log), .flags = J_EMPTY_OK },
	{ "resolvConf", J_STRING, J_AT(struct ipam_conf, resolv_conf), .flags = J_EMPTY_OK },
	{ "dns", J_OBJECT, J_AT(struct ipam_conf, dns) },
	{ "routes", J_ARRAY, J_AT(struct ipam_conf, routes) },
	{ "addresses", J_ARRAY, J_AT(struct ipam_conf, addresses) },
	{ "statusWhenFull", J_BOOL, J_AT(struct ipam_conf, status_when_full) },
	{ CNI_CONF_GUID_POOL, J_STRING, J_AT(struct ipam_conf, guid_pool), .flags = J_EMPTY_OK },
	{ "matchMaster", J_BOOL, J_AT(struct ipam_conf, match_master) },
	{ 0 },
};

struct extra_text {
	const char *address, *gateway;
};

static const struct json_field extra_fields[] = {
	{ "address", J_STRING, J_AT(struct extra_text, address), .flags = J_REQUIRED },
	{ "gateway", J_STRING, J_AT(struct extra_text, gateway), .flags = J_EMPTY_OK },
	{ 0 },
};

int ipam_conf_extra(const struct json *n, const char *where, struct ipam_extra *out, struct err *e)
{
	struct extra_text t = { 0 };
	struct ipam_extra x = { 0 };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode(n, where, extra_fields, &t, e))
		return -1;
	if (ip_parse_prefix(t.address, &x.address))
		return err_set(e, ERR_CONFIG, 0,
			       "%s.address: \"%.64s\" is not an address with a prefix length",
			       where, t.address);
	if (cni_ip_decode(t.gateway, where, "gateway", &x.gateway, e))
		return -1;
	*out = x;
	return 0;
}

static int conf_check_addresses(const struct json *list, struct err *e)
{
	size_t i = 0;

	json_each (item, list) {
		struct ipam_extra x;
		char where[48];

		(void)snprintf(where, sizeof(where), "ipam.addresses[%zu]", i++);
		if (ipam_conf_extra(item, where, &x, e))
			return -1;
	}
	return 0;
}

static int decode_common(const struct cni_conf *conf, struct ipam_conf *out, struct err *e)
{
	if (json_decode(conf->ipam, "ipam", common_fields, out, e) ||
	    conf_path(out->data_dir, "dataDir", e) || conf_path(out->resolv_conf, "resolvConf", e))
		return -1;
	if (out->audit_log && !is_log_path(out->audit_log))
		return err_set(
			e, ERR_CONFIG, 0,
			"ipam.auditLog: \"%.128s\" is not an absolute path that ends in .log",
			out->audit_log);
	if (out->guid_pool && pool_name_valid(out->guid_pool, e))
		return err_wrap(e, "ipam." CNI_CONF_GUID_POOL);
	return pool_check_routes(out->routes, "ipam.", e) || conf_check_addresses(out->addresses, e)
		       ? -1
		       : 0;
}

void ipam_conf_paths(const struct cni_conf *conf, struct ipam_conf *out)
{
	const char *dir = json_str(json_get(conf->ipam, "dataDir"));
	const char *log = json_str(json_get(conf->ipam, "auditLog"));

	*out = (struct ipam_conf){
		.data_dir = dir && *dir == '/' ? dir : NULL,
		.audit_log = log && is_log_path(log) ? log : NULL,
	};
}

/* ---- named pools ---- */

#define STARS_MAX 4 /* each one multiplies the time of a comparison */

bool ipam_conf_is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

static int check_pattern(const char *name, struct err *e)
{
	size_t stars = 0;

	for (const char *s = name; *s; s++) {
		stars += *s == '*';
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
			    "*?[]!",
			    *s))
			stars = STARS_MAX + 1;
	}
	if (stars <= STARS_MAX && strlen(name) <= KEY_NAME_MAX)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "pools: \"%.128s\" is not a pattern like \"rail0-*\": the characters of a "
		       "name, \"*\" at most %d times, \"?\", and [abc]",
		       name, STARS_MAX);
}

static int conf_add_pool(struct ipam_conf *out, const char *name, unsigned group, struct err *e)
{
	if (ipam_conf_is_pattern(name) ? check_pattern(name, e) : pool_name_valid(name, e))
		return -1;
	for (size_t i = 0; i < out->n_pools; i++) {
		if (strcmp(out->pools[i], name) == 0 && out->group[i] == group)
			return err_set(e, ERR_CONFIG, 0, "pools: \"%s\" is named twice", name);
	}
	if (out->n_pools == SOURCE_SETS_MAX)
		return err_set(e, ERR_CONFIG, 0, "pools: more than %d names", SOURCE_SETS_MAX);
	out->group[out->n_pools] = group;
	out->pools[out->n_pools++] = name;
	return 0;
}

static int refuse_policy(const struct cni_conf *conf, struct err *e)
{
	static const char *const keys[] = { "sticky", "cooldown", "strictCooldown", "gateway" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (conf_given(conf->ipam, keys[i]))
			return err_set(
				e, ERR_CONFIG, 0,
				"ipam.%s: belongs to the pool; set it with `railctl ipam pool set`",
				keys[i]);
	}
	return 0;
}

/* Either names or lists of names: an address without a group would belong to no interface. */
static int add_group(struct ipam_conf *out, const struct json *list, size_t i, struct err *e)
{
	size_t k = 0;

	if (out->match_master)
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.matchMaster: not with lists in ipam.pools, which are for "
			       "several interfaces");
	if (json_len(list) == 0)
		return err_set(e, ERR_CONFIG, 0, "ipam.pools[%zu]: names no pool", i);
	json_each (item, list) {
		if (!json_str(item))
			return err_set(e, ERR_DECODE, 0,
				       "ipam.pools[%zu][%zu]: must be a string, got %s", i, k,
				       json_type_name(item));
		if (conf_add_pool(out, json_str(item), (unsigned)i + 1, e))
			return err_wrap(e, "ipam");
		k++;
	}
	return 0;
}

static int add_element(struct ipam_conf *out, const struct json *item, size_t i, struct err *e)
{
	bool is_list = json_type(item) == JSON_ARRAY;

	if (out->n_pools && is_list != (out->group[0] > 0))
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.pools[%zu]: names and lists of names cannot be mixed", i);
	if (is_list)
		return add_group(out, item, i, e);
	if (!json_str(item))
		return err_set(e, ERR_DECODE, 0, "ipam.pools[%zu]: must be a string, got %s", i,
			       json_type_name(item));
	return conf_add_pool(out, json_str(item), 0, e) ? err_wrap(e, "ipam") : 0;
}

static int decode_pools(const struct cni_conf *conf, struct ipam_conf *out, struct err *e)
{
	const struct json *one = conf_given(conf->ipam, "pool"),
			  *many = json_get(conf->ipam, "pools");
	size_t i = 0;

	if (refuse_policy(conf, e))
		return -1;
	if (one && !json_str(one))
		return err_set(e, ERR_DECODE, 0, "ipam.pool: must be a string, got %s",
			       json_type_name(one));
	if (json_str(many) && (out->match_master || ipam_conf_is_pattern(json_str(many))))
		return (one && conf_add_pool(out, json_str(one), 0, e)) ||
				       conf_add_pool(out, json_str(many), 0, e)
			       ? err_wrap(e, "ipam")
			       : 0;
	if (many && json_type(many) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "ipam.pools: must be names or a pattern, got %s",
			       json_type_name(many));
	if (many && json_len(many) == 0)
		return err_set(e, ERR_CONFIG, 0, "ipam.pools: names no pool; give at least one");
	if (one && conf_add_pool(out, json_str(one), 0, e))
		return err_wrap(e, "ipam");
	json_each (item, many) {
		if (add_element(out, item, i++, e))
			return -1;
	}
	return 0;
}

/* ---- which form ---- */

enum dialect { NO_DIALECT, HOST_LOCAL, WHEREABOUTS, POOLS };

static const struct {
	const char *key;
	enum dialect dialect;
} dialect_keys[] = {
	{ "subnet", HOST_LOCAL },    { "ranges", HOST_LOCAL }, { "range", WHEREABOUTS },
	{ "ipRanges", WHEREABOUTS }, { "pool", POOLS },        { "pools", POOLS },
};

static int find_dialect(const struct cni_conf *conf, enum dialect *out, struct err *e)
{
	bool runtime = json_len(json_get(conf->runtime, "ipRanges")) > 0;
	const char *key = runtime ? "runtimeConfig.ipRanges" : NULL;
	enum dialect found = runtime ? HOST_LOCAL : NO_DIALECT;

	for (size_t i = 0; i < ARRAY_SIZE(dialect_keys); i++) {
		if (!conf_given(conf->ipam, dialect_keys[i].key))
			continue;
		if (found != NO_DIALECT && found != dialect_keys[i].dialect)
			return err_set(e, ERR_CONFIG, 0,
				       "ipam: \"%s\" and \"%s\" cannot be used together; give "
				       "subnet or ranges, or range or ipRanges, or pool or pools",
				       key, dialect_keys[i].key);
		found = dialect_keys[i].dialect;
		key = dialect_keys[i].key;
	}
	if (found == NO_DIALECT && !conf_given(conf->ipam, CNI_CONF_GUID_POOL))
		return err_set(e, ERR_CONFIG, 0,
			       "ipam: has no source of addresses; give subnet or ranges, range or "
			       "ipRanges, or pool or pools");
	*out = found;
	return 0;
}

static int decode_sources(const struct cni_conf *conf, struct ipam_conf *out, struct err *e)
{
	struct policy policy;
	enum dialect d = NO_DIALECT;

	if (find_dialect(conf, &d, e))
		return -1;
	if (d == POOLS)
		return decode_pools(conf, out, e);
	if (out->match_master)
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.matchMaster: only with pool or pools; it selects one of them");
	if (d == NO_DIALECT)
		return refuse_policy(conf, e);
	if (policy_decode(conf->ipam, "ipam", &policy, e))
		return -1;
	return d == HOST_LOCAL ? conf_host_local(conf, &policy, out, e)
			       : conf_whereabouts(conf, &policy, out, e);
}

int ipam_conf_decode(const struct cni_conf *conf, struct ipam_conf *out, struct err *e)
{
	struct ipam_conf c = { 0 };

	if (!conf->ipam)
		return err_set(e, ERR_CONFIG, 0, "ipam: missing; it names the source of addresses");
	if (decode_common(conf, &c, e) || decode_sources(conf, &c, e) ||
	    cni_conf_check_keys(conf, false, e)) {
		ipam_conf_clear(&c);
		return cni_conf_blame_key(conf, e);
	}
	*out = c;
	return 0;
}

int ipam_conf_only_guids(struct ipam_conf *c, struct err *e)
{
	const struct ipam_conf all = *c;

	if (!all.guid_pool) {
		err_set(e, ERR_CONFIG, 0, "ipam." CNI_CONF_GUID_POOL ": missing; it has the GUIDs");
		return -1;
	}
	sources_clear(&c->fixed);
	*c = (struct ipam_conf){
		.pools = { all.guid_pool },
		.n_pools = 1,
		.guid_pool = all.guid_pool,
		.guids = true,
		.data_dir = all.data_dir,
		.audit_log = all.audit_log,
		.status_when_full = all.status_when_full,
	};
	return 0;
}

bool ipam_conf_has_source(const struct ipam_conf *c)
{
	return c->n_pools || c->fixed.n;
}

bool ipam_conf_is_guid_only(const struct cni_conf *conf)
{
	enum dialect d = POOLS;
	struct err ignored;

	return find_dialect(conf, &d, &ignored) == 0 && d == NO_DIALECT;
}

void ipam_conf_clear(struct ipam_conf *c)
{
	sources_clear(&c->fixed);
	*c = (struct ipam_conf){ 0 };
}
