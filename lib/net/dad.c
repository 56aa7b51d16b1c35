/* SPDX-License-Identifier: Apache-2.0 */
/* dad.c: waits until the kernel has finished duplicate address detection of IPv6 addresses. */
#include "lib/net/addr.h"

#include <errno.h>

#include "lib/base/ctx.h"
#include "lib/net/monitor.h"
#include "lib/net/nl_msg.h"

/* The state of one wanted address. */
struct wanted {
	struct ip addr;
	bool found, tentative, failed;
};

static int dad_look_at(const struct addr_info *a, void *arg)
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
static int all_settled(struct nl *nl, const struct dad_wait *d, struct err *e)
{
	char text[IP_STR_LEN];
	int all = 1;

	for (size_t i = 0; i < d->n; i++) {
		struct wanted w = { .addr = d->want[i].addr };

		if (w.addr.family != IP_V6)
			continue;
		if (nl_addr_list_v6(nl, d->ifindex, dad_look_at, &w, e))
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

int nl_addr_wait_dad(struct nl *nl, struct nl_monitor *mon, const struct dad_wait *wait,
		     struct err *e)
{
	int64_t deadline = ctx_mono_ms() + wait->timeout_ms;

	for (;;) {
		int rc = all_settled(nl, wait, e);

		if (rc)
			return rc > 0 ? 0 : -1;
		rc = nl_monitor_next(mon, wait->ifindex, deadline, e);
		if (rc < 0)
			return -1;
		if (rc == 0)
			break;
	}
	err_set(e, ERR_AGAIN, ETIMEDOUT, "duplicate address detection on interface number %d",
		wait->ifindex);
	return err_hint(e, "an address stays tentative while the link has no carrier");
}
