/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_memory_test.c: the memory of GPUs that a rank gets, by a CUDA of the test and a sysfs of the
 * test. No GPU was ever asked.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "rdma/probe/job.h"

#define NO_MEMORY 2
#define CRASHES   -1

/* What fails, and with which number. */
static struct {
	int init, alloc, export;
	const char *without; /* a device that registers no dma-buf */
} cuda;

int verbs_dmabuf(const char *name, enum verbs_answer *out, char why[WIRE_TEXT], struct err *e)
{
	*why = '\0';
	(void)e;
	*out = cuda.without && strcmp(name, cuda.without) == 0 ? VERBS_NO : VERBS_YES;
	return 0;
}

static int init(unsigned flags)
{
	if (cuda.init == CRASHES)
		_exit(1);
	return flags ? 1 : cuda.init;
}

static int count(int *n)
{
	*n = 2;
	return 0;
}

static int get(int *gpu, int n)
{
	*gpu = 7 + n;
	return 0;
}

static int bus(char *out, int size, int gpu)
{
	(void)snprintf(out, (size_t)size, "0000:%s:00.0", gpu == 7 ? "1A" : "9B");
	return 0;
}

static int retain(void **context, int gpu)
{
	static int of[16];

	*context = &of[gpu];
	of[gpu] = gpu;
	return 0;
}

static int current;

static int enter(void *context)
{
	current = *(int *)context;
	return 0;
}

static int alloc(uint64_t *address, size_t len)
{
	static uint64_t next = 0x7f0000000000;

	*address = next;
	next += len;
	return cuda.alloc;
}

/* The descriptor has the number of the GPU as its first byte. */
static int export(void *fd, uint64_t address, size_t len, int type, unsigned long long flags)
{
	const char byte = (char)current;
	int memory = memfd_create("gpu", MFD_CLOEXEC);

	if (type != 1 || flags || address % 4096 || ftruncate(memory, (off_t)len) ||
	    write(memory, &byte, 1) != 1)
		return 1;
	memcpy(fd, &memory, sizeof(memory));
	return cuda.export;
}

static const struct job_cuda calls = { init, count, get, bus, retain, enter, alloc, export };

static void folder(const char *dir, const char *path)
{
	char full[512];

	(void)snprintf(full, sizeof(full), "%s/%s", dir, path);
	for (char *slash = full + strlen(dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
	}
	ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
}

static void link_to(const char *dir, const char *from, const char *path)
{
	char full[512], to[512];

	folder(dir, path);
	(void)snprintf(full, sizeof(full), "%s/%s", dir, from);
	(void)snprintf(to, sizeof(to), "%s/%s", dir, path);
	ck_assert_int_eq(symlink(to, full), 0);
}

/* Two switches, each with a GPU and an HCA. */
static struct ctx machine(struct job_own *own)
{
	const char *dir = testing_dir();
	struct ctx ctx;

	ctx_init(&ctx, "test");
	ctx.sysfs = dir;
	folder(dir, "bus/pci/devices");
	folder(dir, "class/infiniband/mlx5_0");
	folder(dir, "class/infiniband/mlx5_1");
	link_to(dir, "bus/pci/devices/0000:1a:00.0", "devices/pci0/s1/0000:1a:00.0");
	link_to(dir, "bus/pci/devices/0000:9b:00.0", "devices/pci0/s2/0000:9b:00.0");
	link_to(dir, "class/infiniband/mlx5_0/device", "devices/pci0/s2/0000:9c:00.0");
	link_to(dir, "class/infiniband/mlx5_1/device", "devices/pci0/s1/0000:1b:00.0");
	own->join.n_rails = 2;
	for (size_t i = 0; i < 2; i++)
		(void)snprintf(own->rails[i].count.device, JOB_NAME, "mlx5_%zu", i);
	return ctx;
}

static void end_holder(pid_t pid)
{
	ck_assert_int_gt(pid, 0);
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static char first_byte(int fd)
{
	char byte = 0;

	ck_assert_int_eq(pread(fd, &byte, 1, 0), 1);
	return byte;
}

START_TEST(each_rail_gets_memory_of_the_nearest_gpu)
{
	struct job_own own = { 0 };
	const struct ctx ctx = machine(&own);
	const pid_t holder = job_memory_get(&calls, &ctx, &own, true);

	ck_assert_str_eq(own.join.rails[0].memory, "GPU 0000:9b:00.0");
	ck_assert_str_eq(own.join.rails[1].memory, "GPU 0000:1a:00.0");
	ck_assert_int_eq(first_byte(own.rails[0].gpu.fd), 8);
	ck_assert_int_eq(first_byte(own.rails[1].gpu.fd), 7);
	ck_assert_uint_eq(own.rails[0].gpu.address, 0x7f0000000000);
	ck_assert_uint_eq(own.rails[1].gpu.address, 0x7f0000200000);
	ck_assert_str_eq(own.join.rails[0].problem, "");
	end_holder(holder);
}
END_TEST

/* Whatever fails: memory of the host with auto, and a problem that names the reason with cuda. */
START_TEST(without_memory_of_a_gpu_the_reason_is_said)
{
	static const struct {
		int init, alloc, export;
		const char *without, *text;
	} all[] = {
		{ 100, 0, 0, NULL, "cuInit: error 100" },
		{ CRASHES, 0, 0, NULL, "CUDA did not answer, or ended its process" },
		{ 0, NO_MEMORY, 0, NULL, "cuMemAlloc: error 2" },
		{ 0, 0, 801, NULL, "cuMemGetHandleForAddressRange: error 801" },
		{ 0, 0, 0, "mlx5_0", "mlx5_0 registers no dma-buf" },
	};

	struct job_own own = { 0 };
	const struct ctx ctx = machine(&own);
	char want[JOB_TEXT];

	for (size_t i = 0; i < 2 * ARRAY_SIZE(all); i++) {
		const bool must = i % 2;

		cuda.init = all[i / 2].init;
		cuda.alloc = all[i / 2].alloc;
		cuda.export = all[i / 2].export;
		cuda.without = all[i / 2].without;
		*own.join.rails[0].problem = '\0';
		end_holder(job_memory_get(&calls, &ctx, &own, must));
		(void)snprintf(want, sizeof(want), "host: %s", all[i / 2].text);
		ck_assert_str_eq(own.join.rails[0].memory, want);
		ck_assert_uint_eq(own.rails[0].gpu.address, 0);
		(void)snprintf(want, sizeof(want), "%s%s", must ? "no GPU memory: " : "",
			       must ? all[i / 2].text : "");
		ck_assert_str_eq(own.join.rails[0].problem, want);
	}
	ck_assert_int_eq(job_memory_get(NULL, &ctx, &own, false), 0);
	ck_assert_str_eq(own.join.rails[1].memory, "host: cannot load libcuda.so.1");
}
END_TEST

TEST_PROGRAM("rdma/probe/job_memory", each_rail_gets_memory_of_the_nearest_gpu,
	     without_memory_of_a_gpu_the_reason_is_said)
