/* SPDX-License-Identifier: Apache-2.0 */
/* bind_test.c: shows the order of writes for a new driver, and the way back after a failure. */
#include <errno.h>
#include <stdio.h>

#include "lib/device/pci_priv.h"
#include "lib/device/sysfs.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"

#define ADDR   "10000:3b:00.2"
#define DEVICE "bus/pci/devices/" ADDR

static const char *make_tree(const char *driver)
{
	const char *root = testing_dir();

	fakepci_function(root, ADDR);
	fakepci_driver(root, ADDR, "vfio-pci"); /* both exist */
	fakepci_driver(root, ADDR, "igbvf");
	fakepci_driver(root, ADDR, driver);
	return root;
}

static void note(const char *path, const char *value)
{
	FILE *log = fopen("/mnt/log", "ae");

	ck_assert_int_gt(fprintf(log, "%s=%s;", strrchr(path, '/') + 1, value), 0);
	ck_assert_int_eq(fclose(log), 0);
}

static const char *log_text(char text[256])
{
	struct err e = { 0 };

	if (sysfs_read("/mnt", "log", text, 256, &e))
		text[0] = '\0';
	return text;
}

static const char *driver_now(char out[PCI_DRIVER_LEN])
{
	struct err e = { 0 };

	ck_assert_int_eq(pci_driver("/mnt", ADDR, out, &e), 0);
	return out;
}

/*
 * What the kernel does: the override decides; without one igbvf is its choice. A function that has
 * a driver is not probed. It all happens within the write.
 */
static int act(const char *root, const char *path, const char *value, struct err *e)
{
	char now[PCI_DRIVER_LEN], override[64];

	note(path, value);
	driver_now(now);
	if (!strcmp(path, DEVICE "/driver_override")) {
		fakepci_file(root, ADDR, "driver_override",
			     strcmp(value, "\n") ? value : "(null)\n");
		return 0;
	}
	ck_assert_str_eq(value, ADDR);
	if (!strncmp(path, "bus/pci/drivers/", 16)) {
		ck_assert_int_eq(strncmp(path + 16, now, strlen(now)), 0);
		fakepci_driver(root, ADDR, NULL);
		return 0;
	}
	ck_assert_str_eq(path, "bus/pci/drivers_probe");
	ck_assert_int_eq(sysfs_read(root, DEVICE "/driver_override", override, 64, e), 0);
	if (!*now)
		fakepci_driver(root, ADDR, strcmp(override, "(null)") ? override : "igbvf");
	return 0;
}

/* As the above, and vfio-pci refuses: there is no IOMMU. */
static int refuse_vfio(const char *root, const char *path, const char *value, struct err *e)
{
	char override[64];

	ck_assert_int_eq(sysfs_read(root, DEVICE "/driver_override", override, 64, e), 0);
	if (!strcmp(path, "bus/pci/drivers_probe") && !strcmp(override, "vfio-pci")) {
		note(path, value);
		return err_set(e, ERR_IO, EINVAL, "write %s", path);
	}
	return act(root, path, value, e);
}

/* A kernel in which only DRIVER/unbind and DRIVER/bind are written. */
static int bind_act(const char *root, const char *path, const char *value, struct err *e)
{
	char driver[PCI_DRIVER_LEN];

	(void)e;
	note(path, value);
	ck_assert_str_eq(value, ADDR);
	ck_assert_int_eq(sscanf(path, "bus/pci/drivers/%31[^/]", driver), 1);
	fakepci_driver(root, ADDR, strstr(path, "/unbind") ? NULL : driver);
	return 0;
}

/* The driver lets go of it, and cannot take it again. */
static int refuse_bind(const char *root, const char *path, const char *value, struct err *e)
{
	return strstr(path, "/unbind") ? bind_act(root, path, value, e)
				       : err_set(e, ERR_IO, ENODEV, "write %s", path);
}

/* No driver takes it, and that is not an error. */
static int nobody(const char *root, const char *path, const char *value, struct err *e)
{
	return !strcmp(path, "bus/pci/drivers_probe") ? 0 : act(root, path, value, e);
}

/* ---- */

START_TEST(binds_and_gives_back)
{
	const char *root = make_tree("igbvf");
	char log[256], driver[PCI_DRIVER_LEN];
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, "vfio-pci", act, &e), 0);
	ck_assert_str_eq(driver_now(driver), "vfio-pci");
	ck_assert_str_eq(log_text(log),
			 "driver_override=vfio-pci;unbind=" ADDR ";drivers_probe=" ADDR ";");
	ck_assert_int_eq(unlink("/mnt/log"), 0);
	ck_assert_int_eq(pci_bind_by(root, ADDR, NULL, act, &e), 0);
	ck_assert_str_eq(driver_now(driver), "igbvf");
	ck_assert_str_eq(log_text(log),
			 "driver_override=\n;unbind=" ADDR ";drivers_probe=" ADDR ";");
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(already_so)
{
	const char *root = make_tree("igbvf");
	char log[256];
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, "igbvf", act, &e), 0);
	ck_assert_int_eq(pci_bind_by(root, ADDR, NULL, act, &e), 0);
	fakepci_file(root, ADDR, "driver_override", "");
	ck_assert_int_eq(pci_bind_by(root, ADDR, NULL, act, &e), 0);
	ck_assert_str_eq(log_text(log), "");
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(a_function_without_a_driver)
{
	const char *root = make_tree(NULL);
	char log[256], driver[PCI_DRIVER_LEN];
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, NULL, act, &e), 0);
	ck_assert_str_eq(driver_now(driver), "igbvf");
	ck_assert_str_eq(log_text(log), "driver_override=\n;drivers_probe=" ADDR ";");
}
END_TEST

/* Others take the override away once they have bound it. */
START_TEST(a_stub_is_never_the_kernels_choice)
{
	static const char *const stubs[] = { "vfio-pci", "mlx5_vfio_pci", "uio_pci_generic",
					     "pci-stub" };
	const char *root = make_tree(NULL);
	char driver[PCI_DRIVER_LEN];
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(stubs); i++) {
		fakepci_driver(root, ADDR, stubs[i]);
		ck_assert_int_eq(pci_bind_by(root, ADDR, NULL, act, &e), 0);
		ck_assert_str_eq(driver_now(driver), "igbvf");
	}
}
END_TEST

START_TEST(a_driver_that_refuses)
{
	const char *root = make_tree("igbvf");
	char driver[PCI_DRIVER_LEN], override[64];
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, "vfio-pci", refuse_vfio, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EINVAL);
	ck_assert_ptr_nonnull(strstr(e.msg, "bind " ADDR " to driver vfio-pci: no driver took it"));
	ck_assert_ptr_nonnull(strstr(e.detail, "IOMMU"));
	/* It serves again as before. */
	ck_assert_str_eq(driver_now(driver), "igbvf");
	ck_assert_int_eq(sysfs_read(root, DEVICE "/driver_override", override, 64, &e), 0);
	ck_assert_str_eq(override, "(null)");
}
END_TEST

START_TEST(no_driver_takes_it)
{
	const char *root = make_tree(NULL);
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, NULL, nobody, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, 0);
	ck_assert_ptr_nonnull(strstr(e.msg, "no driver took it"));
	ck_assert_ptr_nonnull(strstr(e.detail, "sriov_drivers_autoprobe"));
	ck_assert_int_eq(pci_bind_by(root, ADDR, "igbvf", nobody, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "what driver igbvf said"));
}
END_TEST

/* Ordinary files change nothing: the former driver is still there, and that is an error. */
START_TEST(another_driver_has_it)
{
	const char *root = make_tree("igbvf");
	char text[64];
	struct err e = { 0 };

	testing_file("/mnt/bus/pci/drivers/igbvf/unbind", 0600, "");
	testing_file("/mnt/bus/pci/drivers_probe", 0600, "");
	ck_assert_int_eq(pci_bind(root, ADDR, "vfio-pci", &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.msg, "to driver vfio-pci: it is bound to igbvf"));
	ck_assert_int_eq(sysfs_read(root, "bus/pci/drivers/igbvf/unbind", text, 64, &e), 0);
	ck_assert_str_eq(text, ADDR);
	ck_assert_int_eq(sysfs_read(root, "bus/pci/drivers_probe", text, 64, &e), 0);
	ck_assert_str_eq(text, ADDR);
}
END_TEST

START_TEST(a_module_that_is_not_loaded)
{
	const char *root = make_tree("igbvf");
	char log[256];
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, "mlx5_vfio_pci", act, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_ptr_nonnull(strstr(e.detail, "modprobe mlx5_vfio_pci"));
	ck_assert_str_eq(log_text(log), ""); /* nothing was touched */
}
END_TEST

static int no_override(const char *root, const char *path, const char *value, struct err *e)
{
	(void)root;
	note(path, value);
	return err_set(e, ERR_IO, EACCES, "write %s", path);
}

static int no_unbind(const char *root, const char *path, const char *value, struct err *e)
{
	return strstr(path, "/unbind") ? no_override(root, path, value, e)
				       : act(root, path, value, e);
}

/* Somebody else was faster. */
static int unbound_already(const char *root, const char *path, const char *value, struct err *e)
{
	if (act(root, path, value, e))
		return -1;
	return strstr(path, "/unbind") ? err_set(e, ERR_IO, ENODEV, "write %s", path) : 0;
}

START_TEST(writes_that_fail)
{
	const char *root = make_tree("igbvf");
	char log[256];
	struct err e = { 0 };

	ck_assert_int_eq(pci_bind_by(root, ADDR, "vfio-pci", no_override, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EACCES);
	ck_assert_str_eq(log_text(log), "driver_override=vfio-pci;");
	ck_assert_int_eq(unlink("/mnt/log"), 0);
	ck_assert_int_eq(pci_bind_by(root, ADDR, "vfio-pci", no_unbind, &e), -1);
	ck_assert_int_eq(e.errnum, EACCES);
	ck_assert_str_eq(log_text(log),
			 "driver_override=vfio-pci;unbind=" ADDR ";driver_override=\n;");
	ck_assert_int_eq(pci_bind_by(root, ADDR, "vfio-pci", unbound_already, &e), 0);
}
END_TEST

START_TEST(names_that_are_none)
{
	static const char *const bad[] = { "", "a/b", "..", ".",
					   "a-name-longer-than-any-driver-has" };
	const char *root = make_tree("igbvf");
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(pci_bind_by(root, ADDR, bad[i], act, &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_int_eq(e.errnum, EINVAL);
	}
	ck_assert_int_eq(pci_bind_by(root, "nonsense", "igbvf", act, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_int_eq(pci_bind_by(root, "0000:99:00.0", "igbvf", act, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	fakepci_file(root, ADDR, "driver_override", NULL);
	ck_assert_int_eq(pci_bind_by(root, ADDR, "vfio-pci", act, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "driver_override"));
}
END_TEST

START_TEST(the_same_driver_reads_it_again)
{
	const char *root = make_tree("igbvf");
	char log[256], driver[PCI_DRIVER_LEN];
	struct err e = { 0 };

	ck_assert_int_eq(pci_rebind_by(root, ADDR, "igbvf", bind_act, &e), 0);
	ck_assert_str_eq(driver_now(driver), "igbvf");
	ck_assert_str_eq(log_text(log), "unbind=" ADDR ";bind=" ADDR ";");
	/* After a crash it has no driver. */
	fakepci_driver(root, ADDR, NULL);
	ck_assert_int_eq(unlink("/mnt/log"), 0);
	ck_assert_int_eq(pci_rebind_by(root, ADDR, "igbvf", bind_act, &e), 0);
	ck_assert_str_eq(log_text(log), "bind=" ADDR ";");
}
END_TEST

START_TEST(a_driver_that_does_not_take_it_again)
{
	const char *root = make_tree("igbvf");
	struct err e = { 0 };

	ck_assert_int_eq(pci_rebind_by(root, ADDR, "igbvf", refuse_bind, &e), -1);
	ck_assert(e.code == ERR_KERNEL && e.errnum == ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "no driver took it"));
	ck_assert_int_eq(pci_rebind_by(root, ADDR, "../x", refuse_bind, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_int_eq(pci_rebind_by(root, ADDR, "none-such", refuse_bind, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "modprobe none-such"));
}
END_TEST

TEST_PROGRAM("pci_bind", the_same_driver_reads_it_again, a_driver_that_does_not_take_it_again,
	     binds_and_gives_back, already_so, a_function_without_a_driver,
	     a_stub_is_never_the_kernels_choice, a_driver_that_refuses, no_driver_takes_it,
	     another_driver_has_it, a_module_that_is_not_loaded, writes_that_fail,
	     names_that_are_none)
