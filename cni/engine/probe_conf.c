/* SPDX-License-Identifier: Apache-2.0 */
/* probe_conf.c: reads the key "probe". */
#include "cni/engine/probe.h"

#define KEY "probe"

static const struct json_field fields[] = {
	{ "address", J_BOOL, J_AT(struct probe_conf, address) },
	{ "gateway", J_BOOL, J_AT(struct probe_conf, gateway) },
	{ "strict", J_BOOL, J_AT(struct probe_conf, strict) },
	{ 0 },
};

int probe_read_conf(const struct json *config, struct probe_conf *out, struct err *e)
{
	const struct json *n = json_get(config, KEY);
	struct probe_conf c = { .address = true };

	*out = (struct probe_conf){ .address = json_true(n) };
	if (!n || json_type(n) == JSON_NULL || json_type(n) == JSON_BOOL)
		return 0;
	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, KEY ": must be true, false or an object, got %s",
			       json_type_name(n));
	if (json_decode_known(n, KEY, fields, &c, e))
		return -1;
	*out = c;
	return 0;
}
