/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.c: writes the files that drivers of GPUs have in /proc and /sys. */
#include "topo/testing/gpus.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

struct ctx gpus_dir(void)
{
	struct ctx ctx;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.proc = GPUS_DIR "/proc";
	ctx.sysfs = GPUS_DIR "/sys";
	return ctx;
}

static void make_parent(const char *path)
{
	char parent[PATH_MAX];
	struct err e;

	(void)snprintf(parent, sizeof(parent), "%s", path);
	*strrchr(parent, '/') = '\0';
	auto_fd int dir = fs_open_dir(parent, true, &e);
	ck_assert_msg(dir >= 0, "%s", e.msg);
}

void gpus_file(const char *path, const char *text)
{
	char full[PATH_MAX];

	(void)snprintf(full, sizeof(full), GPUS_DIR "/%s", path);
	make_parent(full);
	testing_file(full, 0644, text);
}

void gpus_nvidia(const char *bdf, const char *uuid, const char *minor)
{
	char path[256], text[256];

	(void)snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", bdf);
	(void)snprintf(text, sizeof(text),
		       "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 123\nGPU UUID: \t %s\n"
		       "Bus Location: \t %s\nDevice Minor: \t %s\nGPU Excluded:\t No\n",
		       uuid, bdf, minor);
	gpus_file(path, text);
}

void gpus_kfd(unsigned node, const char *properties)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%u/properties", node);
	gpus_file(path, properties);
}

void gpus_link(const char *path, const char *target)
{
	char full[PATH_MAX];

	(void)snprintf(full, sizeof(full), GPUS_DIR "/sys/%s", path);
	make_parent(full);
	ck_assert_int_eq(symlink(target, full), 0);
}
