/* SPDX-License-Identifier: Apache-2.0 */
/* envs.c: makes the variables of a pod, and compares them. */
#include "rdma/testing/envs.h"

#include <string.h>

#include "lib/testing/testing.h"

struct env envs_made(const struct rdma_inventory *v, const struct env_options *o)
{
	struct env x;
	struct err e = { 0 };

	ck_assert_msg(env_make(v, o, &x, &e) == 0, "%s: %s", e.msg, e.detail);
	return x;
}

void envs_shows(const struct env *x, const char *want)
{
	char text[4096] = "";

	for (size_t i = 0; i < x->n_vars; i++) {
		testing_append(text, sizeof(text), x->var[i].name);
		testing_append(text, sizeof(text), "=");
		testing_append(text, sizeof(text), x->var[i].value);
		testing_append(text, sizeof(text), "\n");
		ck_assert_uint_gt(strlen(x->var[i].why), 5);
	}
	ck_assert_str_eq(text, want);
}

void envs_warns(const struct env *x, size_t n, const char *part)
{
	ck_assert_uint_eq(x->n_warnings, n);
	for (size_t i = 0; i < n; i++)
		if (strstr(x->warning[i], part))
			return;
	ck_assert_msg(!part, "no warning has \"%s\"; first: %s", part, n ? x->warning[0] : "");
}
