/* SPDX-License-Identifier: Apache-2.0 */
/* attach_result_test.c: shows that a result has addresses as the kernel prints them. */
#include "cni/engine/attach_priv.h"
#include "cni/testing/call.h"
#include "lib/testing/testing.h"

static const struct attach_type makes = { .name = "t", .kind = "veth" };

/* The mac that ADD answers for an interface with this address. */
static void answers(struct hw_addr addr, const char *want)
{
	const struct cni_call call = { .env = { .ifname = "net1", .netns = "/run/netns/p" } };
	const struct attach a = { .call = &call, .type = &makes, .link = { .addr = addr } };
	const struct cni_result no_ips = { 0 };
	struct cni_result r = { 0 };
	char mac[HW_ADDR_STR_LEN];
	struct err e = { .msg = "" };

	ck_assert_msg(attach_build_result(&a, &no_ips, mac, &r, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(r.n_interfaces, 1);
	ck_assert_pstr_eq(r.interfaces[0].mac, want);
	cni_result_clear(&r);
}

START_TEST(an_address_is_answered_as_the_kernel_prints_it)
{
	const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 0xa };
	const uint8_t ipoib[] = { 0x80, 0, 2, 8,    0xfe, 0x80, 0, 0,    0,    0,
				  0,    0, 0, 0x02, 0xc9, 3,    0, 0x12, 0x34, 0x57 };

	answers(hw_addr_of_mac(mac), "02:00:00:00:00:0a");
	answers(hw_addr_make(ipoib, sizeof(ipoib)),
		"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57");
	answers((struct hw_addr){ 0 }, NULL);
}
END_TEST

/* The result also keeps the keys of prevResult that no plugin knows. */
START_TEST(a_plugin_adds_its_RDMA_device)
{
	const struct cni_call call = { .env = { .ifname = "net1", .netns = "/run/netns/p" } };
	auto_json struct json *src = json_new_object(), *rdma = json_new_object();
	const struct attach a = {
		.call = &call, .type = &makes, .rdma = rdma, .prev = { .src = src }
	};
	const struct cni_result no_ips = { 0 };
	auto_result struct cni_result r = { 0 };
	char mac[HW_ADDR_STR_LEN], *text;
	struct err e = { .msg = "" };

	ck_assert_int_eq(json_add_int(src, "x", 7) | json_add_str(rdma, "device", "mlx5_2"), 0);
	good(attach_build_result(&a, &no_ips, mac, &r, &e), &e);
	good(cni_result_print(&r, CNI_110, &text, &e), &e);
	auto_free char *shown = text;
	ck_assert_ptr_nonnull(strstr(shown, "\"x\""));
	ck_assert_ptr_nonnull(strstr(shown, "\"rdma\""));
	ck_assert_ptr_nonnull(strstr(shown, "mlx5_2"));
	ck_assert_ptr_null(json_get(src, "rdma"));
}
END_TEST

/* An IPAM with lists of pools behind a plugin with one interface. */
START_TEST(the_marks_of_the_IPAM_are_not_answered)
{
	static const char text[] =
		"{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.0.0.2/24\",\"group\":1},"
		"{\"address\":\"10.0.1.2/24\",\"probe\":true,\"x\":1},{\"address\":\"10.0.2.2/24\","
		"\"kept\":1}],\"routes\":[{\"dst\":\"10.9.0.0/"
		"16\",\"gw\":\"10.0.0.1\",\"group\":1},"
		"{\"dst\":\"10.8.0.0/16\",\"own\":1}]}";
	const struct cni_call call = { .env = { .ifname = "net1", .netns = "/run/netns/p" },
				       .conf = { .ipam_type = "railhead-ipam" } };
	const struct attach a = { .call = &call, .type = &makes };
	auto_result struct cni_result r = { 0 }, ipam = { 0 };
	auto_json struct json *tree = NULL;
	char mac[HW_ADDR_STR_LEN], *out;
	struct err e = { .msg = "" };

	good(json_parse(text, strlen(text), "text", &tree, &e), &e);
	good(cni_result_parse(tree, "text", CNI_100, &ipam, &e), &e);
	good(attach_build_result(&a, &ipam, mac, &r, &e), &e);
	good(cni_result_print(&r, CNI_100, &out, &e), &e);
	auto_free char *shown = out;
	ck_assert_msg(!strstr(shown, "group") && !strstr(shown, "probe"), "%s", shown);
	ck_assert_msg(strstr(shown, "10.0.1.2/24") && strstr(shown, "10.9.0.0/16"), "%s", shown);
	ck_assert_msg(strstr(shown, "\"kept\"") && strstr(shown, "\"own\""), "%s", shown);
}
END_TEST

TEST_PROGRAM("attach_result", an_address_is_answered_as_the_kernel_prints_it,
	     a_plugin_adds_its_RDMA_device, the_marks_of_the_IPAM_are_not_answered)
