/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_text_test.c: the entry in texts as Calico, Cilium, flannel and Multus write them: it comes,
 * comes once, and goes without a trace.
 */
#include "install/chain_text.h"

#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define ENTRY "{\"type\": \"railhead\"}"

static char *edited(const char *text, bool wanted, enum chain_kind kind)
{
	enum chain_kind is;
	char *out = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(chain_edit(text, wanted, &is, &out, &e) == 0, "%s", e.msg);
	ck_assert_msg(is == kind, "%d: %s", (int)is, text);
	return out;
}

static void comes_and_goes(const char *without, const char *with, enum chain_kind kind)
{
	auto_free char *put = edited(without, true, kind);

	ck_assert_str_eq(put, with);
	ck_assert_ptr_null(edited(with, true, kind));
	auto_free char *taken = edited(with, false, kind);
	ck_assert_str_eq(taken, without);
	ck_assert_ptr_null(edited(without, false, kind));
}

static void stays(const char *text, enum chain_kind kind)
{
	ck_assert_ptr_null(edited(text, true, kind));
	ck_assert_ptr_null(edited(text, false, kind));
}

START_TEST(a_list_of_several_lines)
{
#define CALICO                                                                                     \
	"{\n  \"name\": \"k8s-pod-network\",\n  \"cniVersion\": \"1.0.0\",\n  \"plugins\": [\n"    \
	"    {\n      \"type\": \"calico\",\n      \"mtu\": 1450.0,\n"                             \
	"      \"ipam\": {\n          \"type\": \"calico-ipam\"\n      }\n    },\n"                \
	"    {\n      \"type\": \"portmap\",\n      \"snat\": true,\n"                             \
	"      \"capabilities\": {\"portMappings\": true}\n    }"
	comes_and_goes(CALICO "\n  ]\n}\n", CALICO ",\n    " ENTRY "\n  ]\n}\n", CHAIN_LIST);
}
END_TEST

START_TEST(a_list_of_one_plugin)
{
#define CILIUM                                                                                     \
	"\n{\n  \"cniVersion\": \"0.3.1\",\n  \"name\": \"cilium\",\n  \"plugins\": [\n"           \
	"    {\n       \"type\": \"cilium-cni\",\n       \"enable-debug\": false,\n"               \
	"       \"log-file\": \"/var/run/cilium/cilium-cni.log\"\n    }"
	comes_and_goes(CILIUM "\n  ]\n}", CILIUM ",\n    " ENTRY "\n  ]\n}", CHAIN_LIST);
}
END_TEST

START_TEST(a_list_on_one_line)
{
#define FLANNEL                                                                                    \
	"{\"cniVersion\":\"0.3.1\",\"name\":\"cbr0\",\"plugins\":[{\"delegate\":{\"hairpinMode\":" \
	"true},\"type\":\"flannel\"},{\"type\":\"portmap\",\"x\":\"a\\\"]}\\\\\"}"
	comes_and_goes(FLANNEL "]}", FLANNEL "," ENTRY "]}", CHAIN_LIST);
}
END_TEST

/* As thin Multus 4.3.0 writes them. */
START_TEST(the_copy_that_Multus_has)
{
#define THIN "\"delegates\": [\n " FLANNEL
	comes_and_goes("{\"cniVersion\": \"0.3.1\", \"type\": \"multus\", " THIN "]}]}",
		       "{\"cniVersion\": \"0.3.1\", \"type\": \"multus\", " THIN "," ENTRY "]}]}",
		       CHAIN_COPY);
	comes_and_goes("{\"cniVersion\":\"1.0.0\",\"plugins\":[{\"type\":\"multus\"," THIN "]}]}]}",
		       "{\"cniVersion\":\"1.0.0\",\"plugins\":[{\"type\":\"multus\"," THIN "," ENTRY
		       "]}]}]}",
		       CHAIN_COPY);
	/* A version that the delegate does not have is that of Multus. */
	comes_and_goes("{\"cniVersion\":\"1.0.0\",\"type\":\"multus\",\"delegates\":[{\"plugins\":"
		       "[{}]}]}",
		       "{\"cniVersion\":\"1.0.0\",\"type\":\"multus\",\"delegates\":[{\"plugins\":"
		       "[{}," ENTRY "]}]}",
		       CHAIN_COPY);
}
END_TEST

START_TEST(Multus_without_a_copy)
{
	stays("{\"cniVersion\":\"0.3.1\",\"type\":\"multus-shim\",\"clusterNetwork\":\"/host/x\"}",
	      CHAIN_POINTER);
	stays("{\"type\":\"multus\",\"delegates\":[]}", CHAIN_POINTER);
	stays("{\"type\":\"multus\",\"delegates\":[{\"type\":\"calico\"}]}", CHAIN_POINTER);
	stays("{\"type\":\"multus\",\"delegates\":{\"plugins\":[{}]}}", CHAIN_POINTER);
}
END_TEST

START_TEST(networks_without_a_chain)
{
	stays("{\"cniVersion\":\"1.0.0\",\"type\":\"calico\"}", CHAIN_NO_CHAIN);
	stays("{\"cniVersion\":\"1.0.0\",\"plugins\":[]}", CHAIN_NO_CHAIN);
	stays("{\"cniVersion\":\"1.0.0\",\"plugins\":{\"type\":\"a\"}}", CHAIN_NO_CHAIN);
	stays("[{\"plugins\":[{}]}]", CHAIN_NO_CHAIN);
	stays(" 1 ", CHAIN_NO_CHAIN);
	/* An older protocol, one that this build does not know, and none. */
	ck_assert_ptr_null(
		edited("{\"cniVersion\":\"0.2.0\",\"plugins\":[{}]}", true, CHAIN_NO_CHAIN));
	ck_assert_ptr_null(
		edited("{\"cniVersion\":\"9.0.0\",\"plugins\":[{}]}", true, CHAIN_NO_CHAIN));
	ck_assert_ptr_null(edited("{\"plugins\":[{}]}", true, CHAIN_NO_CHAIN));
}
END_TEST

START_TEST(an_entry_that_another_program_has_moved)
{
	auto_free char *first = edited("{\"plugins\":[ " ENTRY ", {\"type\":\"a\"} ]}", false,
				       CHAIN_LIST),
		       *middle = edited("{\"plugins\":[7," ENTRY "\n,[" ENTRY "]]}", false,
					CHAIN_LIST);

	ck_assert_str_eq(first, "{\"plugins\":[ {\"type\":\"a\"} ]}");
	ck_assert_str_eq(middle, "{\"plugins\":[7\n,[" ENTRY "]]}");
	/* The list would be empty, which is not a network. */
	stays("{\"plugins\":[" ENTRY "]}", CHAIN_LIST);
	/* Of keys that come twice, the last one counts. */
	stays("{\"plugins\":[{}],\"plugins\":[{\"type\":\"b\",\"type\":\"railhead\"}]}",
	      CHAIN_LIST);
}
END_TEST

START_TEST(text_that_is_not_json_is_refused)
{
	enum chain_kind kind;
	char *out = NULL;
	struct err e = { .msg = "" };

	ck_assert_int_eq(chain_edit("{\"plugins\":[", true, &kind, &out, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_int_eq(chain_edit("", true, &kind, &out, &e), -1);
	ck_assert_ptr_null(out);
}
END_TEST

static int put(void *arg, struct err *e)
{
	auto_free char *out = NULL;
	enum chain_kind kind;

	return chain_edit(arg, true, &kind, &out, e);
}

START_TEST(failed_allocations_of_the_parser)
{
	char text[] = FLANNEL "]}";

	ck_assert_str_eq(alloc_fail_each(put, text), "ok");
}
END_TEST

TEST_PROGRAM("install/chain_text", a_list_of_several_lines, a_list_of_one_plugin,
	     a_list_on_one_line, the_copy_that_Multus_has, Multus_without_a_copy,
	     networks_without_a_chain, an_entry_that_another_program_has_moved,
	     text_that_is_not_json_is_refused, failed_allocations_of_the_parser)
