/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: decodes the keys of the rdma plugin, and the device id from runtimeConfig. */
#include "plugins/rdma/conf.h"

#include <string.h>

#include "cni/protocol/devinfo.h"

#define DEFAULT_TIMEOUT 10
#define FIELD(k, m)     .key = k, .offset = offsetof(struct rdma_conf, m)

static const struct json_enum modes[] = {
	{ "auto", RDMA_WANT_AUTO },
	{ "exclusive", RDMA_WANT_EXCLUSIVE },
	{ "shared", RDMA_WANT_SHARED },
	{ "", RDMA_WANT_AUTO },
	{ 0 },
};

static const struct json_field fields[] = {
	{ FIELD("mode", mode), .kind = J_ENUM, .names = modes },
	{ FIELD("deviceID", device), .kind = J_STRING },
	{ FIELD("deviceName", name), .kind = J_STRING },
	{ FIELD("timeout", timeout), .kind = J_U32, .min = 1, .max = 600 },
	{ FIELD("renumbered", renumbered), .kind = J_ENUM, .names = rdma_reactions },
	{ 0 },
};
static const struct json_field of_args[] = {
	{ FIELD("debug", debug), .kind = J_BOOL },
	{ 0 },
};

struct runtime {
	const char *device;
};

/* A runtime may give the device in two places; the key at the top counts. */
static int take_runtime(const struct cni_conf *conf, struct rdma_conf *c, struct err *e)
{
	static const struct json_field of_runtime[] = {
		{ "deviceID", J_STRING, J_AT(struct runtime, device) },
		{ 0 },
	};
	struct runtime r = { NULL };

	if (json_decode(conf->runtime, "runtimeConfig", of_runtime, &r, e))
		return -1;
	if (!c->device || !*c->device)
		c->device = r.device && *r.device ? r.device : NULL;
	return 0;
}

static bool is_device_name(const char *s)
{
	size_t len = strlen(s);

	for (const char *p = s; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			     (*p >= '0' && *p <= '9') || *p == '_' || *p == '-' || *p == '.';
		if (!plain)
			return false;
	}
	return len > 0 && len < RDMA_NAME_LEN && *s != '.';
}

static int check(struct rdma_conf *c, struct err *e)
{
	if (c->name && !*c->name)
		c->name = NULL;
	if (c->name && !is_device_name(c->name))
		return err_set(e, ERR_CONFIG, 0,
			       "deviceName: \"%.80s\" is not a name for an RDMA device (up to 63 "
			       "letters, digits, '_', '-' and '.')",
			       c->name);
	if (c->name && c->mode == RDMA_WANT_SHARED)
		return err_set(e, ERR_CONFIG, 0,
			       "deviceName: a device that is shared keeps its name; it needs mode "
			       "\"exclusive\"");
	if (c->mode == RDMA_WANT_EXCLUSIVE && c->device && !bus_addr_valid(c->device))
		return err_set(e, ERR_CONFIG, 0,
			       "deviceID: \"%.64s\" is neither a PCI address such as 0000:3b:02.5 "
			       "nor an auxiliary device such as mlx5_core.sf.2",
			       c->device);
	return 0;
}

int rdma_conf_read(const struct cni_conf *conf, struct rdma_conf *out, struct err *e)
{
	struct rdma_conf c = { .timeout = DEFAULT_TIMEOUT };

	if (json_decode(conf->tree, "", fields, &c, e) ||
	    json_decode(conf->args_cni, "args.cni", of_args, &c, e) || take_runtime(conf, &c, e) ||
	    devinfo_path(conf, &c.devinfo, e) || check(&c, e) ||
	    cni_conf_check_keys(conf, false, e))
		return -1;
	*out = c;
	return 0;
}

const char *rdma_conf_bus(const struct rdma_conf *c)
{
	return c->device && bus_addr_valid(c->device) ? c->device : NULL;
}
