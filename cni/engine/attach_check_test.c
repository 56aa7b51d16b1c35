/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_check_test.c: shows what CHECK finds out about the master and what lies below it;
 * conformance/attach has the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni/engine/attach_priv.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static const struct json_field no_fields[] = { { 0 } };
static const struct attach_type type = { .name = "macvlan",
					 .kind = "macvlan",
					 .fields = no_fields };

/* A host with two devices, and a pod with an interface on the first. */
struct world {
	struct netns pod;
	struct nl *host;
	char netns[64];
};

static void make_link(struct nl *nl, const char *name, const char *lower,
		      const struct netns *target)
{
	const struct link_spec spec = { .kind = "macvlan",
					.name = name,
					.lower_ifindex = net_ifindex(nl, lower),
					.target = target,
					.data.macvlan.mode = MACVLAN_BRIDGE };
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_create(nl, &spec, &e) == 0, "%s", e.msg);
}

static void make_world(struct world *w)
{
	net_enter_new();
	w->pod = net_another();
	w->host = net_socket();
	net_veth("one", "one-peer", NULL);
	net_veth("two", "two-peer", NULL);
	(void)snprintf(w->netns, sizeof(w->netns), "/proc/self/fd/%d", w->pod.fd);
}

static void clear_world(struct world *w)
{
	nl_release(w->host);
	netns_close(&w->pod);
}

static void attach_to(const struct world *w, const char *lower)
{
	struct nl *nl = net_socket_in(&w->pod);

	make_link(w->host, "net1", lower, &w->pod);
	net_up(nl, "net1");
	nl_release(nl);
}

static int check(const struct world *w, const char *master, struct err *e)
{
	struct cni_call call = { .data = &type };
	char *conf = malloc(512); /* the call's from the parsing on */

	ctx_init(&call.ctx, "test");
	call.ctx.run_dir = "/nowhere";
	call.env = (struct cni_env){
		.cmd = CNI_CHECK, .container = "c", .ifname = "net1", .netns = w->netns
	};
	ck_assert_ptr_nonnull(conf);
	(void)snprintf(conf, 512,
		       "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"type\":\"macvlan\","
		       "\"master\":\"%s\",\"prevResult\":{\"cniVersion\":\"1.0.0\",\"interfaces\":"
		       "[{\"name\":\"net1\",\"sandbox\":\"%s\"}]}}",
		       master, w->netns);
	ck_assert_int_eq(cni_conf_parse(conf, strlen(conf), CNI_CHECK, &call.conf, e), 0);
	int rc = attach_check(&call, e);
	cni_conf_clear(&call.conf);
	return rc;
}

static void passes(const struct world *w, const char *master)
{
	struct err e = { .msg = "" };

	ck_assert_msg(check(w, master, &e) == 0, "%s", e.msg);
}

static void fails(const struct world *w, const char *master, const char *says)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(check(w, master, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	ck_assert_msg(strstr(e.msg, says) != NULL, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(e.msg, master));
}

START_TEST(check_fails_on_another_master)
{
	struct world w;

	make_world(&w);
	attach_to(&w, "one");
	passes(&w, "one");
	fails(&w, "two", "on device one");
	clear_world(&w);
}
END_TEST

/* The kernel takes the device below. */
START_TEST(a_macvlan_as_master_is_compared)
{
	struct world w;

	make_world(&w);
	make_link(w.host, "between", "one", NULL);
	make_link(w.host, "elsewhere", "two", NULL);
	attach_to(&w, "between");
	passes(&w, "between");
	fails(&w, "elsewhere", "on another device");
	clear_world(&w);
}
END_TEST

/* Numbers of interfaces count in their own namespace only. */
START_TEST(an_equal_ifindex_in_another_namespace_does_not_count)
{
	struct world w;

	make_world(&w);

	struct netns other = net_another();
	struct err e;

	attach_to(&w, "one");
	ck_assert_int_eq(netns_enter(&other, &e), 0);
	net_veth("one", "one-peer", NULL); /* the same number, as it was made alike */
	fails(&w, "one", "another network namespace");
	netns_close(&other);
	clear_world(&w);
}
END_TEST

TEST_PROGRAM("cni/engine/attach_check", check_fails_on_another_master,
	     a_macvlan_as_master_is_compared, an_equal_ifindex_in_another_namespace_does_not_count)
