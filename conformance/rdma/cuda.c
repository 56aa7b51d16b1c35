/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c: a stand-in for libcuda.so.1, to preload under that name where there is neither a GPU nor
 * a device that registers dma-bufs. Its memory is a memfd. In place of a dma-buf the memfd is
 * mapped and registered as memory of the host, with a line in the file CUDA_LOG. It shows which
 * calls a program makes, not that a GPU works.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALL __attribute__((visibility("default")))

CALL int cuInit(unsigned flags);
CALL int cuDeviceGetCount(int *n);
CALL int cuDeviceGet(int *gpu, int n);
CALL int cuDeviceGetPCIBusId(char *out, int size, int gpu);
CALL int cuDevicePrimaryCtxRetain(void **context, int gpu);
CALL int cuCtxSetCurrent(void *context);
CALL int cuMemAlloc_v2(uint64_t *address, size_t len);
CALL int cuMemGetHandleForAddressRange(void *fd, uint64_t address, size_t len, int type,
				       unsigned long long flags);

int cuInit(unsigned flags)
{
	return (int)flags;
}

int cuDeviceGetCount(int *n)
{
	*n = 1;
	return 0;
}

int cuDeviceGet(int *gpu, int n)
{
	*gpu = n;
	return 0;
}

int cuDeviceGetPCIBusId(char *out, int size, int gpu)
{
	snprintf(out, (size_t)size, "0000:1A:00.%d", gpu);
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int gpu)
{
	(void)gpu;
	*context = NULL;
	return 0;
}

int cuCtxSetCurrent(void *context)
{
	return context != NULL;
}

int cuMemAlloc_v2(uint64_t *address, size_t len)
{
	static uint64_t next = UINT64_C(0x300000000000);

	*address = next;
	next += len;
	return 0;
}

int cuMemGetHandleForAddressRange(void *fd, uint64_t address, size_t len, int type,
				  unsigned long long flags)
{
	int memory = memfd_create("gpu", MFD_CLOEXEC);

	(void)address;
	(void)type;
	(void)flags;
	memcpy(fd, &memory, sizeof(memory));
	return memory < 0 || ftruncate(memory, (off_t)len);
}

CALL struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
				      int fd, int access)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	/* An invalid descriptor is how programs ask whether there is support at all. */
	if (p == MAP_FAILED) {
		errno = EBADF;
		return NULL;
	}
	const char *to = getenv("CUDA_LOG");
	FILE *log = to ? fopen(to, "ae") : NULL;

	if (log) {
		fprintf(log, "%zu bytes at %#llx\n", len, (unsigned long long)iova);
		fclose(log);
	}
	return ibv_reg_mr_iova(pd, p, len, iova, (unsigned)access);
}
