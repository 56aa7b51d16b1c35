/* SPDX-License-Identifier: Apache-2.0 */
/* pci_test.c: shows how a function is read from sysfs, also when files are missing or damaged. */
#include "lib/device/pci.h"

#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"

#define PF "0000:3b:00.0"
#define VF "0000:3b:00.2"

static const char *make_tree(void)
{
	const char *root = testing_dir();

	fakepci_function(root, PF);
	fakepci_vfs(root, PF, (struct fakepci_vfs){ 1, 8, 2, 1 });
	fakepci_driver(root, PF, "igb");
	fakepci_netdev(root, PF, "ens3f0", NULL);
	return root;
}

/* ---- what a function is ---- */

START_TEST(tells_what_a_function_is)
{
	const char *root = make_tree();
	struct pci_info pf, vf;
	char driver[PCI_DRIVER_LEN] = "?";
	struct err e = { 0 };

	fakepci_file(root, VF, "numa_node", "-1\n");
	ck_assert_int_eq(pci_read(root, PF, &pf, &e), 0);
	ck_assert_int_eq(pci_read(root, VF, &vf, &e), 0);
	ck_assert_uint_eq(pf.vendor, 0x8086);
	ck_assert_uint_eq(pf.device, 0x10c9);
	ck_assert_uint_eq(pf.class_code, 0x020000);
	ck_assert_int_eq(pf.numa_node, 1);
	ck_assert_str_eq(pf.driver, "igb");
	ck_assert_int_eq(vf.numa_node, -1);
	ck_assert_str_eq(vf.driver, "");
	ck_assert_int_eq(pci_driver(root, VF, driver, &e), 0);
	ck_assert_str_eq(driver, "");
	ck_assert_int_eq(pci_driver(root, PF, driver, &e), 0);
	ck_assert_str_eq(driver, "igb");
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(the_root_complex)
{
	static const struct {
		const char *target, *complex;
	} good[] = {
		{ "../../../devices/pci0000:3a/0000:3a:00.0/" PF, "pci0000:3a" },
		{ "../../../devices/pci10000:e0/" PF, "pci10000:e0" },
	};
	static const char *const bad[] = { "../../../" PF, "../../../devices/",
					   "../../../devices/a-name-of-21-letters./" PF };
	const char *root = make_tree();
	char path[256], out[PCI_ROOT_LEN] = "?";
	struct err e = { 0 };

	(void)snprintf(path, sizeof(path), "%s/bus/pci/devices/" PF, root);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert(unlink(path) == 0 && symlink(good[i].target, path) == 0);
		ck_assert_int_eq(pci_root(root, PF, out, &e), 0);
		ck_assert_str_eq(out, good[i].complex);
	}
	ck_assert_str_eq(e.msg, "");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert(unlink(path) == 0 && symlink(bad[i], path) == 0);
		ck_assert_int_eq(pci_root(root, PF, out, &e), -1);
		ck_assert_int_eq(e.errnum, EBADMSG);
	}
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(pci_root(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(pci_root(root, "x", out, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_str_eq(out, good[1].complex);
}
END_TEST

START_TEST(the_iommu_group)
{
	const char *root = make_tree();
	char group[PCI_GROUP_LEN] = "?";
	struct err e = { 0 };

	ck_assert_int_eq(pci_iommu_group(root, VF, group, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(group, "?");
	fakepci_link(root, VF, "iommu_group", "../../../kernel/iommu_groups/94");
	ck_assert_int_eq(pci_iommu_group(root, VF, group, &e), 0);
	ck_assert_str_eq(group, "94");
	ck_assert_int_eq(pci_iommu_group(root, "0000:ff:00.0", group, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
}
END_TEST

START_TEST(a_kernel_without_NUMA)
{
	const char *root = make_tree();
	struct pci_info info;
	struct err e = { 0 };

	fakepci_file(root, PF, "numa_node", NULL);
	ck_assert_int_eq(pci_read(root, PF, &info, &e), 0);
	ck_assert_int_eq(info.numa_node, -1);
}
END_TEST

START_TEST(long_domains_and_capitals)
{
	const char *root = testing_dir();
	char pf[PCI_STR_LEN];
	struct pci_info info;
	struct err e = { 0 };

	fakepci_function(root, "10000:ab:00.0");
	fakepci_vfs(root, "10000:ab:00.0", (struct fakepci_vfs){ 1, 1, 2, 1 });
	ck_assert_int_eq(pci_read(root, "10000:AB:00.0", &info, &e), 0);
	ck_assert_int_eq(pci_physfn(root, "10000:AB:00.2", pf, &e), 0);
	ck_assert_str_eq(pf, "10000:ab:00.0");
}
END_TEST

START_TEST(what_is_not_there)
{
	const char *root = make_tree();
	struct pci_info info = { .numa_node = 7 };
	char out[PCI_STR_LEN] = "before", driver[PCI_DRIVER_LEN] = "before";
	struct err e = { 0 };

	ck_assert_int_eq(pci_read(root, "0000:99:00.0", &info, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(e.msg, "there is no PCI function 0000:99:00.0");
	ck_assert_int_eq(info.numa_node, 7);
	ck_assert_int_eq(pci_driver(root, "0000:99:00.0", driver, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(pci_physfn(root, "0000:99:00.0", out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(out, "before");
	ck_assert_str_eq(driver, "before");
}
END_TEST

START_TEST(what_is_no_address)
{
	static const char *const bad[] = { "", "ens3f0", "..", "../../../etc", "0000:3b:00.0/.." };
	const char *root = make_tree();
	char out[PCI_STR_LEN];
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(pci_physfn(root, bad[i], out, &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_int_eq(e.errnum, EINVAL);
	}
}
END_TEST

START_TEST(attributes_that_make_no_sense)
{
	static const struct {
		const char *name, *text;
	} c[] = {
		{ "vendor", "8086\n" },   { "vendor", "0x18086\n" },       { "vendor", NULL },
		{ "device", "\n" },       { "class", "0x1020000\n" },      { "class", NULL },
		{ "numa_node", "two\n" }, { "numa_node", "2147483648\n" }, { "numa_node", "-2\n" }
	};
	char longer[200];
	struct err e = { 0 };

	const char *root = make_tree();

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct pci_info info = { .numa_node = 7 };

		fakepci_function(root, PF);
		fakepci_file(root, PF, c[i].name, c[i].text);
		ck_assert_msg(pci_read(root, PF, &info, &e) == -1, "%s: %s", c[i].name, c[i].text);
		ck_assert_int_eq(e.code, ERR_IO);
		ck_assert_ptr_nonnull(strstr(e.msg, "PCI function " PF));
		ck_assert_ptr_nonnull(strstr(e.msg, c[i].name));
		ck_assert_int_eq(info.numa_node, 7);
	}
	for (size_t len = 64; len < sizeof(longer); len += 64) {
		struct pci_info info;

		memset(longer, '1', sizeof(longer));
		longer[len] = '\0';
		fakepci_function(root, PF);
		fakepci_file(root, PF, "vendor", longer);
		ck_assert_int_eq(pci_read(root, PF, &info, &e), -1);
		ck_assert_int_eq(e.errnum, EFBIG);
	}
}
END_TEST

/* ---- links ---- */

START_TEST(the_pf_of_a_vf)
{
	const char *root = make_tree();
	char pf[PCI_STR_LEN] = "before";
	struct err e = { 0 };

	ck_assert_int_eq(pci_physfn(root, PF, pf, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, EINVAL);
	ck_assert_str_eq(e.msg, "PCI function " PF " is not a virtual function");
	ck_assert_str_eq(pf, "before");
	ck_assert_int_eq(pci_physfn(root, VF, pf, &e), 0);
	ck_assert_str_eq(pf, PF);
}
END_TEST

START_TEST(links_to_what_cannot_be)
{
	static const char *const bad[] = {
		"..", "../", "../nonsense", ".", "0000:3b:00.0-and-more-yet", "../0000:3b:00.9"
	};
	const char *root = make_tree();
	char pf[PCI_STR_LEN] = "before", driver[PCI_DRIVER_LEN] = "before", far[2000];
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		fakepci_link(root, VF, "physfn", bad[i]);
		ck_assert_msg(pci_physfn(root, VF, pf, &e) == -1, "%s", bad[i]);
		ck_assert_int_eq(e.code, ERR_IO);
	}
	memset(far, 'x', sizeof(far));
	far[sizeof(far) - 1] = '\0';
	fakepci_link(root, VF, "physfn", far);
	ck_assert_int_eq(pci_physfn(root, VF, pf, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	fakepci_link(root, PF, "driver", "../a-name-longer-than-any-driver-has");
	ck_assert_int_eq(pci_driver(root, PF, driver, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_str_eq(pf, "before");
	ck_assert_str_eq(driver, "before");
}
END_TEST

START_TEST(the_function_behind_an_interface)
{
	static const char *const none[] = { "nonesuch", "", "..", "a/b", "sixteen-bytes-xx" };
	const char *root = make_tree();
	char addr[PCI_STR_LEN] = "before", text[400];
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		ck_assert_int_eq(pci_of_netdev(root, none[i], addr, &e), -1);
		ck_assert_int_eq(e.code, ERR_NOTFOUND);
		ck_assert_int_eq(e.errnum, ENOENT);
	}
	ck_assert_int_eq(pci_of_netdev(root, "ens3f0", addr, &e), 0);
	ck_assert_str_eq(addr, PF);
	/* A veth has no device, virtio's has no PCI address. */
	fakepci_netdev(root, PF, "veth0", NULL);
	fakepci_link(root, PF, "net/veth0/device", NULL);
	fakepci_netdev(root, PF, "eth1", NULL);
	fakepci_link(root, PF, "net/eth1/device", "../../../virtio0");
	fakepci_netdev(root, PF, "usb0", NULL);
	(void)snprintf(text, sizeof(text), "../../%0100d", 7);
	fakepci_link(root, PF, "net/usb0/device", text);
	for (size_t i = 0; i < 3; i++) {
		static const char *const others[] = { "veth0", "eth1", "usb0" };

		ck_assert_int_eq(pci_of_netdev(root, others[i], addr, &e), -1);
		ck_assert_int_eq(e.code, ERR_NOTFOUND);
		ck_assert_ptr_nonnull(strstr(e.msg, "is not a PCI device"));
	}
	ck_assert_str_eq(addr, PF);
}
END_TEST

START_TEST(roots_that_cannot_be)
{
	char far[5000], out[PCI_STR_LEN];
	struct err e = { 0 };

	memset(far, 'x', sizeof(far));
	far[sizeof(far) - 1] = '\0';
	ck_assert_int_eq(pci_physfn(far, VF, out, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_int_eq(pci_of_netdev(far, "ens3f0", out, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_int_eq(pci_physfn("/proc/self/exe", VF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_int_eq(e.errnum, ENOTDIR);
}
END_TEST

TEST_PROGRAM("pci", tells_what_a_function_is, the_root_complex, the_iommu_group,
	     a_kernel_without_NUMA, long_domains_and_capitals, what_is_not_there,
	     what_is_no_address, attributes_that_make_no_sense, the_pf_of_a_vf,
	     links_to_what_cannot_be, the_function_behind_an_interface, roots_that_cannot_be)
