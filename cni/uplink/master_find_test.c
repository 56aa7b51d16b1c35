// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel that each form of a candidate is found, and what is said of absent ones.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cni/uplink/master.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define ALTNAME "a-name-of-a-card-that-is-longer-than-fifteen-bytes"

struct world {
	struct ctx ctx;
	struct master_place place;
	char etc[64];
};

static void world_clear(struct world *w)
{
	nl_release(w->place.nl);
}
#define auto_world auto_clean(world_clear)

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void world_make(struct world *w)
{
	net_enter_new();
	(void)snprintf(w->etc, sizeof(w->etc), "%s", testing_dir());
	w->ctx = (struct ctx){ .sysfs = "/nonesuch", .proc = "/proc", .etc_dir = w->etc };
	run("ip link add up0 addr 02:00:00:00:00:0a type veth peer name peer0");
	run("ip link add up1 addr 02:00:00:00:00:0b type veth peer name peer1");
	run("ip link property add dev up0 altname short");
	run("ip link property add dev up0 altname " ALTNAME);
	w->place = (struct master_place){ .ctx = &w->ctx,
					  .nl = net_socket(),
					  .where = "on this host" };
}

static void rails_are(const struct world *w, const char *text)
{
	char path[80];

	(void)snprintf(path, sizeof(path), "%s/rails.json", w->etc);
	testing_file(path, 0600, text);
}

/* The name of what is found; "": nothing, and *e says why. */
static const char *found(const struct world *w, const char *const *text, size_t n, struct err *e)
{
	static struct link_info link;
	struct master_place place = w->place;
	struct master_conf c = { .n = n };

	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(master_parse("master", text[i], &c.candidate[i], e), 0);
	*e = (struct err){ .msg = "" };
	return master_find(&place, &c, &link, e) ? "" : link.name;
}

static const char *find(const struct world *w, const char *text, struct err *e)
{
	return found(w, &text, 1, e);
}

START_TEST(names_and_alternative_names)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	ck_assert_str_eq(find(&w, "up0", &e), "up0");
	ck_assert_str_eq(find(&w, "short", &e), "up0");
	ck_assert_str_eq(find(&w, ALTNAME, &e), "up0");
	ck_assert_str_eq(find(&w, ALTNAME "x", &e), "");
	ck_assert_str_eq(e.msg, "master: there is no interface \"" ALTNAME "x\" on this host");
	ck_assert(e.code == ERR_CONFIG && e.errnum == ENODEV);
}
END_TEST

START_TEST(a_rail_by_its_number)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	rails_are(&w, "{\"rails\":[{\"rail\":3,\"interface\":\"up1\"},"
		      "{\"rail\":4,\"interface\":\"gone\"}]}");
	ck_assert_str_eq(find(&w, "rail:3", &e), "up1");
	ck_assert_str_eq(find(&w, "rail:4", &e), "");
	ck_assert_str_eq(e.msg, "master: rail 4 by rails.json: there is no interface \"gone\" on "
				"this host");
	ck_assert_str_eq(find(&w, "rail:0", &e), "");
	ck_assert_str_eq(e.msg, "master: this node has 2 rails with an interface by its "
				"rails.json, and no rail 0");
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

/* Not seen is not gone: the next candidate must not be taken in its place. */
START_TEST(a_list_of_rails_that_cannot_be_read_is_no_absent_rail)
{
	static const char *const list[] = { "rail:3", "up0" };
	auto_world struct world w;
	struct err e;

	world_make(&w);
	rails_are(&w, "nonsense");
	ck_assert_str_eq(found(&w, list, 2, &e), "");
	ck_assert_msg(strstr(e.msg, "master[0] \"rail:3\": ") == e.msg, "%s", e.msg);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_str_eq(find(&w, "rail:3", &e), "");
	ck_assert_msg(strstr(e.msg, "master \"rail:3\": ") == e.msg, "%s", e.msg);
}
END_TEST

START_TEST(the_address_that_a_card_has)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	ck_assert_str_eq(find(&w, "mac:02:00:00:00:00:0b", &e), "up1");
	/* This one has the address of its lower device, as a VLAN has, and is not meant. */
	run("ip link add link up1 name mv0 type macvlan mode passthru");
	ck_assert_str_eq(find(&w, "mac:02:00:00:00:00:0b", &e), "up1");
	ck_assert_str_eq(find(&w, "mac:02:00:00:00:00:0c", &e), "");
	ck_assert_str_eq(e.msg, "master: no interface on this host has the address "
				"02:00:00:00:00:0c");
	run("ip link set up0 addr 02:00:00:00:00:0b");
	ck_assert_str_eq(find(&w, "mac:02:00:00:00:00:0b", &e), "");
	ck_assert_str_eq(e.msg, "master: 2 interfaces on this host have the address "
				"02:00:00:00:00:0b");
}
END_TEST

/* The port of a bridge, as that of a bond, carries no macvlan. */
START_TEST(a_port_is_the_card_of_what_is_above_it)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	run("ip link add br0 type bridge && ip link set up1 master br0 && ip link set up1 up");
	ck_assert_msg(strcmp(find(&w, "mac:02:00:00:00:00:0b", &e), "br0") == 0, "%s", e.msg);
	run("ip link set up0 master br0");
	ck_assert_msg(strcmp(find(&w, "mac:02:00:00:00:00:0b", &e), "br0") == 0, "%s", e.msg);
	run("ip link set br0 addr 02:00:00:00:00:0c");
	ck_assert_msg(strcmp(find(&w, "mac:02:00:00:00:00:0b", &e), "br0") == 0, "%s", e.msg);
}
END_TEST

/* A fake kernel: a test cannot make a card with a permanent address. The list has n links. */
static const char *found_by_mac(const struct link_info *links, size_t n, struct err *e)
{
	struct net_fake fake = net_fake();
	struct world w = { .place = { .ctx = &w.ctx, .nl = fake.nl, .where = "on this host" } };
	const struct hw_addr none = { 0 };

	for (size_t i = 0; i < n; i++)
		net_say_link(&fake, 1, &links[i], &none);
	net_done(&fake, 1);

	const char *name = find(&w, "mac:02:00:00:00:00:07", e);

	nl_release(fake.nl);
	(void)close(fake.peer);
	return name;
}

START_TEST(the_address_that_a_card_was_made_with_counts_more)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 7 }, other[MAC_LEN] = { 2, 9 };
	struct link_info links[] = {
		{ .ifindex = 5, .name = "bond0", .addr = hw_addr_of_mac(mac) },
		{ .ifindex = 6, .name = "card0", .addr = hw_addr_of_mac(other) },
	};
	struct err e;

	links[1].perm_addr = hw_addr_of_mac(mac);
	ck_assert_msg(strcmp(found_by_mac(links, 2, &e), "card0") == 0, "%s", e.msg);
	/* Nothing was made with it. So a card that was given this address is meant. */
	links[0].addr = hw_addr_of_mac(other);
	links[1].addr = hw_addr_of_mac(mac);
	links[1].perm_addr = hw_addr_of_mac(other);
	ck_assert_msg(strcmp(found_by_mac(links, 2, &e), "card0") == 0, "%s", e.msg);
	/* An ipvlan of the host has the permanent address of its card. */
	links[0] = (struct link_info){
		.ifindex = 5, .name = "ipv0", .kind = "ipvlan", .lower_ifindex = 6
	};
	links[0].addr = links[0].perm_addr = links[1].perm_addr = hw_addr_of_mac(mac);
	ck_assert_msg(strcmp(found_by_mac(links, 2, &e), "card0") == 0, "%s", e.msg);
}
END_TEST

/* sysfs is that of another namespace: there up1 is another card. */
START_TEST(an_interface_of_another_function_is_not_taken)
{
	struct link_info up1 = { .ifindex = 6, .name = "up1", .parent = "0000:10:00.0" };
	const struct hw_addr none = { 0 };
	struct net_fake fake;
	struct world w;
	char dir[200];
	struct err e;

	net_enter_new();
	fake = net_fake();
	w = (struct world){ .ctx = { .sysfs = testing_dir() },
			    .place = { .ctx = &w.ctx, .nl = fake.nl, .where = "on this host" } };
	(void)snprintf(dir, sizeof(dir), "mkdir -p %s/bus/pci/devices/0000:0f:00.0/net/up1",
		       w.ctx.sysfs);
	run(dir);
	net_say_link(&fake, 1, &up1, &none);
	net_ack(&fake, 1, 0);
	ck_assert_str_eq(find(&w, "0f:00.0", &e), "");
	ck_assert_msg(strstr(e.msg, "up1 is that of 0000:10:00.0 here, not of 0000:0f:00.0") !=
			      NULL,
		      "%s", e.msg);
	ck_assert_int_eq(e.errnum, ENODEV);
	nl_release(fake.nl);
	(void)close(fake.peer);
}
END_TEST

START_TEST(the_first_present_candidate_is_taken)
{
	static const char *const list[] = { "gone0", "rail:9", "up1", "up0" };
	auto_world struct world w;
	struct err e;

	world_make(&w);
	rails_are(&w, "{\"rails\":[]}");
	ck_assert_str_eq(found(&w, list, 4, &e), "up1");
	ck_assert_str_eq(found(&w, list + 2, 2, &e), "up1");
	ck_assert_str_eq(found(&w, list + 3, 1, &e), "up0");
}
END_TEST

START_TEST(an_error_says_of_each_candidate_why)
{
	static const char *const list[] = { "gone0", "rail:9", "0000:0f:00.0",
					    "mac:02:00:00:00:00:0c" };
	auto_world struct world w;
	struct err e;

	world_make(&w);
	rails_are(&w, "{\"rails\":[]}");
	ck_assert_str_eq(found(&w, list, 4, &e), "");
	ck_assert_str_eq(e.msg, "master: none of 4 candidates is present on this host");
	ck_assert(e.code == ERR_CONFIG && e.errnum == ENODEV);
	for (size_t i = 0; i < 4; i++)
		ck_assert_msg(strstr(e.detail, list[i]) != NULL, "%s: %s", list[i], e.detail);
	ck_assert_ptr_nonnull(strstr(e.detail, "\"gone0\": there is no interface \"gone0\""));
	ck_assert_ptr_nonnull(strstr(e.detail, "no rail 9"));
	ck_assert_ptr_nonnull(strstr(e.detail, "PCI"));
}
END_TEST

/* sysfs is a folder of the test: its function leads to an interface of the kernel. */
START_TEST(a_function_by_its_PCI_address)
{
	auto_world struct world w;
	char dir[200];
	struct err e;

	world_make(&w);
	w.ctx.sysfs = w.etc;
	(void)snprintf(dir, sizeof(dir), "mkdir -p %s/bus/pci/devices/0000:0f:00.0/net/up1", w.etc);
	run(dir);
	ck_assert_msg(strcmp(find(&w, "0f:00.0", &e), "up1") == 0, "%s", e.msg);
	(void)snprintf(dir, sizeof(dir), "rmdir %s/bus/pci/devices/0000:0f:00.0/net/up1", w.etc);
	run(dir);
	ck_assert_str_eq(find(&w, "0f:00.0", &e), "");
	ck_assert_msg(strstr(e.msg, "0000:0f:00.0 has no network interface here") != NULL, "%s",
		      e.msg);
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

TEST_PROGRAM("cni/uplink/master_find", names_and_alternative_names, a_rail_by_its_number,
	     a_list_of_rails_that_cannot_be_read_is_no_absent_rail, the_address_that_a_card_has,
	     a_port_is_the_card_of_what_is_above_it,
	     the_address_that_a_card_was_made_with_counts_more,
	     an_interface_of_another_function_is_not_taken, the_first_present_candidate_is_taken,
	     an_error_says_of_each_candidate_why, a_function_by_its_PCI_address)
