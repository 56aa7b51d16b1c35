/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca.h: a kernel with RDMA devices, for tests. The linker sends the calls of lib/device/rdma.h
 * here. A device is in one network namespace, and is seen, moved and given character devices by the
 * kernel's rules; who breaks one of them is refused as the kernel refuses. Calls are counted, and
 * one of them can be made to fail.
 *
 * For test programs only. The table is shared with processes that the test forks.
 */
#ifndef RAILHEAD_LIB_TESTING_HCA_H
#define RAILHEAD_LIB_TESTING_HCA_H

#include "lib/device/rdma.h"

#define FAKEHCA_MAX 512 /* also those that are gone */

struct fakehca_dev {
	struct rdma_link link;
	struct netns_id in;   /* the namespace that it is in */
	struct rdma_port ib;  /* state and subnet of all ports, if the protocol is "ib" */
	int ifindex;          /* of its interface; 0: none */
	struct netns_id ifin; /* and that one's namespace */
	unsigned uverbs;      /* number; the minor is 192 more */
	uint32_t qp_pid;      /* a process with a connected queue pair; 0: none */
	bool gone;
};

struct fakehca {
	bool absent; /* this kernel has no RDMA */
	enum rdma_mode mode;
	uint32_t n;
	struct fakehca_dev dev[FAKEHCA_MAX];
	int refuses_move;     /* errno; 0: none */
	bool names_per_netns; /* Linux 7.3 */
	unsigned requests;    /* since the start, or since this was set to 0 */
	unsigned fail_at;     /* that one fails ... */
	int fail_errnum;      /* ... with this errno, or, 0, the process ends as if killed */
	void (*waited)(void); /* called instead of waiting for events, for which the time that it
				 may take has gone by */
	void (*moved)(void);  /* called after each move and renaming; NULL: nothing */
};

/* fakehca - from here on there are no devices but those added. fakehca_stop - no more. */
struct fakehca *fakehca(enum rdma_mode mode);
void fakehca_stop(void);

/* fakehca_add - one more, of one port, in the caller's namespace, with the lowest free uverbs. */
struct fakehca_dev *fakehca_add(const char *name);

/* fakehca_end - a namespace has gone: its devices are in the caller's. */
void fakehca_end(struct netns_id gone);

#endif
