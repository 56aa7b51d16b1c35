/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.c: waits for events of links. An event only says *that* something changed; the waiting
 * function then reads the state again. So a lost event does no harm, and nothing is remembered
 * between events.
 */
#include "lib/net/monitor.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "lib/base/ctx.h"
#include "lib/net/link.h"
#include "lib/net/nl_msg.h"

struct nl_monitor {
	struct nl *nl;
};

int nl_monitor_open(enum nl_watch what, struct nl_monitor **out, struct err *e)
{
	struct nl_monitor *mon = malloc(sizeof(*mon));

	if (!mon)
		return err_nomem(e);
	if (nl_open_bound(what == NL_WATCH_ADDR6 ? RTMGRP_IPV6_IFADDR : RTMGRP_LINK, &mon->nl, e)) {
		free(mon);
		return -1;
	}
	*out = mon;
	return 0;
}

void nl_monitor_close(struct nl_monitor *mon)
{
	if (!mon)
		return;
	nl_release(mon->nl);
	free(mon);
}

/* 0: a message about neither links nor addresses. */
static int subject_ifindex(const struct nlmsghdr *h)
{
	const struct ifaddrmsg *ifa = nlmsg_data(h);
	const struct ifinfomsg *ifi = nlmsg_data(h);

	switch (h->nlmsg_type) {
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return nlmsg_datalen(h) >= (int)sizeof(*ifa) ? (int)ifa->ifa_index : 0;
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return nlmsg_datalen(h) >= (int)sizeof(*ifi) ? ifi->ifi_index : 0;
	default:
		return 0;
	}
}

static bool monitor_is_about(const struct nl_monitor *mon, ssize_t len, int ifindex)
{
	int left = (int)len;

	for (struct nlmsghdr *h = (void *)mon->nl->buf; nlmsg_ok(h, left);
	     h = nlmsg_next(h, &left)) {
		if (subject_ifindex(h) == ifindex)
			return true;
	}
	return false;
}

int nl_monitor_next(struct nl_monitor *mon, int ifindex, int64_t deadline_ms, struct err *e)
{
	for (;;) {
		int64_t left = deadline_ms - ctx_mono_ms();
		struct pollfd p = { .fd = mon->nl->fd, .events = POLLIN };
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n < 0 && errno == EINTR && left > 0)
			continue;
		if (n < 0 && errno == EINTR)
			return 0;
		if (n < 0)
			return err_set(e, ERR_KERNEL, errno, "wait for events");
		if (n == 0)
			return 0;

		ssize_t len = nl_recv_datagram(mon->nl, MSG_DONTWAIT);

		if (len < 0 && errno == ENOBUFS)
			return 1;
		if (len < 0 && errno != EAGAIN)
			return err_set(e, ERR_KERNEL, errno, "read events");
		if (len > 0 && monitor_is_about(mon, len, ifindex))
			return 1;
	}
}

/* ---- carrier ---- */

int nl_link_carrier(struct nl *nl, int ifindex, struct err *e)
{
	struct link_info li;

	if (nl_link_by_index(nl, ifindex, &li, e))
		return -1;
	return li.flags & IFF_LOWER_UP ? 1 : 0;
}

/* 1 or 0: what the first message says after which the interface is up; -1: there is none. */
static int carrier_as_it_rose(const struct nl_monitor *mon, ssize_t len, int ifindex)
{
	int left = (int)len;

	for (struct nlmsghdr *h = (void *)mon->nl->buf; nlmsg_ok(h, left);
	     h = nlmsg_next(h, &left)) {
		const struct ifinfomsg *ifi = nlmsg_data(h);

		if (h->nlmsg_type == RTM_NEWLINK && subject_ifindex(h) == ifindex &&
		    (ifi->ifi_flags & IFF_UP))
			return ifi->ifi_flags & IFF_LOWER_UP ? 1 : 0;
	}
	return -1;
}

int nl_link_rose_with_carrier(struct nl_monitor *mon, int ifindex, struct err *e)
{
	for (;;) {
		ssize_t len = nl_recv_datagram(mon->nl, MSG_DONTWAIT);

		if (len <= 0 && (len == 0 || errno == EAGAIN || errno == ENOBUFS))
			return 0;
		if (len < 0)
			return err_set(e, ERR_KERNEL, errno, "read events");

		int carrier = carrier_as_it_rose(mon, len, ifindex);
		if (carrier >= 0)
			return carrier;
	}
}

/*
 * A driver reports carrier at once (IFF_LOWER_UP). The kernel lets packets through later, when it
 * sets the operational state (IFF_RUNNING), and then sends the event.
 */
int nl_link_wait_carrier(struct nl *nl, struct nl_monitor *mon, int ifindex, int64_t deadline_ms,
			 struct err *e)
{
	const uint32_t both = IFF_LOWER_UP | IFF_RUNNING;
	struct link_info li;
	int rc;

	do {
		if (nl_link_by_index(nl, ifindex, &li, e))
			return -1;
		if ((li.flags & both) == both)
			return 1;
		rc = nl_monitor_next(mon, ifindex, deadline_ms, e);
	} while (rc > 0);
	return rc;
}
