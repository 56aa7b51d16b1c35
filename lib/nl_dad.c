/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for duplicate address detection. An event only says *that* something changed; the state
 * is then read anew. So an event that was dropped for want of room does no harm, and nothing needs
 * to be remembered between events.
 */
#include "lib/nl_addr.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "lib/ctx.h"
#include "lib/nl_priv.h"

struct nl_monitor {
	struct nl *nl;
};

int nl_addr_monitor_open(struct nl_monitor **out, struct err *e)
{
	struct nl_monitor *mon = malloc(sizeof(*mon));

	if (!mon)
		return err_nomem(e);
	if (nl_open_bound(RTMGRP_IPV6_IFADDR, &mon->nl, e)) {
		free(mon);
		return -1;
	}
	*out = mon;
	return 0;
}

void nl_addr_monitor_close(struct nl_monitor *mon)
{
	if (!mon)
		return;
	nl_release(mon->nl);
	free(mon);
}

/* The state of one wanted address. */
struct wanted {
	struct ip addr;
	bool found, tentative, failed;
};

static int look_at(const struct addr_info *a, void *arg)
{
	struct wanted *w = arg;

	if (!ip_equal(a->addr.addr, w->addr))
		return 0;
	w->found = true;
	w->tentative = a->tentative;
	w->failed = a->dadfailed;
	return 1;
}

/* 1: all are settled, 0: not yet, -1: one never will be. */
static int settled(struct nl *nl, const struct dad_wait *d, struct err *e)
{
	char text[IP_STR_LEN];
	int all = 1;

	for (size_t i = 0; i < d->n; i++) {
		struct wanted w = { .addr = d->want[i].addr };

		if (w.addr.family != IP_V6)
			continue;
		if (nl_addr_list_v6(nl, d->ifindex, look_at, &w, e))
			return -1;
		ip_format(w.addr, text);
		if (!w.found)
			return err_set(e, ERR_STATE, 0, "address %s is not on interface number %d",
				       text, d->ifindex);
		if (w.failed) {
			err_set(e, ERR_BUSY, 0, "address %s is in use by another host", text);
			return err_hint(e, "duplicate address detection saw it on the same link");
		}
		if (w.tentative)
			all = 0;
	}
	return all;
}

static bool concerns(const struct nl_monitor *mon, ssize_t len, int ifindex)
{
	int left = (int)len;

	for (struct nlmsghdr *h = (void *)mon->nl->buf; nlmsg_ok(h, left);
	     h = nlmsg_next(h, &left)) {
		const struct ifaddrmsg *ifa = nlmsg_data(h);

		if (nlmsg_datalen(h) >= (int)sizeof(*ifa) && (int)ifa->ifa_index == ifindex)
			return true;
	}
	return false;
}

/* 1: something about the interface's addresses may have changed, 0: the time is over. */
static int next_event(struct nl_monitor *mon, int ifindex, int64_t deadline, struct err *e)
{
	for (;;) {
		int64_t left = deadline - ctx_mono_ms();
		struct pollfd p = { .fd = mon->nl->fd, .events = POLLIN };
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_KERNEL, errno, "wait for address events");
		if (n == 0)
			return 0;

		ssize_t len = nl_recv_some(mon->nl, MSG_DONTWAIT);

		if (len < 0 && errno == ENOBUFS)
			return 1;
		if (len < 0 && errno != EAGAIN)
			return err_set(e, ERR_KERNEL, errno, "read address events");
		if (len > 0 && concerns(mon, len, ifindex))
			return 1;
	}
}

int nl_addr_wait_dad(struct nl *nl, struct nl_monitor *mon, const struct dad_wait *wait,
		     struct err *e)
{
	int64_t deadline = ctx_mono_ms() + wait->timeout_ms;

	for (;;) {
		int rc = settled(nl, wait, e);

		if (rc)
			return rc > 0 ? 0 : -1;
		rc = next_event(mon, wait->ifindex, deadline, e);
		if (rc < 0)
			return -1;
		if (rc == 0)
			break;
	}
	err_set(e, ERR_AGAIN, ETIMEDOUT, "duplicate address detection on interface number %d",
		wait->ifindex);
	return err_hint(e, "an address stays tentative while the link has no carrier");
}
