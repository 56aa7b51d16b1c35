/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_monitor.c: waits for uevents and RDMA notifications. */
#include "lib/device/rdma_monitor.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/ctx.h"
#include "lib/net/nl_msg.h"
#include "lib/device/rdma_compat.h"

#define LOSSES_MAX          1000
#define UEVENT_GROUP_KERNEL 1 /* lib/kobject_uevent.c sends to this one; udev has the second */

struct rdma_monitor {
	struct nl *uevents;
	struct nl *notify; /* NULL: this kernel has no RDMA, or does not announce */
};

/*
 * The notifications are optional: a kernel without RDMA has none, and before Linux 6.12 their
 * multicast group does not exist.
 */
int nl_rdma_monitor_open(struct rdma_monitor **out, struct err *e)
{
	auto_rdma_monitor struct rdma_monitor *m = calloc(1, sizeof(*m));
	const uint32_t notify = 1u << (COMPAT_RDMA_GROUP_NOTIFY - 1);
	struct err why;

	if (!m)
		return err_nomem(e);
	if (nl_open_protocol(NETLINK_KOBJECT_UEVENT, UEVENT_GROUP_KERNEL, &m->uevents, e))
		return err_wrap(e, "listen for devices");
	if (nl_open_protocol(NETLINK_RDMA, notify, &m->notify, &why) && why.code == ERR_NOMEM)
		return err_pass(e, &why);
	*out = TAKE_PTR(m);
	return 0;
}

void nl_rdma_monitor_close(struct rdma_monitor *m)
{
	if (!m)
		return;
	nl_release(m->uevents);
	nl_release(m->notify);
	free(m);
}

/* "add@/devices/pci0000:00/0000:00:02.0/infiniband/mlx5_0", then NUL and variables. */
static bool is_about_rdma(const char *text, size_t len)
{
	static const char mark[] = "/infiniband/";
	const char *end = memchr(text, '\0', len);

	return end && memmem(text, (size_t)(end - text), mark, sizeof(mark) - 1);
}

/* 1: something to look at, 0: nothing. Events that were lost may have been any. */
static int drain_events(struct nl *nl, bool uevents, struct err *e)
{
	int seen = 0, losses = 0;

	for (;;) {
		ssize_t n = nl_recv_datagram(nl, MSG_DONTWAIT);

		if (n > 0 && (!uevents || is_about_rdma(nl->buf, (size_t)n)))
			seen = 1;
		if (n > 0 || (n < 0 && errno == EMSGSIZE))
			continue;
		if (n == 0)
			errno = EPIPE;
		if (errno == EAGAIN)
			return seen;
		if (errno != ENOBUFS || ++losses > LOSSES_MAX)
			return err_set(e, ERR_KERNEL, errno, "listen for RDMA devices");
		seen = 1;
	}
}

int nl_rdma_monitor_wait(struct rdma_monitor *m, int64_t deadline_ms, struct err *e)
{
	struct pollfd p[] = { { .fd = m->uevents->fd, .events = POLLIN },
			      { .fd = m->notify ? m->notify->fd : -1, .events = POLLIN } };

	for (;;) {
		int64_t left = deadline_ms - ctx_mono_ms();
		int seen = drain_events(m->uevents, true, e);
		int more = seen >= 0 && m->notify ? drain_events(m->notify, false, e) : 0;

		if (seen < 0 || more < 0)
			return -1;
		if (seen || more || left <= 0)
			return seen || more;
		if (poll(p, 2, left > INT32_MAX ? INT32_MAX : (int)left) < 0 && errno != EINTR)
			return err_set(e, ERR_KERNEL, errno, "wait for RDMA devices");
	}
}
