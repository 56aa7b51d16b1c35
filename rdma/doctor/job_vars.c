/* SPDX-License-Identifier: Apache-2.0 */
/* job_vars.c: finds the variables in an environment, and reads numbers as NCCL does. */
#include "rdma/doctor/job_vars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[JOB_N] = {
	[JOB_NCCL_IB_TC] = "NCCL_IB_TC",
	[JOB_NCCL_GIN_IB_TC] = "NCCL_GIN_IB_TC",
	[JOB_UCX_TC] = "UCX_IB_TRAFFIC_CLASS",
};

const char *job_var_name(enum job_var v)
{
	return names[v];
}

/* The first of equal names counts, as for getenv(). */
static void take(struct job_vars *j, const char *line, size_t len, const char *from)
{
	const char *equals = memchr(line, '=', len);
	size_t name = equals ? (size_t)(equals - line) : 0, value = len - name - 1;

	for (size_t i = 0; equals && i < JOB_N; i++) {
		struct job_value *v = &j->var[i];

		if (strlen(names[i]) != name || memcmp(names[i], line, name) != 0 || *v->from)
			continue;
		v->set = value > 0;
		(void)snprintf(v->text, sizeof(v->text), "%.*s", (int)value, equals + 1);
		(void)snprintf(v->from, sizeof(v->from), "%s", from);
	}
}

void job_vars_environ(struct job_vars *j, const char *text, size_t len)
{
	for (const char *p = text, *end = text + len; p < end;) {
		size_t n = strnlen(p, (size_t)(end - p));

		take(j, p, n, "the environment");
		p += n + 1;
	}
}

int64_t job_number(const struct job_vars *j, enum job_var v, int64_t unset)
{
	if (!j->var[v].set)
		return unset;
	errno = 0;

	long long n = strtoll(j->var[v].text, NULL, 0);

	return errno ? unset : n;
}
