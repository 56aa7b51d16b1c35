/* SPDX-License-Identifier: Apache-2.0 */
/* owners_test.c: names of GIDs from namespaces in a folder, from records and from the host. */
#include "rdma/inventory/owners.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "cni/record/record.h"
#include "lib/net/addr.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "rdma/testing/pod.h"

/* Here, and in pod-b, an interface net1; what both see is one port's table. */
struct fixture {
	const char *dir;
	char names[64], run[64];
	struct ctx ctx;
	struct netns b;
	struct rdma_inventory v;
};

static void give(struct nl *nl, const char *ifname, const char *addr)
{
	struct ip_prefix p;
	struct err e = { 0 };

	ck_assert_int_eq(ip_parse_prefix(addr, &p), 0);
	ck_assert_msg(nl_addr_add(nl, net_ifindex(nl, ifname), p, true, &e) == 0, "%s", e.msg);
}

static void name_netns(const struct fixture *w, const struct netns *ns, const char *name)
{
	char path[128], from[64];

	(void)snprintf(path, sizeof(path), "%s/%s", w->names, name);
	testing_file(path, 0644, "");
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", ns->fd);
	ck_assert_int_eq(mount(from, path, NULL, MS_BIND, NULL), 0);
}

static void set_up(struct fixture *w)
{
	*w = (struct fixture){ .dir = testing_dir(), .v = pod_new(RDMA_SHARED) };
	(void)snprintf(w->names, sizeof(w->names), "%s/netns", w->dir);
	(void)snprintf(w->run, sizeof(w->run), "%s/run", w->dir);
	ck_assert_int_eq(mkdir(w->names, 0700), 0);
	ctx_init(&w->ctx, "test");
	w->ctx.run_dir = w->run;
	net_enter_new();
	w->b = net_another();
	net_veth("net1", "net1", &w->b);
	auto_nl struct nl *here = net_socket(), *there = net_socket_in(&w->b);
	give(here, "net1", "10.1.0.5/16");
	give(there, "net1", "10.1.0.6/16");
	give(there, "net1", "10.1.0.5/16"); /* as we have it, in another network perhaps */
	(void)pod_netdev(&w->v, "net1", "macvlan", "10.1.0.5/16");

	struct inv_port *p = pod_port(&w->v, "mlx5_0", "", 0);

	pod_gid(p, 0, GID_ROCE_V2, "10.1.0.5", "net1");
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.6", "net1");
	pod_gid(p, 2, GID_ROCE_V2, "10.1.0.6", "net7");
	pod_gid(p, 3, GID_ROCE_V2, "10.1.0.7", "net1");
	pod_gid(p, 4, GID_ROCE_V1, "10.1.0.6", "");
	inv_mark_gids(&w->v);
}

static void tear_down(struct fixture *w)
{
	netns_close(&w->b);
	rdma_inventory_clear(&w->v);
}
#define auto_fixture auto_clean(tear_down)

static const char *owner(const struct fixture *w, size_t i)
{
	return w->v.device[0].port[0].gid[i].netns;
}

static void name_all(struct fixture *w)
{
	struct err e = { 0 };

	ck_assert_msg(owners_name(&w->ctx, w->names, &w->v, &e) == 0, "%s", e.msg);
}

START_TEST(an_owner_is_named_by_its_namespace)
{
	auto_fixture struct fixture w;
	auto_netns struct netns self = { .fd = -1 };

	set_up(&w);
	self = net_self();
	name_netns(&w, &self, "pod-a");
	name_netns(&w, &w.b, "pod-b");
	name_all(&w);
	ck_assert_str_eq(owner(&w, 0), ""); /* it is here */
	ck_assert_str_eq(owner(&w, 1), "pod-b");
	ck_assert_str_eq(owner(&w, 2), ""); /* nobody's net7 has it */
	ck_assert_str_eq(owner(&w, 3), "");
	ck_assert_str_eq(owner(&w, 4), "pod-b");
}
END_TEST

START_TEST(what_is_no_namespace_is_passed_over)
{
	auto_fixture struct fixture w;
	char path[128];

	set_up(&w);
	(void)snprintf(path, sizeof(path), "%s/a-plain-file", w.names);
	testing_file(path, 0644, "");
	name_netns(&w, &w.b, "pod-b");
	name_all(&w);
	ck_assert_str_eq(owner(&w, 1), "pod-b");
}
END_TEST

/* One that has no name is told by its attachment. */
START_TEST(an_owner_is_named_by_its_record)
{
	auto_fixture struct fixture w;
	struct record r = { .key = { "rail0", "4f5e6d", "net1" },
			    .plugin = "macvlan",
			    .kind = "macvlan",
			    .master = "ens1",
			    .cni_path = "/",
			    .args = "" };
	struct err e = { 0 };
	char path[64];

	set_up(&w);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", w.b.fd);
	r.netns = path;
	r.netns_id = w.b.id;
	memcpy(r.boot, "00000000-0000-0000-0000-000000000000", sizeof(r.boot));
	ck_assert_msg(record_write(&w.ctx, &r, &e) == 0, "%s", e.msg);
	name_all(&w);
	ck_assert_str_eq(owner(&w, 1), "container 4f5e6d");
}
END_TEST

START_TEST(without_a_folder_of_names)
{
	auto_fixture struct fixture w;
	struct err e = { 0 };

	set_up(&w);
	ck_assert_int_eq(owners_name(&w.ctx, "/nonexistent", &w.v, &e), 0);
	ck_assert_str_eq(owner(&w, 1), "");
}
END_TEST

/* The first process's is asked as well: here a folder stands for /proc. */
START_TEST(the_host_is_named_as_owner)
{
	auto_fixture struct fixture w;
	char proc[64], path[128];

	set_up(&w);
	(void)snprintf(proc, sizeof(proc), "%s/1", w.dir);
	ck_assert_int_eq(mkdir(proc, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/ns", proc);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	(void)snprintf(w.names, sizeof(w.names), "%s/1/ns", w.dir);
	name_netns(&w, &w.b, "net");
	w.ctx.proc = w.dir;
	(void)snprintf(w.names, sizeof(w.names), "%s/netns", w.dir);
	name_all(&w);
	ck_assert_str_eq(owner(&w, 1), "host");
}
END_TEST

START_TEST(nothing_foreign_is_nothing_to_do)
{
	auto_fixture struct fixture w;

	set_up(&w);
	w.v.device[0].port[0].n_gids = 1;
	(void)snprintf(w.names, sizeof(w.names), "/nonexistent");
	name_all(&w);
	ck_assert_str_eq(owner(&w, 0), "");
}
END_TEST

static int name_again(void *arg, struct err *e)
{
	struct fixture *w = arg;

	for (size_t i = 0; i < w->v.device[0].port[0].n_gids; i++)
		w->v.device[0].port[0].gid[i].netns[0] = '\0';
	return owners_name(&w->ctx, w->names, &w->v, e);
}

START_TEST(allocations_may_fail)
{
	auto_fixture struct fixture w;

	set_up(&w);
	name_netns(&w, &w.b, "pod-b");
	ck_assert_str_eq(alloc_fail_each(name_again, &w), "ok");
}
END_TEST

TEST_PROGRAM("owners", an_owner_is_named_by_its_namespace, an_owner_is_named_by_its_record,
	     what_is_no_namespace_is_passed_over, without_a_folder_of_names,
	     the_host_is_named_as_owner, nothing_foreign_is_nothing_to_do, allocations_may_fail)
