/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_nl.h: a netlink socket whose kernel is the fuzzer. The whole exchange is at work:
 * what is sent is thrown away, and what is received are the fuzzer's datagrams, then an end.
 */
#ifndef RAILHEAD_LIB_TESTING_FUZZ_NL_H
#define RAILHEAD_LIB_TESTING_FUZZ_NL_H

#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/fuzz.h"

struct fuzz_kernel {
	struct nl *nl;
	int peer;
};

/*
 * fuzz_kernel - data is a row of datagrams, each with its length before it in two bytes, the lower
 * one first. The first request will have the number 1.
 */
static inline struct fuzz_kernel fuzz_kernel(const uint8_t *data, size_t size)
{
	struct fuzz_kernel k = { .nl = calloc(1, sizeof(struct nl)) };
	int fds[2];

	MUST(k.nl && !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
	k.nl->fd = fds[0];
	k.peer = fds[1];
	while (size > 2) {
		size_t len = (size_t)(data[0] | data[1] << 8);

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		if (len && send(k.peer, data, len, MSG_DONTWAIT) != (ssize_t)len)
			break; /* no room for more */
		data += len;
		size -= len;
	}
	(void)shutdown(k.peer, SHUT_WR);
	return k;
}

static inline void fuzz_kernel_end(struct fuzz_kernel *k)
{
	nl_release(k->nl);
	(void)close(k->peer);
}
#define auto_fuzz_kernel auto_clean(fuzz_kernel_end)

#endif
