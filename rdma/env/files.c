/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: the settings of a pod as files in a folder. */
#include "rdma/env/files.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/exec.h"
#include "lib/sys/fs.h"
#include "rdma/inventory/rail.h"
#include "rdma/env/pod.h"
#include "rdma/env/tier.h"

/* NULL: no memory. */
static char *text_of(const struct env *x, const char *name)
{
	if (strcmp(name, "nccl.conf") == 0)
		return env_file(x, "NCCL_");
	if (strcmp(name, "ucx.conf") == 0)
		return env_file(x, "UCX_");
	if (strcmp(name, "rails.json") == 0) {
		auto_json struct json *o = env_json(x);

		return o ? json_print(o, true) : NULL;
	}
	return env_shell(x, strcmp(name, "explain.txt") == 0);
}

int pod_files_put(const struct env *x, const char *dir, struct err *e)
{
	static const char *const names[] = { "nccl.conf", "ucx.conf", "env", "rails.json",
					     "explain.txt" };
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *text = text_of(x, names[i]);

		if (!text)
			return err_nomem(e);
		if (snprintf(path, sizeof(path), "%s/%s", dir, names[i]) >= PATH_MAX)
			return err_set(e, ERR_IO, ENAMETOOLONG, "folder %.64s...", dir);
		if (fs_put(path, &(struct fs_content){ text, strlen(text), 0644, false }, e))
			return err_wrap(e, "folder %.256s", dir);
	}
	return 0;
}

struct pod_files {
	const struct ctx *ctx;
	const char *netns, *dir;
};

static int pod_files_make(const struct pod_files *f, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_netns struct netns ns = { .fd = -1 };
	auto_env struct env x = { 0 };
	struct env_options o = ENV_OPTIONS_INIT;
	char why[RDMA_TIER_WHY_LEN];
	struct err tier = { .msg = "" };

	(void)umask(0022);
	if (netns_open(f->netns, &ns, e))
		return -1;
	if (mkdir(f->dir, 0755) && errno != EEXIST)
		return err_set(e, ERR_IO, errno, "create folder %.256s", f->dir);
	o.none_is_fine = true;
	o.libraries = ENV_ALL;
	/* No person chooses between two classes here: NCCL keeps its default. */
	if (rdma_tier_class(f->ctx, f->netns, &o, why, &tier))
		o.warning = tier.msg;
	return pod_read(f->ctx, &ns, &v, e) || rdma_routes_read(&v, e) || env_make(&v, &o, &x, e) ||
			       pod_files_put(&x, f->dir, e)
		       ? -1
		       : 0;
}

/* In the child, which is the same program: its output is the error. */
static int pod_files_child(const void *arg)
{
	struct err e = { .msg = "" };

	if (pod_files_make(arg, &e) == 0)
		return 0;
	return write(STDOUT_FILENO, &e, sizeof(e)) == sizeof(e) ? 1 : 2;
}

int pod_files_write(const struct ctx *ctx, const char *netns, const char *dir, struct err *e)
{
	const struct pod_files f = { ctx, netns, dir };
	const struct exec_req req = { .path = "pod-files",
				      .run = pod_files_child,
				      .arg = &f,
				      .envp = environ,
				      .input = "",
				      .timeout_ms = POD_FILES_MS };
	struct exec_child child;
	struct exec_result result;

	if (exec_start(&req, &child, e) || exec_finish(&child, &result, e))
		return err_wrap(e, "files of the pod");

	auto_free char *output = result.output;

	if (result.status == 0)
		return 0;
	if (result.len == sizeof(*e))
		memcpy(e, output, sizeof(*e));
	else
		err_set(e, ERR_DELEGATE, 0, "the child ended with wait status %d", result.status);
	return err_wrap(e, "files of the pod");
}
