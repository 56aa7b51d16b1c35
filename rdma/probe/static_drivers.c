/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_drivers.c: in the static program only: the drivers of libibverbs, which it cannot load.
 */
#define RDMA_STATIC_PROVIDERS all
#include <infiniband/verbs.h>

#include <infiniband/mlx5dv.h>
#include <string.h>

__attribute__((constructor)) static void register_drivers(void)
{
	ibv_static_providers(NULL, &verbs_provider_all, NULL);
}

/* What the linker puts in place of dlopen and dlsym: libmlx5 is here, and does not know of Data
 * Direct. Nothing else can be loaded. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *lib, const char *name);

void *__wrap_dlopen(const char *file, int mode)
{
	static char mlx5;

	(void)mode;
	return strcmp(file, "libmlx5.so.1") == 0 ? &mlx5 : NULL;
}

/* ISO C has no cast from a function pointer to an object pointer; POSIX has this one. */
void *__wrap_dlsym(void *lib, const char *name)
{
	bool (*const is_supported)(struct ibv_device *) = mlx5dv_is_supported;
	void *out = NULL;

	(void)lib;
	if (strcmp(name, "mlx5dv_is_supported") == 0)
		memcpy(&out, &is_supported, sizeof(out));
	return out;
}
