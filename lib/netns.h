/* SPDX-License-Identifier: Apache-2.0 */
/* netns.h: network namespaces as descriptors, and what is left of one that has gone. */
#ifndef RAILHEAD_LIB_NETNS_H
#define RAILHEAD_LIB_NETNS_H

#include "lib/err.h"

/* Which namespace it is: paths are used again, a pair of device and inode much less so. */
struct netns_id {
	uint64_t dev, ino;
};

struct netns {
	int fd; /* -1: none */
	struct netns_id id;
};

/*
 * netns_open - open the network namespace at path. ERR_NETNS in two flavours:
 * errnum ENOENT: the path does not exist, or is a plain file left behind (CNI-048, CNI-049), that
 * is, the namespace is gone; any other errnum: something is there that cannot be used (for example
 * a namespace of another type: EINVAL).
 */
int netns_open(const char *path, struct netns *out, struct err *e) must_check;

/* netns_open_self - the namespace that this process is in. */
int netns_open_self(struct netns *out, struct err *e) must_check;

bool netns_same(struct netns_id a, struct netns_id b);

/* netns_enter - setns() the calling thread. */
int netns_enter(const struct netns *ns, struct err *e) must_check;

void netns_close(struct netns *ns);
#define auto_netns auto_clean(netns_close)

#endif
