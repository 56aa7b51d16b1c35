/* SPDX-License-Identifier: Apache-2.0 */
/* cdi_test.c: the CDI file of a claim, byte for byte, and the folders beside it. */
#include "railheadd/claims/cdi.h"

#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/hca.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "sriov/testing/vf.h"

#define CDI_FILE "/mnt/cdi/railhead.io-claim_cu.json"

static struct ctx ctx;
static struct err e;

static struct prepared prepared(const char *networks)
{
	struct prepared p = { .pod = { "pu", "ns", "p" }, .claim = { "cu", "ns", "c" } };

	ck_assert_int_eq(json_parse(networks, strlen(networks), "networks", &p.networks, &e), 0);
	return p;
}

static void begin(const char *rails)
{
	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/railhead";
	ctx.etc_dir = "/mnt/etc";
	ctx.sysfs = "/mnt/sys";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0644, rails);
}

#define FOLDER                                                                                     \
	"\"mounts\":[{\"hostPath\":\"/mnt/railhead/claims/pu/pod\",\"containerPath\":"             \
	"\"/run/railhead\",\"options\":[\"bind\",\"ro\",\"nosuid\",\"nodev\",\"noexec\"]}]"

START_TEST(a_hook_and_a_folder)
{
	auto_prepared struct prepared p =
		prepared("[{\"name\":\"n\",\"type\":\"rails\",\"rails\":[3]}]");
	auto_free char *text = NULL;
	struct stat st;

	begin("{\"rails\":[{\"rail\":3,\"interface\":\"eth3\"}]}");
	ck_assert_msg(claim_cdi(&ctx, &p, "/opt/cni/bin", &text, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(
		text,
		"{\"cdiVersion\":\"0.5.0\",\"kind\":\"railhead.io/claim\",\"devices\":[{\"name\":"
		"\"cu\",\"containerEdits\":{" FOLDER
		"}},{\"name\":\"cu-3\",\"containerEdits\":{" FOLDER
		"}}],\"containerEdits\":{\"hooks\":[{\"hookName\":\"createRuntime\",\"path\":"
		"\"/opt/cni/bin/railhead-hook\",\"args\":[\"railhead-hook\",\"--pod\",\"pu\","
		"\"--claim\",\"cu\"]}]," FOLDER "}}");
	ck_assert(!claim_cdi_stands(&ctx, &p, text));
	ck_assert_msg(prepared_put(&ctx, &p, &e) == 0, "%s", e.msg);
	ck_assert_msg(claim_cdi_put(&ctx, &p, text, &e) == 0, "%s", e.msg);
	ck_assert(claim_cdi_stands(&ctx, &p, text));
	ck_assert(!claim_cdi_stands(&ctx, &p, "{}"));
	ck_assert(stat("/mnt/railhead/claims/pu/pod", &st) == 0 && (st.st_mode & 0777) == 0755);
	ck_assert(stat("/mnt/railhead/claims/pu", &st) == 0 && (st.st_mode & 0777) == 0700);
	ck_assert(stat(CDI_FILE, &st) == 0 && (st.st_mode & 0777) == 0600);
	ck_assert_int_eq(claim_cdi_remove(&ctx, "cu", &e), 0);
	ck_assert(stat(CDI_FILE, &st) != 0);
	ck_assert_int_eq(claim_cdi_remove(&ctx, "cu", &e), 0);
}
END_TEST

/* The kubelet shows the health of one device for each of these. */
START_TEST(devices_of_a_claim)
{
	char id[CDI_ID_LEN];

	ck_assert_str_eq(claim_cdi_id("cu", UINT64_MAX, id), "railhead.io/claim=cu");
	ck_assert_str_eq(claim_cdi_id("cu", 8, id), "railhead.io/claim=cu-3");
	ck_assert_str_eq(claim_cdi_id("cu", UINT64_C(3) << 62, id), "railhead.io/claim=cu-62");
}
END_TEST

static void is_refused(const char *networks, const char *words)
{
	auto_prepared struct prepared p = prepared(networks);
	auto_free char *text = NULL;

	ck_assert_int_eq(claim_cdi(&ctx, &p, "/b", &text, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, words), "%s", e.msg);
}

/* Rail 3 is of Ethernet, and rail 4 of InfiniBand. */
START_TEST(a_kind_for_another_link_layer)
{
	auto_prepared struct prepared p = prepared("[{\"kind\":\"macvlan\",\"rails\":[3]},"
						   "{\"kind\":\"ipoib\",\"rails\":[4]}]");
	auto_free char *text = NULL;

	begin("{\"rails\":[{\"rail\":3,\"interface\":\"eth3\"},"
	      "{\"rail\":4,\"interface\":\"ib4\"}]}");
	fakepci_function("/mnt/sys", "0000:3b:00.0");
	fakepci_netdev("/mnt/sys", "0000:3b:00.0", "ib4", NULL);
	fakepci_file("/mnt/sys", "0000:3b:00.0", "net/ib4/type", "32\n");
	ck_assert_msg(claim_cdi(&ctx, &p, "/b", &text, &e) == 0, "%s", e.msg);
	is_refused("[{\"kind\":\"macvlan\",\"rails\":[3,4]}]",
		   "network.kind: \"macvlan\", but rail 4 (ib4) is of InfiniBand");
	is_refused("[{\"kind\":\"ib-sriov\",\"rails\":\"all\"}]",
		   "network.kind: \"ib-sriov\", but rail 3 (eth3) is of Ethernet");
}
END_TEST

START_TEST(variables_of_a_class)
{
	auto_prepared struct prepared p = prepared("[]");
	auto_free char *text = NULL;

	begin("{\"rails\":[]}");
	p.variables = 3;
	ck_assert_int_eq(claim_cdi(&ctx, &p, "/b", &text, &e), 0);
	ck_assert_ptr_nonnull(strstr(text, ",\"env\":[\"NCCL_CONF_FILE=/run/railhead/nccl.conf\","
					   "\"UCX_CONFIG_DIR=/run/railhead\"]}}"));
}
END_TEST

/* Over an empty file of the pod's folder, which is never another file. */
START_TEST(programs_of_the_node)
{
	auto_prepared struct prepared p =
		prepared("[{\"name\":\"n\",\"type\":\"rails\",\"rails\":[3]}]");
	auto_free char *text = NULL;
	struct stat st, again;

	begin("{\"rails\":[{\"rail\":3,\"interface\":\"eth3\"}]}");
	testing_file("/mnt/railctl", 0755, "");
	testing_file("/mnt/rdma-probe", 0755, "");
	ck_assert_msg(claim_cdi(&ctx, &p, "/mnt", &text, &e) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(
		text,
		",{\"hostPath\":\"/mnt/railctl\",\"containerPath\":\"/run/railhead/railctl\","
		"\"options\":[\"bind\",\"ro\",\"nosuid\",\"nodev\"]},"
		"{\"hostPath\":\"/mnt/rdma-probe\",\"containerPath\":\"/run/railhead/rdma-probe\","
		"\"options\":[\"bind\",\"ro\",\"nosuid\",\"nodev\"]}]"));
	ck_assert_msg(prepared_put(&ctx, &p, &e) == 0, "%s", e.msg);
	ck_assert_msg(claim_cdi_put(&ctx, &p, text, &e) == 0, "%s", e.msg);
	ck_assert(stat("/mnt/railhead/claims/pu/pod/rdma-probe", &st) == 0 && st.st_size == 0);
	ck_assert(stat("/mnt/railhead/claims/pu/pod/railctl", &st) == 0 && st.st_size == 0);
	ck_assert_msg(claim_cdi_put(&ctx, &p, text, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(stat("/mnt/railhead/claims/pu/pod/railctl", &again), 0);
	ck_assert_uint_eq(again.st_ino, st.st_ino);
}
END_TEST

START_TEST(a_rail_that_is_not_there)
{
	auto_prepared struct prepared p = prepared("[{\"rails\":[3]}]"),
				      q = prepared("[{\"rails\":[4]}]"),
				      all = prepared("[{\"rails\":\"all\"}]");
	auto_free char *text = NULL;

	begin("{\"rails\":[{\"rail\":3,\"pci\":\"3b:00.0\"}]}");
	ck_assert_int_eq(claim_cdi(&ctx, &p, "/b", &text, &e), -1);
	ck_assert_str_eq(e.msg, "rail 3: its card 0000:3b:00.0 has no interface on this node now");
	ck_assert_int_eq(claim_cdi(&ctx, &q, "/b", &text, &e), -1);
	ck_assert_str_eq(e.msg, "rail 4: this node has no such rail");
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(claim_cdi(&ctx, &all, "/b", &text, &e), 0);
}
END_TEST

static void give_rdma(const char *addr, const char *name)
{
	char path[96];

	(void)fakehca_add(name);
	(void)snprintf(path, sizeof(path), "infiniband/%s/node_type", name);
	fakepci_file(TESTHOST_SYS, addr, path, "1: CA\n");
}

/* Those of its VFs, or of the cards of its rails. */
START_TEST(files_of_rdma_devices)
{
#define VFS(addr) "[{\"rails\":[3],\"rdma\":\"shared\",\"deviceIDs\":[\"" addr "\"]}]"
	auto_prepared struct prepared card = prepared("[{\"rails\":[3],\"rdma\":\"shared\"}]"),
				      vf = prepared(VFS("0000:3b:02.2")),
				      bare = prepared(VFS("0000:3b:02.1")),
				      none = prepared("[{\"rails\":[3],\"deviceIDs\":[\"x\"]}]");
	auto_testhost struct testhost w = testhost(2);
	auto_free char *of_card = NULL, *of_vf = NULL, *of_none = NULL, *never = NULL;

	(void)fakehca(RDMA_SHARED);
	give_rdma(TESTHOST_PF, "mlx5_0");
	give_rdma("0000:3b:02.2", "mlx5_1");
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":3,\"interface\":\"pf0\"}]}");
	ck_assert_msg(claim_cdi(&w.ctx, &card, "/b", &of_card, &e) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(of_card, "/dev/infiniband/uverbs0\""));
	ck_assert_ptr_null(strstr(of_card, "uverbs1"));
	ck_assert_msg(claim_cdi(&w.ctx, &vf, "/b", &of_vf, &e) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(of_vf, "/dev/infiniband/uverbs1\""));
	ck_assert_ptr_null(strstr(of_vf, "uverbs0"));
	ck_assert_int_eq(claim_cdi(&w.ctx, &none, "/b", &of_none, &e), 0);
	ck_assert_ptr_null(strstr(of_none, "uverbs"));
	ck_assert_int_eq(claim_cdi(&w.ctx, &bare, "/b", &never, &e), -1);
	ck_assert_msg(strstr(e.msg, "0000:3b:02.1 has no RDMA device"), "%s", e.msg);
	fakehca_stop();
}
END_TEST

/* A container is made before they move, so it has those of all numbers. */
START_TEST(files_of_rdma_devices_that_move)
{
	auto_prepared struct prepared vfs = prepared(
		"[{\"rails\":[3],\"rdma\":\"exclusive\",\"deviceIDs\":[\"0000:3b:02.1\"]},"
		"{\"rails\":[4],\"rdma\":\"exclusive\",\"deviceIDs\":[\"0000:3b:02.2\"]}]");
	static const char *const folders[] = { "/mnt/sys", "/mnt/sys/class",
					       "/mnt/sys/class/infiniband_verbs",
					       "/mnt/sys/class/infiniband_verbs/uverbs5" };
	auto_free char *few = NULL, *many = NULL, *gone = NULL, *never = NULL;

	begin("{\"rails\":[{\"rail\":3,\"interface\":\"eth3\"},{\"rail\":4,\"interface\":\"eth4\"}]"
	      "}");
	(void)fakehca(RDMA_EXCLUSIVE);
	ck_assert_int_eq(claim_cdi(&ctx, &vfs, "/b", &never, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		ck_assert_int_eq(mkdir(folders[i], 0755), 0);
	testing_file("/mnt/sys/class/infiniband_verbs/abi_version", 0644, "6\n");
	testing_file("/mnt/sys/class/infiniband_verbs/uverbs5/dev", 0644, "231:197\n");
	ck_assert_msg(claim_cdi(&ctx, &vfs, "/b", &few, &e) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(
		strstr(few, "\"deviceNodes\":[{\"path\":\"/dev/infiniband/uverbs0\",\"type\":\"c\","
			    "\"major\":231,\"minor\":192,\"permissions\":\"rw\"},"));
	ck_assert_ptr_nonnull(
		strstr(few, "{\"path\":\"/dev/infiniband/uverbs31\",\"type\":\"c\",\"major\":231,"
			    "\"minor\":223,\"permissions\":\"rw\"},{\"path\":"
			    "\"/dev/infiniband/rdma_cm\",\"permissions\":\"rw\"}]"));
	/* From 32 on the kernel has another major number. */
	ck_assert_int_eq(mkdir("/mnt/sys/class/infiniband_verbs/uverbs40", 0755), 0);
	ck_assert_msg(claim_cdi(&ctx, &vfs, "/b", &gone, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(gone, few);
	testing_file("/mnt/sys/class/infiniband_verbs/uverbs40/dev", 0644, "509:8\n");
	ck_assert_msg(claim_cdi(&ctx, &vfs, "/b", &many, &e) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(many, "uverbs32\",\"type\":\"c\",\"major\":509,\"minor\":0,"));
	ck_assert_ptr_nonnull(
		strstr(many, "uverbs63\",\"type\":\"c\",\"major\":509,\"minor\":31,"));
	ck_assert_ptr_null(strstr(many, "uverbs64"));
	fakehca_stop();
}
END_TEST

/* containerd looks at renamed and removed files, but not at those that were created. */
START_TEST(runtimes_notice_a_new_file)
{
	auto_prepared struct prepared p = prepared("[{\"name\":\"n\",\"type\":\"rails\"}]");
	char events[4096];
	int fd;

	begin("{\"rails\":[]}");
	ck_assert_int_eq(mkdir("/mnt/cdi", 0700), 0);
	ck_assert_msg(prepared_put(&ctx, &p, &e) == 0, "%s", e.msg);
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	ck_assert(inotify_add_watch(fd, "/mnt/cdi", IN_MOVED_FROM | IN_DELETE) > 0);
	ck_assert_int_eq(claim_cdi_put(&ctx, &p, "{}", &e), 0);
	ck_assert(read(fd, events, sizeof(events)) > 0);
	ck_assert(claim_cdi_stands(&ctx, &p, "{}"));
	ck_assert_int_eq(claim_cdi_put(&ctx, &p, "[]", &e), 0);
	ck_assert(read(fd, events, sizeof(events)) > 0);
	(void)close(fd);
}
END_TEST

START_TEST(no_folder_of_cdi)
{
	begin("{\"rails\":[]}");
	ck_assert_int_eq(claim_cdi_remove(&ctx, "cu", &e), 0);
	testing_file("/mnt/cdi", 0644, "");
	auto_prepared struct prepared p = prepared("[]");

	ck_assert_int_eq(claim_cdi_put(&ctx, &p, "{}", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "the CDI file: "));
}
END_TEST

TEST_PROGRAM("cdi", a_hook_and_a_folder, devices_of_a_claim, a_kind_for_another_link_layer,
	     variables_of_a_class, programs_of_the_node, a_rail_that_is_not_there,
	     files_of_rdma_devices, files_of_rdma_devices_that_move, runtimes_notice_a_new_file,
	     no_folder_of_cdi)
