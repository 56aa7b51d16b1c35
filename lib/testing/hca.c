/* SPDX-License-Identifier: Apache-2.0 */
/* hca.c: answers RDMA netlink as a kernel with given devices would. */
#include "lib/testing/hca.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/base/ctx.h"
#include "lib/net/nl_msg.h"
#include "lib/device/rdma_monitor.h"
#include "lib/testing/testing.h"

/* Check's own assertions allocate, which would count where a test counts allocations. */
#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond))                                                                       \
			ck_abort_msg("must hold: %s", #cond);                                      \
	} while (0)

/* A function that the linker sends here, and the one that is there. */
#define FAKED(name, ...)                                                                           \
	int __real_##name(__VA_ARGS__);                                                            \
	int __wrap_##name(__VA_ARGS__)

FAKED(nl_rdma_open, struct nl **out, struct err *e);
FAKED(nl_rdma_open_in, const struct netns *ns, const struct netns *host, struct nl **out,
      struct err *e);
FAKED(nl_rdma_sys_get, struct nl *nl, struct rdma_sys *out, struct err *e);
FAKED(nl_rdma_get, struct nl *nl, uint32_t index, struct rdma_link *out, struct err *e);
FAKED(nl_rdma_list, struct nl *nl, rdma_link_fn fn, void *arg, struct err *e);
FAKED(nl_rdma_by_name, struct nl *nl, const char *name, struct rdma_link *out, struct err *e);
FAKED(nl_rdma_port, struct nl *nl, uint32_t index, uint32_t port, struct rdma_port *out,
      struct err *e);
FAKED(nl_rdma_ports, struct nl *nl, uint32_t index, rdma_port_fn fn, void *arg, struct err *e);
FAKED(nl_rdma_qps, struct nl *nl, uint32_t index, rdma_qp_fn fn, void *arg, struct err *e);
FAKED(nl_rdma_chardev, struct nl *nl, struct rdma_chardev_of of, struct rdma_chardev *out,
      struct err *e);
FAKED(nl_rdma_rename, struct nl *nl, uint32_t index, const char *name, struct err *e);
FAKED(nl_rdma_move, struct nl *nl, uint32_t index, const struct netns *target, const char *name,
      struct err *e);
FAKED(nl_rdma_monitor_wait, struct rdma_monitor *m, int64_t deadline_ms, struct err *e);

static struct fakehca *hca;

struct fakehca *fakehca(enum rdma_mode mode)
{
	hca = mmap(NULL, sizeof(*hca), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(hca != MAP_FAILED);
	hca->mode = mode;
	return hca;
}

void fakehca_stop(void)
{
	hca = NULL;
}

/* ---- the kernel's rules ---- */

static struct netns_id here(void)
{
	auto_netns struct netns ns = { .fd = -1 };
	struct err e;

	MUST(netns_open_self(&ns, &e) == 0);
	return ns.id;
}

static struct netns_id of_fd(int fd)
{
	struct stat st;

	MUST(fstat(fd, &st) == 0);
	return (struct netns_id){ .dev = st.st_dev, .ino = st.st_ino };
}

static struct netns_id of_socket(const struct nl *nl)
{
	auto_fd int fd = ioctl(nl->fd, SIOCGSKNS);

	MUST(fd >= 0);
	return of_fd(fd);
}

static unsigned free_uverbs(void)
{
	for (unsigned n = 0;; n++) {
		bool taken = false;

		for (uint32_t i = 0; i < hca->n; i++)
			taken |= !hca->dev[i].gone && hca->dev[i].uverbs == n;
		if (!taken)
			return n;
	}
}

struct fakehca_dev *fakehca_add(const char *name)
{
	struct fakehca_dev *d = &hca->dev[hca->n];

	MUST(hca->n < FAKEHCA_MAX);
	*d = (struct fakehca_dev){
		.link = { .index = 10 + hca->n, .ports = 1, .node_type = 1, .protocol = "roce" },
		.in = here(),
		.uverbs = free_uverbs(),
	};
	(void)snprintf(d->link.name, sizeof(d->link.name), "%s", name);
	hca->n++;
	return d;
}

static void change_netns(struct fakehca_dev *d, struct netns_id to)
{
	d->in = to;
	d->uverbs = UINT32_MAX;
	d->uverbs = free_uverbs();
}

void fakehca_end(struct netns_id gone)
{
	for (uint32_t i = 0; i < hca->n; i++) {
		if (netns_same(hca->dev[i].in, gone))
			change_netns(&hca->dev[i], here());
	}
	if (hca->moved)
		hca->moved();
}

static int refuse(int errnum, struct err *e)
{
	return err_set(e, ERR_KERNEL, errnum, "the kernel refused");
}

static int missing(struct err *e)
{
	err_set(e, ERR_NOTFOUND, 0, "no such RDMA device in this network namespace");
	e->errnum = ENODEV;
	return -1;
}

static int count(struct err *e)
{
	if (++hca->requests != hca->fail_at)
		return 0;
	if (!hca->fail_errnum)
		_exit(0);
	return refuse(hca->fail_errnum, e);
}

static bool sees(const struct nl *nl, const struct fakehca_dev *d)
{
	return !d->gone && (hca->mode == RDMA_SHARED || netns_same(d->in, of_socket(nl)));
}

static struct fakehca_dev *seen(const struct nl *nl, uint32_t index)
{
	for (uint32_t i = 0; i < hca->n; i++) {
		if (hca->dev[i].link.index == index && sees(nl, &hca->dev[i]))
			return &hca->dev[i];
	}
	return NULL;
}

/* ---- sockets and the mode ---- */

int __wrap_nl_rdma_open(struct nl **out, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_open(out, e);
	if (hca->absent)
		return err_set(e, ERR_NOTFOUND, EPROTONOSUPPORT, "this kernel has no RDMA");
	return count(e) || nl_open(out, e) ? -1 : 0;
}

int __wrap_nl_rdma_open_in(const struct netns *ns, const struct netns *host, struct nl **out,
			   struct err *e)
{
	if (!hca)
		return __real_nl_rdma_open_in(ns, host, out, e);
	if (hca->absent)
		return err_set(e, ERR_NOTFOUND, EPROTONOSUPPORT, "this kernel has no RDMA");
	return count(e) || nl_open_in(ns, host, out, e) ? -1 : 0;
}

int __wrap_nl_rdma_sys_get(struct nl *nl, struct rdma_sys *out, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_sys_get(nl, out, e);
	if (count(e))
		return -1;
	*out = (struct rdma_sys){ .mode = hca->mode };
	return 0;
}

/* ---- looking ---- */

int __wrap_nl_rdma_get(struct nl *nl, uint32_t index, struct rdma_link *out, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_get(nl, index, out, e);
	if (count(e))
		return -1;
	const struct fakehca_dev *d = seen(nl, index);
	if (!d)
		return missing(e);
	*out = d->link;
	return 0;
}

int __wrap_nl_rdma_list(struct nl *nl, rdma_link_fn fn, void *arg, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_list(nl, fn, arg, e);
	if (count(e))
		return -1;
	for (uint32_t i = 0; i < hca->n; i++) {
		if (sees(nl, &hca->dev[i]) && fn(&hca->dev[i].link, arg))
			break;
	}
	return 0;
}

int __wrap_nl_rdma_by_name(struct nl *nl, const char *name, struct rdma_link *out, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_by_name(nl, name, out, e);
	if (count(e))
		return -1;
	for (uint32_t i = 0; i < hca->n; i++) {
		if (sees(nl, &hca->dev[i]) && strcmp(hca->dev[i].link.name, name) == 0) {
			*out = hca->dev[i].link;
			return 0;
		}
	}
	return missing(e);
}

/* The interface is the first port's. */
static struct rdma_port port_of(const struct nl *nl, const struct fakehca_dev *d, uint32_t port)
{
	bool in_sight = port == 1 && netns_same(d->ifin, of_socket(nl));
	struct rdma_port p = { .state = RDMA_PORT_ACTIVE, .phys_state = 5 };

	if (strcmp(d->link.protocol, "ib") == 0)
		p = d->ib;
	p.port = port;
	p.ifindex = in_sight ? d->ifindex : 0;
	return p;
}

int __wrap_nl_rdma_port(struct nl *nl, uint32_t index, uint32_t port, struct rdma_port *out,
			struct err *e)
{
	if (!hca)
		return __real_nl_rdma_port(nl, index, port, out, e);
	if (count(e))
		return -1;
	const struct fakehca_dev *d = seen(nl, index);
	if (!d || !port || port > d->link.ports)
		return missing(e);
	*out = port_of(nl, d, port);
	return 0;
}

int __wrap_nl_rdma_ports(struct nl *nl, uint32_t index, rdma_port_fn fn, void *arg, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_ports(nl, index, fn, arg, e);
	if (count(e))
		return -1;
	const struct fakehca_dev *d = seen(nl, index);
	if (!d)
		return missing(e);
	for (uint32_t i = 1; i <= d->link.ports; i++) {
		const struct rdma_port p = port_of(nl, d, i);

		if (fn(&p, arg))
			break;
	}
	return 0;
}

int __wrap_nl_rdma_qps(struct nl *nl, uint32_t index, rdma_qp_fn fn, void *arg, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_qps(nl, index, fn, arg, e);
	if (count(e))
		return -1;
	const struct fakehca_dev *d = seen(nl, index);
	if (!d)
		return missing(e);
	const struct rdma_qp q = { d->qp_pid, RDMA_QP_RC, RDMA_QP_RTS };

	if (d->qp_pid)
		(void)fn(&q, arg);
	return 0;
}

int __wrap_nl_rdma_chardev(struct nl *nl, struct rdma_chardev_of of, struct rdma_chardev *out,
			   struct err *e)
{
	if (!hca)
		return __real_nl_rdma_chardev(nl, of, out, e);
	if (count(e))
		return -1;
	*out = (struct rdma_chardev){ .major = 231 };
	if (of.global) {
		(void)snprintf(out->name, sizeof(out->name), "%s", of.type);
		return 0;
	}
	const struct fakehca_dev *d = seen(nl, of.index);
	if (!d)
		return missing(e);
	out->minor = d->uverbs + (strcmp(of.type, "uverbs") == 0 ? 192 : 0);
	(void)snprintf(out->name, sizeof(out->name), "%s%u", of.type, d->uverbs);
	return 0;
}

/* ---- changes ---- */

static bool is_taken(const struct fakehca_dev *self, const char *name, struct netns_id in)
{
	for (uint32_t i = 0; i < hca->n; i++) {
		const struct fakehca_dev *d = &hca->dev[i];

		if (d != self && !d->gone && strcmp(d->link.name, name) == 0 &&
		    (!hca->names_per_netns || netns_same(d->in, in)))
			return true;
	}
	return false;
}

static int give_name(struct fakehca_dev *d, const char *name)
{
	if (name != d->link.name)
		(void)snprintf(d->link.name, sizeof(d->link.name), "%s", name);
	if (hca->moved)
		hca->moved();
	return 0;
}

int __wrap_nl_rdma_rename(struct nl *nl, uint32_t index, const char *name, struct err *e)
{
	if (!hca)
		return __real_nl_rdma_rename(nl, index, name, e);
	if (count(e))
		return -1;
	struct fakehca_dev *d = seen(nl, index);
	if (!d)
		return refuse(EINVAL, e);
	return is_taken(d, name, d->in) ? refuse(EEXIST, e) : give_name(d, name);
}

int __wrap_nl_rdma_move(struct nl *nl, uint32_t index, const struct netns *target, const char *name,
			struct err *e)
{
	if (!hca)
		return __real_nl_rdma_move(nl, index, target, name, e);
	if (count(e))
		return -1;
	struct fakehca_dev *d = seen(nl, index);
	if (!d)
		return refuse(EINVAL, e);
	/* Before 7.3 a name was all that was looked at. */
	if (name && !hca->names_per_netns)
		return is_taken(d, name, d->in) ? refuse(EEXIST, e) : give_name(d, name);
	if (hca->refuses_move || hca->mode == RDMA_SHARED)
		return refuse(hca->refuses_move ? hca->refuses_move : EOPNOTSUPP, e);
	if (!netns_same(d->in, here()))
		return refuse(ENODEV, e);
	if (is_taken(d, name ? name : d->link.name, target->id))
		return refuse(EEXIST, e);
	change_netns(d, target->id);
	return give_name(d, name ? name : d->link.name);
}

int __wrap_nl_rdma_monitor_wait(struct rdma_monitor *m, int64_t deadline_ms, struct err *e)
{
	int64_t left = deadline_ms - ctx_mono_ms();
	const struct timespec nap = { left / 1000, left % 1000 * 1000000 };

	if (!hca)
		return __real_nl_rdma_monitor_wait(m, deadline_ms, e);
	if (left > 0)
		(void)nanosleep(&nap, NULL);
	if (hca->waited)
		hca->waited();
	return 0;
}
