// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel what ADD waits for, and whom it names, if a MAC or an address is in use.
 */
#include "cni/engine/inuse.h"

#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cni/record/record.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define LONG_MS 600000 /* a test that waits so long has failed */

static const struct hw_addr mac = { .len = MAC_LEN, .byte = { 0x0a, 0x1b, 10, 77, 0, 200 } };

/* The master eth1 is in the host, where the caller is. Two pods have net1 on it. */
struct world {
	char dir[64];
	struct ctx ctx;
	struct netns host, old, new;
	struct nl *nl, *old_nl, *new_nl;
	struct link_info old_link, link;
	struct inuse_place at;
	struct err e;
};

static struct link_info add_pod(struct world *w, const char *kind, const struct netns *pod,
				struct nl *nl)
{
	struct link_spec spec = { .kind = kind,
				  .name = "net1",
				  .lower_ifindex = net_ifindex(w->nl, "eth1"),
				  .target = pod };
	struct link_info li;

	if (strcmp(kind, "macvlan") == 0) {
		spec.addr = mac;
		spec.data.macvlan.mode = 4; /* bridge */
	}
	ck_assert_msg(!nl_link_create(w->nl, &spec, &w->e), "%s", w->e.msg);
	ck_assert_int_eq(nl_link_by_name(nl, "net1", &li, &w->e), 0);
	return li;
}

static void world_make(struct world *w, const char *kind)
{
	net_enter_new();
	*w = (struct world){ .dir = "/tmp/railhead-inuse-XXXXXX",
			     .host = net_self(),
			     .old = net_another(),
			     .new = net_another() };
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	ctx_init(&w->ctx, "test");
	w->ctx.run_dir = w->dir;
	net_veth("eth1", "far1", NULL);
	w->nl = net_socket();
	w->old_nl = net_socket_in(&w->old);
	w->new_nl = net_socket_in(&w->new);
	w->old_link = add_pod(w, kind, &w->old, w->old_nl);
	w->link = add_pod(w, kind, &w->new, w->new_nl);
	w->at = (struct inuse_place){ .ctx = &w->ctx,
				      .link = &w->link,
				      .pod_nl = w->new_nl,
				      .lower_nl = w->nl,
				      .master = "eth1",
				      .wait_ms = LONG_MS };
}

static void world_clear(struct world *w)
{
	const struct record_key key = { "net-a", "c1", "net1" };
	char path[128];

	ck_assert_int_eq(record_remove(&w->ctx, &key, &w->e), 0);
	(void)snprintf(path, sizeof(path), "%s/attachments", w->dir);
	(void)rmdir(path);
	ck_assert_int_eq(rmdir(w->dir), 0);
	nl_release(w->nl);
	nl_release(w->old_nl);
	nl_release(w->new_nl);
	netns_close(&w->host);
	netns_close(&w->old);
	netns_close(&w->new);
}
#define auto_world auto_clean(world_clear)

static void set_old_up(struct world *w)
{
	ck_assert_int_eq(nl_link_set_up(w->old_nl, w->old_link.ifindex, &w->e), 0);
}

/* The old pod is that of an attachment. */
static void write_record(struct world *w)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", w->old.fd);

	const struct record r = {
		.key = { "net-a", "c1", "net1" },
		.plugin = "macvlan",
		.kind = w->link.kind,
		.netns = path,
		.netns_id = w->old.id,
		.ifindex = w->old_link.ifindex,
		.lower_ifindex = w->old_link.lower_ifindex,
		.master = "eth1",
		.cni_path = "",
		.args = "",
	};

	ck_assert_int_eq(record_write(&w->ctx, &r, &w->e), 0);
}

static void says(const struct err *e, enum err_code code, const char *msg)
{
	ck_assert_msg(e->code == code, "%d: %s", (int)e->code, e->msg);
	ck_assert_msg(strstr(e->msg, msg), "%s", e->msg);
}

START_TEST(a_free_one_is_taken_at_once)
{
	auto_world struct world w;

	world_make(&w, "macvlan");
	/* an interface that is down has no MAC in use */
	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), 0);
	w.link.ifindex += 1000;
	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), -1);
	says(&w.e, ERR_KERNEL, "No such device");
}
END_TEST

static void *end_pod(void *arg)
{
	struct world *w = arg;

	(void)nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	/* the socket holds the namespace, too */
	nl_release(w->old_nl);
	w->old_nl = NULL;
	netns_close(&w->old);
	return NULL;
}

START_TEST(a_dead_namespace_is_waited_for)
{
	auto_world struct world w;
	pthread_t ending;

	world_make(&w, "macvlan");
	set_old_up(&w);
	ck_assert_int_eq(pthread_create(&ending, NULL, end_pod, &w), 0);
	ck_assert_msg(!inuse_set_up(&w.at, &w.e), "%s", w.e.msg);
	ck_assert_int_eq(pthread_join(ending, NULL), 0);
}
END_TEST

START_TEST(the_wait_ends)
{
	auto_world struct world w;

	world_make(&w, "macvlan");
	set_old_up(&w);
	w.at.wait_ms = 30;

	const int64_t begun = ctx_mono_ms();

	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), -1);
	ck_assert_int_ge(ctx_mono_ms() - begun, 30);
	says(&w.e, ERR_AGAIN,
	     "MAC 0a:1b:0a:4d:00:c8 on eth1 is in use by an interface of another network "
	     "namespace");
	ck_assert_ptr_nonnull(strstr(w.e.detail, "no attachment has it"));
}
END_TEST

START_TEST(a_living_pod_is_not_waited_for)
{
	auto_world struct world w;

	world_make(&w, "macvlan");
	set_old_up(&w);
	write_record(&w);
	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), -1);
	says(&w.e, ERR_BUSY,
	     "MAC 0a:1b:0a:4d:00:c8 on eth1 is in use by the interface net1 of a pod");
	ck_assert_ptr_nonnull(strstr(w.e.detail, "macPrefix"));
	/* a record whose interface has another MAC says nothing */
	w.at.wait_ms = 10;
	ck_assert_int_eq(nl_link_set_down(w.old_nl, w.old_link.ifindex, &w.e), 0);
	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), 0);
}
END_TEST

START_TEST(an_interface_of_the_host_is_not_waited_for)
{
	auto_world struct world w;
	struct link_info li;

	world_make(&w, "macvlan");
	li = add_pod(&w, "macvlan", &w.host, w.nl);
	ck_assert_int_eq(nl_link_set_up(w.nl, li.ifindex, &w.e), 0);
	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), -1);
	says(&w.e, ERR_BUSY, "is in use by the interface net1 of the host");
	ck_assert_int_eq(nl_link_delete(w.nl, li.ifindex, &w.e), 0);
	ck_assert_int_eq(nl_link_set_hw_addr(w.nl, net_ifindex(w.nl, "eth1"), mac, &w.e), 0);
	ck_assert_int_eq(inuse_set_up(&w.at, &w.e), -1);
	says(&w.e, ERR_BUSY, "is in use by the interface eth1 of the host");
}
END_TEST

/* The kernel of these tests may have no ipvlan, so its refusals are the test's. */
START_TEST(an_address_is_like_a_mac)
{
	const struct net_fake fake = net_fake();
	auto_world struct world w;
	struct ip_prefix addr;

	world_make(&w, "macvlan");
	ck_assert_int_eq(ip_parse_prefix("10.77.0.200/24", &addr), 0);
	ck_assert_int_eq(nl_addr_add(w.old_nl, w.old_link.ifindex, addr, true, &w.e), 0);
	write_record(&w);
	w.at.pod_nl = fake.nl;
	net_ack(&fake, 1, EADDRINUSE);
	ck_assert_int_eq(inuse_add_address(&w.at, addr, true, &w.e), -1);
	says(&w.e, ERR_BUSY,
	     "address 10.77.0.200 on eth1 is in use by the interface net1 of a pod");
	ck_assert_int_eq(ip_parse_prefix("10.77.0.201/24", &addr), 0);
	net_ack(&fake, 2, EADDRINUSE);
	net_ack(&fake, 3, EADDRINUSE);
	net_ack(&fake, 4, 0);
	ck_assert_msg(!inuse_add_address(&w.at, addr, true, &w.e), "%s", w.e.msg);
	net_ack(&fake, 5, EADDRINUSE);
	net_ack(&fake, 6, EPERM);
	ck_assert_int_eq(inuse_add_address(&w.at, addr, true, &w.e), -1);
	says(&w.e, ERR_KERNEL, "Operation not permitted");
	nl_release(fake.nl);
	(void)close(fake.peer);
}
END_TEST

TEST_PROGRAM("cni/engine", a_free_one_is_taken_at_once, a_dead_namespace_is_waited_for,
	     the_wait_ends, a_living_pod_is_not_waited_for,
	     an_interface_of_the_host_is_not_waited_for, an_address_is_like_a_mac)
