/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h: a call runs once for each of its requests to the kernel, and that request fails, or
 * kills the process. DEL must then bring back all.
 */
#ifndef RAILHEAD_SRIOV_TESTING_REQUESTS_H
#define RAILHEAD_SRIOV_TESTING_REQUESTS_H

#include "cni/engine/attach.h"
#include "lib/testing/hca.h"
#include "sriov/testing/vf.h"

/* A host with one VF, and its plugin. The functions get host. */
struct testrequests {
	const void *host;
	const struct testhost *w;
	struct fakehca *hca;
	bool rdma;                          /* requests of RDMA netlink; else of netlink */
	void (*begin)(const struct pod *p); /* before the calls for p; may be NULL */
	int (*call)(const void *host, enum cni_command cmd, const struct pod *p, struct err *e);
	/* After a kill, before DEL: an ADD that may get another VF, or ERR_BUSY; NULL: none. */
	int (*again)(const void *host, const struct pod *p, struct err *e);
	/* The test fails, with the text when, unless each VF is as before ADD. */
	void (*is_restored)(const void *host, const char *when);
};

/*
 * testrequests_fail - ADD with each request failed once, and DEL. testrequests_kill - the same with
 * the process killed in place of the request, in ADD or (cmd) in DEL. Both return the number of
 * tries; the last one reached no such request.
 */
unsigned testrequests_fail(const struct testrequests *r);
unsigned testrequests_kill(const struct testrequests *r, enum cni_command cmd);

#endif
