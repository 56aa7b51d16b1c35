// SPDX-License-Identifier: Apache-2.0
/* Lines of several versions of NCCL, launchers and other programs. */
#include "diag/nccl_log.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define HEAD "gpu-1:100:120 [0] NCCL INFO "

static void read_log(const char *text, struct nccl_log *log)
{
	struct err e;

	ck_assert_int_eq(nccl_log_read(text, strlen(text), log, &e), 0);
}

static void is_text(struct slice s, const char *text)
{
	ck_assert_uint_eq(s.len, strlen(text));
	ck_assert_int_eq(memcmp(s.p, text, s.len), 0);
}

START_TEST(a_job_of_one_gpu)
{
	auto_nccl_log struct nccl_log log = { 0 };
	char bdf[PCI_STR_LEN];

	read_log(HEAD
		 "NCCL version 2.30.7+cuda13.0\n" HEAD
		 "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>\n" HEAD
		 "Using network IB\n" HEAD
		 "ncclCommInitRankConfig comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
		 "1b000 commId 0x2 - Init START\n" HEAD
		 "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n" HEAD
		 "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/1/GDRDMA(PCI)/Shared\n",
		 &log);
	ck_assert_uint_eq(log.n_processes, 1);
	is_text(log.process[0].host, "gpu-1");
	is_text(log.process[0].version, "2.30.7+cuda13.0");
	is_text(log.process[0].network, "IB");
	is_text(log.process[0].net[0], "mlx5_0");
	is_text(log.process[0].net[1], "mlx5_1");
	ck_assert_ptr_null(log.process[0].net[2].p);
	ck_assert_uint_eq(log.n_gpus, 1);
	ck_assert_str_eq(pci_format(log.gpu[0].addr, bdf), "0000:1b:00.0");
	ck_assert_uint_eq(log.gpu[0].nets, 3);
	ck_assert_uint_eq(log.gpu[0].sends.gdr, 1);
	ck_assert_uint_eq(log.gpu[0].receives.gdr, 1);
	ck_assert_uint_eq(log.gpu[0].sends.no_gdr + log.gpu[0].receives.no_gdr, 0);
}
END_TEST

START_TEST(a_number_of_a_bus_has_a_domain)
{
	auto_nccl_log struct nccl_log log = { 0 };
	char bdf[PCI_STR_LEN];

	read_log(HEAD "comm 0x1 rank 0 nranks 2 cudaDev 0 busId 190090100 - Init START\n", &log);
	ck_assert(log.gpu[0].has_addr);
	ck_assert_str_eq(pci_format(log.gpu[0].addr, bdf), "1900:90:10.0");
}
END_TEST

START_TEST(numbers_that_are_no_bus_are_left_out)
{
	static const char *const bad[] = { "busId zz", "busId 200", "busId 8", "busId ", "bus 0" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_nccl_log struct nccl_log log = { 0 };
		char text[128];

		(void)snprintf(text, sizeof(text), HEAD "rank 0 nranks 2 %s\n", bad[i]);
		read_log(text, &log);
		ck_assert_uint_eq(log.n_gpus, 1);
		ck_assert(!log.gpu[0].has_addr);
	}
}
END_TEST

START_TEST(a_send_by_the_hca_of_another_gpu_is_counted_apart)
{
	auto_nccl_log struct nccl_log log = { 0 };

	read_log(HEAD "Channel 00/0 : 0[0] -> 9[1] [send] via NET/IB/1(1)/GDRDMA\n" HEAD
		      "Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB/0\n",
		 &log);
	ck_assert_uint_eq(log.gpu[0].nets, 1);
	ck_assert_uint_eq(log.gpu[0].receives.no_gdr, 1);
	ck_assert_uint_eq(log.gpu[0].through_others, 1);
}
END_TEST

START_TEST(fused_devices_of_old_and_new_versions)
{
	auto_nccl_log struct nccl_log log = { 0 };

	read_log(HEAD
		 "NET/IB : Using [0]={[0] a:1/RoCE, [1] b:2/RoCE} [1]c:1/IB ; OOB e:1<0>\n" HEAD
		 "NET/IB : Made virtual device [4] name=mlx5_0+mlx5_1 speed=400000 ndevs=2\n",
		 &log);
	is_text(log.process[0].net[0], "[0] a:1/RoCE, [1] b:2/RoCE");
	is_text(log.process[0].net[1], "c");
	is_text(log.process[0].net[4], "mlx5_0+mlx5_1");
}
END_TEST

START_TEST(settings_are_taken_once)
{
	auto_nccl_log struct nccl_log log = { 0 };

	read_log(HEAD "NCCL_NET_GDR_LEVEL set by environment to SYS\n" HEAD
		      "NCCL_NET_GDR_LEVEL set by environment to SYS\n" HEAD
		      "NCCL_IB_HCA set to mlx5_1\n" HEAD "NCCL_IB_TC set by environment to 106.\n",
		 &log);
	ck_assert_uint_eq(log.n_sets, 3);
	is_text(log.set[0].name, "NCCL_NET_GDR_LEVEL");
	is_text(log.set[0].value, "SYS");
	is_text(log.set[1].value, "mlx5_1");
	is_text(log.set[2].value, "106");
}
END_TEST

START_TEST(processes_and_gpus_are_told_apart)
{
	auto_nccl_log struct nccl_log log = { 0 };

	read_log("[1,0]<stdout>:gpu-1:7:8 [0] NCCL INFO Using network IB\r\n"
		 "[pod/a/b] gpu-2:7:8 [0] NCCL INFO Using network IB\n"
		 "2026-01-01 10:00:00 gpu-2:7:9 [1] NCCL INFO Using network IB\n"
		 "gpu-2:8:9 [1] NCCL INFO Using network Socket\n",
		 &log);
	ck_assert_uint_eq(log.n_processes, 3);
	ck_assert_uint_eq(log.n_gpus, 4);
	is_text(log.process[0].host, "gpu-1");
	is_text(log.process[0].network, "IB");
	is_text(log.process[1].host, "gpu-2");
	ck_assert_uint_eq(log.gpu[2].process, 1);
	ck_assert_uint_eq(log.gpu[2].cuda, 1);
	is_text(log.process[2].network, "Socket");
}
END_TEST

START_TEST(other_lines_are_no_lines_of_nccl)
{
	static const char *const other[] = {
		"",
		"step 1 loss 0.5\n",
		"NCCL INFO Using network IB\n",
		"[0] NCCL INFO Using network IB\n",
		"gpu-1 [0] NCCL INFO Using network IB\n",
		"gpu-1:1:2 [x] NCCL INFO Using network IB\n",
		"gpu-1:1:2 [0 NCCL INFO Using network IB\n",
		"gpu-1:1:2 [99999999999] NCCL INFO Using network IB\n",
		"gpu-1:1:2 [0] NCCL WARN Using network IB\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		auto_nccl_log struct nccl_log log = { 0 };

		read_log(other[i], &log);
		ck_assert_uint_eq(log.n_gpus, 0);
	}
}
END_TEST

START_TEST(devices_beyond_the_limit_are_left_out)
{
	auto_nccl_log struct nccl_log log = { 0 };

	read_log(HEAD "Channel 00 : 1 -> 0 [receive] via NET/IB/64\n" HEAD
		      "Channel 00 : 1 -> 0 [receive] via NET/IB/x\n" HEAD
		      "NET/IB : Using [64]mlx5_0:1/RoCE\n" HEAD
		      "Made virtual device [64] name=a b\n",
		 &log);
	ck_assert_uint_eq(log.gpu[0].nets, 0);
	read_log(HEAD "Channel 00 : 1 -> 0 [receive] via NET/IB/63\n", &log);
	ck_assert_uint_eq(log.gpu[0].nets, UINT64_C(1) << 63);
}
END_TEST

START_TEST(too_many_settings_are_refused)
{
	static char all[NCCL_LOG_SETS_MAX * 64 + 64];
	auto_nccl_log struct nccl_log log = { 0 };
	struct err e;
	char one[64];

	for (int i = 0; i < NCCL_LOG_SETS_MAX; i++) {
		(void)snprintf(one, sizeof(one), HEAD "NCCL_X%d set to 1\n", i);
		testing_append(all, sizeof(all), one);
	}
	read_log(all, &log);
	ck_assert_uint_eq(log.n_sets, NCCL_LOG_SETS_MAX);
	nccl_log_clear(&log);
	testing_append(all, sizeof(all), HEAD "NCCL_Y set to 1\n");
	ck_assert_int_eq(nccl_log_read(all, strlen(all), &log, &e), -1);
	ck_assert_int_eq(e.code, ERR_EXHAUSTED);
	ck_assert_uint_eq(log.n_sets, 0);
}
END_TEST

static int read_once(void *arg, struct err *e)
{
	static const char text[] = HEAD "NCCL_X set to 1\n";
	auto_nccl_log struct nccl_log log = { 0 };

	(void)arg;
	return nccl_log_read(text, sizeof(text) - 1, &log, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	ck_assert_str_eq(alloc_fail_each(read_once, NULL), "ok");
}
END_TEST

TEST_PROGRAM("nccl_log", a_job_of_one_gpu, a_number_of_a_bus_has_a_domain,
	     numbers_that_are_no_bus_are_left_out,
	     a_send_by_the_hca_of_another_gpu_is_counted_apart,
	     fused_devices_of_old_and_new_versions, settings_are_taken_once,
	     processes_and_gpus_are_told_apart, other_lines_are_no_lines_of_nccl,
	     devices_beyond_the_limit_are_left_out, too_many_settings_are_refused,
	     each_failing_allocation_is_an_error)
