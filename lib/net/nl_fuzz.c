/* SPDX-License-Identifier: Apache-2.0 */
/* nl_fuzz.c: feed any bytes as the kernel's answer to a request and to a dump. */
#include "lib/testing/fuzz_nl.h"

/* Counts the messages in seen[0], and reads every byte of them. */
static int take(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nlattr *tb[9];
	unsigned *seen = arg;

	seen[0] += !!h;
	for (int i = 0; h && i < nlmsg_datalen(h); i++)
		seen[1] += ((const uint8_t *)nlmsg_data(h))[i];
	return h && nl_parse_attrs(h, 4, tb, 8, NULL) ? err_set(e, ERR_KERNEL, 0, "attributes") : 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data + !!size, size - !!size);
	auto_nl_req struct nl_req rq = { 0 };
	unsigned seen[2] = { 0 }, how = size ? *data : 0;
	struct nl_sink sink = { take, seen };
	FUZZ_OUT(struct err, e);

	nl_link_get_request(&rq, "eth0", 0);
	bool ok = fuzz_ok(how == 0   ? nl_request(k.nl, &rq, &e)
			  : how == 1 ? nl_get(k.nl, &rq, sink, &e)
				     : nl_get_dump(k.nl, &rq, sink, &e),
			  &e, NULL, 0);
	MUST(!ok || how != 1 || seen[0]);
	return 0;
}
