/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c: the libraries below a program for training or inference, and the variables of NVSHMEM
 * and Mooncake.
 *
 * Sources: NVSHMEM 3.4.5 (src/modules/transport/common/env_defs.h, ibgda.cpp, ibrc.cpp,
 * host/transport/transport.cpp), Mooncake 0.3.12 (mooncake-transfer-engine/src/config.cpp,
 * topology.cpp; mooncake-store/src/client_service.cpp), NIXL 1.4 (src/plugins/ucx). docs/stacks.md
 * has what each program reads.
 */
#include <string.h>

#include "lib/base/text.h"
#include "rdma/env/priv.h"

static const struct {
	const char *name;
	unsigned libraries;
} stacks[] = {
	{ "nccl", ENV_NCCL },         { "ucx", ENV_UCX },    { "nvshmem", ENV_NVSHMEM },
	{ "mooncake", ENV_MOONCAKE }, { "nixl", ENV_UCX },   { "deepep", ENV_NCCL | ENV_NVSHMEM },
	{ "vllm", ENV_ALL },          { "sglang", ENV_ALL }, { "dynamo", ENV_ALL },
};

unsigned env_stack(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		if (strcmp(name, stacks[i].name) == 0)
			return stacks[i].libraries;
	return 0;
}

static int add_same(const struct env *from, const char *of, const char *name, struct env *out,
		    struct err *e)
{
	const char *value = env_value(from, of);

	return value ? env_add(out, e, (struct env_new){ name, env_text("%s", value) }, "as %s", of)
		     : 0;
}

/* ---- NVSHMEM ---- */

static const char *device_of(const struct env_plan *p, size_t i)
{
	return p->rail[i].rail->device->link.name;
}

/* The length of the part with which all names of devices begin, without digits at its end. */
static size_t common_prefix(const struct env_plan *p)
{
	size_t len = strlen(device_of(p, 0));

	for (size_t i = 1; i < p->n; i++)
		while (strncmp(device_of(p, 0), device_of(p, i), len) != 0)
			len--;
	while (len && strchr("0123456789", device_of(p, 0)[len - 1]))
		len--;
	return len;
}

/* By default only names with "mlx5" are HCAs. A system that names them by their place has none. */
static int set_prefix(const struct env_plan *p, struct env *out, struct err *e)
{
	bool found = true;

	for (size_t i = 0; i < p->n; i++)
		found &= strstr(device_of(p, i), "mlx5") != NULL;
	return found ? 0
		     : env_add(out, e,
			       (struct env_new){
				       "NVSHMEM_HCA_PREFIX",
				       env_text("%.*s", (int)common_prefix(p), device_of(p, 0)) },
			       "the names of the HCAs have it. Without the variable NVSHMEM up to "
			       "3.5 takes only HCAs with \"mlx5\" in the name; before 3.4.5 it has "
			       "no "
			       "such variable");
}

int env_set_nvshmem(const struct env_plan *p, struct env *out, struct err *e)
{
	if (env_add(out, e, (struct env_new){ "NVSHMEM_HCA_LIST", env_join(p, "") },
		    "the same ports, for NVSHMEM, where each process takes the nearest of them") ||
	    set_prefix(p, out, e) ||
	    add_same(out, "NCCL_IB_GID_INDEX", "NVSHMEM_IB_GID_INDEX", out, e) ||
	    add_same(out, "NCCL_IB_ADDR_FAMILY", "NVSHMEM_IB_ADDR_FAMILY", out, e) ||
	    add_same(out, "NCCL_IB_ADDR_RANGE", "NVSHMEM_IB_ADDR_RANGE", out, e))
		return -1;
	return env_number(out, "NVSHMEM_IB_SL", p->options->sl, e, "the same, for NVSHMEM");
}

/* ---- Mooncake ---- */

/* "mlx5_0,mlx5_1": Mooncake's lists have no ports. NULL: no memory. */
static char *names_of(const struct env_plan *p)
{
	auto_text struct text t = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= strcmp(device_of(p, i), device_of(p, k)) == 0;
		if (!seen)
			text_addf(&t, "%s%s", i ? "," : "", device_of(p, i));
	}
	return text_take(&t);
}

static int set_devices(const struct env_plan *p, struct env *out, struct err *e)
{
	static const char *const names[][2] = {
		{ "MC_TE_FILTERS", "the devices, for Mooncake's transfer engine since 0.3.12" },
		{ "MC_MS_FILTERS", "the same, for Mooncake's store" },
		{ "MOONCAKE_DEVICE", "the same, for programs that give the store its devices, as "
				     "SGLang's HiCache" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (env_add(out, e, (struct env_new){ names[i][0], names_of(p) }, "%s",
			    names[i][1]))
			return -1;
	return 0;
}

/* One port number for all devices; 1 without the variable. */
static int set_port(const struct env_plan *p, struct env *out, struct err *e)
{
	uint32_t port = p->rail[0].rail->port->port;

	for (size_t i = 1; i < p->n; i++)
		if (p->rail[i].rail->port->port != port)
			return env_warn(out, e,
					"Mooncake has one port number for all devices, and the "
					"rails are on several");
	return port == 1 ? 0
			 : env_add(out, e, (struct env_new){ "MC_IB_PORT", env_text("%u", port) },
				   "the port of the rails, for Mooncake, which takes 1 without it");
}

int env_set_mooncake(const struct env_plan *p, struct env *out, struct err *e)
{
	if (set_devices(p, out, e) || set_port(p, out, e))
		return -1;
	if (p->common &&
	    env_add(out, e, (struct env_new){ "MC_GID_INDEX", env_text("%u", p->index) },
		    "the index of the own GID on every rail, for Mooncake, which before 0.3.8 "
		    "takes 0 without it"))
		return -1;
	if (p->n_roce && !p->common &&
	    env_warn(
		    out, e,
		    "Mooncake has one GID index for all devices, and here they differ. Since 0.3.8 "
		    "it chooses one on each device, and may take a GID that is not ours"))
		return -1;
	return env_number(out, "MC_IB_TC", p->tc, e, "the same class, for Mooncake since 0.3.8") ||
			       env_number(out, "MC_IB_SL", p->options->sl, e,
					  "the same, for Mooncake since 0.3.12") ||
			       add_same(out, "NCCL_IB_PKEY", "MC_PKEY_INDEX", out, e)
		       ? -1
		       : 0;
}

/* ---- what is wanted ---- */

unsigned env_library(const char *name)
{
	static const struct {
		const char *prefix;
		unsigned library;
	} of[] = {
		{ "NVSHMEM_", ENV_NVSHMEM },
		{ "UCX_", ENV_UCX },
		{ "MC_", ENV_MOONCAKE },
		{ "MOONCAKE_", ENV_MOONCAKE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		if (strncmp(name, of[i].prefix, strlen(of[i].prefix)) == 0)
			return of[i].library;
	return ENV_NCCL;
}

void env_keep(struct env *x, unsigned libraries)
{
	size_t kept = 0;

	for (size_t i = 0; i < x->n_vars; i++) {
		if (env_library(x->var[i].name) & libraries)
			x->var[kept++] = x->var[i];
		else
			free(x->var[i].value);
	}
	x->n_vars = kept;
}
