/* SPDX-License-Identifier: Apache-2.0 */
/*
 * staged_test.c: shows that an interface made on the host is found and removed wherever it turns
 * up, and no other. A macvlan stands in for a child of IPoIB, which no test machine has; the test
 * moves it back as the kernel does.
 */
#include "cni/engine/staged.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define RUN   "/mnt/run"
#define OUT   "/mnt/out"
#define ALIAS "railhead:net/c1/net1"

static const struct record_key key = { "net", "c1", "net1" };

/* ---- a host and a pod ---- */

static bool fails_after_create;

static int make(struct attach *a, struct err *e)
{
	const struct link_spec spec = { .data.macvlan.mode = MACVLAN_BRIDGE };

	if (staged_create(a, spec, e))
		return -1;
	return fails_after_create ? err_set(e, ERR_KERNEL, 0, "it fails") : 0;
}

static const struct attach_type maker = {
	.name = "maker",
	.role = ATTACH_MAKES,
	.kind = "macvlan",
	.create = make,
	.restore = staged_restore,
	.release = staged_release,
	.sweep = staged_sweep_network,
};

static struct testing_world world(void)
{
	struct testing_world w = testing_world(RUN);

	net_veth("up2", "up2-peer", NULL);
	return w;
}

static int call(const struct testing_world *w, enum cni_command cmd, const char *keys,
		struct err *e)
{
	bool pod = cmd != CNI_GC && cmd != CNI_STATUS;
	struct cni_call c = {
		.ctx = w->ctx,
		.env = { .cmd = cmd,
			 .container = pod ? key.container : "",
			 .netns = pod && w->pod.fd >= 0 ? w->netns : "",
			 .ifname = pod ? key.ifname : "",
			 .path = "",
			 .args = "" },
	};
	char *conf;

	ck_assert_int_gt(asprintf(&conf,
				  "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"maker\","
				  "\"master\":\"up\"%s%s}",
				  *keys ? "," : "", keys),
			 0);
	return testing_call(&maker, &c, conf, OUT, e);
}

static void succeeds(const struct testing_world *w, enum cni_command cmd, const char *keys)
{
	struct err e = { 0 };

	ck_assert_msg(call(w, cmd, keys, &e) == 0, "%s (%s)", e.msg, e.detail);
}

/* Whether there is an interface of that name; *out is what it is. */
static bool there(struct nl *nl, const char *name, struct link_info *out)
{
	struct err e;

	return nl_link_by_name(nl, name, out, &e) == 0;
}

static bool on_host(const char *name)
{
	auto_nl struct nl *nl = net_socket();
	struct link_info link;

	return there(nl, name, &link);
}

static int count_link(const struct link_info *link, void *arg)
{
	(void)link;
	++*(size_t *)arg;
	return 0;
}

static size_t macvlans_on_host(void)
{
	auto_nl struct nl *nl = net_socket();
	struct err e;
	size_t n = 0;

	ck_assert_int_eq(nl_link_each(nl, "macvlan", count_link, &n, &e), 0);
	return n;
}

/* A macvlan of the host on that device, with that alias. */
static void make_on_host(const char *name, const char *lower, const char *alias)
{
	auto_nl struct nl *nl = net_socket();
	struct err e = { 0 };
	const struct link_spec spec = { .kind = "macvlan",
					.name = name,
					.lower_ifindex = net_ifindex(nl, lower),
					.data.macvlan.mode = MACVLAN_BRIDGE };

	ck_assert_msg(nl_link_create(nl, &spec, &e) == 0, "%s", e.msg);
	if (alias)
		ck_assert_int_eq(nl_link_set_alias(nl, net_ifindex(nl, name), alias, &e), 0);
}

/* The kernel's part when a namespace dies. */
static void hand_back(const struct netns *from, const char *name)
{
	auto_netns struct netns host = net_self();
	auto_nl struct nl *nl = net_socket_in(from);
	struct err e = { 0 };

	ck_assert_msg(nl_link_move(nl, net_ifindex(nl, "net1"), &host, name, &e) == 0, "%s", e.msg);
}

static void pod_dies(struct testing_world *w)
{
	netns_close(&w->pod);
	w->pod.fd = -1;
}

/* ---- ADD ---- */

START_TEST(made_on_the_host_and_moved)
{
	struct testing_world w = world();
	struct link_info link;

	succeeds(&w, CNI_ADD, "\"mtu\":1400");
	auto_nl struct nl *nl = net_socket_in(&w.pod), *host = net_socket();
	ck_assert(there(nl, "net1", &link));
	ck_assert_str_eq(link.alias, ALIAS);
	ck_assert_str_eq(link.kind, "macvlan");
	ck_assert_uint_eq(link.mtu, 1400);
	ck_assert_int_eq(link.lower_ifindex, net_ifindex(host, "up"));
	ck_assert_uint_eq(macvlans_on_host(), 0);
	succeeds(&w, CNI_DEL, "");
	ck_assert(!there(nl, "net1", &link));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

START_TEST(the_master_may_be_in_the_container)
{
	struct testing_world w = world();
	auto_netns struct netns host = net_self();
	struct link_info link;
	struct err e = { 0 };

	ck_assert_int_eq(netns_enter(&w.pod, &e), 0);
	net_veth("up", "up-peer", NULL);
	ck_assert_int_eq(netns_enter(&host, &e), 0);
	succeeds(&w, CNI_ADD, "\"linkInContainer\":true,\"mtu\":1300");
	auto_nl struct nl *nl = net_socket_in(&w.pod);
	ck_assert(there(nl, "net1", &link));
	ck_assert_str_eq(link.alias, ALIAS);
	ck_assert_uint_eq(link.mtu, 1300);
	succeeds(&w, CNI_DEL, "");
	ck_assert(!there(nl, "net1", &link));
}
END_TEST

START_TEST(a_failing_ADD_leaves_nothing)
{
	struct testing_world w = world();
	auto_nl struct nl *nl = net_socket_in(&w.pod);
	struct link_info link;
	struct err e = { 0 };

	fails_after_create = true;
	ck_assert_int_eq(call(&w, CNI_ADD, "", &e), -1);
	fails_after_create = false;
	ck_assert_ptr_nonnull(strstr(e.msg, "it fails"));
	ck_assert(!there(nl, "net1", &link));
	ck_assert_uint_eq(macvlans_on_host(), 0);
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

/* What a killed ADD left on the host under our name is ours. */
START_TEST(an_ADD_after_one_that_was_killed)
{
	char name[IFNAME_LEN];
	struct testing_world w = world();

	staged_name(&key, name);
	make_on_host(name, "up", NULL);
	succeeds(&w, CNI_ADD, "");
	ck_assert_uint_eq(macvlans_on_host(), 0);
}
END_TEST

START_TEST(a_name_that_another_one_has_on_the_host)
{
	char name[IFNAME_LEN];
	struct testing_world w = world();
	struct err e = { 0 };

	staged_name(&key, name);
	make_on_host(name, "up", "somebody's");
	ck_assert_int_eq(call(&w, CNI_ADD, "", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, name));
	ck_assert(on_host(name));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

/* ---- DEL ---- */

START_TEST(a_killed_ADD_is_undone)
{
	char name[IFNAME_LEN];
	struct testing_world w = world();

	staged_name(&key, name);
	for (int marked = 0; marked < 2; marked++) {
		auto_nl struct nl *nl = net_socket();
		struct record r = { .adding = true,
				    .key = key,
				    .plugin = "maker",
				    .kind = "macvlan",
				    .netns = w.netns,
				    .netns_id = w.pod.id,
				    .master = "up",
				    .lower_ifindex = net_ifindex(nl, "up") };
		struct err e = { 0 };

		ck_assert_int_eq(ctx_boot_id(&w.ctx, r.boot, &e), 0);
		ck_assert_int_eq(record_write(&w.ctx, &r, &e), 0);
		make_on_host(name, "up", marked ? ALIAS : NULL);
		succeeds(&w, CNI_DEL, "");
		ck_assert_uint_eq(macvlans_on_host(), 0);
	}
}
END_TEST

START_TEST(one_that_the_kernel_handed_back)
{
	struct testing_world w = world();
	struct err e = { 0 };

	succeeds(&w, CNI_ADD, "");
	hand_back(&w.pod, "dev7");
	pod_dies(&w);
	/* Of another attachment, of no attachment, on another device, and of another kind. */
	make_on_host("other", "up", "railhead:net/c2/net1");
	make_on_host("plain", "up", NULL);
	make_on_host("elsewhere", "up2", ALIAS);
	auto_nl struct nl *nl = net_socket();
	ck_assert_int_eq(nl_link_set_alias(nl, net_ifindex(nl, "up2"), ALIAS, &e), 0);
	succeeds(&w, CNI_DEL, "");
	ck_assert(!on_host("dev7"));
	ck_assert(on_host("other") && on_host("plain") && on_host("elsewhere") && on_host("up2"));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

/* It comes while DEL waits, or before. */
START_TEST(one_that_is_handed_back_late)
{
	const struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };
	struct testing_world w = world();
	auto_netns struct netns limbo = net_another();
	auto_nl struct nl *nl = net_socket_in(&w.pod);
	struct err e = { 0 };
	int status;

	succeeds(&w, CNI_ADD, "");
	ck_assert_int_eq(nl_link_move(nl, net_ifindex(nl, "net1"), &limbo, "net1", &e), 0);
	nl_release(TAKE_PTR(nl));
	pod_dies(&w);
	pid_t child = fork();
	if (child == 0) {
		(void)nanosleep(&nap, NULL);
		hand_back(&limbo, "dev7");
		/* One that ends while DEL searches all processes hides what it holds. */
		(void)pause();
		_exit(0);
	}
	succeeds(&w, CNI_DEL, "");
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(!on_host("dev7"));
}
END_TEST

/* Then its interfaces have gone, too, and DEL does not wait for one. */
START_TEST(the_master_has_gone)
{
	struct testing_world w = world();
	auto_nl struct nl *nl = net_socket();
	struct err e = { 0 };

	succeeds(&w, CNI_ADD, "");
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, "up"), &e), 0);
	pod_dies(&w);
	int64_t begun = ctx_mono_ms();
	succeeds(&w, CNI_DEL, "");
	ck_assert_int_lt(ctx_mono_ms() - begun, 1500);
}
END_TEST

START_TEST(the_pod_has_changed_the_alias)
{
	struct testing_world w = world();
	auto_nl struct nl *nl = net_socket_in(&w.pod);
	struct link_info link;
	struct err e = { 0 };

	succeeds(&w, CNI_ADD, "");
	ck_assert_int_eq(nl_link_set_alias(nl, net_ifindex(nl, "net1"), "the pod's", &e), 0);
	succeeds(&w, CNI_DEL, "");
	ck_assert(!there(nl, "net1", &link));
}
END_TEST

START_TEST(DEL_without_a_record)
{
	struct testing_world w = world();

	make_on_host("dev7", "up", ALIAS);
	make_on_host("dev8", "up", "railhead:net/c2/net1");
	succeeds(&w, CNI_DEL, "");
	ck_assert(!on_host("dev7") && on_host("dev8"));
}
END_TEST

/* ---- GC ---- */

START_TEST(what_no_record_knows_is_swept)
{
	char name[IFNAME_LEN];
	struct testing_world w = world();

	succeeds(&w, CNI_ADD, "");
	hand_back(&w.pod, "dev7"); /* it has a record, and GC's list names it */
	make_on_host("dev8", "up", "railhead:net/c2/net1");
	make_on_host("dev9", "up", "railhead:net2/c2/net1");
	make_on_host("plain", "up", "railhead");
	staged_name(&(struct record_key){ "net", "c3", "net1" }, name);
	make_on_host(name, "up", "railhead:net/c3/net1"); /* an ADD is at work on it */
	succeeds(&w, CNI_GC,
		 "\"cni.dev/valid-attachments\":[{\"containerID\":\"c1\",\"ifname\":\"net1\"}]");
	ck_assert(!on_host("dev8"));
	ck_assert(on_host("dev7") && on_host("dev9") && on_host("plain") && on_host(name));
	succeeds(&w, CNI_GC, "\"cni.dev/valid-attachments\":[]");
	ck_assert(!on_host("dev7"));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

static int choose_dev9(const struct link_info *link, void *arg)
{
	(void)count_link(link, arg);
	return strcmp(link->name, "dev9") == 0;
}

START_TEST(a_sweep_of_all_networks_asks)
{
	struct testing_world w = world();
	size_t n = 0;
	const struct staged_orphans all = { .kind = "macvlan", .chosen = choose_dev9, .arg = &n };
	struct err e = { 0 };

	make_on_host("dev8", "up", "railhead:net/c2/net1");
	make_on_host("dev9", "up", "railhead:net2/c2/net1");
	make_on_host("plain", "up", "mine");
	ck_assert_int_eq(staged_sweep(&w.ctx, &all, &e), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert(on_host("dev8") && !on_host("dev9") && on_host("plain"));
}
END_TEST

/* ---- names ---- */

START_TEST(names_and_aliases_differ)
{
	char longest[512], alias[2][LINK_ALIAS_LEN], name[2][IFNAME_LEN];
	struct record_key x = { "net", longest, "net1" };

	memset(longest, 'c', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	for (size_t i = 0; i < 2; i++) {
		staged_alias(&x, alias[i]);
		staged_name(&x, name[i]);
		longest[400] = 'd';
		ck_assert_uint_lt(strlen(alias[i]), LINK_ALIAS_LEN);
		ck_assert_uint_eq(strlen(name[i]), IFNAME_LEN - 1);
		ck_assert_ptr_null(ifname_problem(name[i]));
		ck_assert_int_eq(strncmp(alias[i], "railhead:net/#", 14), 0);
	}
	ck_assert_str_ne(alias[0], alias[1]);
	ck_assert_str_ne(name[0], name[1]);
	staged_alias(&key, alias[0]);
	ck_assert_str_eq(alias[0], ALIAS);
}
END_TEST

TEST_PROGRAM("staged", made_on_the_host_and_moved, the_master_may_be_in_the_container,
	     a_failing_ADD_leaves_nothing, an_ADD_after_one_that_was_killed,
	     a_name_that_another_one_has_on_the_host, a_killed_ADD_is_undone,
	     one_that_the_kernel_handed_back, one_that_is_handed_back_late, the_master_has_gone,
	     the_pod_has_changed_the_alias, DEL_without_a_record, what_no_record_knows_is_swept,
	     a_sweep_of_all_networks_asks, names_and_aliases_differ)
