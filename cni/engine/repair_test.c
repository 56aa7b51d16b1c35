/* SPDX-License-Identifier: Apache-2.0 */
/* repair_test.c: shows which attachments are stale, and which are left alone. */
#include "cni/engine/repair.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"

/* A run directory of its own, and a record of an interface in our own network namespace. */
struct world {
	char dir[64];
	struct ctx ctx;
	struct record r;
	struct err e;
};

static void world_init(struct world *w)
{
	struct netns self = { .fd = -1 };

	*w = (struct world){ .dir = "/tmp/railhead-repair-XXXXXX" };
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	ctx_init(&w->ctx, "test");
	w->ctx.run_dir = w->dir;
	ck_assert_int_eq(netns_open_self(&self, &w->e), 0);
	w->r = (struct record){
		.key = { "net-a", "c1", "lo" },
		.plugin = "macvlan",
		.kind = "",
		.netns = "/proc/self/ns/net",
		.netns_id = self.id,
		.from = netns_view_self(&w->ctx),
		.master = "",
		.cni_path = "",
		.args = "",
	};
	netns_close(&self);
	ck_assert_int_eq(ctx_boot_id(&w->ctx, w->r.boot, &w->e), 0);
}

static void world_clear(struct world *w)
{
	char path[128];

	ck_assert_int_eq(record_remove(&w->ctx, &w->r.key, &w->e), 0);
	(void)snprintf(path, sizeof(path), "%s/lock", w->dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/attachments", w->dir);
	(void)rmdir(path);
	ck_assert_int_eq(rmdir(w->dir), 0);
}

/* The record is written, and its lock made, as an ADD would. */
static void write_record(struct world *w)
{
	ck_assert_int_eq(record_write(&w->ctx, &w->r, &w->e), 0);
	auto_fd int lock = record_lock(&w->ctx, &w->r.key, true, 1000, &w->e);
	ck_assert_int_ge(lock, 0);
}

static enum repair_state state_of(struct world *w)
{
	auto_record struct record r = { 0 };
	struct repair_view v;

	if (record_read(&w->ctx, &w->r.key, &r, &w->e))
		r = (struct record){ .key = w->r.key };
	ck_assert_int_eq(repair_examine(&w->ctx, &r, &v, &w->e), 0);
	ck_assert_int_eq(*v.why != '\0', v.state != REPAIR_HEALTHY);
	return v.state;
}

static bool is_recorded(struct world *w)
{
	auto_record struct record r = { 0 };

	return record_read(&w->ctx, &w->r.key, &r, &w->e) == 0;
}

static const struct repair_opts gently;

/* Without an IPAM there is nothing to run: the record goes when, and only when, it is stale. */
static void repaired(struct world *w, enum repair_state state)
{
	struct repair_view v;

	write_record(w);
	ck_assert_int_eq(state_of(w), state);
	ck_assert(is_recorded(w));
	ck_assert_int_eq(repair_one(&w->ctx, &w->r.key, &gently, &v, &w->e), 0);
	ck_assert_int_eq(v.state, state);
	ck_assert_int_eq(is_recorded(w), !repair_is_stale(state));
}

/* Somebody may live on it: reported, and undone by force only. */
static void forced(struct world *w, enum repair_state state)
{
	static const struct repair_opts by_force = { .force = true };
	struct repair_view v;

	ck_assert(!repair_is_stale(state) && repair_needs_force(state));
	repaired(w, state);
	ck_assert_int_eq(repair_one(&w->ctx, &w->r.key, &by_force, &v, &w->e), 0);
	ck_assert_int_eq(v.state, state);
	ck_assert(!is_recorded(w));
}

START_TEST(healthy_is_let_alone)
{
	struct world w;

	world_init(&w);
	repaired(&w, REPAIR_HEALTHY);
	world_clear(&w);
}
END_TEST

START_TEST(stale_ones_are_repaired)
{
	struct world w;

	world_init(&w);
	w.r.netns_id.cookie++;
	repaired(&w, REPAIR_NETNS_REPLACED);
	w.r.netns_id.ino = 1;
	repaired(&w, REPAIR_NETNS_REPLACED);
	w.r.netns = "/run/netns/there-is-no-such";
	repaired(&w, REPAIR_NETNS_GONE);
	memset(w.r.boot, '0', 8);
	repaired(&w, REPAIR_EARLIER_BOOT);
	world_clear(&w);
}
END_TEST

START_TEST(what_may_be_lived_on_needs_force)
{
	struct world w;

	world_init(&w);
	w.r.kind = "macvlan";
	forced(&w, REPAIR_LINK_REPLACED);
	w.r.key.ifname = "nope0";
	forced(&w, REPAIR_LINK_GONE);
	w.r.netns = "/run/netns/there-is-no-such";
	forced(&w, REPAIR_NETNS_MOVED);
	w.r.netns_id.ino = 1;
	w.r.from.mnt_ns++;
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	forced(&w, REPAIR_NETNS_UNKNOWN);
	world_clear(&w);
}
END_TEST

/* By its number an interface is found under any name; kind and lower device must fit as well. */
START_TEST(an_interface_is_found_by_its_number)
{
	struct world w;

	world_init(&w);
	net_enter_new();
	auto_netns struct netns self = net_self();
	auto_nl struct nl *nl = net_socket();

	w.r.netns_id = self.id;
	w.r.key.ifname = "net1";
	w.r.kind = "bridge";
	net_link("bridge", "net1");
	w.r.ifindex = net_ifindex(nl, "net1");
	repaired(&w, REPAIR_HEALTHY);
	ck_assert_int_eq(nl_link_move(nl, w.r.ifindex, &self, "net1-nic", &w.e), 0);
	forced(&w, REPAIR_LINK_RENAMED);
	net_link("bridge", "net1"); /* of the same kind, and yet another one */
	w.r.ifindex += 100;
	forced(&w, REPAIR_LINK_REPLACED);
	world_clear(&w);
}
END_TEST

static void add_bridge(struct json *parts, struct nl *nl, const char *name)
{
	struct record part = { .key = { .ifname = name }, .master = "" };

	net_link("bridge", name);
	part.ifindex = net_ifindex(nl, name);
	ck_assert_int_eq(record_add_part(parts, &part), 0);
}

static void delete_bridge(struct world *w, struct nl *nl, const char *name)
{
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, name), &w->e), 0);
}

static void says(struct world *w, enum repair_state state, const char *what)
{
	struct repair_view v;

	ck_assert_int_eq(repair_examine(&w->ctx, &w->r, &v, &w->e), 0);
	ck_assert_str_eq(repair_state_name(v.state), repair_state_name(state));
	ck_assert_msg(strstr(v.why, what), "%s", v.why);
}

/* One DEL takes all interfaces of a record: while one of them is there, not even force does. */
START_TEST(a_lost_interface_is_not_all_of_them)
{
	static const struct repair_opts by_force = { .force = true };
	auto_json struct json *parts = json_new_array();
	struct repair_view v;
	struct world w;

	world_init(&w);
	net_enter_new();
	auto_netns struct netns self = net_self();
	auto_nl struct nl *nl = net_socket();

	w.r.netns_id = self.id;
	w.r.kind = "bridge";
	w.r.parts = parts;
	w.r.key.ifname = "net1";
	add_bridge(parts, nl, "net1");
	add_bridge(parts, nl, "net1r1");
	add_bridge(parts, nl, "net1r2");
	repaired(&w, REPAIR_HEALTHY);
	write_record(&w);
	/* the first one, which has the name of the attachment, is as good as another */
	delete_bridge(&w, nl, "net1");
	says(&w, REPAIR_PARTLY_GONE, "1 of its 3 interfaces in /proc/self/ns/net is lost: net1");
	net_link("bridge", "net1");
	says(&w, REPAIR_PARTLY_GONE, "is lost: net1");
	delete_bridge(&w, nl, "net1r2");
	says(&w, REPAIR_PARTLY_GONE,
	     "2 of its 3 interfaces in /proc/self/ns/net are lost: net1, net1r2");
	ck_assert(!repair_is_stale(REPAIR_PARTLY_GONE) && !repair_needs_force(REPAIR_PARTLY_GONE));
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &by_force, &v, &w.e), 0);
	ck_assert_int_eq(v.state, REPAIR_PARTLY_GONE);
	ck_assert(is_recorded(&w));
	ck_assert_int_ne(net_ifindex(nl, "net1r1"), 0);
	ck_assert_int_eq(nl_link_move(nl, net_ifindex(nl, "net1r1"), &self, "mine", &w.e), 0);
	says(&w, REPAIR_PARTLY_GONE, "2 of its 3 interfaces");
	delete_bridge(&w, nl, "mine");
	says(&w, REPAIR_LINK_REPLACED, "all its 3 interfaces in /proc/self/ns/net are lost");
	delete_bridge(&w, nl, "net1");
	forced(&w, REPAIR_LINK_GONE);
	world_clear(&w);
}
END_TEST

/* Killed between the making of the interface and its addresses. */
START_TEST(an_unfinished_add_is_repaired)
{
	struct world w;

	world_init(&w);
	w.r.adding = true;
	w.r.key.ifname = "lo";
	write_record(&w);
	/* while it runs it is not looked at too closely */
	int lock = record_lock(&w.ctx, &w.r.key, true, 0, &w.e);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(state_of(&w), REPAIR_BUSY);
	(void)close(lock);
	ck_assert_int_eq(state_of(&w), REPAIR_UNFINISHED);
	ck_assert(repair_is_stale(REPAIR_UNFINISHED));
	w.r.adding = false;
	w.r.deleting = true;
	write_record(&w);
	ck_assert_int_eq(state_of(&w), REPAIR_UNFINISHED);
	w.r.deleting = false;
	write_record(&w);
	ck_assert_int_eq(state_of(&w), REPAIR_HEALTHY);
	world_clear(&w);
}
END_TEST

START_TEST(an_unreadable_record_stays)
{
	struct world w;
	struct repair_view v;
	char path[128];

	world_init(&w);
	w.r.key.ifname = "nope0";
	write_record(&w);
	for (const char *dir = ""; dir; dir = *dir ? NULL : "/attachments/net-a") {
		(void)snprintf(path, sizeof(path), "%s%s", w.dir, dir);
		ck_assert_int_eq(chmod(path, 0755), 0);
	}
	(void)snprintf(path, sizeof(path), "%s/attachments", w.dir);
	ck_assert_int_eq(chmod(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/lock", w.dir);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &gently, &v, &w.e), -1);
	ck_assert_int_eq(w.e.errnum, EACCES);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert(is_recorded(&w));
	world_clear(&w);
}
END_TEST

START_TEST(what_cannot_be_told_is_let_alone)
{
	struct world w;

	world_init(&w);
	w.r.key.ifname = "nope0";
	w.r.netns = "/tmp"; /* no namespace, but ours is the one, and alive */
	forced(&w, REPAIR_NETNS_MOVED);
	w.r.netns_id.ino = 0;
	forced(&w, REPAIR_NETNS_UNKNOWN);
	world_clear(&w);
}
END_TEST

START_TEST(damaged_records_are_removed)
{
	struct world w;
	struct repair_view v;
	char path[128];

	world_init(&w);
	write_record(&w);
	(void)snprintf(path, sizeof(path), "%s/attachments/net-a/c1,lo", w.dir);
	ck_assert_int_eq(truncate(path, 10), 0);
	ck_assert_int_eq(state_of(&w), REPAIR_DAMAGED);
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &gently, &v, &w.e), 0);
	ck_assert_int_eq(v.state, REPAIR_DAMAGED);
	ck_assert_int_ne(access(path, F_OK), 0);
	world_clear(&w);
}
END_TEST

START_TEST(another_ones_record_is_let_alone)
{
	struct world w;
	struct repair_view v;
	char path[128], other[128];

	world_init(&w);
	w.r.key.ifname = "nope0"; /* stale, were it that of c1 */
	write_record(&w);
	(void)snprintf(path, sizeof(path), "%s/attachments/net-a/c1,nope0", w.dir);
	(void)snprintf(other, sizeof(other), "%s/attachments/net-a/c2,nope0", w.dir);
	ck_assert_int_eq(rename(path, other), 0);
	w.r.key.container = "c2";
	ck_assert_int_eq(state_of(&w), REPAIR_UNKNOWN);
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &gently, &v, &w.e), 0);
	ck_assert_int_eq(v.state, REPAIR_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(v.why, other));
	ck_assert_int_eq(access(other, F_OK), 0);
	world_clear(&w);
}
END_TEST

START_TEST(the_lock_is_respected)
{
	struct world w;

	world_init(&w);
	w.r.key.ifname = "nope0";
	write_record(&w);
	int lock = record_lock(&w.ctx, &w.r.key, true, 0, &w.e);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(state_of(&w), REPAIR_BUSY);
	(void)close(lock);
	ck_assert_int_eq(state_of(&w), REPAIR_LINK_GONE);
	lock = record_lock(&w.ctx, &w.r.key, true, 0, &w.e);
	ck_assert_int_eq(state_of(&w), REPAIR_BUSY);
	(void)close(lock);
	world_clear(&w);
}
END_TEST

START_TEST(one_that_went_meanwhile_is_gone)
{
	struct world w;
	struct repair_view v;

	world_init(&w);
	write_record(&w);
	ck_assert_int_eq(record_remove(&w.ctx, &w.r.key, &w.e), 0);
	ck_assert_int_eq(state_of(&w), REPAIR_GONE);
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &gently, &v, &w.e), 0);
	ck_assert_int_eq(v.state, REPAIR_GONE);
	ck_assert(!repair_is_stale(v.state));
	world_clear(&w);
}
END_TEST

/* Another ADD may have had the name since somebody looked. */
START_TEST(a_record_that_changed_since_is_left_alone)
{
	struct world w;
	struct repair_view v;
	struct repair_opts how = { .force = false };

	world_init(&w);
	memset(w.r.boot, '0', 8);
	how.mark = record_mark(&w.r);
	w.r.created = INT64_C(1000000000);
	ck_assert(record_mark(&w.r) != how.mark);
	write_record(&w);
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &how, &v, &w.e), 0);
	ck_assert_int_eq(v.state, REPAIR_BUSY);
	ck_assert(is_recorded(&w));
	how.mark = record_mark(&w.r);
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &how, &v, &w.e), 0);
	ck_assert_int_eq(v.state, REPAIR_EARLIER_BOOT);
	ck_assert(!is_recorded(&w));
	world_clear(&w);
}
END_TEST

START_TEST(a_failing_ipam_keeps_the_record)
{
	static const char config[] =
		"{\"cniVersion\":\"1.0.0\",\"name\":\"net-a\",\"type\":\"macvlan\","
		"\"ipam\":{\"type\":\"no-such-ipam\"}}";
	struct world w;
	struct repair_view v;
	auto_json struct json *tree = NULL;

	world_init(&w);
	ck_assert_int_eq(json_parse(config, strlen(config), "test", &tree, &w.e), 0);
	w.r.config = tree;
	w.r.key.ifname = "nope0";
	w.r.adding = true;
	w.r.cni_path = "/nowhere";
	write_record(&w);
	ck_assert_str_eq(repair_ipam_type(&w.r), "no-such-ipam");
	ck_assert_int_eq(repair_one(&w.ctx, &w.r.key, &gently, &v, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_DELEGATE);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "/nowhere"));
	ck_assert(is_recorded(&w));
	world_clear(&w);
}
END_TEST

START_TEST(states_have_names)
{
	for (int s = REPAIR_HEALTHY; s <= REPAIR_DAMAGED; s++)
		ck_assert_ptr_nonnull(repair_state_name((enum repair_state)s));
	ck_assert_str_eq(repair_state_name(REPAIR_NETNS_GONE), "netns-gone");
}
END_TEST

TEST_PROGRAM("cni/engine/repair", healthy_is_let_alone, stale_ones_are_repaired,
	     a_record_that_changed_since_is_left_alone, what_may_be_lived_on_needs_force,
	     an_interface_is_found_by_its_number, a_lost_interface_is_not_all_of_them,
	     an_unfinished_add_is_repaired, an_unreadable_record_stays,
	     what_cannot_be_told_is_let_alone, damaged_records_are_removed,
	     another_ones_record_is_let_alone, the_lock_is_respected,
	     one_that_went_meanwhile_is_gone, a_failing_ipam_keeps_the_record, states_have_names)
