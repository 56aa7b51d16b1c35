// SPDX-License-Identifier: Apache-2.0
/* Shows which files of masters stay and which go, on a kernel that needs no VLAN for that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define OTHER_BOOT "01234567-89ab-cdef-0123-456789abcdef"

static const struct record_key one = { "net-a", "c1", "net1" }, two = { "net-a", "c2", "net1" };

static int64_t no_time(void *clock)
{
	(void)clock;
	return 0;
}

static struct ctx make_ctx(void)
{
	static char run[80];

	net_enter_new();
	(void)snprintf(run, sizeof(run), "%s/run", testing_dir());
	return (struct ctx){ .sysfs = "/nonesuch",
			     .proc = "/proc",
			     .run_dir = run,
			     .now = no_time,
			     .log = { .fd = -1, .level = LOG_LEVEL_INFO, .tag = "test" } };
}

/* The file of a VLAN whose number no interface has. */
static void write_state(const struct ctx *ctx, const struct record_key *const *users, size_t n)
{
	auto_demand_store struct demand_store store = DEMAND_CLOSED;
	auto_demand_state struct demand_state s = {
		.link = { .kind = DEMAND_VLAN,
			  .name = "eth1.120",
			  .ifindex = 0x1234567,
			  .n = 1,
			  .lower = { { .name = "eth1", .ifindex = 0x1234566, .mtu = 1500 } } }
	};
	auto_netns struct netns here = net_self();
	struct err e;

	ck_assert_int_eq(ctx_boot_id(ctx, s.boot, &e), 0);
	s.netns = here.id;
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(demand_add_user(&s, users[i], &e), 0);
	ck_assert_int_eq(demand_open(ctx, true, &store, &e), 1);
	ck_assert_int_eq(demand_write(store.dir, &s, &e), 0);
}

static bool has_folder(const struct ctx *ctx)
{
	char path[120];

	(void)snprintf(path, sizeof(path), "%s/" DEMAND_FOLDER, ctx->run_dir);
	return access(path, F_OK) == 0;
}

static void put(const struct ctx *ctx, const char *text)
{
	char path[120];

	(void)snprintf(path, sizeof(path), "%s/" DEMAND_FOLDER "/eth1.120.json", ctx->run_dir);
	testing_file(path, 0600, text);
}

START_TEST(without_a_folder_nothing_happens)
{
	const struct ctx ctx = make_ctx();
	struct err e;

	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert_int_ne(access(ctx.run_dir, F_OK), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 0);
}
END_TEST

START_TEST(the_last_user_takes_the_file_along)
{
	static const struct record_key *const both[] = { &one, &two };
	const struct ctx ctx = make_ctx();
	struct err e;

	write_state(&ctx, both, 2);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 2);
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 1);
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 1);
	ck_assert_int_eq(demand_give(&ctx, &two, &e), 0);
	ck_assert(!has_folder(&ctx));
}
END_TEST

/* A user that has a record, readable or not, keeps the master. */
START_TEST(a_sweep_drops_users_without_a_record)
{
	static const struct record_key *const both[] = { &one, &two };
	const struct ctx ctx = make_ctx();
	const struct record r = { .key = one,
				  .plugin = "macvlan",
				  .kind = "macvlan",
				  .netns = "/nonesuch",
				  .master = "",
				  .cni_path = "",
				  .args = "",
				  .boot = OTHER_BOOT };
	char path[160];
	struct err e;

	write_state(&ctx, both, 2);
	ck_assert_int_eq(record_write(&ctx, &r, &e), 0);
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 1);
	(void)snprintf(path, sizeof(path), "%s/attachments/net-a/c1,net1", ctx.run_dir);
	testing_file(path, 0600, "nonsense");
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 1);
	ck_assert_int_eq(record_remove(&ctx, &one, &e), 0);
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert(!has_folder(&ctx));
}
END_TEST

START_TEST(a_file_that_cannot_be_read_stays)
{
	static const struct record_key *const both[] = { &one };
	const struct ctx ctx = make_ctx();
	struct err e;

	write_state(&ctx, both, 1);
	put(&ctx, "nonsense");
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert(has_folder(&ctx));
}
END_TEST

/* Its file names it in the log, for people. */
START_TEST(a_file_that_cannot_be_read_does_not_hold_the_others)
{
	static const struct record_key *const both[] = { &one, &two };
	struct ctx ctx = make_ctx();
	int said[2];
	char path[120], text[512];
	struct err e;

	ck_assert_int_eq(pipe(said), 0);
	ctx.log.fd = said[1];
	write_state(&ctx, both, 2);
	(void)snprintf(path, sizeof(path), "%s/" DEMAND_FOLDER "/eth1.119.json", ctx.run_dir);
	testing_file(path, 0600, "nonsense");
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 1);
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 0);
	ck_assert(has_folder(&ctx));
	const ssize_t n = read(said[0], text, sizeof(text) - 1);

	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_msg(strstr(text, "masters/eth1.119.json") != NULL, "%s", text);
}
END_TEST

START_TEST(another_namespace_cannot_see_it_and_another_boot_ended_it)
{
	static const struct record_key *const both[] = { &one };
	const struct ctx ctx = make_ctx();
	struct err e;

	write_state(&ctx, both, 1);
	net_enter_new();
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert(has_folder(&ctx));
	put(&ctx, "{\"version\":1,\"name\":\"eth1.120\",\"kind\":\"vlan\",\"boot\":\"" OTHER_BOOT
		  "\",\"ifindex\":9,\"lower\":[{\"name\":\"a\",\"ifindex\":5,\"up\":true}],"
		  "\"users\":[{\"network\":\"n\",\"container\":\"c\",\"ifname\":\"net1\"}]}");
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert(!has_folder(&ctx));
}
END_TEST

/* The next call could not read it: nothing would be removed any more. */
START_TEST(a_file_too_long_to_be_read_is_not_written)
{
	static const struct record_key *const both[] = { &one };
	const struct ctx ctx = make_ctx();
	auto_demand_store struct demand_store store = DEMAND_CLOSED;
	auto_demand_state struct demand_state s = { .users = NULL };
	struct err e = { .msg = "" };
	char network[512], container[8];

	write_state(&ctx, both, 1);
	ck_assert_int_eq(demand_open(&ctx, true, &store, &e), 1);
	ck_assert_int_eq(demand_read(store.dir, "eth1.120", &s, &e), 1);
	memset(network, 'n', sizeof(network) - 1);
	network[sizeof(network) - 1] = '\0';
	for (unsigned i = 0; i < 2000; i++) {
		(void)snprintf(container, sizeof(container), "c%u", i);
		const struct record_key key = { network, container, "net1" };

		ck_assert_int_eq(demand_add_user(&s, &key, &e), 0);
	}
	ck_assert_int_eq(demand_write(store.dir, &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_msg(strstr(e.msg, "masters/eth1.120.json: with 2001 users") != NULL, "%s", e.msg);
	ck_assert_uint_eq(demand_users(&ctx, "eth1.120"), 1);
}
END_TEST

START_TEST(a_file_under_another_name_is_not_used)
{
	const struct ctx ctx = make_ctx();
	auto_demand_state struct demand_state s = { .users = NULL };
	struct err e;

	write_state(&ctx, NULL, 0);
	ck_assert_int_eq(demand_peek(&ctx, "eth1.120", &s, &e), 1);
	put(&ctx, "{\"version\":1,\"name\":\"eth2.120\",\"kind\":\"vlan\",\"boot\":\"" OTHER_BOOT
		  "\",\"ifindex\":9,\"lower\":[{\"name\":\"a\",\"ifindex\":5,\"up\":true}],"
		  "\"users\":[]}");
	ck_assert_int_eq(demand_peek(&ctx, "eth1.120", &s, &e), -1);
	ck_assert_int_eq(demand_peek(&ctx, "eth9", &s, &e), 0);
}
END_TEST

/* The interface below would take no pod, and drop what it receives. */
static void leave_question(const struct ctx *ctx)
{
	auto_demand_store struct demand_store store = DEMAND_CLOSED;
	auto_nl struct nl *nl = net_socket();
	struct link_info link;
	char why[64];
	struct err e;

	ck_assert_int_eq(nl_link_by_name(nl, "up0", &link, &e), 0);
	ck_assert_int_eq(demand_open(ctx, true, &store, &e), 1);
	ck_assert_int_eq(demand_hold(nl, &link, 0, why, &e), 0);
	/* as a killed process leaves the folder */
	(void)close(TAKE_FD(store.dir));
}

static bool has_question(void)
{
	return system("ip -o link show type macvlan | grep -q rhask") == 0;
}

START_TEST(a_question_that_was_killed_is_taken_back)
{
	static const struct record_key *const users[] = { &two };
	const struct ctx ctx = make_ctx();
	struct err e;

	net_veth("up0", "peer0", NULL);
	leave_question(&ctx);
	ck_assert(has_folder(&ctx) && has_question());
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert(!has_folder(&ctx) && !has_question());
	leave_question(&ctx);
	write_state(&ctx, users, 1);
	ck_assert_int_eq(demand_give(&ctx, &one, &e), 0);
	ck_assert(has_question());
	ck_assert_int_eq(demand_sweep(&ctx, &e), 0);
	ck_assert(!has_question());
}
END_TEST

TEST_PROGRAM("cni/uplink/demand", a_question_that_was_killed_is_taken_back,
	     without_a_folder_nothing_happens, the_last_user_takes_the_file_along,
	     a_sweep_drops_users_without_a_record, a_file_that_cannot_be_read_stays,
	     a_file_that_cannot_be_read_does_not_hold_the_others,
	     another_namespace_cannot_see_it_and_another_boot_ended_it,
	     a_file_too_long_to_be_read_is_not_written, a_file_under_another_name_is_not_used)
