/* SPDX-License-Identifier: Apache-2.0 */
/* pod_test.c: which pods can have rails by their claim c. */
#include "railheadd/claims/pod.h"

#include "lib/testing/testing.h"

static struct err e;

/* classes: the list of RuntimeClasses, or NULL. */
static int check(const char *pod, const char *classes)
{
	auto_json struct json *tree = NULL, *list = NULL;
	struct claim c = { .prepared = { .pod = { "pu", "ns", "p" }, .claim = { "cu", "ns", "c" } },
			   .device = { { .request = "r" } },
			   .n = 1 };

	ck_assert_msg(json_parse(pod, strlen(pod), "pod", &tree, &e) == 0, "%s", e.msg);
	if (classes)
		ck_assert_int_eq(json_parse(classes, strlen(classes), "list", &list, &e), 0);
	c.device[0].runtime_classes = list;
	return claim_check_pod(tree, &c, &e);
}

static void is_refused(const char *pod, const char *classes, enum err_code code, const char *words)
{
	ck_assert_int_eq(check(pod, classes), -1);
	ck_assert_int_eq(e.code, code);
	ck_assert_msg(strstr(e.msg, words) || strstr(e.detail, words), "%s", e.msg);
}

#define POD(spec, status)                                                                          \
	"{\"metadata\":{\"uid\":\"pu\"},\"spec\":{" spec "},\"status\":{" status "}}"
#define TEMPLATE "\"resourceClaims\":[{\"name\":\"rails\",\"resourceClaimTemplateName\":\"t\"}]"
#define MADE     "\"resourceClaimStatuses\":[{\"name\":\"rails\",\"resourceClaimName\":\"c\"}]"
#define CLAIMED(list, name)                                                                        \
	"\"" list                                                                                  \
	"\":[{\"name\":\"a\"},{\"name\":\"b\",\"resources\":{\"claims\":[{\"name\":\"" name        \
	"\"}]}}]"

START_TEST(a_container_has_the_claim)
{
	ck_assert_int_eq(check(POD(TEMPLATE "," CLAIMED("containers", "rails"), MADE), NULL), 0);
	ck_assert_int_eq(check(POD(TEMPLATE "," CLAIMED("initContainers", "rails"), MADE), NULL),
			 0);
	ck_assert_int_eq(check(POD("\"resourceClaims\":[{\"name\":\"x\",\"resourceClaimName\":"
				   "\"c\"}]," CLAIMED("containers", "x"),
				   ""),
			       NULL),
			 0);
	is_refused(POD(TEMPLATE "," CLAIMED("containers", "gpus"), MADE), NULL, ERR_FORBIDDEN,
		   "no container of the pod has the claim");
	is_refused(POD(TEMPLATE, MADE), NULL, ERR_FORBIDDEN, "{name: rails} to resources.claims");
}
END_TEST

/* An extended resource, and a status that does not have the claim yet. */
START_TEST(a_claim_that_the_pod_does_not_name)
{
	ck_assert_int_eq(
		check(POD("", "\"extendedResourceClaimStatus\":{\"resourceClaimName\":\"c\"}"),
		      NULL),
		0);
	ck_assert_int_eq(check(POD(TEMPLATE, ""), NULL), 0);
}
END_TEST

START_TEST(a_pod_of_another_kind)
{
	is_refused("{\"metadata\":{\"uid\":\"new\"}}", NULL, ERR_STATE,
		   "another pod is named p by now, with the UID new");
	is_refused("{}", NULL, ERR_STATE, "another pod is named p by now");
	is_refused(POD("\"hostNetwork\":true", ""), NULL, ERR_FORBIDDEN,
		   "rails are for pods without hostNetwork");
	ck_assert_int_eq(check(POD("\"hostNetwork\":false", ""), NULL), 0);
}
END_TEST

START_TEST(a_RuntimeClass_that_the_class_lists)
{
	ck_assert_int_eq(check(POD("\"runtimeClassName\":\"nvidia\"", ""), "[\"crun\",\"nvidia\"]"),
			 0);
	ck_assert_int_eq(check(POD("", ""), "[\"nvidia\"]"), 0);
	is_refused(POD("\"runtimeClassName\":\"gvisor\"", ""), "[\"nvidia\"]", ERR_FORBIDDEN,
		   "request r: its device class does not allow the RuntimeClass gvisor");
	is_refused(POD("\"runtimeClassName\":\"gvisor\"", ""), NULL, ERR_FORBIDDEN,
		   "add it to runtimeClasses");
}
END_TEST

TEST_PROGRAM("pod", a_container_has_the_claim, a_claim_that_the_pod_does_not_name,
	     a_pod_of_another_kind, a_RuntimeClass_that_the_class_lists)
