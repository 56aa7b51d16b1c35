/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: calls of the plugin on the node of testing_world.h. */
#include <fcntl.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "rdma/plugin/restore.h"
#include "rdma/testing/world.h"
#include "rdma/plugin/attach.h"

static char *configuration(const struct rpod *p, const char *keys)
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

static const cni_command_fn verbs[] = {
	[CNI_ADD] = rdma_add, [CNI_DEL] = rdma_del,       [CNI_CHECK] = rdma_check,
	[CNI_GC] = rdma_gc,   [CNI_STATUS] = rdma_status,
};

/* Standard output is the protocol's, so it goes into a file meanwhile. */
static int with_output(cni_command_fn fn, const struct cni_call *call, struct err *e)
{
	int out = open(RWORLD_OUT, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), was = dup(1), rc;

	ck_assert(out >= 0 && was >= 0 && fflush(stdout) == 0);
	ck_assert_int_eq(dup2(out, 1), 1);
	rc = fn(call, e);
	ck_assert_int_eq(dup2(was, 1), 1);
	(void)close(was);
	(void)close(out);
	return rc;
}

int rworld_call(const struct rworld *w, enum cni_command cmd, const struct rpod *p,
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
	char *text = configuration(p, keys);

	ck_assert_msg(cni_conf_parse(text, strlen(text), cmd, &call.conf, e) == 0, "%s", e->msg);
	int rc = with_output(verbs[cmd], &call, e);
	cni_conf_clear(&call.conf);
	auto_netns struct netns now = net_self();
	ck_assert_msg(netns_same(now.id, w->host), "the plugin did not come back");
	return rc;
}

static int count(const struct record *r, void *arg)
{
	(void)r;
	++*(unsigned *)arg;
	return 0;
}

unsigned rworld_records(const struct rworld *w)
{
	struct record_place place;
	unsigned n = 0;
	struct err e;

	ck_assert_int_eq(rdma_place(&w->ctx, &place, &e), 0);
	ck_assert_int_eq(record_each(&place.ctx, NULL, count, &n, &e), 0);
	return n;
}
