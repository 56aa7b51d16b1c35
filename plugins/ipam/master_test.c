/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master_test.c: which interface is the master, in a namespace with real links and a made /sys of
 * PCI functions.
 */
#include "plugins/ipam/master.h"

#include <stdio.h>

#include "cni/protocol/delegate.h"
#include "lib/net/addr.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"

#define PF "0000:3b:00.0"
#define VF "0000:3b:02.0"

static void add(const char *ifname, const char *addr)
{
	struct nl *nl = net_socket();
	struct ip_prefix p;
	struct err e = { 0 };

	ck_assert_int_eq(ip_parse_prefix(addr, &p), 0);
	ck_assert_msg(nl_addr_add(nl, net_ifindex(nl, ifname), p, true, &e) == 0, "%s", e.msg);
	nl_release(nl);
}

/* The name and the addresses of the master of a configuration, or the message. */
static const char *master_of(const char *conf, const char *sysfs)
{
	static char text[1024];
	auto_master struct master m = { .n = 0 };
	struct cni_call call = { .ctx = { .sysfs = sysfs } };
	auto_json struct json *tree = NULL;
	struct err e = { 0 };
	char one[PREFIX_STR_LEN];

	ck_assert_int_eq(json_parse(conf, strlen(conf), "test", &tree, &e), 0);
	call.conf.tree = tree;
	if (master_load(&call, &m, &e)) {
		(void)snprintf(text, sizeof(text), "%s", e.msg);
		return text;
	}
	ck_assert_str_eq(m.view.name, m.name);
	ck_assert_uint_eq(m.view.n, m.n);
	(void)snprintf(text, sizeof(text), "%s", m.name);
	for (size_t i = 0; i < m.n; i++) {
		if (m.addrs[i].addr.family == IP_V6)
			continue; /* link-local, when it comes */
		testing_append(text, sizeof(text), " ");
		testing_append(text, sizeof(text), ip_format_prefix(m.addrs[i], one));
	}
	return text;
}

static void links(void)
{
	net_enter_new();
	net_veth("eth1", "eth2", NULL);
	add("eth1", "10.1.0.5/22");
	add("eth1", "10.2.0.5/22");
	add("eth2", "10.3.0.5/22");
}

START_TEST(the_plugin_says_which_one_it_is)
{
	links();
	ck_assert_int_eq(setenv(DELEGATE_MASTER, "eth2", 1), 0);
	ck_assert_str_eq(master_of("{\"master\":\"eth1\"}", "/nosuch"), "eth2 10.3.0.5/22");
	ck_assert_int_eq(setenv(DELEGATE_MASTER, "", 1), 0);
	ck_assert(strstr(master_of("{\"master\":\"eth1\"}", "/nosuch"), "no master on the host"));
}
END_TEST

START_TEST(the_key_master_names_it)
{
	links();
	ck_assert_str_eq(master_of("{\"master\":\"eth1\"}", "/nosuch"),
			 "eth1 10.1.0.5/22 10.2.0.5/22");
	ck_assert(strstr(master_of("{\"master\":\"eth9\"}", "/nosuch"), "master eth9"));
	ck_assert(strstr(master_of("{\"master\":\"a-name-that-is-too-long\"}", "/nosuch"),
			 "is not the name of an interface"));
	ck_assert(strstr(master_of("{\"master\":\"eth1\",\"linkInContainer\":true}", "/nosuch"),
			 "no master on the host"));
	ck_assert(strstr(master_of("{}", "/nosuch"), "no master is given"));
}
END_TEST

START_TEST(of_a_vf_it_is_the_pf)
{
	const struct fakepci_vfs vfs = { .num = 2, .total = 2, .offset = 16, .stride = 1 };
	const char *sys = testing_dir();
	char vf[PCI_STR_LEN], conf[64];

	links();
	fakepci_function(sys, PF);
	fakepci_netdev(sys, PF, "eth1", NULL);
	fakepci_vfs(sys, PF, vfs);
	(void)snprintf(conf, sizeof(conf), "{\"deviceID\":\"%s\"}",
		       fakepci_vf_addr(PF, vfs, 1, vf));
	ck_assert_str_eq(master_of(conf, sys), "eth1 10.1.0.5/22 10.2.0.5/22");
	ck_assert_str_eq(master_of("{\"deviceID\":\"" PF "\"}", sys),
			 "eth1 10.1.0.5/22 10.2.0.5/22");
	ck_assert(strstr(master_of("{\"deviceID\":\"0000:ff:00.0\"}", sys), "0000:ff:00.0"));
}
END_TEST

TEST_PROGRAM("master", the_plugin_says_which_one_it_is, the_key_master_names_it,
	     of_a_vf_it_is_the_pf)
