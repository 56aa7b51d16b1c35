/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h: compares what NCCL chose, by its log, with the prediction. Pure.
 */
#ifndef RAILHEAD_DIAG_VERIFY_H
#define RAILHEAD_DIAG_VERIFY_H

#include "lib/cli/finding.h"
#include "lib/rdma/version.h"
#include "diag/nccl_log.h"

struct verify_input {
	const struct json *machine; /* a document of `railctl topo --json` */
	const struct nccl_log *log;
	const char *host; /* only processes of this host; NULL: all */
	/* Settings that the prediction assumes, "NAME=VALUE". */
	const char *const *assumed;
	size_t n_assumed;
	struct lib_version rules; /* of NCCL or RCCL: the prediction follows its rules */
	bool rccl;
};

/*
 * topo_verify_version - the library and its version by the log: those of the first process of host
 * that printed them, else of any process. host NULL: all. False: the log has no version.
 */
bool topo_verify_version(const struct nccl_log *log, const char *host, struct lib_version *out,
			 bool *rccl);

/*
 * topo_verify - add findings, worst first. railctl(8) explains the ids: net, gdr, network, gpu,
 * setting, version, connections. A GPU whose connections are as predicted is ok. Settings
 * of the job are findings only if something fails. A log without
 * connections to other nodes is unknown. The caller clears *out.
 */
int topo_verify(const struct verify_input *in, struct findings *out, struct err *e) must_check;

/*
 * topo_verify_network - add the finding `network` about a job that uses a network other than NCCL's
 * own code for HCAs, such as "Socket". It is ok if machine, as above, has no HCA for any GPU.
 */
void topo_verify_network(const struct json *machine, struct slice network, struct findings *out);

#endif
