/* SPDX-License-Identifier: Apache-2.0 */
/* conf_test.c: which configurations the rdma plugin takes, and the errors for the others. */
#include "plugins/rdma/conf.h"

#include <stdio.h>

#include "lib/testing/testing.h"

static char *text_of(const char *keys)
{
	char *text;

	ck_assert_int_gt(asprintf(&text,
				  "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"type\":\"rdma\"%s%s}",
				  *keys ? "," : "", keys),
			 0);
	return text;
}

static int read_conf(const char *keys, struct cni_conf *conf, struct rdma_conf *out, struct err *e)
{
	char *text = text_of(keys);

	*conf = (struct cni_conf){ 0 };
	ck_assert_msg(cni_conf_parse(text, strlen(text), CNI_ADD, conf, e) == 0, "%s", e->msg);
	return rdma_conf_read(conf, out, e);
}

START_TEST(a_configuration_of_rdma_cni_is_accepted)
{
	struct cni_conf conf;
	struct rdma_conf c;
	struct err e = { 0 };

	ck_assert_int_eq(
		read_conf("\"deviceID\":\"0000:05:00.1\",\"args\":{\"cni\":{\"debug\":true}}",
			  &conf, &c, &e),
		0);
	ck_assert_int_eq(c.mode, RDMA_WANT_AUTO);
	ck_assert_str_eq(rdma_conf_bus(&c), "0000:05:00.1");
	ck_assert(c.debug);
	ck_assert_uint_eq(c.timeout, 10);
	ck_assert_int_eq(c.renumbered, RDMA_RENUMBERED_FAIL);
	ck_assert_ptr_null(c.name);
	ck_assert_ptr_null(c.devinfo);
	cni_conf_clear(&conf);
	ck_assert_int_eq(read_conf("", &conf, &c, &e), 0);
	ck_assert_ptr_null(rdma_conf_bus(&c));
	ck_assert(!c.debug);
	cni_conf_clear(&conf);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(all_keys_are_decoded)
{
	struct cni_conf conf;
	struct rdma_conf c;
	struct err e = { 0 };

	ck_assert_int_eq(
		read_conf("\"mode\":\"exclusive\",\"deviceName\":\"roce-0.1_a\",\"timeout\":600,"
			  "\"renumbered\":\"report\",\"runtimeConfig\":{\"deviceID\":"
			  "\"mlx5_core.sf.2\",\"CNIDeviceInfoFile\":\"/run/k8s.cni.cncf.io/devinfo/"
			  "x\"}",
			  &conf, &c, &e),
		0);
	ck_assert_int_eq(c.mode, RDMA_WANT_EXCLUSIVE);
	ck_assert_str_eq(c.name, "roce-0.1_a");
	ck_assert_uint_eq(c.timeout, 600);
	ck_assert_int_eq(c.renumbered, RDMA_RENUMBERED_REPORT);
	ck_assert_str_eq(rdma_conf_bus(&c), "mlx5_core.sf.2");
	ck_assert_str_eq(c.devinfo, "/run/k8s.cni.cncf.io/devinfo/x");
	cni_conf_clear(&conf);
	/* The key at the top goes before, and empty ones count as absent. */
	ck_assert_int_eq(
		read_conf("\"mode\":\"\",\"deviceID\":\"0000:05:00.1\",\"deviceName\":\"\","
			  "\"renumbered\":\"\",\"runtimeConfig\":{\"deviceID\":\"x\"}",
			  &conf, &c, &e),
		0);
	ck_assert_str_eq(c.device, "0000:05:00.1");
	ck_assert_ptr_null(c.name);
	cni_conf_clear(&conf);
	ck_assert_int_eq(read_conf("\"mode\":\"shared\",\"deviceID\":\"\"", &conf, &c, &e), 0);
	ck_assert_int_eq(c.mode, RDMA_WANT_SHARED);
	ck_assert_ptr_null(c.device);
	cni_conf_clear(&conf);
	/* What a device plugin that shares hands out. */
	ck_assert_int_eq(read_conf("\"deviceID\":\"17\"", &conf, &c, &e), 0);
	ck_assert_str_eq(c.device, "17");
	ck_assert_ptr_null(rdma_conf_bus(&c));
	cni_conf_clear(&conf);
}
END_TEST

START_TEST(bad_configurations_are_refused)
{
	static const struct {
		const char *keys;
		enum err_code code;
		const char *word;
	} c[] = {
		{ "\"mode\":\"both\"", ERR_FIELD, "mode" },
		{ "\"mode\":1", ERR_DECODE, "mode" },
		{ "\"deviceID\":5", ERR_DECODE, "deviceID" },
		{ "\"runtimeConfig\":{\"deviceID\":5}", ERR_DECODE, "runtimeConfig.deviceID" },
		{ "\"mode\":\"exclusive\",\"deviceID\":\"17\"", ERR_CONFIG, "\"17\"" },
		{ "\"mode\":\"exclusive\",\"deviceID\":\"../x.1\"", ERR_CONFIG, "deviceID" },
		{ "\"mode\":\"shared\",\"deviceName\":\"a\"", ERR_CONFIG, "deviceName" },
		{ "\"deviceName\":\"a/b\"", ERR_CONFIG, "a/b" },
		{ "\"deviceName\":\".a\"", ERR_CONFIG, "deviceName" },
		{ "\"deviceName\":\"mlx5_%d\"", ERR_CONFIG, "mlx5_%d" },
		{ "\"timeout\":0", ERR_CONFIG, "timeout" },
		{ "\"timeout\":601", ERR_CONFIG, "timeout" },
		{ "\"timeout\":\"5\"", ERR_DECODE, "timeout" },
		{ "\"renumbered\":\"ignore\"", ERR_FIELD, "renumbered" },
		{ "\"args\":{\"cni\":{\"debug\":\"yes\"}}", ERR_DECODE, "args.cni.debug" },
		{ "\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"/etc/x\"}", ERR_CONFIG, "/etc/x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct cni_conf conf;
		struct rdma_conf out;
		struct err e = { 0 };

		ck_assert_msg(read_conf(c[i].keys, &conf, &out, &e) == -1, "%s", c[i].keys);
		ck_assert_msg(e.code == c[i].code && strstr(e.msg, c[i].word), "%s: %d: %s",
			      c[i].keys, (int)e.code, e.msg);
		cni_conf_clear(&conf);
	}
}
END_TEST

TEST_PROGRAM("plugins/rdma/conf", a_configuration_of_rdma_cni_is_accepted, all_keys_are_decoded,
	     bad_configurations_are_refused)
