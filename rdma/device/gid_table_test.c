/* SPDX-License-Identifier: Apache-2.0 */
/* gid_table_test.c: reads a GID table from files of a fake sysfs, with errors of real drivers. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/ctx.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "rdma/device/gid.h"
#include "rdma/testing/rdma.h"

static struct gid_want want(const char *ip, const char *netdev)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(ip, &a), 0);
	return (struct gid_want){ gid_of_ip(a), GID_ROCE_V2, netdev };
}

static void take(const struct gid_port *p, uint32_t i, const char *ip, const char *type,
		 const char *netdev)
{
	const struct fakerdma_gid g = { ip, type, netdev };

	fakerdma_gid(p, i, &g);
}

static int collect(const struct gid_entry *g, void *arg)
{
	char ip[IP_STR_LEN], line[128];

	(void)snprintf(line, sizeof(line), "%u %s %s %s\n", g->index,
		       ip_format(gid_to_ip(&g->gid), ip), gid_type_name(g->type), g->netdev);
	testing_append(arg, 512, line);
	return strcmp(ip, "10.0.0.99") == 0;
}

START_TEST(the_table_is_read_in_order)
{
	const char *root = testing_dir();
	const struct gid_port p = { root, "mlx5_0", 1 };
	char seen[512] = "";
	struct err e = { 0 };

	fakerdma_port(&p, "Ethernet", 8);
	take(&p, 0, "fe80::1", "IB/RoCE v1", "ens1f0");
	take(&p, 1, "fe80::1", "RoCE v2", "ens1f0");
	take(&p, 5, "10.0.0.1", "RoCE v2", "net1");
	take(&p, 6, "10.0.0.99", "RoCE v2", "net1");
	take(&p, 7, "10.0.0.3", "RoCE v2", "net1");
	ck_assert_int_eq(gid_each(&p, collect, seen, &e), 0);
	ck_assert_str_eq(seen, "0 fe80::1 RoCE v1 ens1f0\n"
			       "1 fe80::1 RoCE v2 ens1f0\n"
			       "5 10.0.0.1 RoCE v2 net1\n"
			       "6 10.0.0.99 RoCE v2 net1\n");
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(one_entry_is_found)
{
	const char *root = testing_dir();
	const struct gid_port p = { root, "mlx5_0", 2 };
	struct gid_want pod = want("10.0.0.1", "net1"), other = want("10.0.0.1", "net2"),
			none = want("10.0.0.2", "net1");
	struct gid_look look;
	struct err e = { 0 };

	fakerdma_port(&p, "Ethernet", 8);
	take(&p, 0, "10.0.0.1", "IB/RoCE v1", "net1");
	take(&p, 3, "10.0.0.1", "RoCE v2", "net1");
	ck_assert_int_eq(gid_find(&p, &pod, &look, &e), 0);
	ck_assert_int_eq(look.found, GID_THERE);
	ck_assert_uint_eq(look.entry.index, 3);
	ck_assert_int_eq(gid_find(&p, &other, &look, &e), 0);
	ck_assert_int_eq(look.found, GID_OTHER);
	ck_assert_str_eq(look.entry.netdev, "net1");
	ck_assert_int_eq(gid_find(&p, &none, &look, &e), 0);
	ck_assert_int_eq(look.found, GID_MISSING);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(unreadable_tables_are_errors)
{
	const char *root = testing_dir();
	struct gid_port p = { root, "mlx5_0", 1 };
	struct gid_want pod = want("10.0.0.1", "net1");
	struct gid_look look;
	char seen[512] = "", path[PATH_MAX];
	struct err e = { 0 };

	ck_assert_int_eq(gid_find(&p, &pod, &look, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	fakerdma_port(&p, "Ethernet", 0);
	ck_assert_int_eq(gid_each(&p, collect, seen, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	fakerdma_port(&p, "Ethernet", 4);
	(void)snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/ports/1/gids/2", root);
	testing_file(path, 0644, "fe80::1\n");
	ck_assert_int_eq(gid_find(&p, &pod, &look, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "gids/2 of mlx5_0 port 1 is not a GID: \"fe80::1\""));
}
END_TEST

START_TEST(a_gid_is_waited_for)
{
	const char *root = testing_dir();
	const struct gid_port p = { root, "rxe0", 1 };
	struct gid_want pod = want("10.0.0.1", "net1");
	int64_t start = ctx_mono_ms();
	struct gid_look look;
	struct err e = { 0 };

	fakerdma_port(&p, "Ethernet", 8);
	ck_assert_int_eq(gid_await(&p, &pod, start + 30, &look, &e), 0);
	ck_assert_int_eq(look.found, GID_MISSING);
	ck_assert_int_ge(ctx_mono_ms(), start + 30);
	pid_t child = fork();
	if (child == 0) {
		(void)usleep(20000);
		take(&p, 2, "10.0.0.1", "RoCE v2", "net1");
		_exit(0);
	}
	ck_assert_int_eq(gid_await(&p, &pod, ctx_mono_ms() + 60000, &look, &e), 0);
	ck_assert_int_eq(look.found, GID_THERE);
	ck_assert_uint_eq(look.entry.index, 2);
}
END_TEST

TEST_PROGRAM("gid_table", the_table_is_read_in_order, one_entry_is_found,
	     unreadable_tables_are_errors, a_gid_is_waited_for)
