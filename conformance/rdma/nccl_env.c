/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_env.c: a library to preload into a program, before NCCL's, whose constructors then run
 * first. It starts NCCL, which needs no GPU for that. It prints the variables NCCL_* that the
 * process has then, and ends the program.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static __attribute__((constructor)) void start(void)
{
	char id[128]; /* NCCL_UNIQUE_ID_BYTES */
	int (*get_id)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "ncclGetUniqueId");

	if (!get_id || get_id(id)) {
		fprintf(stderr, "nccl_env: NCCL does not start\n");
		_exit(1);
	}
	for (char **v = environ; *v; v++)
		if (strncmp(*v, "NCCL_", 5) == 0)
			puts(*v);
	fflush(stdout);
	_exit(0);
}
