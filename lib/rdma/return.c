/* SPDX-License-Identifier: Apache-2.0 */
/* return.c: moves an RDMA device back, or waits for the kernel to return it. */
#include "lib/rdma/return.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/rdma_monitor.h"
#include "lib/rdma/lock.h"

/* milliseconds; an event before the socket is open is lost, so look without events too */
#define LOOK_EVERY_MS 200

struct device_return {
	const struct ctx *ctx;
	const struct rdma_away *d;
	struct netns host;
	struct nl *nl; /* RDMA netlink of the host */
	bool locked;
	bool pod_lacks_it; /* the namespace that it moved to lives, and does not have it */
};

static void device_return_clear(struct device_return *w)
{
	nl_release(w->nl);
	netns_close(&w->host);
}

/* ---- is it here ---- */

/* Returns 1 if the device with that index is on the host. */
static int is_on_host(const struct device_return *w, struct rdma_link *out, struct err *e)
{
	struct err why;

	if (nl_rdma_get(w->nl, w->d->index, out, &why) == 0)
		return 1;
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

/*
 * Returns 1 if there is nothing to wait for. The function is gone, it has no driver, or its driver
 * was loaded again and it has an RDMA device with another index here.
 */
static int is_past(const struct device_return *w, struct err *e)
{
	char driver[PCI_DRIVER_LEN];
	struct rdma_link other;
	struct err why;

	if (!*w->d->bus)
		return 0;
	if (rdma_of_bus(w->ctx->sysfs, w->nl, w->d->bus, &other, &why) == 0)
		return 1;
	if (why.code != ERR_NOTFOUND)
		return err_pass(e, &why);
	if (pci_driver(w->ctx->sysfs, w->d->bus, driver, &why) == 0)
		return *driver == '\0';
	return why.code == ERR_NOTFOUND;
}

/*
 * Without a driver there is no device. Call it only at the end: a device that is being moved has no
 * character device either.
 */
static bool is_nowhere(const struct device_return *w)
{
	return *w->d->uverbs && *w->d->bus && !rdma_bus_verbs(w->ctx->sysfs, w->d->bus, NULL);
}

/*
 * The pod may have renamed the device, whether or not we had. udev and the kernel rename devices
 * too. So it is not an error if the old name is used, or if the device is gone.
 */
static void rename_back(const struct device_return *w, const struct rdma_link *d)
{
	struct err why;

	if (strcmp(d->name, w->d->name) == 0)
		return;
	if (nl_rdma_rename(w->nl, d->index, w->d->name, &why))
		log_warn(&w->ctx->log, "%s; it stays %s", why.msg, d->name);
}

/* ---- from the pod ---- */

/* Socket and thread must be in the namespace of the device. Returns 1: moved; 0: not there. */
static int move_from(const struct device_return *w, const struct netns *pod, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_link d;
	struct err back;
	int rc = 0;

	if (nl_rdma_open_in(pod, &w->host, &nl, e))
		return -1;
	if (nl_rdma_get(nl, w->d->index, &d, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	if (netns_enter(pod, e))
		return -1;
	rc = nl_rdma_move(nl, d.index, &w->host, NULL, e);
	/* Linux 7.3: the name is used on the host, so take a name with the number of the device. */
	if (rc && e->errnum == EEXIST) {
		char spare[RDMA_NAME_LEN];

		(void)snprintf(spare, sizeof(spare), "ibdev%u", d.index);
		rc = nl_rdma_move(nl, d.index, &w->host, spare, e);
	}
	if (netns_enter(&w->host, &back)) {
		*e = back;
		return err_wrap(e, "return to the network namespace of this process");
	}
	/* It disappeared meanwhile: the kernel returns it, or it no longer exists. */
	if (rc && (e->errnum == ENODEV || e->errnum == EINVAL))
		return 0;
	return rc ? -1 : 1;
}

static int try_pod(struct device_return *w, const struct netns_on_record *from, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	char holder[NETNS_HOLDER_LEN];
	struct err why;
	int rc = netns_locate(w->ctx, from, &pod, holder, e);

	if (rc <= 0 || netns_same(pod.id, w->host.id))
		return rc < 0 ? -1 : 0;
	auto_fd int lock = w->locked ? -1 : rdma_lock(w->ctx, RDMA_LOCK_MS, e);
	if (!w->locked && lock < 0)
		return -1;
	rc = move_from(w, &pod, &why);
	if (rc < 0)
		*e = why;
	w->pod_lacks_it = rc == 0;
	return rc;
}

/* ---- from wherever it is ---- */

static int wait_for_device(const struct device_return *w, struct rdma_monitor *m,
			   struct rdma_link *d, struct err *e)
{
	int64_t deadline = ctx_mono_ms() + RDMA_RETURN_MS;

	for (;;) {
		int64_t next = ctx_mono_ms() + LOOK_EVERY_MS;
		int rc = is_on_host(w, d, e), past = rc ? 0 : is_past(w, e);

		if (rc < 0 || past < 0)
			return -1;
		if (rc || past)
			return rc;
		if (ctx_mono_ms() >= deadline)
			break;
		if (nl_rdma_monitor_wait(m, next < deadline ? next : deadline, e) < 0)
			return -1;
	}
	if (is_nowhere(w))
		return 0;
	err_set(e, ERR_AGAIN, 0,
		"RDMA device %s%s%s is not back in this network namespace after %d s", w->d->name,
		*w->d->bus ? " of " : "", w->d->bus, RDMA_RETURN_MS / 1000);
	if (w->pod_lacks_it)
		return err_hint(e, "the pod moved it on to another network namespace: the kernel "
				   "brings it when that ends");
	return err_hint(e, "the kernel brings it when the last process and mount of the pod's "
			   "network namespace have gone; lsns -t net shows which are left");
}

int rdma_return(const struct ctx *ctx, const struct netns_on_record *from,
		const struct rdma_away *d, bool locked, struct err *e)
{
	auto_clean(device_return_clear) struct device_return w = {
		.ctx = ctx, .d = d, .host = { .fd = -1 }, .locked = locked
	};
	auto_rdma_monitor struct rdma_monitor *m = NULL;
	struct rdma_link here;
	struct err why;
	int rc;

	if (nl_rdma_open(&w.nl, &why)) {
		/* A kernel without RDMA has no devices. */
		if (why.errnum == EPROTONOSUPPORT)
			return 0;
		return err_pass(e, &why);
	}
	if (netns_open_self(&w.host, e) || nl_rdma_monitor_open(&m, e))
		return -1;
	rc = is_on_host(&w, &here, e);
	if (rc < 0 || (rc == 0 && try_pod(&w, from, e) < 0))
		return -1;
	if (rc == 0)
		rc = wait_for_device(&w, m, &here, e);
	if (rc > 0)
		rename_back(&w, &here);
	return rc < 0 ? -1 : 0;
}
