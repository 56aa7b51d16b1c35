/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours_test.c: frames that a real interface receives; a restart; what is not listened to. */
#include "railheadd/watch/neighbours.h"

#include <event2/event.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "fabric/testing/frame.h"
#include "lib/net/link.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "topo/testing/tree.h"

static struct event_base *base;
static struct neighbour_watch *watch;
static struct ctx ctx;
static struct nl *nl;

/* What was last reported. */
static struct json *report;

static void reported(void *arg, struct json *rails)
{
	(void)arg;
	json_free(report);
	report = rails;
}

/* A rail: eth1, whose other end is peer. */
static void begin(void)
{
	base = loop_new();
	const struct neighbour_watch_conf conf = {
		.base = base, .ctx = &ctx, .report = reported, .every = 5, .deadline_ms = 30000
	};
	struct err e;

	ck_assert_int_eq(neighbour_watch_new(&conf, &watch, &e), 0);
}
static void fixture(void)
{
	(void)testing_dir();
	net_enter_new();
	net_veth("eth1", "peer", NULL);
	nl = net_socket();
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":0,\"interface\":\"eth1\"}]}");
	ctx_init(&ctx, "test");
	ctx.etc_dir = "/mnt/etc";
	ctx.state_dir = "/mnt/lib";
	ctx.sysfs = "/mnt/sys";
	ctx.log.fd = memfd_create("log", MFD_CLOEXEC);
	begin();
}
static void end(void)
{
	neighbour_watch_free(watch);
	loop_free(base);
	json_free(report);
	report = NULL;
}

static void send_frame(const char *ifname, uint8_t chassis, const char *port)
{
	const struct sockaddr_ll to = { .sll_family = AF_PACKET,
					.sll_ifindex = net_ifindex(nl, ifname) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct frame f = frame_begin(chassis);

	frame_id(&f, 2, 5, port);
	frame_ttl(&f, 120);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(sendto(fd, f.at, f.n, 0, (const void *)&to, sizeof(to)), (ssize_t)f.n);
	(void)close(fd);
}

static struct json *status_now(void)
{
	struct json *o = json_new_object();
	struct err e;

	ck_assert_int_eq(neighbour_watch_status(watch, o, &e), 0);
	return o;
}
static bool first_has(const char *key, const char *value)
{
	auto_json struct json *o = status_now();
	const struct json *list = json_get(json_get(o, "neighbours"), "list");

	return strcmp(json_text(json_first(list), key), value) == 0;
}
static bool is_listening(const void *arg)
{
	(void)arg;
	return first_has("state", "unknown");
}
static bool hears(const void *port)
{
	return first_has("port", port);
}
static bool reports(const void *text)
{
	auto_free char *is = report ? json_print(report, false) : NULL;

	return is && strcmp(is, text) == 0;
}
static bool is_contested(const void *arg)
{
	(void)arg;
	return first_has("state", "contested");
}
static bool is_missing(const void *arg)
{
	(void)arg;
	return first_has("state", "missing");
}

START_TEST(a_frame_of_the_other_end_is_heard)
{
	fixture();
	loop_until(base, is_listening, NULL);
	send_frame("peer", 1, "swp1");
	loop_until(base, hears, "interface-name swp1");
	/* This host is not its own neighbour. */
	send_frame("eth1", 3, "swp3");
	send_frame("peer", 2, "swp2");
	loop_until(base, is_contested, NULL);
	ck_assert(hears("interface-name swp1"));
	loop_until(base, reports,
		   "[{\"rail\":0,\"interface\":\"eth1\",\"mtu\":1500,\"chassis\":\"mac "
		   "02:00:00:00:00:01\",\"port\":\"interface-name swp1\",\"portName\":\"swp1\","
		   "\"contested\":true}]");
	end();
}
END_TEST

START_TEST(a_restart_knows_the_neighbour)
{
	fixture();
	loop_until(base, is_listening, NULL);
	send_frame("peer", 1, "swp1");
	loop_until(base, hears, "interface-name swp1");
	end();
	begin();
	ck_assert(hears("interface-name swp1"));
	loop_until(base, hears, "interface-name swp1");
	end();
}
END_TEST

START_TEST(an_interface_that_goes_is_missing_and_comes_again)
{
	struct err e;

	fixture();
	loop_until(base, is_listening, NULL);
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, "eth1"), &e), 0);
	loop_until(base, is_missing, NULL);
	net_veth("eth1", "peer", NULL);
	loop_until(base, is_listening, NULL);
	send_frame("peer", 1, "swp1");
	loop_until(base, hears, "interface-name swp1");
	end();
}
END_TEST

#define CARD "pci0000:20/0000:20:01.0/0000:21:00.0"
#define GPU  "pci0000:20/0000:20:02.0/0000:22:00.0"

/* The machine has a card whose interface is eth1, and a GPU beside it. */
static void put_card(void)
{
	static const struct tree_fn fns[] = {
		{ "pci0000:20/0000:20:01.0", 0x060400, 0x8086, 1, 0, "32.0 GT/s PCIe", 16 },
		{ "pci0000:20/0000:20:02.0", 0x060400, 0x8086, 1, 0, "32.0 GT/s PCIe", 16 },
		{ CARD, 0x020000, 0x15b3, 0x1021, 0, "32.0 GT/s PCIe", 16 },
		{ GPU, 0x030200, 0x10de, 0x2330, 0, "32.0 GT/s PCIe", 16 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fns); i++)
		tree_add("/mnt/sys", &fns[i]);
	tree_add_hca("/mnt/sys", CARD, "mlx5_0", 1);
	tree_add_netdev("/mnt/sys", CARD, "eth1", 0);
	tree_ln("/mnt/sys", "devices/" CARD "/net/eth1/device", "../../../0000:21:00.0");
}

static bool reports_card(const void *text)
{
	auto_free char *is = report ? json_print(report, false) : NULL;

	return is && strstr(is, text);
}

START_TEST(a_rail_has_its_card_and_the_gpus_near_it)
{
	fixture();
	put_card();
	loop_until(base, reports_card, "\"hca\":\"mlx5_0\",\"pci\":\"0000:21:00.0\"");
	loop_until(base, reports_card, "\"gpus\":\"0\"");
	/* Its driver is gone: only the function is known. */
	ck_assert_int_eq(rename("/mnt/sys/class/infiniband", "/mnt/gone"), 0);
	ck_assert_int_eq(rename("/mnt/sys/devices/" CARD "/infiniband", "/mnt/also"), 0);
	loop_until(base, reports_card, "\"mtu\":1500,\"pci\":\"0000:21:00.0\"}");
	end();
}
END_TEST

START_TEST(an_agent_that_does_not_listen_says_so)
{
	auto_json struct json *o = json_new_object();
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(neighbour_watch_status(NULL, o, &e), 0);
	text = json_print(o, false);
	ck_assert_str_eq(text, "{\"neighbours\":false}");
	neighbour_watch_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/watch/neighbours", a_frame_of_the_other_end_is_heard,
	     a_restart_knows_the_neighbour, an_interface_that_goes_is_missing_and_comes_again,
	     a_rail_has_its_card_and_the_gpus_near_it, an_agent_that_does_not_listen_says_so)
