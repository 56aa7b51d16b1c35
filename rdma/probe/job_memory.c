/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_memory.c: memory of GPUs for the tests of rates, as dma-bufs.
 *
 * A process of its own asks CUDA, and holds the memory: a driver that hangs or crashes ends that
 * process alone, and a process that has used CUDA must not fork. The tests only get descriptors,
 * which they register with their devices. They never touch the bytes.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "lib/device/pci.h"
#include "rdma/probe/job.h"

#define LIBCUDA "libcuda.so.1"
#define ASK_MS  20000
#define BLOCK   (2u << 20) /* CUDA gives out whole pages of this size */
#define DMA_BUF 1          /* CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD */

/* The answer of the holder for a rail; a descriptor comes with it if it is good. */
struct held {
	bool good;
	uint64_t address;
	char text[JOB_NAME]; /* the GPU, or why there is none */
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX has this one. */
bool job_cuda_load(struct job_cuda *out)
{
	void *lib = dlopen(LIBCUDA, RTLD_NOW);
	const struct {
		const char *name;
		void *to;
	} calls[] = {
		{ "cuInit", &out->init },
		{ "cuDeviceGetCount", &out->count },
		{ "cuDeviceGet", &out->get },
		{ "cuDeviceGetPCIBusId", &out->bus },
		{ "cuDevicePrimaryCtxRetain", &out->retain },
		{ "cuCtxSetCurrent", &out->enter },
		{ "cuMemAlloc_v2", &out->alloc },
		{ "cuMemGetHandleForAddressRange", &out->export },
	};

	for (size_t i = 0; lib && i < ARRAY_SIZE(calls); i++) {
		void *found = dlsym(lib, calls[i].name);

		if (!found)
			return false;
		memcpy(calls[i].to, &found, sizeof(found));
	}
	return lib != NULL;
}

/* ---- which GPU ---- */

/* How many folders two paths below /sys/devices share. */
static unsigned shared(const char *a, const char *b)
{
	unsigned n = 0;

	for (; *a && *a == *b; a++, b++)
		n += *a == '/';
	return n;
}

static bool real_path(const struct ctx *ctx, const char *link, char out[PATH_MAX])
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.3800s/%.200s", ctx->sysfs, link);
	return realpath(path, out) != NULL;
}

/* The first of the GPUs that are nearest by PCIe. */
static int nearest(const struct job_cuda *cuda, const struct ctx *ctx, const char *device,
		   char bdf[PCI_STR_LEN])
{
	char link[256], own[PATH_MAX], other[PATH_MAX], bus[PCI_STR_LEN + 16];
	unsigned most = 0;
	int count, best = -1, gpu;

	(void)snprintf(link, sizeof(link), "class/infiniband/%.64s/device", device);
	if (!real_path(ctx, link, own))
		*own = '\0'; /* a device in software: any GPU */
	if (cuda->count(&count))
		return -1;
	for (int i = 0; i < count; i++) {
		if (cuda->get(&gpu, i) || cuda->bus(bus, sizeof(bus), gpu))
			continue;
		for (char *c = bus; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		(void)snprintf(link, sizeof(link), "bus/pci/devices/%s", bus);
		const unsigned n = real_path(ctx, link, other) ? 1 + shared(own, other) : 1;
		if (n <= most)
			continue;
		most = n;
		best = gpu;
		(void)snprintf(bdf, PCI_STR_LEN, "%.*s", PCI_STR_LEN - 1, bus);
	}
	return best;
}

/* ---- the holder ---- */

static int hold(const struct job_cuda *cuda, const struct ctx *ctx, const char *device,
		struct held *out)
{
	char bdf[PCI_STR_LEN] = "";
	const int gpu = nearest(cuda, ctx, device, bdf);
	void *context;
	int fd = -1, rc;
	const char *what = "cuDevicePrimaryCtxRetain";

	if (gpu < 0) {
		(void)snprintf(out->text, sizeof(out->text), "CUDA has no GPU");
		return -1;
	}
	rc = cuda->retain(&context, gpu);
	if (!rc)
		rc = cuda->enter(context);
	if (!rc) {
		what = "cuMemAlloc";
		rc = cuda->alloc(&out->address, BLOCK);
	}
	if (!rc) {
		what = "cuMemGetHandleForAddressRange";
		rc = cuda->export(&fd, out->address, BLOCK, DMA_BUF, 0);
	}
	out->good = !rc;
	if (rc)
		(void)snprintf(out->text, sizeof(out->text), "%s: error %d", what, rc);
	else
		(void)snprintf(out->text, sizeof(out->text), "GPU %s", bdf);
	return fd;
}

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static void say(int to, struct held *h, int fd)
{
	struct iovec piece = { h, sizeof(*h) };
	union control c = { .room = "" };
	struct msghdr m = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (h->good) {
		m.msg_control = &c;
		m.msg_controllen = sizeof(c);
		c.head = (struct cmsghdr){ CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&c.head), &fd, sizeof(fd));
	}
	if (sendmsg(to, &m, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void holder(const struct job_cuda *cuda, const struct ctx *ctx, const struct job_own *own,
		   int to)
{
	int rc = cuda->init(0);

	for (size_t i = 0; i < own->join.n_rails; i++) {
		struct held h = { 0 };
		int fd = -1;

		if (rc)
			(void)snprintf(h.text, sizeof(h.text), "cuInit: error %d", rc);
		else
			fd = hold(cuda, ctx, own->rails[i].count.device, &h);
		say(to, &h, fd);
	}
	/* The memory lives as long as this process: until the rank ends. */
	for (;;)
		(void)pause();
}

/* ---- the rank ---- */

/* False: the holder said nothing until then, and what it says later is of another rail. */
static bool hear(int from, int64_t until_ms, struct held *h, int *fd)
{
	struct pollfd p = { .fd = from, .events = POLLIN };
	struct iovec piece = { h, sizeof(*h) };
	const int64_t left = until_ms - ctx_mono_ms();
	union control c;
	struct msghdr m = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};

	*fd = -1;
	if (poll(&p, 1, left > 0 ? (int)left : 0) > 0 &&
	    recvmsg(from, &m, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof(*h)) {
		if (m.msg_controllen >= CMSG_LEN(sizeof(*fd)))
			memcpy(fd, CMSG_DATA(&c.head), sizeof(*fd));
		h->good &= *fd >= 0;
		return true;
	}
	*h = (struct held){ .text = "CUDA did not answer, or ended its process" };
	return false;
}

/* Memory of a GPU is of no use to a device that cannot register it. */
static void check_device(const char *device, struct held *h)
{
	enum verbs_answer answer;
	char why[WIRE_TEXT] = "";
	struct err e = { 0 };

	if (!h->good || (verbs_dmabuf(device, &answer, why, &e) == 0 && answer == VERBS_YES))
		return;
	h->good = false;
	(void)snprintf(h->text, sizeof(h->text), "%.20s registers no dma-buf", device);
}

static void take(struct job_own *own, size_t i, const struct held *h, bool must)
{
	struct job_rail *rail = &own->join.rails[i];

	(void)snprintf(rail->memory, sizeof(rail->memory), "%s%s",
		       h->good ? "" : "host: ", h->text);
	if (!h->good && must && !*rail->problem)
		(void)snprintf(rail->problem, sizeof(rail->problem), "no GPU memory: %s", h->text);
}

pid_t job_memory_get(const struct job_cuda *cuda, const struct ctx *ctx, struct job_own *own,
		     bool must)
{
	struct held h = { .text = "" };
	const int64_t until_ms = ctx_mono_ms() + ASK_MS; /* for all rails */
	const pid_t parent = getpid();
	pid_t pid = 0;
	bool heard;
	int ends[2] = { -1, -1 };

	if (cuda && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
		pid = fork();
	if (ends[0] >= 0 && pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			holder(cuda, ctx, own, ends[1]);
		_exit(1);
	}
	if (ends[1] >= 0)
		(void)close(ends[1]);
	(void)snprintf(h.text, sizeof(h.text), "%s",
		       cuda ? "cannot start a process for CUDA" : "cannot load " LIBCUDA);
	heard = pid > 0;
	for (size_t i = 0; i < own->join.n_rails; i++) {
		int fd = -1;

		heard = heard && hear(ends[0], until_ms, &h, &fd);
		check_device(own->rails[i].count.device, &h);
		if (h.good)
			own->rails[i].gpu = (struct verbs_gpu){ .fd = fd, .address = h.address };
		else if (fd >= 0)
			(void)close(fd);
		take(own, i, &h, must);
	}
	if (ends[0] >= 0)
		(void)close(ends[0]);
	return pid > 0 ? pid : 0;
}
