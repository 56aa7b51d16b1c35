/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_fuzz.c: feeds any answer of a kernel to the readers of RDMA devices and ports. */
#include "lib/device/rdma.h"
#include "lib/testing/fuzz_nl.h"

static int see_port(const struct rdma_port *p, void *arg)
{
	MUST(!arg && p->ifindex >= 0 && *rdma_port_state_name(p->state));
	return 0;
}

static int see_link(const struct rdma_link *d, void *arg)
{
	MUST(!arg && *d->name && memchr(d->name, 0, sizeof(d->name)));
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data + !!size, size - !!size);
	const struct rdma_chardev_of of = { .type = "uverbs" };
	FUZZ_OUT(struct rdma_chardev, c);
	FUZZ_OUT(struct err, e);

	if (size && *data == 2)
		(void)fuzz_ok(nl_rdma_chardev(k.nl, of, &c, &e), &e, &c, sizeof(c));
	else if (size && *data)
		(void)fuzz_ok(nl_rdma_ports(k.nl, 1, see_port, NULL, &e), &e, NULL, 0);
	else
		(void)fuzz_ok(nl_rdma_list(k.nl, see_link, NULL, &e), &e, NULL, 0);
	return 0;
}
