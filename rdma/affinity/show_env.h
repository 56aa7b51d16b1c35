/* SPDX-License-Identifier: Apache-2.0 */
/* show_env.h: variables for some GPUs of a view; for show_env.c, show_map.c. */
#ifndef RAILHEAD_RDMA_AFFINITY_SHOW_ENV_H
#define RAILHEAD_RDMA_AFFINITY_SHOW_ENV_H

#include "rdma/affinity/show_priv.h"

struct show_var {
	const char *name; /* a literal, as why */
	char *value;      /* owned */
	const char *why;
};

struct show_env {
	struct show_var var[4];
	size_t n;
};

/* show_env_make - for the GPUs that want[] marks together; -1: no memory. None when nothing is
 * nearest to them. */
int show_env_make(const struct aff_view *v, const bool *want, struct show_env *out) must_check;
void show_env_clear(struct show_env *e);
#define auto_show_env auto_clean(show_env_clear)

/* show_quote - a word for a POSIX shell that is s, whatever bytes it has. */
void show_quote(const char *s, FILE *to);

#endif
