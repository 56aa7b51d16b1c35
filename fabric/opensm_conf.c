/* SPDX-License-Identifier: Apache-2.0 */
/* opensm_conf.c: decodes sm-opensm.json. */
#include "fabric/opensm_conf.h"

#include "fabric/hook_conf.h"

static const struct json_field keys[] = {
	{ "partitions", J_STRING, J_AT(struct opensm_conf, partitions) },
	{ "pidFile", J_STRING, J_AT(struct opensm_conf, pid_file) },
	{ "ipoib", J_BOOL, J_AT(struct opensm_conf, ipoib) },
	{ 0 },
};

int opensm_conf_load(const char *path, bool optional, struct opensm_conf *out, struct err *e)
{
	struct opensm_conf c = { .partitions = OPENSM_PARTITIONS, .ipoib = true };

	const struct hook_conf conf = { keys, &c, &c.tree };

	if (hook_conf_load(path, optional, &conf, e)) {
		json_free(c.tree);
		return -1;
	}
	*out = c;
	return 0;
}

void opensm_conf_clear(struct opensm_conf *c)
{
	json_free(c->tree);
	c->tree = NULL;
}
