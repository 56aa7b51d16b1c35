/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns_locate.h: a network namespace that was noted earlier in this boot: where is it now?
 *
 * A path that does not lead to it proves little: the namespace may be mounted in another mount
 * namespace only, or a process may be in it. So there are three answers: it lives, it is proved
 * gone, it is unknown. It is proved gone if its inode belongs to a namespace with another cookie.
 * It is also proved gone if no thread, open file or mount holds it, and this program sees enough:
 * the processes that the program saw which noted it, or all; the same mounts, or those of
 * process 1.
 */
#ifndef RAILHEAD_LIB_SYS_NETNS_LOCATE_H
#define RAILHEAD_LIB_SYS_NETNS_LOCATE_H

#include "lib/base/ctx.h"
#include "lib/sys/netns.h"

/* From where a program looks: inodes of its process and mount namespaces. 0: not known. */
struct netns_view {
	uint64_t pid_ns, mnt_ns;
};

/* netns_view_self - that of this program; what cannot be read is 0. */
struct netns_view netns_view_self(const struct ctx *ctx);

/* The record of a namespace. Strings are borrowed. */
struct netns_on_record {
	const char *path; /* as it was given */
	const char *also; /* another path at which it may be found; NULL or "": none */
	struct netns_id id;
	struct netns_view from; /* of the program that noted it */
};

/* What holds it, for people: "process 4711", "a file that process 4711 has open", "mount ...". */
#define NETNS_HOLDER_LEN 128

/*
 * netns_locate - 1: it lives; *out is open, and holder says what leads to it, "" for its own path.
 * 0: it is proved gone. -1: it is unknown, and the error says from where the search would work. The
 * search looks at every process: milliseconds on a busy node, and only when no path leads to it.
 */
int netns_locate(const struct ctx *ctx, const struct netns_on_record *what, struct netns *out,
		 char holder[NETNS_HOLDER_LEN], struct err *e) must_check;

#endif
