/* SPDX-License-Identifier: Apache-2.0 */
/* sriov_test.c: shows numbers and addresses of VFs, and how their number is changed. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/device/pci_priv.h"
#include "lib/device/sysfs.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"

#define PF        "0000:3b:00.0"
#define DEVICE_OF "/mnt/devices/pci/"

static const struct fakepci_vfs many = { .num = 250, .total = 252, .offset = 2, .stride = 1 };

static const char *make_tree(struct fakepci_vfs v)
{
	const char *root = testing_dir();

	fakepci_function(root, PF);
	fakepci_vfs(root, PF, v);
	return root;
}

static uint32_t index_of(const char *root, const char *pf, const char *vf)
{
	uint32_t n = 0;
	struct err e = { 0 };

	ck_assert_msg(pci_vf_index(root, pf, vf, &n, &e) == 0, "%s", e.msg);
	return n;
}

/* ---- numbers and addresses ---- */

START_TEST(numbers_and_addresses_of_250)
{
	const char *root = make_tree(many);
	char vf[PCI_STR_LEN], addr[PCI_STR_LEN], pf[PCI_STR_LEN];
	struct err e = { 0 };

	for (uint32_t n = 0; n < many.num; n++) {
		fakepci_vf_addr(PF, many, n, vf);
		ck_assert_uint_eq(index_of(root, PF, vf), n);
		ck_assert_int_eq(pci_vf_addr(root, PF, n, addr, &e), 0);
		ck_assert_str_eq(addr, vf);
		ck_assert_int_eq(pci_physfn(root, vf, pf, &e), 0);
		ck_assert_str_eq(pf, PF);
	}
	ck_assert_int_eq(pci_vf_addr(root, PF, many.num, addr, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(e.msg, "PCI function " PF " has no VF number 250");
}
END_TEST

struct walk {
	uint32_t n, stop_after;
};

static int in_order(const char *vf, void *arg)
{
	struct walk *w = arg;
	char expected[PCI_STR_LEN];

	ck_assert_str_eq(vf, fakepci_vf_addr(PF, many, w->n, expected));
	return ++w->n == w->stop_after;
}

START_TEST(walks_over_250)
{
	const char *root = make_tree(many);
	struct walk all = { 0 }, some = { .stop_after = 3 }, broken = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(pci_vf_each(root, PF, in_order, &all, &e), 0);
	ck_assert_uint_eq(all.n, 250);
	ck_assert_int_eq(pci_vf_each(root, PF, in_order, &some, &e), 0);
	ck_assert_uint_eq(some.n, 3);
	fakepci_link(root, PF, "virtfn7", NULL);
	ck_assert_int_eq(pci_vf_each(root, PF, in_order, &broken, &e), -1);
	ck_assert_uint_eq(broken.n, 7);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_str_eq(e.msg, "PCI function " PF " has no VF number 7");
	fakepci_file(root, PF, "sriov_totalvfs", NULL);
	ck_assert_int_eq(pci_vf_each(root, PF, in_order, &broken, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_int_eq(pci_vf_each(root, "0000:00:1f.7", in_order, &broken, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
}
END_TEST

/* Of all links only the one that confirms it is there, and a search cannot even begin. */
START_TEST(one_look_whatever_the_number_of_vfs)
{
	const char *root = make_tree(many);
	char vf[PCI_STR_LEN], name[32];
	uint32_t n = 7;
	struct err e = { 0 };

	for (uint32_t i = 0; i < many.num; i++) {
		(void)snprintf(name, sizeof(name), "virtfn%u", i);
		if (i != 249)
			fakepci_link(root, PF, name, NULL);
	}
	fakepci_file(root, PF, "sriov_totalvfs", NULL);
	fakepci_file(root, PF, "sriov_numvfs", NULL);
	ck_assert_uint_eq(index_of(root, PF, fakepci_vf_addr(PF, many, 249, vf)), 249);
	/* The control: what cannot be confirmed needs a search, which fails. */
	fakepci_vf_addr(PF, many, 248, vf);
	ck_assert_int_eq(pci_vf_index(root, PF, vf, &n, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_uint_eq(n, 7);
}
END_TEST

START_TEST(a_layout_that_is_wrong_or_missing)
{
	static const struct {
		const char *offset, *stride;
	} c[] = { { "2\n", "2\n" },     { "3\n", "1\n" },     { "0\n", "1\n" }, { "x\n", "1\n" },
		  { "2\n", "\n" },      { "65536\n", "1\n" }, { NULL, "1\n" },  { "2\n", NULL },
		  { "2\n", "65535\n" }, { "2\n", "0\n" } };
	const char *root = make_tree((struct fakepci_vfs){ 16, 16, 2, 1 });

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		fakepci_file(root, PF, "sriov_offset", c[i].offset);
		fakepci_file(root, PF, "sriov_stride", c[i].stride);
		ck_assert_uint_eq(index_of(root, PF, "0000:3b:00.2"), 0);
		ck_assert_uint_eq(index_of(root, PF, "0000:3b:00.6"), 4);
		ck_assert_uint_eq(index_of(root, PF, "0000:3b:02.1"), 15);
	}
}
END_TEST

START_TEST(two_ports_with_interleaved_vfs)
{
	static const struct fakepci_vfs v = { 7, 8, 128, 2 };
	const char *root = testing_dir();
	uint32_t n = 9;
	struct err e = { 0 };

	fakepci_function(root, "10000:01:00.0");
	fakepci_function(root, "10000:01:00.1");
	fakepci_vfs(root, "10000:01:00.0", v);
	fakepci_vfs(root, "10000:01:00.1", v);
	ck_assert_uint_eq(index_of(root, "10000:01:00.0", "10000:01:11.4"), 6);
	ck_assert_uint_eq(index_of(root, "10000:01:00.1", "10000:01:11.5"), 6);
	ck_assert_int_eq(pci_vf_index(root, "10000:01:00.0", "10000:01:11.5", &n, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(e.msg, "PCI function 10000:01:11.5 is not a VF of 10000:01:00.0");
	ck_assert_uint_eq(n, 9);
}
END_TEST

START_TEST(functions_that_are_not_what_was_asked_for)
{
	const char *root = make_tree((struct fakepci_vfs){ 1, 1, 2, 1 });
	char addr[PCI_STR_LEN];
	struct pci_sriov s;
	uint32_t n;
	struct err e = { 0 };

	ck_assert_int_eq(pci_vf_index(root, PF, "virtio0", &n, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_int_eq(pci_vf_index(root, "0000:99:00.0", "0000:3b:00.2", &n, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(pci_vf_addr(root, "0000:99:00.0", 0, addr, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(pci_sriov(root, "0000:99:00.0", &s, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	fakepci_link(root, PF, "virtfn0", "../nonsense");
	ck_assert_int_eq(pci_vf_addr(root, PF, 0, addr, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, "PCI function " PF));
}
END_TEST

/* ---- how many ---- */

START_TEST(tells_how_many)
{
	static const char *const bad[] = { "", "x\n", "-1\n", "65536\n" };
	const char *root = make_tree(many);
	struct pci_sriov s;
	struct err e = { 0 };

	ck_assert_int_eq(pci_sriov(root, PF, &s, &e), 0);
	ck_assert_uint_eq(s.num, 250);
	ck_assert_uint_eq(s.total, 252);
	ck_assert_int_eq(pci_sriov(root, "0000:3b:00.2", &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_str_eq(e.msg, "PCI function 0000:3b:00.2 has no SR-IOV");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		fakepci_file(root, PF, "sriov_numvfs", bad[i]);
		ck_assert_int_eq(pci_sriov(root, PF, &s, &e), -1);
		ck_assert_int_eq(e.code, ERR_IO);
	}
	ck_assert_uint_eq(s.num, 250);
}
END_TEST

static bool holds(const char *name, const char *want)
{
	char text[64];
	struct err e = { 0 };

	ck_assert_int_eq(sysfs_read(DEVICE_OF PF, name, text, sizeof(text), &e), 0);
	return !strcmp(text, want);
}

START_TEST(sets_how_many)
{
	const char *root = make_tree((struct fakepci_vfs){ 0, 8, 2, 1 });
	struct err e = { 0 };

	ck_assert_int_eq(pci_set_numvfs(root, PF, 8, &e), 0);
	ck_assert(holds("sriov_numvfs", "8"));
	ck_assert_int_eq(pci_set_numvfs(root, PF, 0, &e), 0);
	ck_assert(holds("sriov_numvfs", "0"));
	ck_assert_int_eq(pci_set_numvfs(root, PF, 9, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, ERANGE);
	ck_assert_str_eq(e.detail, "it can have 8");
	ck_assert_int_eq(pci_set_numvfs(root, "0000:99:00.0", 1, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
}
END_TEST

/* As the kernel: no change between two numbers. What was written is kept in a file. */
static int strict_kernel(const char *root, const char *path, const char *value, struct err *e)
{
	char now[8] = "";
	struct err ignored;
	FILE *log = fopen("/mnt/log", "ae");

	ck_assert_int_gt(fprintf(log, "%s ", value), 0);
	ck_assert_int_eq(fclose(log), 0);
	ck_assert_int_eq(sysfs_read(root, path, now, sizeof(now), &ignored), 0);
	if (strcmp(now, "0") != 0 && strcmp(value, "0") != 0)
		return err_set(e, ERR_IO, EBUSY, "write");
	return sysfs_write(root, path, value, e);
}

START_TEST(goes_through_zero)
{
	const char *root = make_tree((struct fakepci_vfs){ 4, 8, 2, 1 });
	char log[64];
	struct err e = { 0 };

	ck_assert_int_eq(pci_set_numvfs_by(root, PF, 4, strict_kernel, &e), 0);
	ck_assert_int_eq(access("/mnt/log", F_OK), -1); /* as it is: nothing is touched */
	ck_assert_int_eq(pci_set_numvfs_by(root, PF, 6, strict_kernel, &e), 0);
	ck_assert_int_eq(sysfs_read("/mnt", "log", log, sizeof(log), &e), 0);
	ck_assert_str_eq(log, "0 6 ");
	ck_assert(holds("sriov_numvfs", "6"));
}
END_TEST

static int no_driver(const char *root, const char *path, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, ENOENT, "write %s to %s/%s", value, root, path);
}

static int in_use(const char *root, const char *path, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, EBUSY, "write %s to %s/%s", value, root, path);
}

static int no_room(const char *root, const char *path, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, ENOMEM, "write %s to %s/%s", value, root, path);
}

static int some_other(const char *root, const char *path, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, ETIME, "write %s to %s/%s", value, root, path);
}

/* It takes the number and makes fewer. */
static int fewer(const char *root, const char *path, const char *value, struct err *e)
{
	(void)value;
	return sysfs_write(root, path, "2", e);
}

START_TEST(explains_what_the_kernel_says)
{
	static const struct {
		pci_write_fn write;
		int errnum;
		const char *hint;
	} c[] = { { no_driver, ENOENT, "no driver" },
		  { in_use, EBUSY, "in use" },
		  { no_room, ENOMEM, "firmware" },
		  { some_other, ETIME, "" },
		  { fewer, 0, "fewer" } };
	const char *root = make_tree((struct fakepci_vfs){ 0, 8, 2, 1 });

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct err e = { 0 };

		ck_assert_int_eq(pci_set_numvfs_by(root, PF, 8, c[i].write, &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_int_eq(e.errnum, c[i].errnum);
		ck_assert_ptr_nonnull(strstr(e.msg, "make 8 VFs of " PF));
		ck_assert_ptr_nonnull(strstr(e.detail, c[i].hint));
	}
}
END_TEST

START_TEST(nothing_more_is_tried_after_a_refusal)
{
	const char *root = make_tree((struct fakepci_vfs){ 4, 8, 2, 1 });
	struct err e = { 0 };

	ck_assert_int_eq(pci_set_numvfs_by(root, PF, 0, in_use, &e), -1);
	ck_assert_int_eq(e.errnum, EBUSY);
	ck_assert_int_eq(pci_set_numvfs_by(root, PF, 6, in_use, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "make 0 VFs of " PF));
	ck_assert(holds("sriov_numvfs", "4"));
}
END_TEST

TEST_PROGRAM("pci_sriov", numbers_and_addresses_of_250, walks_over_250,
	     one_look_whatever_the_number_of_vfs, a_layout_that_is_wrong_or_missing,
	     two_ports_with_interleaved_vfs, functions_that_are_not_what_was_asked_for,
	     tells_how_many, sets_how_many, goes_through_zero, explains_what_the_kernel_says,
	     nothing_more_is_tried_after_a_refusal)
