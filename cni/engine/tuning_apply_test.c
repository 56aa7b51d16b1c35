// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel that an interface gets its settings, and that a difference is found. */
#include <string.h>

#include "cni/engine/tuning.h"
#include "lib/device/sysfs.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define FILTER "net.ipv4.conf.IFNAME.arp_filter"
#define STALE  "net.ipv4.neigh.IFNAME.gc_stale_time"

/* The pod has net1; the caller is in the host. */
struct world {
	struct netns host, pod;
	struct nl *nl;
	struct tuning_conf c;
	struct tuning_place at;
};

static void world_clear(struct world *w)
{
	nl_release(w->nl);
	netns_close(&w->host);
	netns_close(&w->pod);
}
#define auto_world auto_clean(world_clear)

static void world_make(struct world *w)
{
	struct err e;

	net_enter_new();
	*w = (struct world){ .host = net_self(), .pod = net_another() };
	ck_assert_int_eq(netns_enter(&w->pod, &e), 0);
	net_veth("net1", "peer0", NULL);
	ck_assert_int_eq(netns_enter(&w->host, &e), 0);
	w->nl = net_socket_in(&w->pod);
	w->at = (struct tuning_place){ .host = &w->host,
				       .pod = &w->pod,
				       .pod_nl = w->nl,
				       .proc = "/proc",
				       .ifname = "net1",
				       .ifindex = net_ifindex(w->nl, "net1") };
}

static void ask(struct world *w, const char *key, const char *value)
{
	w->c.sysctl[w->c.n_sysctls++] = (struct tuning_sysctl){ key, value };
}

static void ask_number(struct world *w, enum link_number n, uint32_t value)
{
	w->c.has |= 1u << n;
	w->c.number[n] = value;
}

/* The caller is in the host afterwards, whatever came of it. */
static void is_home(const struct world *w)
{
	auto_netns struct netns now = net_self();

	ck_assert(netns_same(now.id, w->host.id));
}

static void pod_has(const struct world *w, const char *path, const char *value)
{
	char text[64];
	struct err e;

	ck_assert_int_eq(netns_enter(&w->pod, &e), 0);
	ck_assert_msg(!sysfs_read("/proc", path, text, sizeof(text), &e), "%s", e.msg);
	ck_assert_int_eq(netns_enter(&w->host, &e), 0);
	ck_assert_str_eq(text, value);
}

START_TEST(settings_reach_the_interface_and_are_found)
{
	auto_world struct world w;
	struct link_settings is;
	struct err e = { 0 };

	world_make(&w);
	ask(&w, FILTER, "1");
	ask(&w, STALE, "77");
	ask_number(&w, LINK_TXQLEN, 4321);
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_msg(!tuning_apply(&w.c, &w.at, &e), "%s", e.msg);
	is_home(&w);
	pod_has(&w, "sys/net/ipv4/conf/net1/arp_filter", "1");
	pod_has(&w, "sys/net/ipv4/neigh/net1/gc_stale_time", "77");
	ck_assert_int_eq(nl_settings_get(w.nl, w.at.ifindex, &is, &e), 0);
	ck_assert_uint_eq(is.number[LINK_TXQLEN], 4321);
	ck_assert_msg(!tuning_check(&w.c, &w.at, &e), "%s", e.msg);
	is_home(&w);
	ck_assert_msg(!tuning_apply(&w.c, &w.at, &e), "again: %s", e.msg);
}
END_TEST

START_TEST(a_difference_is_found_and_named)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	ask(&w, FILTER, "1");
	ask_number(&w, LINK_TXQLEN, 4321);
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), 0);
	w.c.sysctl[0].value = "2";
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
	ck_assert_str_eq(e.msg, "interface net1: sysctl." FILTER " is \"1\", configured is \"2\"");
	is_home(&w);
	w.c.number[LINK_TXQLEN] = 4322;
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
	ck_assert_str_eq(e.msg, "interface net1: txQueueLen is 4321, configured is 4322");
}
END_TEST

START_TEST(a_refusal_names_the_key)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	ask(&w, "net.ipv4.conf.IFNAME.nosuch", "1");
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), -1);
	is_home(&w);
	ck_assert_ptr_nonnull(strstr(e.msg, "sysctl.net.ipv4.conf.IFNAME.nosuch: \"1\""));
	ck_assert_ptr_nonnull(strstr(e.detail, "no such variable"));
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "nosuch"));
	w.c.sysctl[0] = (struct tuning_sysctl){ FILTER, "many" };
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "sysctl." FILTER ": \"many\""));
	w.at.ifindex += 100;
	ask_number(&w, LINK_TXQLEN, 1);
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), -1);
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
}
END_TEST

/* The kernel changes the size of IPv4 with that of all (netif_set_gso_max_size). */
START_TEST(a_size_that_stands_is_set_behind_the_others)
{
	auto_world struct world w;
	struct link_settings was;
	struct err e = { 0 };

	world_make(&w);
	ck_assert_int_eq(nl_settings_get(w.nl, w.at.ifindex, &was, &e), 0);
	ck_assert(was.has & 1u << LINK_GSO_V4_SIZE);
	ask_number(&w, LINK_GSO_SIZE, 30000);
	ask_number(&w, LINK_GSO_V4_SIZE, was.number[LINK_GSO_V4_SIZE]);
	ask_number(&w, LINK_GRO_SIZE, 40000);
	ck_assert_msg(!tuning_apply(&w.c, &w.at, &e), "%s", e.msg);
	ck_assert_msg(!tuning_check(&w.c, &w.at, &e), "%s", e.msg);
	w.c.number[LINK_GSO_SIZE] = 8 * 65535;
	w.c.number[LINK_GRO_SIZE] = 8 * 65535 + 1;
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "gro.maxSize: 524281"));
}
END_TEST

START_TEST(a_device_without_rings_is_told)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	w.c.rx_ring = 512;
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), -1);
	is_home(&w);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.msg, "rings: read the rings of interface net1"));
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "rings"));
}
END_TEST

START_TEST(a_key_that_is_no_variable_is_never_opened)
{
	auto_world struct world w;
	struct err e;

	world_make(&w);
	ask(&w, "net.ipv4.conf.all.arp_filter", "1");
	ck_assert_int_eq(tuning_apply(&w.c, &w.at, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_int_eq(tuning_check(&w.c, &w.at, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	pod_has(&w, "sys/net/ipv4/conf/all/arp_filter", "0");
}
END_TEST

TEST_PROGRAM("cni/tuning_apply", a_device_without_rings_is_told,
	     a_size_that_stands_is_set_behind_the_others,
	     settings_reach_the_interface_and_are_found, a_difference_is_found_and_named,
	     a_refusal_names_the_key, a_key_that_is_no_variable_is_never_opened)
