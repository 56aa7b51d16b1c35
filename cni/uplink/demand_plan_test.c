// SPDX-License-Identifier: Apache-2.0
/* Shows that a look finds what is there, also while interfaces come and go. */
#include <errno.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define BOND "{\"bond\":[\"om0\",\"om1\"],\"mode\":\"active-backup\",\"name\":\"ob0\"}"
#define VLAN "{\"vlan\":120,\"of\":\"eth1\"}"

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

static struct ctx make_ctx(void)
{
	static char dir[80];

	(void)snprintf(dir, sizeof(dir), "%s/run", testing_dir());
	return (struct ctx){ .sysfs = "/nonesuch",
			     .proc = "/proc",
			     .run_dir = dir,
			     .log = { .fd = -1, .level = LOG_LEVEL_INFO, .tag = "test" } };
}

/* A kernel that answers one request after the other. */
struct kernel {
	struct net_fake fake;
	uint32_t seq;
};

static void says(struct kernel *k, const struct link_info *link)
{
	const struct hw_addr none = { 0 };

	net_say_link(&k->fake, ++k->seq, link, &none);
	net_ack(&k->fake, k->seq, 0);
}

static void has_none(struct kernel *k)
{
	net_ack(&k->fake, ++k->seq, ENODEV);
}

/* Nothing stands on a member, and it has neither address nor route. */
static void says_free(struct kernel *k)
{
	for (int lists = 0; lists < 5; lists++)
		net_done(&k->fake, ++k->seq);
}

/* Two members; the bond has the number upper, or 0 for each that is free. */
static void says_members(struct kernel *k, int upper0, int upper1)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 7 };
	struct link_info link = { .ifindex = 5,
				  .name = "om0",
				  .mtu = 1500,
				  .type = ARPHRD_ETHER,
				  .upper_ifindex = upper0 };

	link.addr = hw_addr_of_mac(mac);
	says(k, &link);
	link.ifindex = 6;
	link.upper_ifindex = upper1;
	(void)strcpy(link.name, "om1");
	says(k, &link);
}

static int plan_of(struct kernel *k, struct demand_plan *plan, struct err *e)
{
	const struct ctx ctx = make_ctx();
	struct master_place place = { .ctx = &ctx, .nl = k->fake.nl, .where = "on this host" };
	auto_json struct json *object = NULL;
	struct demand_conf conf;

	ck_assert_int_eq(json_parse(BOND, strlen(BOND), "master", &object, e), 0);
	ck_assert_int_eq(demand_read_conf(object, &conf, e), 0);
	int rc = demand_make_plan(&place, &conf, plan, e);

	nl_release(k->fake.nl);
	(void)close(k->fake.peer);
	return rc;
}

START_TEST(a_bond_that_ends_during_the_look_is_not_there)
{
	static const int upper[][2] = { { 9, 9 }, { 9, 0 }, { 0, 9 } };

	for (size_t i = 0; i < ARRAY_SIZE(upper); i++) {
		struct kernel k = { .fake = net_fake() };
		struct demand_plan plan;
		struct err e = { .msg = "" };

		says_members(&k, upper[i][0], upper[i][1]);
		has_none(&k); /* number 9 */
		says_members(&k, 0, 0);
		has_none(&k); /* ob0 */
		says_free(&k);
		says_free(&k);
		ck_assert_msg(plan_of(&k, &plan, &e) == 0, "%s", e.msg);
		ck_assert(plan.n == 1 && !plan.there[0] && plan.link[0].n == 2);
	}
}
END_TEST

START_TEST(a_bond_of_others_is_refused_at_once)
{
	struct kernel k = { .fake = net_fake() };
	const struct link_info other = { .ifindex = 9, .name = "bond9", .kind = "bond" };
	struct demand_plan plan;
	struct err e = { .msg = "" };

	says_members(&k, 9, 0);
	says(&k, &other);
	has_none(&k);
	says_free(&k);
	ck_assert_int_eq(plan_of(&k, &plan, &e), -1);
	ck_assert_msg(strstr(e.msg, "bond[0]: interface om0 is a member of another") != NULL, "%s",
		      e.msg);
}
END_TEST

/* It has the lock while it takes a master away, as a DEL. */
static pid_t remover(const struct ctx *ctx, const char *command)
{
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	const pid_t child = fork();

	if (child == 0) {
		auto_demand_store struct demand_store store = DEMAND_CLOSED;
		struct err e;
		int rc = demand_open(ctx, true, &store, &e) == 1 && write(ready[1], "", 1) == 1;

		(void)usleep(200000);
		rc = rc && system(command) == 0;
		demand_close(&store);
		_exit(rc ? 0 : 1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	return child;
}

START_TEST(the_look_of_an_ADD_may_meet_the_end_of_a_master)
{
	struct ctx ctx = make_ctx();
	auto_json struct json *object = NULL;
	struct link_info link;
	struct err e = { .msg = "" };
	int status;

	net_enter_new();
	net_veth("eth1", "peer1", NULL);
	/* in the place of a VLAN that is half gone: the look takes it for a wrong one */
	net_link("bridge", "eth1.120");
	auto_nl struct nl *nl = net_socket();
	struct master_place place = { .ctx = &ctx, .nl = nl, .where = "on this host" };

	ck_assert_int_eq(json_parse(VLAN, strlen(VLAN), "master", &object, &e), 0);
	ck_assert_int_eq(demand_find(&place, object, DEMAND_MAY_BE_MADE, &link, &e), -1);
	ck_assert_msg(strstr(e.msg, "is of kind \"bridge\"") != NULL, "%s", e.msg);

	const pid_t child = remover(&ctx, "ip link del eth1.120");
	int rc = demand_find(&place, object, DEMAND_MAY_BE_MADE, &link, &e);

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(rc == 0, "%s", e.msg);
	ck_assert_str_eq(link.name, "eth1.120");
	run("! ip link show eth1.120 2>/dev/null");
}
END_TEST

TEST_PROGRAM("cni/uplink/demand_plan", a_bond_that_ends_during_the_look_is_not_there,
	     a_bond_of_others_is_refused_at_once, the_look_of_an_ADD_may_meet_the_end_of_a_master)
