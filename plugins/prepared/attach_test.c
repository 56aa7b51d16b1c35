/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_test.c: which calls of rails attach, detach and end the claims of a pod, with a script in
 * place of rails. The real one: conformance/attach/claims.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cni/record/record.h"
#include "cni/testing/call.h"
#include "lib/sys/netns.h"
#include "lib/testing/dir.h"
#include "lib/testing/hca.h"
#include "lib/testing/net.h"
#include "plugins/prepared/prepared_priv.h"

#define POD   "0b8d-pod"
#define CLAIM "11aa"
#define OTHER "22bb"

/* Says each call; fails where the test made a file of the verb's name. */
#define SCRIPT                                                                                     \
	"#!/bin/sh\n"                                                                              \
	"cat >/mnt/stdin\n"                                                                        \
	"echo \"$CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME\" >>/mnt/calls\n"                        \
	"echo \"$CNI_ARGS\" >/mnt/args\n"                                                          \
	"if [ -e /mnt/$CNI_COMMAND-$CNI_IFNAME ]; then\n"                                          \
	"	echo '{\"code\":103,\"msg\":\"rail 1: busy\"}'; exit 1\n"                                \
	"fi\n"                                                                                     \
	"[ $CNI_COMMAND != ADD ] || echo '{\"interfaces\":[{\"name\":\"rail0\",\"sandbox\":"       \
	"\"/old\"}]}'\n"

static struct ctx ctx;
static struct prepared_job job;
static const struct prepared_sandbox here = { "/proc/self/ns/net", "primary", "sandbox-1", "eth0" };

static void set_up(void)
{
	net_enter_new();
	(void)testing_dir();
	ctx = (struct ctx){ .proc = "/proc",
			    .sysfs = "/sys",
			    .run_dir = "/mnt/run",
			    .etc_dir = "/mnt/etc",
			    .log = { .fd = -1, .level = LOG_LEVEL_INFO, .tag = "test" } };
	ck_assert_int_eq(mkdir("/mnt/bin", 0700), 0);
	testing_file("/mnt/bin/rails", 0700, SCRIPT);
	testing_file("/mnt/calls", 0600, "");
	job = (struct prepared_job){ .ctx = &ctx, .pod_uid = POD, .cni_path = "/mnt/bin" };
}

static struct prepared claim_of(const char *uid, const char *networks)
{
	char text[1000];
	struct prepared p;
	struct err e = { .msg = "" };

	(void)snprintf(text, sizeof(text),
		       "{\"version\":1,\"pod\":{\"uid\":\"" POD
		       "\",\"namespace\":\"jobs\",\"name\":\"train-0\"},\"claim\":{\"uid\":\"%s\","
		       "\"namespace\":\"jobs\",\"name\":\"rails\"},\"networks\":[%s]}",
		       uid, networks);
	good(prepared_decode(text, strlen(text), &p, &e), &e);
	return p;
}

#define NETWORK "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"rails\"}"

static void put_claim(const char *uid, const char *networks)
{
	auto_prepared struct prepared p = claim_of(uid, networks);
	struct err e = { .msg = "" };

	good(prepared_put(&ctx, &p, &e), &e);
}

/* As rails writes it. */
static void put_record_at(const char *uid, const char *ifname, const char *netns)
{
	auto_netns struct netns self = net_self();
	auto_json struct json *config = NULL;
	struct record r = { .key = { "net", uid, ifname },
			    .plugin = "rails",
			    .kind = "macvlan",
			    .netns = netns,
			    .netns_id = self.id,
			    .from = netns_view_self(&ctx),
			    .master = "",
			    .cni_path = "",
			    .args = "" };
	struct err e = { .msg = "" };

	good(ctx_boot_id(&ctx, r.boot, &e), &e);
	good(json_parse(NETWORK, strlen(NETWORK), "config", &config, &e), &e);
	r.config = config;
	good(record_write(&ctx, &r, &e), &e);
}

static void put_record(const char *uid, const char *ifname)
{
	put_record_at(uid, ifname, here.netns);
}

/* The calls since the last look, without line breaks. */
static const char *calls(void)
{
	static char text[1000];
	FILE *f = fopen("/mnt/calls", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	ck_assert_ptr_nonnull(f);
	(void)fclose(f);
	text[n] = '\0';
	for (char *p = text; (p = strchr(p, '\n'));)
		*p = ',';
	testing_file("/mnt/calls", 0600, "");
	return text;
}

static bool has_file(const char *name)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "/mnt/run/claims/" POD "/%s", name);
	return access(path, F_OK) == 0;
}

START_TEST(all_claims_of_a_pod_are_attached)
{
	struct err e = { .msg = "" };
	char args[300];

	set_up();
	put_claim(CLAIM, NETWORK "," NETWORK);
	put_claim(OTHER, NETWORK);
	good(prepared_attach(&job, &here, &e), &e);
	ck_assert_str_eq(calls(), "ADD 11aa claim0,ADD 11aa claim1,ADD 22bb claim0,");
	FILE *f = fopen("/mnt/args", "r");
	ck_assert(f && fgets(args, sizeof(args), f));
	(void)fclose(f);
	ck_assert_str_eq(args,
			 "IgnoreUnknown=1;K8S_POD_NAMESPACE=jobs;K8S_POD_NAME=train-0;K8S_POD_"
			 "UID=" POD ";K8S_POD_INFRA_CONTAINER_ID=sandbox-1\n");
	ck_assert(has_file("11aa.result") && has_file("22bb.result") && !has_file("holder"));
	ck_assert(has_file("pod/nccl.conf") && has_file("pod/explain.txt"));
}
END_TEST

/* A pod that is not attached, and one whose namespace has gone, are left alone. */
START_TEST(files_are_written_again)
{
	struct err e = { .msg = "" };

	set_up();
	good(prepared_refresh(&ctx, &e), &e);
	put_claim(CLAIM, NETWORK);
	put_claim(OTHER, NETWORK);
	good(prepared_refresh(&ctx, &e), &e);
	ck_assert(!has_file("pod/nccl.conf"));
	good(prepared_attach(&job, &here, &e), &e);
	ck_assert_int_eq(unlink("/mnt/run/claims/" POD "/pod/nccl.conf"), 0);
	good(prepared_refresh(&ctx, &e), &e);
	ck_assert(!has_file("pod/nccl.conf"));
	put_record(OTHER, "claim0");
	good(prepared_refresh(&ctx, &e), &e);
	ck_assert(has_file("pod/nccl.conf") && !has_file("lock"));
}
END_TEST

START_TEST(a_failure_takes_all_claims_back)
{
	struct err e = { .msg = "" };

	set_up();
	put_claim(CLAIM, NETWORK);
	put_claim(OTHER, NETWORK "," NETWORK);
	testing_file("/mnt/ADD-claim1", 0600, "");
	fails(prepared_attach(&job, &here, &e), &e, ERR_BUSY, "claim jobs/rails: rail 1: busy");
	ck_assert_str_eq(calls(), "ADD 11aa claim0,ADD 22bb claim0,ADD 22bb claim1,DEL 22bb "
				  "claim0,DEL 22bb claim1,DEL 11aa claim0,");
	ck_assert(!has_file("11aa.result") && !has_file("22bb.result"));
	/* What could not be taken back is named in a file, and the next call begins with it. */
	testing_file("/mnt/DEL-claim0", 0600, "");
	fails(prepared_attach(&job, &here, &e), &e, ERR_BUSY, "rail 1: busy");
	ck_assert(has_file("11aa.result") && has_file("22bb.result"));
	ck_assert_int_eq(unlink("/mnt/DEL-claim0") | unlink("/mnt/ADD-claim1"), 0);
	(void)calls();
	good(prepared_attach(&job, &here, &e), &e);
	ck_assert_str_eq(calls(), "DEL 11aa claim0,ADD 11aa claim0,DEL 22bb claim0,DEL 22bb "
				  "claim1,ADD 22bb claim0,ADD 22bb claim1,");
}
END_TEST

START_TEST(a_whole_claim_is_checked)
{
	struct err e = { .msg = "" };

	set_up();
	put_claim(CLAIM, NETWORK);
	fails(prepared_verify(&job, &here, &e), &e, ERR_STATE, "not attached");
	good(prepared_attach(&job, &here, &e), &e);
	put_record(CLAIM, "claim0");
	(void)calls();
	good(prepared_attach(&job, &here, &e), &e);
	good(prepared_verify(&job, &here, &e), &e);
	ck_assert_str_eq(calls(), "CHECK 11aa claim0,CHECK 11aa claim0,");
	auto_free char *conf = testing_printed("/mnt/stdin");
	ck_assert_ptr_nonnull(strstr(conf, "\"sandbox\":\"/proc/self/ns/net\""));
	/* Another namespace than that of the record. */
	net_enter_new();
	good(prepared_attach(&job, &here, &e), &e);
	ck_assert_str_eq(calls(), "DEL 11aa claim0,ADD 11aa claim0,");
	job.claim_uid = OTHER;
	fails(prepared_attach(&job, &here, &e), &e, ERR_NOTFOUND, OTHER);
}
END_TEST

START_TEST(only_the_claims_of_a_sandbox_are_detached)
{
	const struct prepared_sandbox late = { "", "primary", "sandbox-0", "eth0" };
	struct prepared_job any = { 0 };
	struct err e = { .msg = "" };

	set_up();
	any = job;
	any.pod_uid = NULL;
	good(prepared_detach(&any, &here, &e), &e);
	good(prepared_detach(&job, &here, &e), &e);
	put_claim(CLAIM, NETWORK);
	good(prepared_attach(&job, &here, &e), &e);
	(void)calls();
	good(prepared_detach(&job, &late, &e), &e);
	good(prepared_detach(&any, &late, &e), &e);
	ck_assert_str_eq(calls(), "");
	testing_file("/mnt/DEL-claim0", 0600, "");
	fails(prepared_detach(&job, &here, &e), &e, ERR_BUSY, "busy");
	ck_assert(has_file("11aa.result"));
	ck_assert_int_eq(unlink("/mnt/DEL-claim0"), 0);
	(void)calls();
	good(prepared_detach(&any, &here, &e), &e);
	good(prepared_detach(&any, &here, &e), &e);
	ck_assert_str_eq(calls(), "DEL 11aa claim0,");
	ck_assert(has_file("11aa.json") && !has_file("11aa.result"));
}
END_TEST

START_TEST(the_last_end_removes_the_folder)
{
	struct err e = { .msg = "" };

	set_up();
	job.claim_uid = CLAIM;
	good(prepared_end(&job, &e), &e);
	put_claim(CLAIM, NETWORK);
	put_claim(OTHER, NETWORK);
	good(prepared_attach(&job, &here, &e), &e);
	const struct prepared_refusal why = {
		.claim = { .uid = CLAIM }, .node = "n", .message = "m", .hint = ""
	};
	good(prepared_refuse(&ctx, &why, &e), &e);
	(void)calls();
	/* After a failure the claim is not prepared, and its networks are known. */
	testing_file("/mnt/DEL-claim0", 0600, "");
	fails(prepared_end(&job, &e), &e, ERR_BUSY, "busy");
	ck_assert(!has_file("11aa.json") && has_file("11aa.ending") && has_file("11aa.result"));
	ck_assert_int_eq(unlink("/mnt/DEL-claim0"), 0);
	good(prepared_end(&job, &e), &e);
	ck_assert_str_eq(calls(), "DEL 11aa claim0,DEL 11aa claim0,");
	/* Its file may have been lost. */
	good(prepared_end(&job, &e), &e);
	(void)calls();
	ck_assert(has_file("22bb.result") && has_file("pod/env") && !has_file("11aa.result"));
	ck_assert(access("/mnt/run/refused/11aa.json", F_OK) && errno == ENOENT);
	job.claim_uid = OTHER;
	good(prepared_end(&job, &e), &e);
	ck_assert_str_eq(calls(), "DEL 22bb claim0,");
	ck_assert(!has_file("."));
	good(prepared_end(&job, &e), &e);
}
END_TEST

START_TEST(a_damaged_claim_ends_by_its_records)
{
	struct err e = { .msg = "" };

	set_up();
	put_claim(CLAIM, NETWORK "," NETWORK);
	good(prepared_attach(&job, &here, &e), &e);
	put_record(CLAIM, "claim1");
	put_record(OTHER, "claim0");
	testing_file("/mnt/run/claims/" POD "/11aa.json", 0600, "nonsense");
	testing_file("/mnt/run/claims/" POD "/11aa.result", 0600, "nonsense");
	(void)calls();
	fails(prepared_attach(&job, &here, &e), &e, ERR_DECODE, "11aa.json");
	good(prepared_detach(&job, &here, &e), &e);
	ck_assert_str_eq(calls(), "");
	job.claim_uid = CLAIM;
	good(prepared_end(&job, &e), &e);
	/* Addresses may be reserved without a record. */
	ck_assert_str_eq(calls(),
			 "DEL 11aa claim0,DEL 11aa claim1,DEL 11aa claim2,DEL 11aa claim3,"
			 "DEL 11aa claim4,DEL 11aa claim5,DEL 11aa claim6,DEL 11aa claim7,");
	ck_assert(!has_file("."));
}
END_TEST

/* ---- slots of a device plugin ---- */

#define SLOT "rails-3"

/* What the hook does for a pod with the slot. */
static int take_slot(const char *pod, const char *slot, struct err *e)
{
	static char claim[64];
	const char config[] = "{\"networks\":[" NETWORK "],\"memlock\":true}";
	auto_prepared struct prepared p = { .networks = NULL };

	good(prepared_slot_decode(config, strlen(config), &p, e), e);
	(void)snprintf(claim, sizeof(claim), "%s-%s", pod, slot);
	(void)snprintf(p.pod.uid, sizeof(p.pod.uid), "%s", pod);
	(void)snprintf(p.claim.uid, sizeof(p.claim.uid), "%s", claim);
	(void)snprintf(p.pod.ns, sizeof(p.pod.ns), "jobs");
	(void)snprintf(p.pod.name, sizeof(p.pod.name), "train-0");
	p.claim.ns[0] = p.claim.name[0] = 'x';
	job.pod_uid = p.pod.uid;
	job.claim_uid = claim;
	int rc = prepared_slot_take(&job, &p, e);
	job.pod_uid = strcmp(pod, POD) == 0 ? POD : "later";
	return rc;
}
static bool slot_has(const char *file)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/mnt/run/slots/" SLOT "/%s", file);
	return access(path, F_OK) == 0;
}

START_TEST(a_slot_is_of_one_pod_at_a_time)
{
	const struct prepared_sandbox there = { .netns = "/mnt/ns" };
	struct err e = { .msg = "" };

	set_up();
	good(prepared_slot_make(&ctx, SLOT, &e), &e);
	good(prepared_slot_make(&ctx, SLOT, &e), &e);
	testing_file("/mnt/run/slots/" SLOT "/railctl", 0444, "");
	testing_file("/mnt/run/slots/" SLOT "/rdma-probe", 0444, "");
	good(take_slot(POD, SLOT, &e), &e);
	good(take_slot(POD, SLOT, &e), &e);
	ck_assert(has_file(POD "-" SLOT ".json") && !has_file("pod"));
	fails(take_slot(POD, "rails-4", &e), &e, ERR_FORBIDDEN, "another container of the pod");
	good(take_slot(POD, SLOT, &e), &e);
	testing_file("/mnt/ns", 0600, "");
	ck_assert_int_eq(mount("/proc/self/ns/net", "/mnt/ns", NULL, MS_BIND, NULL), 0);
	good(prepared_attach(&job, &there, &e), &e);
	put_record_at(POD "-" SLOT, "claim0", "/mnt/ns");
	net_enter_new();
	ck_assert(slot_has("nccl.conf") && slot_has("explain.txt"));
	ck_assert_str_eq(calls(), "ADD " POD "-" SLOT " claim0,");
	/* Its namespace exists. */
	fails(take_slot("later", SLOT, &e), &e, ERR_BUSY, "has not ended yet");
	job.pod_uid = POD;
	job.claim_uid = POD "-" SLOT;
	ck_assert_int_eq(prepared_slot_end(&job, &e), 0);
	ck_assert_str_eq(calls(), "");
	ck_assert_int_eq(umount("/mnt/ns") | unlink("/mnt/ns"), 0);
	good(take_slot("later", SLOT, &e), &e);
	ck_assert_str_eq(calls(), "DEL " POD "-" SLOT " claim0,");
	ck_assert(!has_file(".") && !slot_has("nccl.conf") && slot_has("railctl") &&
		  slot_has("rdma-probe"));
	/* Nothing is attached of it. */
	ck_assert_int_eq(prepared_slot_end(&job, &e), 1);
	ck_assert_int_eq(prepared_slot_end(&job, &e), 1);
}
END_TEST

static int count_slots(const char *pod_uid, const char *claim_uid, void *arg, struct err *e)
{
	(void)e;
	ck_assert_str_eq(prepared_slot_name(pod_uid, claim_uid), SLOT);
	++*(int *)arg;
	return 0;
}

/* The gate attached it. DEL names its namespace, if it comes. */
START_TEST(a_slot_ends_with_its_namespace)
{
	const struct prepared_sandbox gate = { .netns = here.netns };
	const struct prepared_sandbox other = { "/mnt/other", "primary", "sandbox-1", "eth0" };
	struct err e = { .msg = "" };
	int n = 0;

	set_up();
	good(prepared_slot_each(&ctx, count_slots, &n, &e), &e);
	good(prepared_slot_make(&ctx, SLOT, &e), &e);
	put_claim(CLAIM, NETWORK);
	good(take_slot(POD, SLOT, &e), &e);
	good(prepared_attach(&job, &gate, &e), &e);
	put_record(POD "-" SLOT, "claim0");
	good(prepared_slot_each(&ctx, count_slots, &n, &e), &e);
	ck_assert_int_eq(n, 1);
	job.claim_uid = NULL;
	(void)calls();
	good(prepared_detach(&job, &other, &e), &e);
	ck_assert_str_eq(calls(), "");
	/* The claim of Kubernetes is the driver's to end. */
	good(prepared_detach(&job, &here, &e), &e);
	ck_assert_str_eq(calls(), "DEL " POD "-" SLOT " claim0,");
	ck_assert(has_file("11aa.result") && !has_file(POD "-" SLOT ".json"));
	ck_assert(!slot_has("env"));
}
END_TEST

/* The first call failed half-way. */
START_TEST(the_end_of_a_slot_goes_on)
{
	struct err e = { .msg = "" };
	int n = 0;

	set_up();
	good(prepared_slot_make(&ctx, SLOT, &e), &e);
	good(take_slot(POD, SLOT, &e), &e);
	good(prepared_attach(&job, &(struct prepared_sandbox){ .netns = "/proc/self/ns/net" }, &e),
	     &e);
	testing_file("/mnt/DEL-claim0", 0600, "");
	fails(prepared_end(&job, &e), &e, ERR_BUSY, "busy");
	good(prepared_slot_each(&ctx, count_slots, &n, &e), &e);
	ck_assert_int_eq(n, 1);
	fails(prepared_attach(&job, &here, &e), &e, ERR_NOTFOUND, "not prepared");
	ck_assert_int_eq(unlink("/mnt/DEL-claim0"), 0);
	good(prepared_end(&job, &e), &e);
	ck_assert(!has_file("."));
}
END_TEST

START_TEST(the_argument_of_the_hook_of_a_slot)
{
	static const char *const bad[] = { "", "[]", "{}", "{\"networks\":1}" };
	auto_prepared struct prepared p = { .networks = NULL };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		fails(prepared_slot_decode(bad[i], strlen(bad[i]), &p, &e), &e, ERR_DECODE, "");
	good(prepared_slot_decode("{\"networks\":[]}", 15, &p, &e), &e);
	auto_free char *text = prepared_slot_print(p.networks, true);
	ck_assert_str_eq(text, "{\"networks\":[],\"memlock\":true}");
	ck_assert_ptr_null(prepared_slot_name("a", "a-"));
	ck_assert_ptr_null(prepared_slot_name("a", "ab-c"));
	ck_assert_str_eq(prepared_slot_name("a", "a-rails-1"), "rails-1");
}
END_TEST

/* ---- reservations ---- */

#define NETWORK_OF(rdma)                                                                           \
	"{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"rails\",\"rdma\":\"" rdma "\"}"

START_TEST(shared_RDMA_of_a_node_in_mode_exclusive)
{
	auto_prepared struct prepared shared = claim_of(CLAIM, NETWORK_OF("shared")),
				      moves = claim_of(CLAIM, NETWORK_OF("exclusive"));
	struct err e = { .msg = "" };

	(void)fakehca(RDMA_EXCLUSIVE);
	fails(prepared_check_mode(&shared, &e), &e, ERR_STATE,
	      "this node is in RDMA mode exclusive, in which a pod sees only devices that moved");
	good(prepared_check_mode(&moves, &e), &e);
	(void)fakehca(RDMA_SHARED);
	good(prepared_check_mode(&shared, &e), &e);
	fakehca_stop();
}
END_TEST

#define IPAM                                                                                       \
	"#!/bin/sh\ncat >>/mnt/stdin\necho \"$CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME\" "         \
	">>/mnt/calls\n[ ! -e /mnt/full ] || { echo '{\"code\":101,\"msg\":\"no address is "       \
	"left\"}'; exit 1; }\necho '{}'\n"
#define POOLS                                                                                      \
	"{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"rails\",\"kind\":\"macvlan\","      \
	"\"rails\":[%d],\"ipam\":{\"type\":\"railhead-ipam\",\"pool\":\"rail{n}\"}}"

static int reserve(int rail, struct err *e)
{
	char network[300];

	(void)snprintf(network, sizeof(network), POOLS, rail);
	auto_prepared struct prepared p = claim_of(CLAIM, network);
	return prepared_reserve(&ctx, &p, job.cni_path, e);
}

START_TEST(a_reservation_is_the_ADD_of_the_IPAM)
{
	struct err e = { .msg = "" };

	set_up();
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	net_link("bridge", "eth7");
	testing_file("/mnt/etc/rails.json", 0600,
		     "{\"rails\":[{\"rail\":7,\"interface\":\"eth7\"}]}");
	testing_file("/mnt/bin/railhead-ipam", 0700, IPAM);
	good(reserve(7, &e), &e);
	ck_assert_str_eq(calls(), "ADD 11aa claim0,");
	auto_free char *conf = testing_printed("/mnt/stdin");
	ck_assert_ptr_nonnull(strstr(conf, "\"pools\":[[\"rail7\"]]"));
	fails(reserve(3, &e), &e, ERR_CONFIG, "no rail 3");
	/* rails gives back what there may be. */
	ck_assert_str_eq(calls(), "DEL 11aa claim0,");
	testing_file("/mnt/full", 0600, "");
	fails(reserve(7, &e), &e, ERR_EXHAUSTED, "no address is left");
	ck_assert_str_eq(calls(), "ADD 11aa claim0,DEL 11aa claim0,");
	/* An attached claim has its addresses already. */
	put_claim(CLAIM, NETWORK);
	testing_file("/mnt/run/claims/" POD "/11aa.result", 0600, "{}");
	good(reserve(7, &e), &e);
	ck_assert_str_eq(calls(), "");
}
END_TEST

TEST_PROGRAM("prepared_attach", a_slot_is_of_one_pod_at_a_time, a_slot_ends_with_its_namespace,
	     the_end_of_a_slot_goes_on, the_argument_of_the_hook_of_a_slot,
	     all_claims_of_a_pod_are_attached, files_are_written_again,
	     a_failure_takes_all_claims_back, a_whole_claim_is_checked,
	     only_the_claims_of_a_sandbox_are_detached, the_last_end_removes_the_folder,
	     a_damaged_claim_ends_by_its_records, a_reservation_is_the_ADD_of_the_IPAM,
	     shared_RDMA_of_a_node_in_mode_exclusive)
