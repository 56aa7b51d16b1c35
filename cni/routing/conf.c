/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: reads the key "routing". */
#include "cni/routing/routing.h"

#include <string.h>

#define KEY "routing"

struct routing_text {
	int mode;
	bool is_default;
	uint32_t table;
	const struct json *supernets;
};

static const struct json_enum modes[] = { { "rail", 1 }, { 0 } };

static const struct json_field fields[] = {
	{ "mode", J_ENUM, J_AT(struct routing_text, mode), .flags = J_REQUIRED, .names = modes },
	{ "default", J_BOOL, J_AT(struct routing_text, is_default) },
	{ "table", J_U32, J_AT(struct routing_text, table), .min = 1, .max = UINT32_MAX },
	{ "supernets", J_ARRAY, J_AT(struct routing_text, supernets) },
	{ 0 },
};

static int check_table(uint32_t table, struct err *e)
{
	if (table < ROUTE_TABLE_OWN_FIRST || table > ROUTE_TABLE_OWN_LAST)
		return 0;
	return err_set(e, ERR_CONFIG, 0, KEY ".table: %u is a table of the kernel", table);
}

static int read_supernets(const struct json *list, struct routing_conf *out, struct err *e)
{
	json_each (it, list) {
		const char *text = json_str(it);

		if (!text)
			return err_set(e, ERR_DECODE, 0,
				       KEY ".supernets: must have strings, got %s",
				       json_type_name(it));
		if (out->n_supernets == ROUTING_SUPERNETS_MAX)
			return err_set(e, ERR_CONFIG, 0, KEY ".supernets: more than %d",
				       ROUTING_SUPERNETS_MAX);
		if (ip_parse_prefix(text, &out->supernet[out->n_supernets]))
			return err_set(
				e, ERR_CONFIG, 0,
				KEY ".supernets: \"%.64s\" is not a network, such as 10.0.0.0/16",
				text);
		if (out->supernet[out->n_supernets].len == 0) {
			err_set(e, ERR_CONFIG, 0,
				KEY
				".supernets: %.64s is every network, and each rail would have it",
				text);
			return err_hint(e,
					"name the networks of the rail, or \"default\": true for "
					"one rail of the pod");
		}
		out->n_supernets++;
	}
	return 0;
}

int routing_read_conf(const struct json *config, struct routing_conf *out, struct err *e)
{
	const struct json *n = json_get(config, KEY);
	struct routing_conf c = { .rail = json_str(n) && *json_str(n) };
	struct routing_text t = { .mode = 0 };

	if (c.rail && strcmp(json_str(n), "rail") != 0)
		return err_set(e, ERR_FIELD, 0, KEY ": must be \"rail\", got \"%.64s\"",
			       json_str(n));
	if (!n || json_str(n)) {
		*out = c;
		return 0;
	}
	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, KEY ": must be \"rail\" or an object, got %s",
			       json_type_name(n));
	if (json_decode_known(n, KEY, fields, &t, e) || check_table(t.table, e) ||
	    read_supernets(t.supernets, &c, e))
		return -1;
	c.rail = true;
	c.is_default = t.is_default;
	c.table = t.table;
	*out = c;
	return 0;
}
