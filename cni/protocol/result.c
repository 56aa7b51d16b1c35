/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: reads results. Each shape is brought into the one form of struct cni_result. */
#include "cni/protocol/result.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

/* More items than any attachment has; it bounds what a hostile delegate can make us hold. */
#define MAX_ITEMS 1024

int cni_result_add_interface(struct cni_result *r, const struct cni_interface *x, struct err *e)
{
	return ARRAY_PUSH(r->interfaces, r->n_interfaces, MAX_ITEMS, "interfaces", *x, e);
}

int cni_result_add_ip(struct cni_result *r, const struct cni_ip *x, struct err *e)
{
	return ARRAY_PUSH(r->ips, r->n_ips, MAX_ITEMS, "ips", *x, e);
}

int cni_result_add_route(struct cni_result *r, const struct cni_route *x, struct err *e)
{
	return ARRAY_PUSH(r->routes, r->n_routes, MAX_ITEMS, "routes", *x, e);
}

void cni_result_clear(struct cni_result *r)
{
	free(r->interfaces);
	free(r->ips);
	free(r->routes);
	json_free(r->tree);
	*r = (struct cni_result){ 0 };
}

int cni_ip_decode(const char *text, const char *where, const char *key, struct ip *out,
		  struct err *e)
{
	if (text && ip_parse(text, out))
		return err_set(e, ERR_CONFIG, 0, "%s.%s: \"%.64s\" is not an IP address", where,
			       key, text);
	*out = ip_unmap(*out);
	return 0;
}

static int read_prefix(const char *text, const char *where, const char *key, struct ip_prefix *out,
		       struct err *e)
{
	if (ip_parse_prefix(text, out))
		return err_set(e, ERR_CONFIG, 0,
			       "%s.%s: \"%.64s\" is not an address with a prefix length", where,
			       key, text);
	/* an IPv4 prefix is never that long */
	if (out->len >= 96 && ip_unmap(out->addr).family == IP_V4)
		*out = (struct ip_prefix){ ip_unmap(out->addr), (uint8_t)(out->len - 96) };
	return 0;
}

struct route_text {
	const char *dst, *gw;
	struct cni_route r;
	int64_t scope;
};

#define ROUTE(k, kind_, field, lo, hi)                                                             \
	{                                                                                          \
		k, kind_, J_AT(struct route_text, field), .min = lo, .max = hi                     \
	}

const struct json_field cni_route_fields[] = {
	{ "dst", J_STRING, J_AT(struct route_text, dst), .flags = J_REQUIRED },
	{ "gw", J_STRING, J_AT(struct route_text, gw), .flags = J_EMPTY_OK },
	ROUTE("mtu", J_U32, r.mtu, 0, UINT32_MAX),
	ROUTE("advmss", J_U32, r.advmss, 0, UINT32_MAX),
	ROUTE("priority", J_U32, r.priority, 0, UINT32_MAX),
	ROUTE("table", J_I64, r.table, 0, UINT32_MAX),
	ROUTE("scope", J_I64, scope, 0, 255),
	{ 0 },
};

int cni_route_decode(const struct json *n, const char *where, struct cni_route *out, struct err *e)
{
	struct route_text t = { .r = { .table = -1 }, .scope = -1 };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode(n, where, cni_route_fields, &t, e) ||
	    read_prefix(t.dst, where, "dst", &t.r.dst, e) ||
	    cni_ip_decode(t.gw, where, "gw", &t.r.gw, e))
		return -1;
	if (t.r.gw.family && t.r.gw.family != t.r.dst.addr.family)
		return err_set(e, ERR_CONFIG, 0, "%s: gw %.64s is not of the family of dst %.64s",
			       where, t.gw, t.dst);
	t.r.scope = (int)t.scope;
	t.r.src = n;
	*out = t.r;
	return 0;
}

typedef int (*item_fn)(struct cni_result *r, const struct json *n, const char *where,
		       struct err *e);

/* Decode each element of result[key] with fn, which gets its full name for errors. */
static int result_read_list(struct cni_result *r, const char *where, const char *key, item_fn fn,
			    struct err *e)
{
	const struct json *list = json_get(r->src, key);
	char name[96];
	size_t i = 0;

	if (list && json_type(list) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s.%s: must be an array, got %s", where, key,
			       json_type_name(list));
	if (json_len(list) > MAX_ITEMS)
		return err_set(e, ERR_DECODE, 0, "%s.%s: has %zu elements, at most %d are served",
			       where, key, json_len(list), MAX_ITEMS);
	json_each (item, list) {
		(void)snprintf(name, sizeof(name), "%.32s.%.32s[%zu]", where, key, i++);
		if (json_type(item) != JSON_OBJECT)
			return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", name,
				       json_type_name(item));
		if (fn(r, item, name, e))
			return -1;
	}
	return 0;
}

static int result_read_route(struct cni_result *r, const struct json *n, const char *where,
			     struct err *e)
{
	struct cni_route x;

	return cni_route_decode(n, where, &x, e) || cni_result_add_route(r, &x, e) ? -1 : 0;
}

static const struct json_field interface_fields[] = {
	{ "name", J_STRING, J_AT(struct cni_interface, name), .flags = J_REQUIRED },
	{ "mac", J_STRING, J_AT(struct cni_interface, mac) },
	{ "sandbox", J_STRING, J_AT(struct cni_interface, sandbox) },
	{ "pciID", J_STRING, J_AT(struct cni_interface, pci_id) },
	{ "socketPath", J_STRING, J_AT(struct cni_interface, socket_path) },
	{ "mtu", J_U32, J_AT(struct cni_interface, mtu) },
	{ 0 },
};

static int read_interface(struct cni_result *r, const struct json *n, const char *where,
			  struct err *e)
{
	struct cni_interface x = { .src = n };

	if (json_decode(n, where, interface_fields, &x, e))
		return -1;
	return cni_result_add_interface(r, &x, e);
}

struct ip_text {
	const char *address, *gateway;
	int64_t interface;
};

static const struct json_field ip_fields[] = {
	{ "address", J_STRING, J_AT(struct ip_text, address), .flags = J_REQUIRED },
	{ "gateway", J_STRING, J_AT(struct ip_text, gateway), .flags = J_EMPTY_OK },
	{ "interface", J_I64, J_AT(struct ip_text, interface), .min = -1, .max = MAX_ITEMS },
	{ 0 },
};

static int read_address(struct cni_result *r, const struct json *n, const char *where,
			struct err *e)
{
	struct ip_text t = { .interface = -1 };
	struct cni_ip x = { .src = n };

	if (json_decode(n, where, ip_fields, &t, e) ||
	    read_prefix(t.address, where, "address", &x.address, e) ||
	    cni_ip_decode(t.gateway, where, "gateway", &x.gateway, e))
		return -1;
	/* Some IPAMs mean the one interface of their caller, which they do not list. */
	if (r->n_interfaces == 0 && t.interface == 0)
		t.interface = -1;
	if (t.interface >= 0 && (size_t)t.interface >= r->n_interfaces)
		return err_set(e, ERR_CONFIG, 0, "%s.interface: %d is not an index into interfaces",
			       where, (int)t.interface);
	x.interface = (int)t.interface;
	return cni_result_add_ip(r, &x, e);
}

struct ip4_text {
	const char *ip, *gateway;
};

static const struct json_field ip4_fields[] = {
	{ "ip", J_STRING, J_AT(struct ip4_text, ip), .flags = J_REQUIRED },
	{ "gateway", J_STRING, J_AT(struct ip4_text, gateway), .flags = J_EMPTY_OK },
	{ 0 },
};

/* ip4 and ip6 of 0.1.0 and 0.2.0: one address a family, its routes inside (CNI-093, CNI-097). */
static int read_old_family(struct cni_result *r, const char *where, const char *key, struct err *e)
{
	enum ip_family family = strcmp(key, "ip4") == 0 ? IP_V4 : IP_V6;
	const struct json *n = json_get(r->src, key), *outer = r->src;
	struct cni_ip x = { .interface = -1 };
	struct ip4_text t = { 0 };
	char name[96];

	if (!n)
		return 0;
	(void)snprintf(name, sizeof(name), "%.32s.%s", where, key);
	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", name,
			       json_type_name(n));
	if (json_decode(n, name, ip4_fields, &t, e) ||
	    read_prefix(t.ip, name, "ip", &x.address, e) ||
	    cni_ip_decode(t.gateway, name, "gateway", &x.gateway, e))
		return -1;
	if (x.address.addr.family != family)
		return err_set(e, ERR_CONFIG, 0, "%s.ip: \"%.64s\" is not of that family", name,
			       t.ip);
	if (cni_result_add_ip(r, &x, e))
		return -1;
	r->src = n;
	int rc = result_read_list(r, name, "routes", result_read_route, e);
	r->src = outer;
	return rc;
}

static int read_shape(struct cni_result *r, const char *where, enum cni_version v, struct err *e)
{
	if (v <= CNI_020)
		return read_old_family(r, where, "ip4", e) || read_old_family(r, where, "ip6", e)
			       ? -1
			       : 0;
	if (result_read_list(r, where, "interfaces", read_interface, e) ||
	    result_read_list(r, where, "ips", read_address, e) ||
	    result_read_list(r, where, "routes", result_read_route, e))
		return -1;
	return 0;
}

/* Absent and empty both stand for the version of the configuration, as in libcni (CNI-112). */
static int own_version(const struct json *n, const char *where, enum cni_version *v, struct err *e)
{
	const struct json *own = json_get(n, "cniVersion");

	if (!own)
		return 0;
	if (json_type(own) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "%s.cniVersion: must be a string, got %s", where,
			       json_type_name(own));
	if (*json_str(own) && cni_version_parse(json_str(own), v, e))
		return err_wrap(e, "%s.cniVersion", where);
	return 0;
}

int cni_result_parse(const struct json *n, const char *where, enum cni_version version,
		     struct cni_result *out, struct err *e)
{
	auto_result struct cni_result r = { .src = n };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (own_version(n, where, &version, e) || read_shape(&r, where, version, e))
		return -1;
	r.dns = json_get(n, "dns");
	if (r.dns && json_type(r.dns) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s.dns: must be an object, got %s", where,
			       json_type_name(r.dns));
	*out = r;
	r = (struct cni_result){ 0 };
	return 0;
}
