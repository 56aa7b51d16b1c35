// SPDX-License-Identifier: Apache-2.0
/* What NCCL chose is as predicted, or each difference is a finding. */
#include "diag/verify.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define HEAD  "gpu-1:100:120 [0] NCCL INFO "
#define START HEAD "rank 0 nranks 2 busId 1000 - Init START\n"
#define USING HEAD "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE ; OOB eth0:1<0>\n"

/*
 * GPU 0 uses a port of its own, GPU 1 two ports that NCCL fuses, without GPUDirect RDMA. GPU 2 uses
 * it only for what it receives.
 */
static const char machine[] =
	"{\"version\": 1, \"gpus\": [{\"index\": 0, \"bdf\": \"0000:01:00.0\", \"nccl\": "
	"{\"local\": [\"mlx5_0\"], \"slower\": [\"mlx5_3\"], \"gdr\": true}}, {\"index\": 1, "
	"\"bdf\": \"0000:02:00.0\", "
	"\"nccl\": {\"local\": [\"mlx5_1+mlx5_2\"], \"gdr\": false}}, {\"index\": 2, "
	"\"bdf\": \"0000:04:00.0\", \"nccl\": {\"local\": [\"mlx5_0\"], \"gdr\": false, "
	"\"gdr_receive\": true}}, {\"index\": 3, \"bdf\": \"0000:05:00.0\", \"nccl\": {\"local\": "
	"[\"mlx5_0\"], \"gdr\": true, \"uncertain\": \"ranks\"}}]}";

struct verify_case {
	struct json *doc;
	struct nccl_log log;
	struct verify_input in;
};

static void verify_case_clear(struct verify_case *c)
{
	nccl_log_clear(&c->log);
	json_free(c->doc);
}
#define auto_verify_case auto_clean(verify_case_clear)

static void begin(struct verify_case *c, const char *text)
{
	struct err e;

	ck_assert_int_eq(json_parse(machine, strlen(machine), "machine", &c->doc, &e), 0);
	ck_assert_int_eq(nccl_log_read(text, strlen(text), &c->log, &e), 0);
	c->in.machine = c->doc;
	c->in.log = &c->log;
	c->in.rules = NCCL_VERSION_NEWEST;
}

/* "state id subject: value\n" of each finding. Static text. */
static const char *verdict(const struct verify_case *c)
{
	static char text[4096];
	auto_findings struct findings all = { 0 };
	struct err e;
	size_t len = 0;

	*text = '\0';
	ck_assert_int_eq(topo_verify(&c->in, &all, &e), 0);
	for (size_t i = 0; i < all.n; i++) {
		const struct finding *f = &all.item[i];

		ck_assert(f->state == FINDING_OK || (f->reason && f->remedy));
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s %s: %s\n",
					finding_state_name(f->state), f->id,
					f->subject ? f->subject : "-", f->value ? f->value : "-");
	}
	return text;
}

static const struct {
	const char *log, *verdict;
} logs[] = {
	{ START USING HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n",
	  "ok net GPU 0: predicted mlx5_0, NCCL uses mlx5_0\n"
	  "ok gdr GPU 0: predicted on, 1 connections with GPUDirect RDMA and 0 without\n" },
	{ START USING HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1\n",
	  "fail net GPU 0: predicted mlx5_0, NCCL uses mlx5_1\n"
	  "fail gdr GPU 0: predicted on, 0 connections with GPUDirect RDMA and 1 without\n" },
	/* a slower card at the same distance, alone and with one that is farther */
	{ START USING HEAD "Made virtual device [2] name=mlx5_3 speed=1\n" HEAD
			   "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/2/GDRDMA\n",
	  "unknown net GPU 0: predicted mlx5_0, NCCL uses mlx5_3\n"
	  "ok gdr GPU 0: predicted on, 1 connections with GPUDirect RDMA and 0 without\n" },
	{ START USING HEAD "Made virtual device [2] name=mlx5_3+mlx5_1 speed=1\n" HEAD
			   "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/2/GDRDMA\n",
	  "fail net GPU 0: predicted mlx5_0, NCCL uses mlx5_3,mlx5_1\n"
	  "ok gdr GPU 0: predicted on, 1 connections with GPUDirect RDMA and 0 without\n" },
	/* ranks that do not see the same NICs */
	{ HEAD "rank 0 nranks 2 busId 5000\n" USING HEAD
	       "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1/GDRDMA\n",
	  "unknown net GPU 3: predicted mlx5_0, NCCL uses mlx5_1\n"
	  "ok gdr GPU 3: predicted on, 1 connections with GPUDirect RDMA and 0 without\n" },
	/* the device is not in the list of devices */
	{ START HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n",
	  "unknown net GPU 0: predicted mlx5_0, NCCL uses ?\n"
	  "ok gdr GPU 0: predicted on, 1 connections with GPUDirect RDMA and 0 without\n" },
	/* fused devices of a new and an old version */
	{ HEAD "rank 0 nranks 2 busId 2000\n" HEAD
	       "Made virtual device [4] name=mlx5_1+mlx5_2 speed=1\n" HEAD
	       "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/4\n",
	  "ok net GPU 1: predicted mlx5_1,mlx5_2, NCCL uses mlx5_1,mlx5_2\n"
	  "ok gdr GPU 1: predicted off, 0 connections with GPUDirect RDMA and 1 without\n" },
	{ HEAD "rank 0 nranks 2 busId 2000\n" HEAD
	       "NET/IB : Using [0]={[0] mlx5_1:1/RoCE, [1] mlx5_2:1/RoCE}\n" HEAD
	       "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n",
	  "fail gdr GPU 1: predicted off, 1 connections with GPUDirect RDMA and 0 without\n"
	  "ok net GPU 1: predicted mlx5_1,mlx5_2, NCCL uses mlx5_1,mlx5_2\n" },
	/* NCCL_NET_GDR_READ=0 */
	{ HEAD "rank 0 nranks 2 busId 4000\n" USING HEAD
	       "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n" HEAD
	       "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0\n",
	  "ok net GPU 2: predicted mlx5_0, NCCL uses mlx5_0\n"
	  "ok gdr GPU 2: predicted on for received data only, 1 connections with GPUDirect RDMA "
	  "and 1 without\n" },
	{ HEAD "rank 0 nranks 2 busId 4000\n" USING HEAD
	       "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n" HEAD
	       "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n",
	  "fail gdr GPU 2: predicted on for received data only, 1 connections with GPUDirect RDMA "
	  "and 1 without\n"
	  "ok net GPU 2: predicted mlx5_0, NCCL uses mlx5_0\n" },
	/* through the memory of the host, NCCL may take an HCA of another switch */
	{ HEAD "rank 0 nranks 2 busId 2000\n" USING HEAD
	       "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n",
	  "unknown net GPU 1: predicted mlx5_1,mlx5_2, NCCL uses mlx5_0\n"
	  "ok gdr GPU 1: predicted off, 0 connections with GPUDirect RDMA and 1 without\n" },
	{ HEAD "rank 0 nranks 2 busId 3000\n" HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via "
	       "NET/IB/0\n",
	  "fail gpu -: 0000:03:00.0\n" },
	{ HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n", "unknown gpu -: -\n" },
	{ START USING, "unknown connections -: -\n" },
	/* a device of another GPU says nothing about this one */
	{ START USING HEAD "Channel 00/0 : 0[0] -> 9[0] [send] via NET/IB/1(3)/GDRDMA\n",
	  "unknown connections -: -\n" },
	{ START HEAD "Using network Socket\n" HEAD "NCCL version 2.20.5+cuda12.4\n",
	  "fail network -: NCCL uses Socket\n"
	  "unknown version -: NCCL 2.20.5+cuda12.4\n"
	  "unknown connections -: -\n" },
	{ START HEAD "Using network IBext_v8\n" HEAD "NCCL version 2.30.7+cuda13.0\n",
	  "unknown connections -: -\n" },
	{ START HEAD "Using network Socket\n" HEAD
		     "NCCL_NET_GDR_LEVEL set by environment to SYS\n" HEAD
		     "NCCL_SOCKET_IFNAME set by environment to eth0\n",
	  "fail network -: NCCL uses Socket\n"
	  "warn setting -: NCCL_NET_GDR_LEVEL=SYS\n"
	  "unknown connections -: -\n" },
	/* the number of a device is that of an interface then; processes have it in common */
	{ START HEAD "Using network Socket\n" HEAD
		     "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n" HEAD
		     "NCCL version 2.28.9+cuda13.0\ngpu-1:101:1 [0] NCCL INFO Using network "
		     "Socket\ngpu-1:101:1 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n",
	  "fail network -: NCCL uses Socket\n"
	  "unknown version -: NCCL 2.28.9+cuda13.0\n" },
	/* NCCL names fused devices with NCCL_DEBUG_SUBSYS=NET only: their numbers are above the
	   others */
	{ START USING HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/7/GDRDMA\n",
	  "unknown net GPU 0: predicted mlx5_0, NCCL uses ?\n"
	  "ok gdr GPU 0: predicted on, 1 connections with GPUDirect RDMA and 0 without\n" },
	/* a setting explains a difference, and there is none */
	{ START HEAD "NCCL_NET_GDR_LEVEL set by environment to SYS\n",
	  "unknown connections -: -\n" },
};

START_TEST(a_log_has_a_verdict)
{
	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		auto_verify_case struct verify_case c = { 0 };

		begin(&c, logs[i].log);
		ck_assert_str_eq(verdict(&c), logs[i].verdict);
	}
}
END_TEST

START_TEST(the_version_that_is_followed_is_no_finding)
{
	auto_verify_case struct verify_case c = { 0 };

	begin(&c, HEAD "NCCL version 2.20.5+cuda12.4\n");
	ck_assert_ptr_nonnull(strstr(verdict(&c), "unknown version -: NCCL 2.20.5+cuda12.4\n"));
	c.in.rules = (struct lib_version){ 2, 20, 3 };
	ck_assert_ptr_null(strstr(verdict(&c), "version"));
}
END_TEST

#define OTHER "gpu-2:1:2 [0] NCCL INFO "

/* The first process of the host that printed it decides, or any of the job: NCCL 2.21 prints it in
 * one process only. */
START_TEST(the_version_is_that_of_the_log)
{
	static const struct {
		const char *log, *host, *version;
		bool rccl;
	} cases[] = {
		{ HEAD "Using network IB\n", NULL, NULL, false },
		{ HEAD "NCCL version unknown\n", NULL, NULL, false },
		{ HEAD "NCCL version 2.28.9+cuda13.0\n", NULL, "2.28.9", false },
		{ HEAD "NCCL version 2.28.9+cuda13.0\n" OTHER "NCCL version 2.30.7+cuda13.3\n",
		  "gpu-2", "2.30.7", false },
		{ HEAD "NCCL version 2.21.5+cuda12.4\n" OTHER "Using network IB\n", "gpu-2",
		  "2.21.5", false },
		{ HEAD "NCCL version 2.21.5+cuda12.4\n" OTHER "NCCL version 2.22.3+cuda12.5\n",
		  NULL, "2.21.5", false },
		{ HEAD "RCCL version : 2.30.4-HEAD:2b22ab0\n", NULL, "2.30.4", true },
		/* NCCL 2.21 to 2.23 print it without the beginning of a line */
		{ HEAD "Using network IB\nNCCL version 2.21.5+cuda12.4\n", "gpu-1", "2.21.5",
		  false },
		{ "[1,0]<stdout>:NCCL version 2.23.4+cuda12.6\n" HEAD "Using network IB\n", NULL,
		  "2.23.4", false },
		{ "NCCL version 2.21.5+cuda12.4\n" HEAD "NCCL version 2.28.9+cuda13.0\n", NULL,
		  "2.28.9", false },
		{ "our NCCL version is new\n" HEAD "Using network IB\n", NULL, NULL, false },
		{ HEAD "RCCL version 2.18.6+hip6.0\n", NULL, "2.18.6", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_verify_case struct verify_case c = { 0 };
		struct lib_version v = { 0 };
		bool rccl = false;
		char text[LIB_VERSION_LEN];

		begin(&c, cases[i].log);
		ck_assert_int_eq(topo_verify_version(&c.log, cases[i].host, &v, &rccl),
				 cases[i].version != NULL);
		if (cases[i].version)
			ck_assert_str_eq(lib_version_format(v, text), cases[i].version);
		ck_assert_int_eq(rccl, cases[i].rccl);
	}
}
END_TEST

START_TEST(a_log_of_RCCL_needs_its_rules)
{
	auto_verify_case struct verify_case c = { 0 };

	begin(&c, HEAD "RCCL version : 2.31.2-HEAD:2b22ab0\n");
	c.in.rules = RCCL_VERSION_NEWEST;
	ck_assert_ptr_nonnull(strstr(verdict(&c), "unknown version -: RCCL 2.31.2-HEAD:2b22ab0\n"));
	c.in.rccl = true;
	ck_assert_ptr_null(strstr(verdict(&c), "version"));
	c.in.rules = (struct lib_version){ 2, 30, 7 };
	ck_assert_ptr_nonnull(strstr(verdict(&c), "unknown version -: RCCL 2.31.2-HEAD:2b22ab0\n"));
}
END_TEST

/* RCCL_FUSES_OVER_CPUS came with 2.28.3, to RCCL alone. */
START_TEST(a_log_of_NCCL_does_not_need_those_of_RCCL)
{
	auto_verify_case struct verify_case c = { 0 };

	begin(&c, HEAD "NCCL version 2.28.2+cuda13.0\n");
	c.in.rules = (struct lib_version){ 2, 28, 3 };
	ck_assert_ptr_null(strstr(verdict(&c), "version"));
}
END_TEST

START_TEST(a_patch_can_have_other_rules)
{
	auto_verify_case struct verify_case c = { 0 };

	begin(&c, HEAD "NCCL version 2.30.3+cuda13.0\n");
	ck_assert_ptr_nonnull(strstr(verdict(&c), "unknown version -: NCCL 2.30.3+cuda13.0\n"));
}
END_TEST

START_TEST(a_setting_that_is_assumed_is_no_finding)
{
	static const char *const sets[] = { "NCCL_NET_GDR_LEVEL=PHB", "NCCL_NET_GDR_LEVEL=SYS" };
	auto_verify_case struct verify_case c = { 0 };

	begin(&c,
	      HEAD "NCCL_NET_GDR_LEVEL set by environment to SYS\n" HEAD "Using network Socket\n");
	c.in.assumed = sets;
	c.in.n_assumed = 1;
	ck_assert_ptr_nonnull(strstr(verdict(&c), "warn setting -: NCCL_NET_GDR_LEVEL=SYS\n"));
	c.in.n_assumed = 2;
	ck_assert_ptr_null(strstr(verdict(&c), "setting"));
}
END_TEST

START_TEST(only_the_processes_of_a_host_count)
{
	auto_verify_case struct verify_case c = { 0 };

	begin(&c, START USING HEAD "Channel 0 : 1 -> 0 [receive] via NET/IB/1/GDRDMA\n"
				   "gpu-2:1:2 [0] NCCL INFO Using network Socket\n");
	c.in.host = "gpu-1";
	ck_assert_ptr_nonnull(strstr(verdict(&c), "fail net GPU 0"));
	ck_assert_ptr_null(strstr(verdict(&c), "Socket"));
	c.in.host = "gpu-2";
	ck_assert_str_eq(verdict(&c), "fail network -: NCCL uses Socket\n"
				      "unknown connections -: -\n");
}
END_TEST

/* A machine without HCAs, such as a virtual machine with a GPU alone. */
START_TEST(sockets_are_predicted_where_no_hca_is)
{
	static const char bare[] = "{\"version\": 1, \"gpus\": [{\"index\": 0, \"bdf\": "
				   "\"0000:01:00.0\", \"nccl\": {\"local\": []}}]}";
	auto_verify_case struct verify_case c = { 0 };
	struct err e;

	begin(&c, START HEAD "Using network Socket\n" HEAD
			     "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n");
	json_free(TAKE_PTR(c.doc));
	ck_assert_int_eq(json_parse(bare, strlen(bare), "machine", &c.doc, &e), 0);
	c.in.machine = c.doc;
	ck_assert_str_eq(verdict(&c),
			 "ok network -: NCCL uses Socket, as predicted: there is no HCA\n");
}
END_TEST

static int verify_once(void *arg, struct err *e)
{
	const struct verify_case *c = arg;
	auto_findings struct findings all = { 0 };

	return topo_verify(&c->in, &all, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	auto_verify_case struct verify_case c = { 0 };

	begin(&c, START USING HEAD "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1\n");
	ck_assert_str_eq(alloc_fail_each(verify_once, &c), "ok");
}
END_TEST

TEST_PROGRAM("verify", a_log_has_a_verdict, the_version_that_is_followed_is_no_finding,
	     the_version_is_that_of_the_log, a_log_of_RCCL_needs_its_rules,
	     a_log_of_NCCL_does_not_need_those_of_RCCL, a_patch_can_have_other_rules,
	     a_setting_that_is_assumed_is_no_finding, only_the_processes_of_a_host_count,
	     sockets_are_predicted_where_no_hca_is, each_failing_allocation_is_an_error)
