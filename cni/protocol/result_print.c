/* SPDX-License-Identifier: Apache-2.0 */
/* result_print.c: prints results in the shape of each version (CNI-093 to CNI-098). */
#include "cni/protocol/result.h"

#include <string.h>

/* Copy the members of src that to lacks and that are not in known[]: they are not ours to drop. */
static int copy_unknown(struct json *to, const struct json *src, const char *const *known)
{
	json_each (member, src) {
		const char *const *k = known;
		while (*k && strcmp(*k, json_key(member)) != 0)
			k++;
		if (!*k && json_add_copy(to, json_key(member), member))
			return -1;
	}
	return 0;
}

static int add_optional(struct json *o, const char *key, const char *s)
{
	return s ? json_add_str(o, key, s) : 0;
}

static int add_positive(struct json *o, const char *key, int64_t v)
{
	return v > 0 ? json_add_int(o, key, v) : 0;
}

static int result_print_add_ip(struct json *o, const char *key, struct ip a)
{
	char text[IP_STR_LEN];

	return a.family ? json_add_str(o, key, ip_format(a, text)) : 0;
}

static int add_prefix(struct json *o, const char *key, struct ip_prefix p)
{
	char text[PREFIX_STR_LEN];

	return json_add_str(o, key, ip_format_prefix(p, text));
}

static int print_interface(struct json *list, const struct cni_interface *x, enum cni_version v)
{
	static const char *const known[] = { "mtu", "pciID",   "socketPath", "name",
					     "mac", "sandbox", NULL };
	enum { SINCE_110 = 3 };
	struct json *o = json_push_object(list);

	if (!o || json_add_str(o, "name", x->name) || add_optional(o, "mac", x->mac) ||
	    add_optional(o, "sandbox", x->sandbox))
		return -1;
	if ((v >= CNI_110 || (v == CNI_100 && x->moved)) && add_positive(o, "mtu", x->mtu))
		return -1;
	if (v >= CNI_110 &&
	    (add_optional(o, "pciID", x->pci_id) || add_optional(o, "socketPath", x->socket_path)))
		return -1;
	/* 1.0.0 lets pass what it does not know (CNI-097); before it, the keys go (CNI-096). */
	return copy_unknown(o, x->src, v == CNI_100 ? known + SINCE_110 : known);
}

static int print_ip(struct json *list, const struct cni_ip *x, enum cni_version v)
{
	static const char *const known[] = { "version", "address", "gateway", "interface", NULL };
	struct json *o = json_push_object(list);

	if (!o)
		return -1;
	if (v < CNI_100 && json_add_str(o, "version", x->address.addr.family == IP_V4 ? "4" : "6"))
		return -1;
	if (add_prefix(o, "address", x->address) || result_print_add_ip(o, "gateway", x->gateway) ||
	    (x->interface >= 0 && json_add_int(o, "interface", x->interface)) ||
	    (x->probe && !x->src && json_add_bool(o, "probe", true)) ||
	    (x->group && !x->src && json_add_int(o, "group", x->group)))
		return -1;
	return copy_unknown(o, x->src, known);
}

static int print_route(struct json *list, const struct cni_route *x, enum cni_version v)
{
	static const char *const known[] = { "dst",      "gw",    "mtu",   "advmss",
					     "priority", "table", "scope", NULL };
	struct json *o = json_push_object(list);

	if (!o || add_prefix(o, "dst", x->dst) || result_print_add_ip(o, "gw", x->gw))
		return -1;
	if (v <= CNI_020)
		return 0;
	if (add_positive(o, "mtu", x->mtu) || add_positive(o, "advmss", x->advmss) ||
	    add_positive(o, "priority", x->priority) ||
	    (x->table >= 0 && json_add_int(o, "table", x->table)) ||
	    (x->scope >= 0 && json_add_int(o, "scope", x->scope)) ||
	    (x->group && json_add_int(o, "group", x->group)))
		return -1;
	return copy_unknown(o, x->src, known);
}

/* Versions up to 0.4.0 always carry "dns"; later ones leave an empty one out (CNI-098). */
static int print_dns(struct json *o, const struct json *dns, enum cni_version v)
{
	if (json_len(dns))
		return json_add_copy(o, "dns", dns);
	return v < CNI_100 && !json_add_object(o, "dns") ? -1 : 0;
}

static int print_old_family(struct json *o, const struct cni_result *r, enum ip_family f)
{
	struct json *fam = NULL, *routes = NULL;

	for (size_t i = 0; i < r->n_ips && !fam; i++) {
		if (r->ips[i].address.addr.family != f)
			continue;
		fam = json_add_object(o, f == IP_V4 ? "ip4" : "ip6");
		if (!fam || add_prefix(fam, "ip", r->ips[i].address) ||
		    result_print_add_ip(fam, "gateway", r->ips[i].gateway))
			return -1;
	}
	for (size_t i = 0; fam && i < r->n_routes; i++) {
		if (r->routes[i].dst.addr.family != f)
			continue;
		if (!routes && !(routes = json_add_array(fam, "routes")))
			return -1;
		if (print_route(routes, &r->routes[i], CNI_020))
			return -1;
	}
	return 0;
}

#define PRINT_LIST(o, key, r, items, n, fn, v)                                                     \
	({                                                                                         \
		struct json *list_ = (r)->n ? json_add_array(o, key) : NULL;                       \
		int rc_ = (r)->n && !list_ ? -1 : 0;                                               \
		for (size_t i_ = 0; rc_ == 0 && i_ < (r)->n; i_++)                                 \
			rc_ = fn(list_, &(r)->items[i_], v);                                       \
		rc_;                                                                               \
	})

static int print_lists(struct json *o, const struct cni_result *r, enum cni_version v)
{
	return PRINT_LIST(o, "interfaces", r, interfaces, n_interfaces, print_interface, v) ||
			       PRINT_LIST(o, "ips", r, ips, n_ips, print_ip, v) ||
			       PRINT_LIST(o, "routes", r, routes, n_routes, print_route, v)
		       ? -1
		       : 0;
}

static struct json *build_json(const struct cni_result *r, enum cni_version v)
{
	static const char *const known[] = { "cniVersion", "interfaces", "ips", "routes",
					     "dns",        "ip4",        "ip6", NULL };
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "cniVersion", cni_version_name(v)))
		return NULL;
	int rc = v <= CNI_020 ? print_old_family(o, r, IP_V4) || print_old_family(o, r, IP_V6)
			      : print_lists(o, r, v);
	if (rc || print_dns(o, r->dns, v) || copy_unknown(o, r->src, known))
		return NULL;
	return TAKE_PTR(o);
}

int cni_result_print(const struct cni_result *r, enum cni_version version, char **text,
		     struct err *e)
{
	if (version <= CNI_020 && r->n_ips == 0)
		return err_set(e, ERR_CONFIG, 0,
			       "a result of cniVersion %s needs an address; use 0.3.0 or later for "
			       "an interface without one",
			       cni_version_name(version));
	auto_json struct json *o = build_json(r, version);
	if (!o)
		return err_nomem(e);
	char *s = json_print(o, true);
	if (!s)
		return err_nomem(e);
	*text = s;
	return 0;
}
