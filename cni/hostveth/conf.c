/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: reads the key "host". */
#include "cni/hostveth/hostveth.h"

#define KEY "host"

struct hostveth_text {
	bool veth;
	const struct json *routes;
};

static const struct json_field fields[] = {
	{ "veth", J_BOOL, J_AT(struct hostveth_text, veth), .flags = J_REQUIRED },
	{ "routes", J_ARRAY, J_AT(struct hostveth_text, routes) },
	{ 0 },
};

static int read_route(const struct json *item, struct hostveth_conf *out, struct err *e)
{
	struct ip_prefix *net = &out->route[out->n_routes];
	const char *text = json_str(item);

	if (!text)
		return err_set(e, ERR_DECODE, 0, KEY ".routes: must have strings, got %s",
			       json_type_name(item));
	if (out->n_routes == HOSTVETH_ROUTES_MAX)
		return err_set(e, ERR_CONFIG, 0, KEY ".routes: more than %d", HOSTVETH_ROUTES_MAX);
	if (ip_parse_prefix(text, net))
		return err_set(e, ERR_CONFIG, 0,
			       KEY ".routes: \"%.64s\" is not a network, such as 10.96.0.0/12",
			       text);
	if (!net->len)
		return err_set(e, ERR_CONFIG, 0,
			       KEY ".routes: \"%.64s\" would lead all rails to the node: give the "
				   "ranges of services and nodes",
			       text);
	out->n_routes++;
	return 0;
}

int hostveth_read_conf(const struct json *config, struct hostveth_conf *out, struct err *e)
{
	const struct json *n = json_get(config, KEY);
	struct hostveth_text t = { .veth = false };
	struct hostveth_conf c = { .veth = false };

	if (!n || json_type(n) == JSON_NULL) {
		*out = c;
		return 0;
	}
	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, KEY ": must be an object, got %s",
			       json_type_name(n));
	if (json_decode_known(n, KEY, fields, &t, e))
		return -1;
	json_each (it, t.routes) {
		if (read_route(it, &c, e))
			return -1;
	}
	c.veth = t.veth;
	*out = c;
	return 0;
}
