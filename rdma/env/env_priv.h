/* SPDX-License-Identifier: Apache-2.0 */
/* env_priv.h: what env*.c share: the rails that are used, before they become variables. */
#ifndef RAILHEAD_RDMA_ENV_ENV_PRIV_H
#define RAILHEAD_RDMA_ENV_ENV_PRIV_H

#include "rdma/env/env.h"

struct env_rail {
	const struct rdma_rail *rail;
	const struct inv_gid *gid; /* of the plan's family; NULL: InfiniBand */
};

struct env_plan {
	const struct rdma_inventory *inventory;
	const struct env_options *options;
	struct env_rail *rail; /* owned */
	size_t n, n_roce;
	enum ip_family family; /* of the RoCE rails */
	bool common;           /* all RoCE rails have their GID at index */
	uint32_t index;
};

/* env_warn - one more text for out. */
int env_warn(struct env *out, struct err *e, const char *fmt, ...) printf_like(3, 4) must_check;

/* env_add - a variable; the value is taken, and NULL is ERR_NOMEM. */
struct env_new {
	const char *name;
	char *value;
};
int env_add(struct env *out, struct err *e, struct env_new n, const char *why, ...)
	printf_like(4, 5) must_check;

/* env_set_gids, env_set_others - the variables of a plan, in the order they are shown. */
int env_set_gids(const struct env_plan *p, struct env *out, struct err *e) must_check;
int env_set_others(const struct env_plan *p, struct env *out, struct err *e) must_check;

/* env_join - "mlx5_0:1,mlx5_1:1" of all rails, after prefix; freed with free(). NULL: no memory. */
char *env_join(const struct env_plan *p, const char *prefix);

/* env_network - the rail's address with the prefix that its interface has it with. RoCE only. */
struct ip_prefix env_network(const struct env_rail *r);

/* env_text - printf into memory; NULL: no memory. */
char *env_text(const char *fmt, ...) printf_like(1, 2);

#endif
