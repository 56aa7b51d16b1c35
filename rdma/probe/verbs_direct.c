/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs_direct.c: which function a device uses for Data Direct. Only the firmware knows the pair,
 * and only libmlx5 tells it. Its headers of older systems do not have the call, so it is looked up
 * when the program runs, as NCCL does (src/misc/mlx5dvsymbols.cc).
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "rdma/probe/verbs_priv.h"

#define LIBMLX5 "libmlx5.so.1"

/* ISO C has no cast from an object pointer to a function pointer; POSIX has this one. */
void verbs_mlx5_load(struct verbs_mlx5 *out)
{
	void *lib = dlopen(LIBMLX5, RTLD_NOW);

	*out = (struct verbs_mlx5){ NULL, NULL };
	if (!lib)
		return;
	*(void **)&out->is_supported = dlsym(lib, "mlx5dv_is_supported");
	*(void **)&out->path = dlsym(lib, "mlx5dv_get_data_direct_sysfs_path");
}

static void verbs_direct_answer(struct verbs_direct *out, enum verbs_answer is, const char *why)
{
	*out = (struct verbs_direct){ .answer = is, .why = why };
}

/* "/devices/pci0008:00/0008:00:00.0/0008:01:00.0" */
static int verbs_direct_take_address(const char *path, struct verbs_direct *out)
{
	const char *slash = strrchr(path, '/');
	struct pci_addr addr;

	if (!slash || pci_parse(slash + 1, &addr))
		return -1;
	verbs_direct_answer(out, VERBS_YES, NULL);
	pci_format(addr, out->bdf);
	return 0;
}

void verbs_ask_direct(const struct verbs_mlx5 *mlx5, struct ibv_context *ctx,
		      struct verbs_direct *out)
{
	char path[PATH_MAX] = "";
	int rc;

	if (!mlx5->is_supported || !mlx5->is_supported(ctx->device)) {
		verbs_direct_answer(out, VERBS_NO, "it is not a device of mlx5");
		return;
	}
	if (!mlx5->path) {
		verbs_direct_answer(out, VERBS_NOT_KNOWN,
				    LIBMLX5 " here is older than Data Direct");
		return;
	}
	rc = mlx5->path(ctx, path, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	if (rc == ENODEV)
		verbs_direct_answer(out, VERBS_NO, "the card has no such function");
	else if (rc == EOPNOTSUPP || rc == EPROTONOSUPPORT)
		verbs_direct_answer(out, VERBS_NO, "the kernel has no such call");
	else if (rc)
		verbs_direct_answer(out, VERBS_NOT_KNOWN, strerrordesc_np(rc));
	else if (verbs_direct_take_address(path, out))
		verbs_direct_answer(out, VERBS_NOT_KNOWN, LIBMLX5 " names no PCI function");
}
