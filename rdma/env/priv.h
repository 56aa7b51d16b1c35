/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: what env*.c share: a plan, which is the rails that are used, and how to add
 * variables. */
#ifndef RAILHEAD_RDMA_ENV_PRIV_H
#define RAILHEAD_RDMA_ENV_PRIV_H

#include "rdma/env/env.h"

struct env_rail {
	const struct rdma_rail *rail;
	const struct inv_gid *gid; /* in the family of the plan; NULL: InfiniBand */
};

struct env_plan {
	const struct rdma_inventory *inventory;
	const struct env_options *options;
	struct env_rail *rail; /* owned */
	size_t n, n_roce;
	enum ip_family family; /* of the RoCE rails */
	bool common;           /* all RoCE rails have their GID at the same index */
	uint32_t index;
	int tc;             /* traffic class of the RoCE rails; -1: none */
	const char *tc_why; /* its source */
};

/* env_warn - add a warning to out. ERR_NOMEM. */
int env_warn(struct env *out, struct err *e, const char *fmt, ...) printf_like(3, 4) must_check;

/* env_add - add a variable to out, which then owns the value. A value of NULL gives ERR_NOMEM. */
struct env_new {
	const char *name;
	char *value;
};
int env_add(struct env *out, struct err *e, struct env_new n, const char *why, ...)
	printf_like(4, 5) must_check;

/*
 * env_set_gids - add the variables about HCAs and GIDs. env_set_ib - add those about partitions and
 * adaptive routing of InfiniBand. env_set_others - add the other variables of NCCL, and choose the
 * class. env_set_ucx, env_set_nvshmem, env_set_mooncake - add those of these libraries; the last
 * two repeat values of NCCL's variables. Variables are shown in the order of these calls.
 */
int env_set_gids(const struct env_plan *p, struct env *out, struct err *e) must_check;
int env_set_ib(const struct env_plan *p, struct env *out, struct err *e) must_check;
int env_set_others(struct env_plan *p, struct env *out, struct err *e) must_check;
int env_set_ucx(const struct env_plan *p, struct env *out, struct err *e) must_check;
int env_set_nvshmem(const struct env_plan *p, struct env *out, struct err *e) must_check;
int env_set_mooncake(const struct env_plan *p, struct env *out, struct err *e) must_check;

/* env_library - whose variable it is, by its name. env_keep - drop the variables of others. */
unsigned env_library(const char *name);
void env_keep(struct env *x, unsigned libraries);

/* env_number - add a number, if it is not negative. */
int env_number(struct env *out, const char *name, int value, struct err *e,
	       const char *why) must_check;

/*
 * env_note - the next variable that is not set and that the node does not decide, with the reason;
 * *i begins at 0. False: there is none.
 */
bool env_note(const struct env *v, size_t *i, const char **name, const char **text);

/* env_join - prefix and the ports of all rails: "mlx5_0:1,mlx5_1:1". The caller frees it. */
char *env_join(const struct env_plan *p, const char *prefix);

/* env_network - the address of a RoCE rail with the prefix length that its interface has for it. */
struct ip_prefix env_network(const struct env_rail *r);

/* env_format_gid - the address of an entry. Returns out. */
char *env_format_gid(const struct inv_gid *g, char out[IP_STR_LEN]);

/* env_text - printf() into new memory, which the caller frees. NULL: no memory. */
char *env_text(const char *fmt, ...) printf_like(1, 2);

#endif
