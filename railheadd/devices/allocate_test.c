/* SPDX-License-Identifier: Apache-2.0 */
/* allocate_test.c: what a container gets with its devices, and the files that tell others. */
#include "railheadd/devices/allocate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "lib/sys/fs.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/hca.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/assign.h"
#include "railheadd/devices/conf.h"
#include "sriov/testing/vf.h"
#include "topo/testing/tree.h"

#define DEVINFO "/mnt/k8s.cni.cncf.io/devinfo/dp/"
#define CDI     "/mnt/cdi/"

/* A host with VFs, of which number n has the RDMA device mlx5_<n + 1>. */
struct bed {
	struct testhost w;
	struct fakehca *hca;
	struct resource_set *s;
	struct resource_look l;
};

static void give_rdma(const char *addr, const char *name)
{
	char path[96];

	(void)fakehca_add(name);
	(void)snprintf(path, sizeof(path), "infiniband/%s/node_type", name);
	fakepci_file(TESTHOST_SYS, addr, path, "1: CA\n");
	fakepci_file(TESTHOST_SYS, addr, "infiniband_verbs/uverbs0/dev", "231:192\n");
}

static struct bed bed(const char *conf)
{
	struct bed b = { .w = testhost(3), .hca = fakehca(RDMA_SHARED) };
	auto_functions struct functions all = { 0 };
	auto_json struct json *tree = NULL;
	struct err e = { .msg = "" };

	tree_put(TESTHOST_SYS, "class/misc/vhost-net/dev", "10:238\n");
	give_rdma(TESTHOST_PF, "mlx5_0");
	give_rdma(testhost_vf(0), "mlx5_1");
	give_rdma(testhost_vf(1), "mlx5_2");
	b.s = calloc(1, sizeof(*b.s));
	ck_assert_ptr_nonnull(b.s);
	ck_assert_msg(json_parse(conf, strlen(conf), "test", &tree, &e) == 0 &&
			      conf_add(b.s, tree, "a.json", &e) == 0 &&
			      functions_read(&b.w.ctx, &all, &e) == 0 &&
			      functions_assign(&all, b.s, &b.l, &e) == 0,
		      "%s", e.msg);
	return b;
}

static void bed_clear(struct bed *b)
{
	resource_look_clear(&b->l);
	resource_set_free(b->s);
	fakehca_stop();
	testhost_clear(&b->w);
}
#define auto_bed auto_clean(bed_clear)

static int ask(const struct bed *b, const char *const *id, size_t n, struct resource_allocation *a,
	       struct err *e)
{
	const struct resource_request r = { b->s, 0, &b->l.of[0], id, n };

	return resources_allocate(&b->w.ctx, &r, a, e);
}

static struct resource_allocation allocated(const struct bed *b, const char *const *id, size_t n)
{
	struct resource_allocation a = { .n_env = 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(ask(b, id, n, &a, &e) == 0, "%s", e.msg);
	return a;
}

static void refused(const struct bed *b, const char *id, enum err_code code, const char *words)
{
	struct resource_allocation a = { .n_env = 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(ask(b, &id, 1, &a, &e), -1);
	ck_assert_msg(strstr(e.msg, words), "%s", e.msg);
	ck_assert_msg(e.code == code, "%s: %d", e.msg, (int)e.code);
	ck_assert_ptr_null(a.env);
}

static const char *nodes(const struct resource_allocation *a)
{
	static char text[1024];

	*text = '\0';
	for (size_t i = 0; i < a->n_nodes; i++) {
		testing_append(text, sizeof(text), i ? " " : "");
		testing_append(text, sizeof(text), a->node[i].path);
	}
	return text;
}

static void content(const char *path, const char *expected)
{
	char text[2048] = "";
	FILE *f = fopen(path, "re");

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		(void)fclose(f);
	}
	ck_assert_str_eq(text, expected ? expected : "");
	ck_assert_int_eq(!f, !expected);
}

#define RDMA_VFS                                                                                   \
	"{\"resourceList\":[{\"resourceName\":\"rail-0\",\"resourcePrefix\":\"nvidia.com\","       \
	"\"selectors\":{\"pfNames\":[\"pf0\"],\"isRdma\":true},"                                   \
	"\"additionalInfo\":{\"*\":{\"a\":\"1\",\"b\":\"2\"},\"0000:3b:02.0\":{\"b\":\"3\"}}}]}"

START_TEST(rdma_vfs_have_variables_and_files)
{
	auto_bed struct bed b = bed(RDMA_VFS);
	char x[PCI_STR_LEN], y[PCI_STR_LEN], expected[1024];
	const char *id[] = { y, x };

	ck_assert_uint_eq(b.l.of[0].n, 2);
	(void)snprintf(x, sizeof(x), "%s", testhost_vf(0));
	(void)snprintf(y, sizeof(y), "%s", testhost_vf(1));
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 2);
	ck_assert_uint_eq(a.n_env, 2);
	ck_assert_str_eq(a.env[0].name, "PCIDEVICE_NVIDIA_COM_RAIL-0");
	(void)snprintf(expected, sizeof(expected), "%s,%s", y, x);
	ck_assert_str_eq(a.env[0].value, expected);
	ck_assert_str_eq(a.env[1].name, "PCIDEVICE_NVIDIA_COM_RAIL-0_INFO");
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"generic\":{\"deviceID\":\""));
	ck_assert_ptr_nonnull(strstr(a.env[1].value,
				     "\"rdma\":{\"uverbs\":\"/dev/infiniband/uverbs1\","
				     "\"umad\":\"/dev/infiniband/umad1\""));
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"rdma_dev\":\"mlx5_1\""));
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"extraInfo\":{\"a\":\"1\",\"b\":\"2\"}"));
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"extraInfo\":{\"a\":\"1\",\"b\":\"3\"}"));
	ck_assert_str_eq(x, "0000:3b:02.0");
	ck_assert_ptr_nonnull(strstr(nodes(&a), "/dev/infiniband/uverbs2"));
	ck_assert_ptr_nonnull(strstr(nodes(&a), "/dev/infiniband/uverbs1"));
	ck_assert_ptr_null(strstr(nodes(&a), "uverbs0"));
	ck_assert_str_eq(a.node[0].permissions, "rw");
	ck_assert_uint_eq(a.n_mounts + a.n_annotations + a.n_cdi, 0);
	(void)snprintf(expected, sizeof(expected),
		       "{\"type\":\"pci\",\"version\":\"1.1.0\",\"pci\":{\"pci-address\":\"%s\","
		       "\"pf-pci-address\":\"" TESTHOST_PF "\",\"rdma-device\":\"mlx5_1\"}}",
		       x);
	char path[256];
	(void)snprintf(path, sizeof(path), DEVINFO "nvidia.com-rail-0-%s-device.json", x);
	content(path, expected);
}
END_TEST

START_TEST(numbers_of_files_are_read_again)
{
	auto_bed struct bed b = bed(RDMA_VFS);
	const char *id[] = { testhost_vf(0) };

	b.hca->dev[1].uverbs = 9;
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 1);
	ck_assert_ptr_nonnull(strstr(nodes(&a), "/dev/infiniband/uverbs9"));
}
END_TEST

START_TEST(vfio_uio_and_vhost_have_their_files)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"vhostNet\":true,"
				    "\"select\":{\"pf\":\"pf0\"}}]}");
	const char *id[] = { testhost_vf(0), testhost_vf(1), testhost_vf(2) };

	fakepci_driver(TESTHOST_SYS, id[0], "vfio-pci");
	refused(&b, id[0], ERR_STATE, "no IOMMU group");
	fakepci_link(TESTHOST_SYS, id[0], "iommu_group", "../../../kernel/iommu_groups/94");
	fakepci_driver(TESTHOST_SYS, id[1], "vfio-pci");
	fakepci_link(TESTHOST_SYS, id[1], "iommu_group", "../../../kernel/iommu_groups/5");
	ck_assert(mkdir(TESTHOST_SYS "/kernel", 0700) == 0 &&
		  mkdir(TESTHOST_SYS "/kernel/iommu_groups", 0700) == 0 &&
		  mkdir(TESTHOST_SYS "/kernel/iommu_groups/5", 0700) == 0);
	testing_file(TESTHOST_SYS "/kernel/iommu_groups/5/name", 0600, "vfio-noiommu\n");
	fakepci_driver(TESTHOST_SYS, id[2], "igb_uio");
	refused(&b, id[2], ERR_IO, "has no uio device");
	fakepci_file(TESTHOST_SYS, id[2], "uio/uio3/name", "igb_uio\n");
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 3);
	ck_assert_str_eq(nodes(&a), "/dev/vfio/vfio /dev/vfio/94 /dev/vhost-net /dev/net/tun "
				    "/dev/vfio/noiommu-5 /dev/uio3");
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"vfio\":{\"mount\":\"/dev/vfio/vfio\","
						     "\"dev-mount\":\"/dev/vfio/94\"}"));
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"uio\":{\"mount\":\"/dev/uio3\"}"));
	ck_assert_ptr_nonnull(strstr(a.env[1].value, "\"vhost\":{\"net\":\"/dev/vhost-net\","
						     "\"tun\":\"/dev/net/tun\"}"));
	ck_assert_ptr_null(strstr(a.env[1].value, "extraInfo"));
}
END_TEST

START_TEST(what_cannot_be_given_is_an_error)
{
	auto_bed struct bed b = bed(RDMA_VFS);
	char vf[PCI_STR_LEN], folder[128];

	(void)snprintf(vf, sizeof(vf), "%s", testhost_vf(0));
	refused(&b, "0000:77:00.0", ERR_NOTFOUND, "resource nvidia.com/rail-0: ");
	(void)snprintf(folder, sizeof(folder), TESTHOST_SYS "/devices/pci/%s/infiniband/rxe9", vf);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	refused(&b, vf, ERR_NOTFOUND, "has more than one RDMA device: ");
	ck_assert_int_eq(rmdir(folder), 0);
	(void)snprintf(folder, sizeof(folder), TESTHOST_SYS "/devices/pci/%s/infiniband", vf);
	ck_assert_int_eq(rename(folder, "/mnt/moved"), 0);
	refused(&b, vf, ERR_STATE, "has no RDMA device on the host");
	testhost_vanish(0);
	refused(&b, vf, ERR_NOTFOUND, vf);
	b.hca->absent = true;
	refused(&b, testhost_vf(1), ERR_STATE, "has no RDMA device on the host");
	b.hca->absent = false;
	b.hca->fail_at = b.hca->requests + 1;
	b.hca->fail_errnum = EIO;
	refused(&b, testhost_vf(1), ERR_KERNEL, "rail-0");
}
END_TEST

#define SHARED(rest)                                                                               \
	"{" rest "\"configList\":[{\"resourceName\":\"hca\",\"rdmaHcaMax\":3,"                     \
	"\"devices\":[\"pf0\",\"v0\"]}]}"

START_TEST(a_copy_has_the_files_of_all_hcas)
{
	auto_bed struct bed b = bed(SHARED(""));
	const char *id[] = { "2", "0" };
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 2);

	ck_assert_ptr_nonnull(strstr(nodes(&a), "/dev/infiniband/uverbs0"));
	ck_assert_ptr_nonnull(strstr(nodes(&a), "/dev/infiniband/uverbs1"));
	ck_assert_ptr_null(strstr(nodes(&a), "uverbs2"));
	ck_assert_str_eq(a.node[0].permissions, "rwm");
	ck_assert_uint_eq(a.n_env + a.n_cdi + a.n_annotations, 0);
	refused(&b, "3", ERR_NOTFOUND, "rdma/hca");
	content(CDI "railhead-rdma_hca_all.json", NULL);
}
END_TEST

START_TEST(software_devices_are_shared_by_name)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"share\":1,"
				    "\"select\":{\"interface\":\"pf0\"}}]}");
	const char *id[] = { "0" };

	(void)fakehca_add("rxe0");
	b.l.of[0].hca[0] = (struct resource_hca){ "", "rxe0" };
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 1);
	ck_assert_ptr_nonnull(strstr(nodes(&a), "/dev/infiniband/uverbs3"));
	(void)snprintf(b.l.of[0].hca[0].name, PCI_RDMA_LEN, "rxe1");
	refused(&b, "0", ERR_NOTFOUND, "rxe1");
	b.hca->absent = true;
	refused(&b, "0", ERR_STATE, "rxe1 has no RDMA device");
}
END_TEST

static void publish(const struct bed *b)
{
	struct err e = { .msg = "" };

	ck_assert_msg(resources_publish(&b->w.ctx, b->s, &b->l, "/opt/cni/bin", &e) == 0, "%s",
		      e.msg);
}

START_TEST(cdi_files_replace_the_list)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"rdma\":true,"
				    "\"deviceNodes\":\"cdi\",\"select\":{\"pf\":\"pf0#0\"}}]}");
	const char *id[] = { testhost_vf(0) };
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 1);
	char expected[1024], path[128];

	ck_assert_uint_eq(a.n_nodes + a.n_annotations, 0);
	ck_assert_uint_eq(a.n_cdi, 1);
	(void)snprintf(expected, sizeof(expected), "a.b/net-c=%s", id[0]);
	ck_assert_str_eq(a.cdi[0], expected);
	(void)snprintf(path, sizeof(path), CDI "railhead-a.b_c_%s.json", id[0]);
	FILE *f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	expected[fread(expected, 1, sizeof(expected) - 1, f)] = '\0';
	(void)fclose(f);
	ck_assert_ptr_nonnull(strstr(expected, "{\"cdiVersion\":\"0.5.0\",\"kind\":\"a.b/net-c\","
					       "\"devices\":[{\"name\":\"0000:"));
	ck_assert_ptr_nonnull(strstr(expected,
				     "\"containerEdits\":{\"deviceNodes\":[{\"path\":"
				     "\"/dev/infiniband/uverbs1\",\"permissions\":\"rw\"}"));
}
END_TEST

/* Runtimes refuse a CDI device without an edit, and with it the container that names it. */
START_TEST(a_device_without_files_is_no_cdi_device)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"deviceNodes\":"
				    "\"cdi\",\"select\":{\"pf\":\"pf0#0\"}}]}");
	const char *id[] = { testhost_vf(0) };
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 1);
	char path[128];

	ck_assert_uint_eq(a.n_nodes + a.n_annotations + a.n_cdi, 0);
	(void)snprintf(path, sizeof(path), CDI "railhead-a.b_c_%s.json", id[0]);
	ck_assert_int_eq(access(path, F_OK), -1);
	publish(&b);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(an_annotation_names_cdi_devices_for_older_kubelets)
{
	auto_bed struct bed b = bed(SHARED("\"deviceNodes\":\"cdi-annotation\","));
	const char *id[] = { "1" };
	auto_resource_allocation struct resource_allocation a = allocated(&b, id, 1);

	ck_assert_uint_eq(a.n_nodes + a.n_cdi, 0);
	ck_assert_uint_eq(a.n_annotations, 1);
	ck_assert_str_eq(a.annotation[0].name, "cdi.k8s.io/rdma_net-hca");
	ck_assert_str_eq(a.annotation[0].value, "rdma/net-hca=all");
}
END_TEST

/* ---- files of a look ---- */

/* As an earlier agent left it, or Allocate at this moment. */
static void put_mark(const char *file, time_t at)
{
	const struct timespec times[] = { { .tv_sec = at }, { .tv_sec = at } };
	char path[256];

	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/%s%s",
		       strncmp(file, CDI, strlen(CDI)) ? "devinfo" : "cdi", strrchr(file, '/'));
	tree_put("/", path + 1, "");
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(a_file_that_allocate_writes_meanwhile_stays)
{
	auto_bed struct bed b = bed(RDMA_VFS);

	publish(&b);
	testing_file(DEVINFO "later", 0600, "x");
	put_mark(DEVINFO "later", INT32_MAX);
	publish(&b);
	ck_assert_int_eq(access(DEVINFO "later", F_OK), 0);
	put_mark(DEVINFO "later", 1);
	publish(&b);
	ck_assert_int_ne(access(DEVINFO "later", F_OK), 0);
}
END_TEST

START_TEST(files_without_any_resource_are_removed)
{
	auto_bed struct bed b = bed(RDMA_VFS);
	auto_resource_set struct resource_set *none = calloc(1, sizeof(*none));
	const struct resource_look empty = { .n = 0 };
	char info[128];
	struct err e = { .msg = "" };

	ck_assert(!resources_published(&b.w.ctx));
	publish(&b);
	ck_assert(resources_published(&b.w.ctx));
	(void)snprintf(info, sizeof(info), DEVINFO "nvidia.com-rail-0-%s-device.json",
		       testhost_vf(0));
	ck_assert_int_eq(access(info, F_OK), 0);
	put_mark(info, 1);
	ck_assert_int_eq(resources_publish(&b.w.ctx, none, &empty, "/opt/cni/bin", &e), 0);
	ck_assert_int_ne(access(info, F_OK), 0);
}
END_TEST

START_TEST(published_files_are_those_of_the_look)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"rdma\":true,"
				    "\"deviceNodes\":\"cdi\",\"select\":{\"pf\":\"pf0\"}},"
				    "{\"name\":\"a.b/s\",\"share\":2,\"deviceNodes\":\"cdi\","
				    "\"select\":{\"interface\":\"pf0\"}},"
				    "{\"name\":\"a.b/l\",\"select\":{\"pf\":\"pf0\"}}]}");
	static const char *const stay[] = {
		DEVINFO "x.y-z-0000:01:00.0-device.json",
		DEVINFO "a.b-c-0000:01:00.0-device.json.old",
		CDI "nvidia.com-gpu.json",
		CDI "railhead-of-another_c_0000:01:00.0.json",
	};
	static const char *const go[] = {
		DEVINFO "a.b-c-0000:01:00.0-device.json",
		DEVINFO "removed.b-c-0000:01:00.0-device.json",
		CDI "railhead-a.b_c_0000:01:00.0.json",
		CDI "railhead-old_c_0000:01:00.0.json",
		CDI "railhead-a.b_l_all.json",
	};
	char info[2][128], cdi[2][128];

	publish(&b);
	for (uint32_t i = 0; i < 2; i++) {
		(void)snprintf(info[i], 128, DEVINFO "a.b-c-%s-device.json", testhost_vf(i));
		(void)snprintf(cdi[i], 128, CDI "railhead-a.b_c_%s.json", testhost_vf(i));
		ck_assert_int_eq(access(info[i], F_OK) | access(cdi[i], F_OK), 0);
		put_mark(info[i], 1);
		put_mark(cdi[i], 1);
	}
	ck_assert_int_eq(access(CDI "railhead-a.b_s_all.json", F_OK), 0);
	for (size_t i = 0; i < ARRAY_SIZE(stay); i++)
		testing_file(stay[i], 0600, "x");
	for (size_t i = 0; i < ARRAY_SIZE(go); i++) {
		testing_file(go[i], 0600, "x");
		put_mark(go[i], 1);
	}
	/* VF 0 is not seen any more, and VF 1 cannot be read now. */
	ck_assert_uint_eq(b.l.of[0].n, 2);
	b.l.of[0].device[0] = b.l.of[0].device[1];
	b.l.of[0].n = 1;
	b.hca->dev[2].gone = true;
	publish(&b);
	for (size_t i = 0; i < ARRAY_SIZE(stay); i++)
		ck_assert_msg(access(stay[i], F_OK) == 0, "%s", stay[i]);
	for (size_t i = 0; i < ARRAY_SIZE(go); i++)
		ck_assert_msg(access(go[i], F_OK) != 0, "%s", go[i]);
	ck_assert(access(info[0], F_OK) && access(cdi[0], F_OK));
	ck_assert(!access(info[1], F_OK) && !access(cdi[1], F_OK));
	ck_assert_int_eq(access(CDI "railhead-a.b_s_all.json", F_OK), 0);
}
END_TEST

/* It is the same for each pod: a device plugin is not told of the pod. */
START_TEST(a_slot_of_rails_is_a_cdi_device)
{
	auto_bed struct bed b =
		bed("{\"resources\":[{\"name\":\"a.b/rails\",\"share\":2,\"memlock\":\"unlimited\","
		    "\"variables\":[\"UCX_CONFIG_DIR\"],\"network\":{\"kind\":\"macvlan\"}}]}");
	static const char *const ids[] = { "1", "0" }, *const none[] = { "2" };
	auto_resource_allocation struct resource_allocation a = { .n_env = 0 }, never = a;
	struct err e = { .msg = "" };
	struct stat st;

	b.w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":3,\"interface\":\"pf0\"}]}");
	publish(&b);
	auto_free char *text = NULL;
	ck_assert(fs_read_at(AT_FDCWD, CDI "railhead-a.b_rails_1.json", 4096, &text, &e) > 0);
	ck_assert_str_eq(
		text,
		"{\"cdiVersion\":\"0.5.0\",\"kind\":\"a.b/net-rails\",\"devices\":[{\"name\":\"1\","
		"\"containerEdits\":{\"hooks\":[{\"hookName\":\"createRuntime\",\"path\":"
		"\"/opt/cni/bin/railhead-hook\",\"args\":[\"railhead-hook\",\"--slot\",\"rails-1\","
		"\"--config\",\"{\\\"networks\\\":[{\\\"cniVersion\\\":\\\"1.1.0\\\",\\\"name\\\":"
		"\\\"railhead-claims\\\",\\\"type\\\":\\\"rails\\\",\\\"ifname\\\":\\\"rail{n}\\\","
		"\\\"kind\\\":\\\"macvlan\\\",\\\"rails\\\":\\\"all\\\"}],\\\"memlock\\\":true}\"]}"
		"],"
		"\"mounts\":[{\"hostPath\":\"/mnt/run/slots/rails-1\",\"containerPath\":"
		"\"/run/railhead\",\"options\":[\"bind\",\"ro\",\"nosuid\",\"nodev\",\"noexec\"]}],"
		"\"env\":[\"UCX_CONFIG_DIR=/run/railhead\"]}}]}");
	ck_assert(stat("/mnt/run/slots/rails-1", &st) == 0 && (st.st_mode & 0777) == 0755);
	ck_assert_int_eq(ask(&b, ids, 1, &a, &e), 0);
	ck_assert(a.n_cdi == 1 && a.n_env == 0 && a.n_nodes == 0);
	ck_assert_str_eq(a.cdi[0], "a.b/net-rails=1");
	ck_assert_int_eq(ask(&b, ids, 2, &never, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "1 is all that it can have"));
	ck_assert_int_eq(ask(&b, none, 1, &never, &e), -1);
	/* Files of slots that are gone go; those of others stay. */
	put_mark(CDI "railhead-a.b_rails_1.json", 1);
	put_mark(CDI "railhead-a.b_rails_0.json", 1);
	b.l.of[0].n = 1;
	publish(&b);
	ck_assert(!access(CDI "railhead-a.b_rails_0.json", F_OK) &&
		  access(CDI "railhead-a.b_rails_1.json", F_OK));
}
END_TEST

/* A copy of shared HCAs with settings has the files of all HCAs and a folder of its own. */
START_TEST(a_copy_may_be_a_slot)
{
	auto_bed struct bed b =
		bed("{\"resources\":[{\"name\":\"a.b/hcas\",\"share\":2,\"settings\":true,"
		    "\"select\":{\"interface\":\"pf0\"}}]}");
	static const char *const ids[] = { "1", "0" };
	auto_resource_allocation struct resource_allocation a = { .n_env = 0 };
	auto_free char *text = NULL;
	struct err e = { .msg = "" };

	publish(&b);
	publish(&b);
	ck_assert(fs_read_at(AT_FDCWD, CDI "railhead-a.b_hcas_1.json", 4096, &text, &e) > 0);
	ck_assert_ptr_nonnull(strstr(text, "\"--slot\",\"hcas-1\",\"--config\","
					   "\"{\\\"networks\\\":[]}\"]}],\"mounts\":[{\"hostPath\":"
					   "\"/mnt/run/slots/hcas-1\""));
	ck_assert_ptr_null(strstr(text, "deviceNodes"));
	ck_assert_int_eq(ask(&b, ids, 2, &a, &e), 0);
	ck_assert_uint_gt(a.n_nodes, 0);
	ck_assert_uint_eq(a.n_cdi, 1);
	ck_assert_str_eq(a.cdi[0], "a.b/net-hcas=1");
}
END_TEST

START_TEST(a_folder_that_others_may_write_is_refused)
{
	auto_bed struct bed b = bed(RDMA_VFS);
	const char *id = testhost_vf(0);

	ck_assert(mkdir("/mnt/k8s.cni.cncf.io", 0700) == 0 &&
		  chmod("/mnt/k8s.cni.cncf.io", 0777) == 0);
	refused(&b, id, ERR_FORBIDDEN, "k8s.cni.cncf.io");
	struct err e = { .msg = "" };
	ck_assert_int_eq(resources_publish(&b.w.ctx, b.s, &b.l, "/opt/cni/bin", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	resource_look_clear(&b.l);
	b.l.of = calloc(1, sizeof(*b.l.of));
	b.l.n = 1;
	put_mark(DEVINFO "old", 1);
	ck_assert_int_eq(resources_publish(&b.w.ctx, b.s, &b.l, "/opt/cni/bin", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
}
END_TEST

struct want {
	const struct bed *b;
	const char *id;
};

static int allocate_one(void *arg, struct err *e)
{
	const struct want *w = arg;
	auto_resource_allocation struct resource_allocation a = { .n_env = 0 };

	return ask(w->b, &w->id, 1, &a, e);
}

static int publish_all(void *arg, struct err *e)
{
	const struct bed *b = arg;

	return resources_publish(&b->w.ctx, b->s, &b->l, "/opt/cni/bin", e);
}

START_TEST(publishing_without_memory_leaks_nothing)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"rdma\":true,"
				    "\"deviceNodes\":\"cdi\",\"select\":{\"pf\":\"pf0\"}},"
				    "{\"name\":\"a.b/s\",\"share\":2,\"deviceNodes\":\"cdi\","
				    "\"select\":{\"interface\":\"pf0\"}}]}");

	ck_assert_str_eq(alloc_fail_each(publish_all, &b), "ok");
}
END_TEST

START_TEST(errors_of_the_kernel_are_reported_by_publishing)
{
	auto_bed struct bed b = bed("{\"resources\":[{\"name\":\"a.b/c\",\"rdma\":true,"
				    "\"select\":{\"pf\":\"pf0\"}},"
				    "{\"name\":\"a.b/s\",\"share\":2,\"deviceNodes\":\"cdi\","
				    "\"select\":{\"interface\":\"pf0\"}},"
				    "{\"name\":\"a.b/l\",\"share\":2,"
				    "\"select\":{\"interface\":\"pf0\"}}]}");
	struct err e = { .msg = "" };
	unsigned failures = 0;

	for (unsigned n = 1; n < 30; n++) {
		b.hca->requests = 0;
		b.hca->fail_at = n;
		b.hca->fail_errnum = EIO;
		if (resources_publish(&b.w.ctx, b.s, &b.l, "/opt/cni/bin", &e) == 0)
			continue;
		ck_assert_int_eq(e.code, ERR_KERNEL);
		failures++;
	}
	ck_assert_uint_gt(failures, 10);
	/* The HCA is away: the file stays as it was. */
	b.hca->fail_at = 0;
	publish(&b);
	b.hca->dev[0].gone = true;
	publish(&b);
	ck_assert_int_eq(access(CDI "railhead-a.b_s_all.json", F_OK), 0);
}
END_TEST

START_TEST(an_allocation_without_memory_leaks_nothing)
{
	auto_bed struct bed b = bed(RDMA_VFS);
	struct want w = { &b, testhost_vf(0) };
	ck_assert_str_eq(alloc_fail_each(allocate_one, &w), "ok");
}
END_TEST

TEST_PROGRAM("allocate", a_slot_of_rails_is_a_cdi_device, a_copy_may_be_a_slot,
	     rdma_vfs_have_variables_and_files, numbers_of_files_are_read_again,
	     vfio_uio_and_vhost_have_their_files, what_cannot_be_given_is_an_error,
	     a_copy_has_the_files_of_all_hcas, software_devices_are_shared_by_name,
	     cdi_files_replace_the_list, a_device_without_files_is_no_cdi_device,
	     an_annotation_names_cdi_devices_for_older_kubelets,
	     a_file_that_allocate_writes_meanwhile_stays, files_without_any_resource_are_removed,
	     published_files_are_those_of_the_look, a_folder_that_others_may_write_is_refused,
	     publishing_without_memory_leaks_nothing,
	     errors_of_the_kernel_are_reported_by_publishing,
	     an_allocation_without_memory_leaks_nothing)
