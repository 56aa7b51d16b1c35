/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: calls of the plugin rdma on the node of rdma/testing/node.h. For test programs only. */
#ifndef RAILHEAD_PLUGINS_TESTING_CALL_H
#define RAILHEAD_PLUGINS_TESTING_CALL_H

#include "rdma/testing/node.h"

/*
 * testnode_call - one call of the plugin for net1 of the pod, with these keys beside name and type
 * (and prevResult: net1 has 10.88.0.5). What it prints is in TESTNODE_OUT. Its result.
 */
int testnode_call(const struct testnode *w, enum cni_command cmd, const struct testpod *p,
		  const char *keys, struct err *e);

/* testnode_records - the number of records of the plugin. */
unsigned testnode_records(const struct testnode *w);

#endif
