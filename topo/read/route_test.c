/* SPDX-License-Identifier: Apache-2.0 */
/* The default route of /proc/net/route with the lowest metric decides; malformed lines do not. */
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "topo/read/read.h"
#include "topo/testing/tree.h"

#define HEAD       "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
#define TO(metric) "\t00000000\t0102030A\t0003\t0\t0\t" metric "\t00000000\t0\t0\t0\n"

static void leads_over(const char *proc, bool live, const char *want)
{
	char got[IFNAME_LEN] = "before";

	topo_default_netdev(proc, live, got);
	ck_assert_str_eq(got, want);
}

START_TEST(the_one_of_the_least_metric)
{
	static const struct {
		const char *text, *want;
	} in[] = {
		{ "", "" },
		{ HEAD, "" },
		{ HEAD "eth0\t0002030A\t00000000\t0001\t0\t0\t1\t00FFFFFF\t0\t0\t0\n", "" },
		{ HEAD "eth0" TO("100"), "eth0" },
		{ HEAD "eth0" TO("100") "eth1" TO("7") "eth2" TO("7") "eth3" TO("8"), "eth1" },
		{ HEAD "eth0" TO("none") "eth1\t00000000\t", "" },
		{ HEAD "sixteen-bytes-xx" TO("1") "fifteen-bytes-x" TO("2"), "fifteen-bytes-x" },
	};
	const char *dir = testing_dir();

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		tree_put(dir, "proc/net/route", in[i].text);
		leads_over("/mnt/proc", false, in[i].want);
		leads_over("/mnt/proc", true, in[i].want);
	}
	leads_over(NULL, false, "");
	leads_over("/mnt/elsewhere", true, "");
}
END_TEST

/* /proc/net is a link on a machine; in a tree that somebody made, it may lead anywhere. */
START_TEST(links_of_this_machine_alone_are_followed)
{
	const char *dir = testing_dir();

	tree_put(dir, "secret/route", HEAD "eth0" TO("1"));
	tree_ln(dir, "a/net", "../secret");
	tree_ln(dir, "b/net/route", "/mnt/secret/route");
	leads_over("/mnt/a", false, "");
	leads_over("/mnt/b", false, "");
	leads_over("/mnt/a", true, "eth0");
}
END_TEST

TEST_PROGRAM("read_route", the_one_of_the_least_metric, links_of_this_machine_alone_are_followed)
