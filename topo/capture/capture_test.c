// SPDX-License-Identifier: Apache-2.0
/*
 * A capture reads back as the same machine, is repeatable, and leaves out secrets and serial
 * numbers.
 */
#include "topo/capture/capture.h"

#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "topo/capture/priv.h"
#include "topo/capture/open.h"
#include "topo/testing/tree.h"

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* Extract /mnt/x.tar, and open it. */
static void open_capture(struct topo_opened *o)
{
	struct err e = { 0 };

	run("rm -rf /mnt/x && mkdir /mnt/x && tar -xf /mnt/x.tar -C /mnt/x");
	ck_assert_msg(!topo_open("/mnt/x", o, &e), "%s", e.msg);
}

/* Of a tree, in the folder top: what is read of it, and of its capture. */
static void both(const char *top, char **live, char **captured, struct topo_capture_sum *sum)
{
	auto_topo_machine struct topo_machine a = { 0 }, b = { 0 };
	auto_topo_opened struct topo_opened from = { 0 }, o = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!topo_open(top, &from, &e), "%s", e.msg);
	ck_assert_msg(!topo_capture(&from.dirs, "/mnt/x.tar", sum, &e), "%s", e.msg);
	run("test $(find /mnt -maxdepth 1 -name 'x.tar*' | wc -l) = 1");
	run("test $(stat -c %a /mnt/x.tar) = 600");
	open_capture(&o);
	ck_assert(!topo_read_sysfs(from.dirs.sysfs, from.dirs.proc, NULL, &a, &e));
	ck_assert(!topo_read_sysfs(o.dirs.sysfs, o.dirs.proc, NULL, &b, &e));
	ck_assert_int_eq(a.full_config, b.full_config);
	for (size_t i = 0; i < a.n_hcas && i < b.n_hcas; i++) {
		ck_assert(!a.hca[i].guid == !b.hca[i].guid);
		ck_assert(!a.hca[i].guid || a.hca[i].guid != b.hca[i].guid);
		a.hca[i].guid = b.hca[i].guid = 0; /* cards were numbered by them */
	}
	*live = tree_dump(&a);
	*captured = tree_dump(&b);
}

static const char *const trees[] = { "qemu-pxb-xio3130-igb-sriov-rxe", "hwloc-8ve",
				     "hwloc-pcidomain32bits", "ghw-linux-amd64-accel-nvidia" };

START_TEST(a_capture_gives_the_answers_of_its_machine)
{
	const char *top = tree_unpack(trees[_i]);
	struct topo_capture_sum sum;
	auto_free char *live = NULL, *captured = NULL;

	both(top, &live, &captured, &sum);
	ck_assert_msg(!strcmp(live, captured), "%s\n---\n%s", live, captured);
	ck_assert(sum.files > 50 && sum.bytes < 1500000 && sum.unread == 0);
	ck_assert(sum.short_config == (_i == 1 || _i == 2));
}
END_TEST

START_TEST(a_capture_of_this_machine_gives_the_same_answers)
{
	struct topo_capture_sum sum;
	auto_free char *live = NULL, *captured = NULL;

	(void)testing_dir();
	both("/sys", &live, &captured, &sum);
	ck_assert_msg(!strcmp(live, captured), "%s\n---\n%s", live, captured);
}
END_TEST

/* ---- what is kept back ---- */

static void secrets(void)
{
	const char *dir = testing_dir();
	char config[512];

	tree_put(dir, "m/proc/cmdline",
		 "root=UUID=secret1 pci=realloc quiet host=secret2 iommu=pt\n");
	tree_put(dir, "m/proc/net/route",
		 "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
		 "eth0\t00000000\t0102030A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
		 "eth0\t0002030A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n");
	tree_put(dir, "m/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n");
	(void)snprintf(config, sizeof(config),
		       "CONFIG_SECRET3=y\nCONFIG_PCI_P2PDMA_SECRET=y\nCONFIG_PCI_P2PDMA=y\n"
		       "CONFIG_DMABUF_MOVE_NOTIFY=%0300d\n",
		       0);
	tree_put(dir, "m/boot/config-6.1.0-9-amd64", config);
	tree_put(dir, "m/proc/driver/nvidia/version", "NVRM version: Open Kernel Module\n");
	tree_put(dir, "m/proc/driver/nvidia/gpus/0000:01:00.0/information", "GPU UUID: secret4\n");
	tree_put(dir, "m/proc/driver/nvidia/gpus/0000:01:00.0/numa_status", "Node: 4\n");
	tree_put(dir, "m/sys/module/nvidia_peermem/version", "550\n");
	tree_put(dir, "m/sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
	tree_put(dir, "m/sys/devices/virtual/dmi/id/bios_version", "Hyper-V UEFI Release v4.1\n");
	tree_put(dir, "m/sys/devices/virtual/dmi/id/product_serial", "secret6\n");
	tree_add("/mnt/m/sys", &(struct tree_fn){ "pci0000:00/0000:01:00.0", 0x020000, 0x15b3,
						  0x1021, 0, NULL, 0 });
	tree_put(dir, "m/sys/devices/pci0000:00/0000:01:00.0/vpd", "SN=secret7:SMDL=SW_MNG");
	tree_add_hca("/mnt/m/sys", "pci0000:00/0000:01:00.0", "mlx5_0", 0x1122334455667788);
	tree_add_netdev("/mnt/m/sys", "pci0000:00/0000:01:00.0", "eth0", 0);
	run("cd /mnt/m/sys/devices/pci0000:00/0000:01:00.0 && "
	    "echo 11:22:33:44:55:66 >net/eth0/address && cd infiniband/mlx5_0 && "
	    "mkdir ports/1/gids && echo fe80:0000:0000:0000:1122:3344:5566:7788 >ports/1/gids/0 && "
	    "echo 0000:0000:0000:0000:0000:ffff:0a03:0201 >ports/1/gids/1 && "
	    "echo 0000:0000:0000:0000:0000:0000:0000:0000 >ports/1/gids/2 && "
	    "echo secret5 >node_desc");
}

static void take_sum(const char *to, struct topo_capture_sum *sum)
{
	const struct topo_tree_dirs from = { .sysfs = "/mnt/m/sys",
					     .proc = "/mnt/m/proc",
					     .boot = "/mnt/m/boot" };
	struct err e = { 0 };

	ck_assert_msg(!topo_capture(&from, to, sum, &e), "%s", e.msg);
}

static void take(const char *to)
{
	take_sum(to, NULL);
}

START_TEST(a_refused_file_is_named)
{
	struct topo_capture_sum sum = { 0 };

	secrets();
	run("cd /mnt/m/sys/devices/pci0000:00/0000:01:00.0 && rm -f net/eth0/dev_port && "
	    "mkdir net/eth0/dev_port");
	take_sum("/mnt/x.tar", &sum);
	ck_assert_uint_eq(sum.unread, 1);
	ck_assert_msg(strstr(sum.first_unread, "eth0/dev_port: Is a directory"), "%s",
		      sum.first_unread);
	ck_assert(!sum.denied);
}
END_TEST

START_TEST(secrets_are_not_captured)
{
	secrets();
	take("/mnt/x.tar");
	run("! grep -aE 'secret|0A030201|0102030A|0a03:0201|5566|11:22:33' /mnt/x.tar");
	run("mkdir /mnt/u && tar -xf /mnt/x.tar -C /mnt/u");
	run("test \"$(cat /mnt/u/proc/cmdline)\" = 'pci=realloc iommu=pt'");
	run("test \"$(cat /mnt/u/boot/config-6.1.0-9-amd64)\" = CONFIG_PCI_P2PDMA=y");
	run("grep -q '^eth0.00000000.00000000.0003.0.0.100.00000000' /mnt/u/proc/net/route && "
	    "test $(wc -l </mnt/u/proc/net/route) = 1");
	run("cd /mnt/u && cat proc/driver/nvidia/version proc/driver/nvidia/gpus/*/numa_status "
	    "sys/module/nvidia_peermem/version sys/kernel/iommu_groups/7/type "
	    "sys/devices/virtual/dmi/id/bios_version >/dev/null");
	run("cd /mnt/u/sys/class/infiniband/mlx5_0 && test ! -e ports/1/gids && "
	    "test ! -e ../../net/eth0/address && test \"$(cat ../../vpd)\" = SMDL=SW_MNG");
	take("/mnt/y.tar");
	run("cmp /mnt/x.tar /mnt/y.tar");
}
END_TEST

/* A folder without the file is another answer than no folder. */
START_TEST(no_firmware_is_kept_apart)
{
	static const char *const cut[] = { "rm", "rm -r" };
	static const enum topo_tristate want[] = { TOPO_NO, TOPO_UNKNOWN };

	secrets();
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_topo_opened struct topo_opened o = { 0 };
		struct err e = { 0 };
		char command[128];
		(void)snprintf(command, sizeof(command), "%s /mnt/m/sys/devices/virtual/dmi/id%s",
			       cut[i], i ? "" : "/*");
		run(command);
		take("/mnt/x.tar");
		open_capture(&o);
		ck_assert(!topo_read_sysfs(o.dirs.sysfs, o.dirs.proc, NULL, &m, &e));
		ck_assert_int_eq(m.hyperv, want[i]);
	}
}
END_TEST

START_TEST(GUIDs_become_numbers)
{
	secrets();
	run("cd /mnt/m/sys/class/infiniband/mlx5_0/ && echo 1122:3344:5566:7789 >node_guid");
	tree_add("/mnt/m/sys", &(struct tree_fn){ "pci0000:00/0000:01:00.1", 0x020000, 0x15b3,
						  0x1021, 0, NULL, 0 });
	tree_add_hca("/mnt/m/sys", "pci0000:00/0000:01:00.1", "mlx5_1", 0x1122334455667788);
	run("cd /mnt/m/sys/class/infiniband/mlx5_1/ && echo 0000:0000:0000:0000 >node_guid");
	take("/mnt/x.tar");
	run("mkdir /mnt/u && tar -xf /mnt/x.tar -C /mnt/u && cd /mnt/u/sys/class/infiniband && "
	    "cat mlx5_0/node_guid mlx5_?/sys_image_guid mlx5_1/node_guid | sed 's/.*:000//' | "
	    "paste -s -d ' ' | grep -x '1 2 2 0'");
}
END_TEST

START_TEST(serial_numbers_become_zero)
{
	uint8_t config[4096] = { 0 };
	const char at[] = "/mnt/m/sys/devices/pci0000:00/0000:01:00.0/config";

	config[0x06] = 0x10; /* it has a list: PCI Express alone */
	config[0x34] = 0x40;
	config[0x40] = 0x10;
	config[0x100] = 0x03; /* serial number, version 1, the last */
	config[0x102] = 0x01;
	memset(config + 0x104, 0x77, 9);
	secrets();
	FILE *to = fopen(at, "w");
	ck_assert_ptr_nonnull(to);
	ck_assert_uint_eq(fwrite(config, 1, sizeof(config), to), sizeof(config));
	ck_assert_int_eq(fclose(to), 0);
	take("/mnt/x.tar");
	run("mkdir /mnt/u && tar -xf /mnt/x.tar -C /mnt/u && cd /mnt/u && "
	    "cmp -l sys/devices/pci0000:00/0000:01:00.0/config "
	    "/mnt/m/sys/devices/pci0000:00/0000:01:00.0/config | "
	    "{ awk '$2 == 0 { print $1 }' | paste -s -d ' ' | "
	    "grep -x '261 262 263 264 265 266 267 268'; }");
}
END_TEST

/* ---- failures ---- */

START_TEST(a_failure_leaves_the_old_file)
{
	const struct topo_tree_dirs none = { .sysfs = "/nowhere" };
	struct err e = { 0 };

	secrets();
	tree_put("/mnt", "x.tar", "as it was");
	ck_assert_int_eq(topo_capture(&none, "/mnt/x.tar", NULL, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	const struct topo_tree_dirs from = { .sysfs = "/mnt/m/sys" };
	ck_assert_int_eq(topo_capture(&from, "/mnt/no/x.tar", NULL, &e), -1);
	ck_assert(e.code == ERR_IO && e.errnum == ENOENT);
	run("mkdir /mnt/small && mount -t tmpfs -o size=16k none /mnt/small");
	ck_assert_int_eq(topo_capture(&from, "/mnt/small/x.tar", NULL, &e), -1);
	ck_assert(e.code == ERR_IO && e.errnum == ENOSPC);
	run("test -z \"$(ls -A /mnt/small)\" && test \"$(cat /mnt/x.tar)\" = 'as it was'");
	run("test $(find /mnt -maxdepth 1 -name 'x.tar*' | wc -l) = 1");
}
END_TEST

static int capture_to(void *arg, struct err *e)
{
	const struct topo_tree_dirs from = { .sysfs = "/mnt/m/sys", .proc = "/mnt/m/proc" };

	return topo_capture(&from, arg, NULL, e);
}

START_TEST(every_allocation_may_fail)
{
	char to[] = "/mnt/x.tar";

	secrets();
	run("rm -r /mnt/m/proc");
	ck_assert_str_eq(alloc_fail_each(capture_to, to), "ok");
}
END_TEST

int main(void)
{
	const TTest *const once[] = { a_capture_of_this_machine_gives_the_same_answers,
				      a_refused_file_is_named,
				      secrets_are_not_captured,
				      no_firmware_is_kept_apart,
				      GUIDs_become_numbers,
				      serial_numbers_become_zero,
				      a_failure_leaves_the_old_file,
				      every_allocation_may_fail };
	Suite *suite = suite_create("capture");
	TCase *cases = tcase_create("capture");

	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		tcase_add_test(cases, once[i]);
	tcase_add_loop_test(cases, a_capture_gives_the_answers_of_its_machine, 0,
			    ARRAY_SIZE(trees));
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
