/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: calls of the plugin rdma, made on the node of rdma/testing/node.h. */
#include "plugins/testing/call.h"

#include <stdio.h>

#include "cni/testing/call.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "plugins/rdma/attach.h"
#include "plugins/rdma/restore.h"

static char *configuration(const struct testpod *p, const char *keys)
{
	char *text;

	ck_assert_int_gt(
		asprintf(&text,
			 "{\"cniVersion\":\"1.1.0\",\"name\":\"rails\",\"type\":\"rdma\"%s%s,"
			 "\"prevResult\":{\"cniVersion\":\"1.1.0\",\"x\":{\"y\":[1]},"
			 "\"interfaces\":[{\"name\":\"net1\",\"sandbox\":\"%s\",\"z\":2}],"
			 "\"ips\":[{\"address\":\"10.88.0.5/16\",\"interface\":0}]}}",
			 *keys ? "," : "", keys, p ? p->path : "/none"),
		0);
	return text;
}

int testnode_call(const struct testnode *w, enum cni_command cmd, const struct testpod *p,
		  const char *keys, struct err *e)
{
	struct cni_call call = {
		.ctx = w->ctx,
		.env = { .cmd = cmd,
			 .container = p ? p->name : "",
			 .netns = p && p->ns.fd >= 0 ? p->path : "",
			 .ifname = p ? "net1" : "",
			 .path = "",
			 .args = "" },
	};

	int rc = testing_call(&rdma_type, &call, configuration(p, keys), TESTNODE_OUT, e);
	auto_netns struct netns now = net_self();
	ck_assert_msg(netns_same(now.id, w->host), "the plugin did not come back");
	return rc;
}

unsigned testnode_records(const struct testnode *w)
{
	return testing_records(&w->ctx, RDMA_RECORDS);
}
