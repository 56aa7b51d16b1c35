/* SPDX-License-Identifier: Apache-2.0 */
/* rails_devices_test.c: the VFs that a call gives, and the rails that they are of. */
#include <stdio.h>
#include <string.h>

#include "plugins/ether/rails_priv.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"

#define SYS "/mnt/sys"

/* What a configuration gives: "SOURCE: DEVICE DEVICE", or the error. */
static const char *read_of(const char *config)
{
	static char shown[1024];
	struct cni_call call = { .env = { .cmd = CNI_ADD } };
	const struct attach a = { .call = &call };
	struct rails_conf c = { .kind = 2 };
	struct rails_devices d;
	struct err e;
	char *text;

	ck_assert_int_gt(asprintf(&text,
				  "{\"cniVersion\":\"1.1.0\",\"name\":\"n\",\"type\":\"rails\",%s}",
				  config),
			 0);
	ck_assert_msg(cni_conf_parse(text, strlen(text), CNI_ADD, &call.conf, &e) == 0, "%s",
		      e.msg);
	c.device_ids = json_get(call.conf.tree, "deviceIDs");
	c.resource = json_get(call.conf.tree, "resource");
	c.device_id = json_str(json_get(call.conf.tree, "deviceID"));
	c.pci_bus_id = json_str(json_get(call.conf.tree, "pciBusID"));
	c.resource_name = json_str(json_get(call.conf.tree, "resourceName"));
	int rc = rails_devices_read(&a, &c, &d, &e);
	int len = snprintf(shown, sizeof(shown), "%s", rc ? e.msg : d.n ? d.source : "none");
	for (size_t i = 0; rc == 0 && i < d.n; i++)
		len += snprintf(shown + len, sizeof(shown) - (size_t)len, " %s", d.id[i]);
	cni_conf_clear(&call.conf);
	return shown;
}

START_TEST(where_devices_come_from)
{
	ck_assert_str_eq(read_of("\"kind\":\"sriov\""), "none");
	ck_assert_str_eq(read_of("\"deviceIDs\":[]"), "none");
	ck_assert_str_eq(read_of("\"deviceIDs\":[\"0000:3B:02.1\",\"0000:5e:02.0\"],"
				 "\"runtimeConfig\":{\"deviceIDs\":[\"0000:01:00.0\"]}"),
			 "deviceIDs 0000:3b:02.1 0000:5e:02.0");
	ck_assert_str_eq(read_of("\"runtimeConfig\":{\"deviceIDs\":[\"0000:01:00.0\"]},"
				 "\"deviceID\":\"0000:02:00.0\""),
			 "runtimeConfig.deviceIDs 0000:01:00.0");
	ck_assert_str_eq(read_of("\"args\":{\"cni\":{\"deviceIDs\":[\"0000:01:00.0\"]}}"),
			 "args.cni.deviceIDs 0000:01:00.0");
	/* As Multus gives one device: in three places. */
	ck_assert_str_eq(read_of("\"deviceID\":\"0000:02:00.0\",\"pciBusID\":\"0000:02:00.0\","
				 "\"runtimeConfig\":{\"deviceID\":\"0000:02:00.0\"}"),
			 "deviceID 0000:02:00.0");
	ck_assert_str_eq(read_of("\"pciBusID\":\"0000:02:00.0\""), "pciBusID 0000:02:00.0");
	ck_assert_str_eq(read_of("\"runtimeConfig\":{\"deviceID\":\"0000:02:00.0\"}"),
			 "runtimeConfig.deviceID 0000:02:00.0");
	/* It is the first of those that the kubelet has. */
	ck_assert_str_eq(read_of("\"deviceID\":\"0000:02:00.0\",\"resourceName\":\"a.b/c\""),
			 "none");
}
END_TEST

START_TEST(devices_that_are_none)
{
	ck_assert_str_eq(read_of("\"deviceIDs\":\"0000:02:00.0\""),
			 "deviceIDs: must be an array of PCI addresses, got \"0000:02:00.0\"");
	ck_assert_str_eq(read_of("\"deviceIDs\":[3]"), "deviceIDs: must have strings, got 3");
	ck_assert_str_eq(read_of("\"deviceIDs\":[\"eth0\"]"),
			 "deviceIDs: \"eth0\" is not a PCI address such as 0000:3b:02.5");
	ck_assert_str_eq(read_of("\"args\":{\"cni\":{\"deviceIDs\":[\"0000:01:00.0\","
				 "\"0000:01:00.0\"]}}"),
			 "args.cni.deviceIDs: 0000:01:00.0 is given twice");
	ck_assert_str_eq(read_of("\"deviceIDs\":[\"0000:01:00.0\"],\"resource\":{\"pf\":[\"a\"]}"),
			 "deviceIDs and resource exclude each other: one names the VFs, the other "
			 "lets the plugin choose");
}
END_TEST

START_TEST(too_many_devices)
{
	char text[RAIL_LIST_MAX * 32], *p = text;

	p += sprintf(p, "\"deviceIDs\":[");
	for (int i = 0; i <= RAIL_LIST_MAX; i++)
		p += sprintf(p, "%s\"0000:%02x:00.0\"", i ? "," : "", i);
	(void)sprintf(p, "]");
	ck_assert_str_eq(read_of(text), "deviceIDs: has more than 32 devices");
}
END_TEST

START_TEST(each_rail_takes_the_VF_of_its_PF)
{
	const struct fakepci_vfs four = { .total = 4, .num = 4, .offset = 16, .stride = 1 };
	const struct ctx ctx = { .sysfs = SYS };
	struct rails_devices d = { .n = 2, .source = "deviceIDs" };
	char device[PCI_STR_LEN];
	struct err e;

	(void)testing_dir();
	fakepci_function(SYS, "0000:3b:00.0");
	fakepci_netdev(SYS, "0000:3b:00.0", "pf0", NULL);
	fakepci_vfs(SYS, "0000:3b:00.0", four);
	fakepci_function(SYS, "0000:5e:00.0");
	fakepci_netdev(SYS, "0000:5e:00.0", "pf1", NULL);
	fakepci_vfs(SYS, "0000:5e:00.0", four);
	(void)fakepci_vf_addr("0000:5e:00.0", four, 2, d.id[0]);
	(void)fakepci_vf_addr("0000:3b:00.0", four, 1, d.id[1]);
	ck_assert_msg(rails_devices_take(&ctx, &d, "pf0", device, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(device, d.id[1]);
	ck_assert_int_eq(rails_devices_all_taken(&d, &e), -1);
	ck_assert_msg(strstr(e.msg, d.id[0]) != NULL, "%s", e.msg);
	ck_assert_int_eq(rails_devices_take(&ctx, &d, "pf0", device, &e), 0);
	ck_assert_str_eq(device, "");
	ck_assert_int_eq(rails_devices_take(&ctx, &d, "pf1", device, &e), 0);
	ck_assert_str_eq(device, d.id[0]);
	ck_assert_int_eq(rails_devices_all_taken(&d, &e), 0);
	/* A PF is not a VF. */
	(void)snprintf(d.id[0], PCI_STR_LEN, "0000:5e:00.0");
	ck_assert_int_eq(rails_devices_take(&ctx, &d, "pf1", device, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_int_eq(rails_devices_take(&ctx, &d, "none", device, &e), -1);
}
END_TEST

TEST_PROGRAM("plugins/ether/rails_devices", where_devices_come_from, devices_that_are_none,
	     too_many_devices, each_rail_takes_the_VF_of_its_PF)
