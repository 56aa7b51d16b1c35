/* SPDX-License-Identifier: Apache-2.0 */
/* netns.h: network namespaces: opened as descriptors, told apart by their identity, and entered. */
#ifndef RAILHEAD_LIB_SYS_NETNS_H
#define RAILHEAD_LIB_SYS_NETNS_H

#include "lib/base/err.h"

/*
 * Which namespace it is. Paths are used again, and so are inodes: the kernel gives out the lowest
 * free one. The cookie never comes again within a boot; 0: not known (before Linux 5.14).
 */
struct netns_id {
	uint64_t dev, ino, cookie;
};

struct netns {
	int fd; /* -1: none */
	struct netns_id id;
};

/*
 * netns_open - open the network namespace at path. ERR_NETNS in three flavours:
 * errnum ENOENT: the path does not exist; EINVAL: something is there that is not a network
 * namespace (a plain file, a folder, a namespace of another type); any other errnum: it cannot be
 * looked at. None of them says that a namespace is gone: it may be mounted there in another mount
 * namespace, or be held by a process (netns_locate.h).
 */
int netns_open(const char *path, struct netns *out, struct err *e) must_check;

/* netns_open_self - the namespace that this process is in. */
int netns_open_self(struct netns *out, struct err *e) must_check;

/* netns_same - one and the same. A cookie counts when both are known. */
bool netns_same(struct netns_id a, struct netns_id b);

/* netns_reused - the one has the inode that the other one had: one of them is gone. */
bool netns_reused(struct netns_id a, struct netns_id b);

/* netns_enter - setns() the calling thread. */
int netns_enter(const struct netns *ns, struct err *e) must_check;

/*
 * netns_run - fn(arg, e) in ns; then the calling thread enters home again, also after a failure.
 * Returns the value of fn, negative after an error. -1 with ERR_NETNS: no way there or back; an
 * error of fn counts more.
 */
typedef int (*netns_fn)(void *arg, struct err *e);
int netns_run(const struct netns *ns, const struct netns *home, netns_fn fn, void *arg,
	      struct err *e) must_check;

/* netns_close - close the descriptor, if there is one; *ns is "none" then. */
void netns_close(struct netns *ns);
#define auto_netns auto_clean(netns_close)

#endif
