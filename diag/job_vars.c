/* SPDX-License-Identifier: Apache-2.0 */
/* job_vars.c: finds the variables in an environment, and reads numbers as NCCL does. */
#include "diag/job_vars.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/rdma/param.h"

static const char *const names[JOB_N] = {
	[JOB_NCCL_IB_TC] = "NCCL_IB_TC",
	[JOB_NCCL_GIN_IB_TC] = "NCCL_GIN_IB_TC",
	[JOB_UCX_TC] = "UCX_IB_TRAFFIC_CLASS",
	[JOB_NVSHMEM_TC] = "NVSHMEM_IB_TRAFFIC_CLASS",
	[JOB_NCCL_IB_GID_INDEX] = "NCCL_IB_GID_INDEX",
	[JOB_NCCL_IB_ADDR_FAMILY] = "NCCL_IB_ADDR_FAMILY",
	[JOB_NCCL_IB_ADDR_RANGE] = "NCCL_IB_ADDR_RANGE",
	[JOB_NCCL_IB_ROCE_VERSION] = "NCCL_IB_ROCE_VERSION_NUM",
	[JOB_NCCL_IB_HCA] = "NCCL_IB_HCA",
	[JOB_NCCL_IB_DISABLE] = "NCCL_IB_DISABLE",
	[JOB_NCCL_NET] = "NCCL_NET",
	[JOB_NCCL_NET_PLUGIN] = "NCCL_NET_PLUGIN",
	[JOB_NCCL_CONF_FILE] = "NCCL_CONF_FILE",
	[JOB_NCCL_VERSION] = "NCCL_VERSION",
	[JOB_UCX_NET_DEVICES] = "UCX_NET_DEVICES",
	[JOB_UCX_TLS] = "UCX_TLS",
	[JOB_NVSHMEM_HCA_LIST] = "NVSHMEM_HCA_LIST",
	[JOB_NVSHMEM_HCA_PREFIX] = "NVSHMEM_HCA_PREFIX",
	[JOB_MC_TE_FILTERS] = "MC_TE_FILTERS",
	[JOB_MC_MS_FILTERS] = "MC_MS_FILTERS",
	[JOB_MOONCAKE_DEVICE] = "MOONCAKE_DEVICE",
	[JOB_MC_GID_INDEX] = "MC_GID_INDEX",
	[JOB_MC_FORCE_TCP] = "MC_FORCE_TCP",
};

const char *job_var_name(enum job_var v)
{
	return names[v];
}

/* The first of equal names counts, as for getenv(). */
static void job_vars_take(struct job_vars *j, const char *line, size_t len, const char *from)
{
	const char *equals = memchr(line, '=', len);
	size_t name = equals ? (size_t)(equals - line) : 0, value = len - name - 1;

	for (size_t i = 0; equals && i < JOB_N; i++) {
		struct job_value *v = &j->var[i];

		if (strlen(names[i]) != name || memcmp(names[i], line, name) != 0 || *v->from)
			continue;
		v->set = value > 0;
		v->cut = value >= sizeof(v->text);
		(void)snprintf(v->text, sizeof(v->text), "%.*s", (int)value, equals + 1);
		(void)snprintf(v->from, sizeof(v->from), "%s", from);
	}
}

void job_vars_environ(struct job_vars *j, const char *text, size_t len)
{
	for (const char *p = text, *end = text + len; p < end;) {
		size_t n = strnlen(p, (size_t)(end - p));

		job_vars_take(j, p, n, "the environment");
		p += n + 1;
	}
}

void job_vars_file(struct job_vars *j, const char *text, const char *path)
{
	struct slice rest = { text, strlen(text) }, line;

	while (slice_next(&rest, '\n', &line))
		if (line.len && *line.p != '#' && strncmp(line.p, "UCX_", 4) != 0)
			job_vars_take(j, line.p, line.len, path);
}

#define LIBRARY "/libnccl.so."

void job_vars_maps(struct job_vars *j, const char *text)
{
	struct job_library *l = &j->library;
	char word[LIB_VERSION_LEN];

	for (const char *p = text; l->is != JOB_LIBRARY_NAMED && (p = strstr(p, LIBRARY));) {
		p += strlen(LIBRARY);

		struct slice s = { p, strcspn(p, " \n") };

		l->is = slice_copy(s, word, sizeof(word)) == 0 &&
					lib_version_parse(word, &l->version) == 0
				? JOB_LIBRARY_NAMED
				: JOB_LIBRARY_UNNAMED;
	}
}

enum job_nccl job_nccl_version(const struct job_vars *j, struct lib_version *out)
{
	const struct job_value *v = &j->var[JOB_NCCL_VERSION];

	if (j->library.is == JOB_LIBRARY_NAMED) {
		*out = j->library.version;
		return JOB_NCCL_LIBRARY;
	}
	return j->library.is == JOB_LIBRARY_NONE && v->set && lib_version_parse(v->text, out) == 0
		       ? JOB_NCCL_IMAGE
		       : JOB_NCCL_UNKNOWN;
}

bool job_has_nccl(const struct job_vars *j)
{
	for (size_t i = 0; i < JOB_N; i++)
		if (j->var[i].set && strncmp(job_var_name((enum job_var)i), "NCCL_", 5) == 0)
			return true;
	return j->library.is != JOB_LIBRARY_NONE;
}

bool job_is_of_ucx(const struct job_vars *j)
{
	return j->var[JOB_UCX_TC].set && !job_has_nccl(j);
}

int64_t job_number(const struct job_vars *j, enum job_var v, int64_t unset)
{
	return nccl_number(j->var[v].text, unset);
}
