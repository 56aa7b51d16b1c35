/* SPDX-License-Identifier: Apache-2.0 */
/* answer_test.c: lists, events and refusals of an API server, and what they mean. */
#include <stdio.h>

#include "cluster/kube/fault.h"
#include "lib/testing/testing.h"

static struct json *parse(const char *text)
{
	struct json *tree = NULL;
	struct err e;

	ck_assert_msg(!json_parse(text, strlen(text), "answer", &tree, &e), "%s", e.msg);
	return tree;
}

START_TEST(a_page_has_a_revision_and_items)
{
	static const char *const bad[] = {
		"[]", "{}", "{\"metadata\":{}}", "{\"metadata\":{\"resourceVersion\":\"x\"}}",
		"{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":{}}"
	};
	auto_json struct json *tree =
		parse("{\"metadata\":{\"resourceVersion\":\"12\",\"continue\":"
		      "\"abc\"},\"items\":[1,2]}");
	auto_json struct json *last = parse("{\"metadata\":{\"resourceVersion\":\"12\"}}");
	struct kube_page p;
	struct err e;

	ck_assert_int_eq(kube_page_read(tree, &p, &e), 0);
	ck_assert_str_eq(p.revision, "12");
	ck_assert_str_eq(p.more, "abc");
	ck_assert_uint_eq(json_len(p.items), 2);
	ck_assert_int_eq(kube_page_read(last, &p, &e), 0);
	ck_assert(!*p.more && !p.items);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *t = parse(bad[i]);

		ck_assert_int_eq(kube_page_read(t, &p, &e), -1);
	}
}
END_TEST

#define EVENT(type) "{\"type\":\"" type "\",\"object\":{\"metadata\":{\"resourceVersion\":\"3\"}}}"

START_TEST(an_event_of_an_unknown_type_or_form_is_refused)
{
	static const struct {
		const char *text;
		int type; /* -1: refused */
	} lines[] = {
		{ EVENT("ADDED"), KUBE_CHANGED },
		{ EVENT("MODIFIED"), KUBE_CHANGED },
		{ EVENT("DELETED"), KUBE_DELETED },
		{ EVENT("BOOKMARK"), KUBE_BOOKMARK },
		{ "{\"type\":\"ERROR\",\"object\":{\"code\":410}}", KUBE_ERROR },
		{ EVENT("LATER"), -1 },
		{ "{\"type\":\"ADDED\",\"object\":{}}", -1 },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"-1\"}}}",
		  -1 },
		{ "{\"type\":\"ADDED\"}", -1 },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":7}}", -1 },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":7}}}", -1 },
		{ "7", -1 },
	};
	struct kube_event ev;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		auto_json struct json *t = parse(lines[i].text);
		int rc = kube_event_read(t, &ev, &e);

		ck_assert_int_eq(rc ? -1 : (int)ev.type, lines[i].type);
	}
}
END_TEST

#define STATUS(code, reason, more)                                                                 \
	"{\"kind\":\"Status\",\"code\":" #code ",\"reason\":\"" reason                             \
	"\",\"message\":\"why\"" more "}"
#define DETAILS(plural, name)                                                                      \
	",\"details\":{\"group\":\"railhead.io\",\"kind\":\"" plural "\",\"name\":\"" name "\"}"

/* "REMEDY OUTCOME RETRY" of an answer to a get of block b-1. */
static void means(int http, const char *text, const char *want, const char *hint)
{
	const struct kube_asked asked = { "get", kube_resource(CLUSTER_BLOCK), "b-1" };
	auto_json struct json *tree = text ? parse(text) : NULL;
	struct kube_status s;
	bool ours = kube_status_read(tree, &s);
	struct err e = { 0 };
	struct kube_fault f = kube_fault(http, ours ? &s : NULL, &asked, &e);
	char got[64];

	(void)snprintf(got, sizeof(got), "%d %d %u", (int)f.remedy, (int)f.outcome, f.retry_ms);
	ck_assert_str_eq(got, want);
	/* else a right is missing, or the store is well */
	ck_assert_int_eq(e.code == ERR_LOGIN, http == 401);
	ck_assert_ptr_nonnull(strstr(e.msg, "Kubernetes: cannot get railblocks.railhead.io b-1"));
	ck_assert_msg(strstr(e.detail, hint), "%s", e.detail);
}

/* The hint to an answer without a Status: is it the type or the namespace that is missing? */
static const char *hint_of(int http, const char *verb, enum cluster_kind kind, const char *name)
{
	const struct kube_asked asked = { verb, kube_resource(kind), name };
	static struct err e;

	e = (struct err){ .code = 0 };
	(void)kube_fault(http, NULL, &asked, &e);
	return e.detail;
}

START_TEST(the_hint_fits_what_was_asked_for)
{
	const struct kube_asked list = { "list", kube_resource(CLUSTER_BLOCK), "" };
	struct kube_status s = { .code = 0, .reason = "NotFound", .message = "" };
	struct err e = { 0 };

	ck_assert_ptr_nonnull(strstr(hint_of(404, "list", CLUSTER_BLOCK, ""), "is missing"));
	ck_assert_ptr_nonnull(
		strstr(hint_of(404, "get", CLUSTER_HEARTBEAT, "n1"), "namespace must exist"));
	/* A Status without a code and a text: the code of HTTP counts. */
	ck_assert_int_eq(kube_fault(404, &s, &list, &e).outcome, CLUSTER_AWAY);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(
		strstr(e.msg, "cannot list railblocks.railhead.io: 404 no reason given"));
}
END_TEST

/* The error of a call on the pool rail0 without the right. */
static struct err forbidden(const char *verb)
{
	const struct kube_asked asked = { verb, kube_resource(CLUSTER_POOL), "rail0" };
	auto_json struct json *tree = parse(STATUS(403, "Forbidden", ""));
	struct kube_status s;
	struct err e = { 0 };

	ck_assert(kube_status_read(tree, &s));
	ck_assert_int_eq(kube_fault(403, &s, &asked, &e).outcome, CLUSTER_REFUSED);
	return e;
}

START_TEST(people_write_pools)
{
	const struct err e = forbidden("create");

	ck_assert_msg(strstr(e.detail, "people write pools"), "%s", e.detail);
}
END_TEST

/* A Pod is asked for by POD.NAMESPACE. */
START_TEST(a_pod_that_is_not_there_is_known_by_its_own_name)
{
	static const struct {
		const char *asked, *says;
		enum cluster_outcome outcome;
	} cases[] = {
		{ "web-0.team-a", "web-0", CLUSTER_NOT_FOUND },
		{ "web.b-0.team-a", "web.b-0", CLUSTER_NOT_FOUND },
		{ "web-0.team-a", "web", CLUSTER_AWAY },
		{ "web-0.team-a", "web-1", CLUSTER_AWAY },
		{ "web-0.team-a", "", CLUSTER_AWAY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct kube_asked asked = { "get", kube_resource(CLUSTER_KUBE_POD),
						  cases[i].asked };
		const struct kube_status s = { .code = 404,
					       .reason = "NotFound",
					       .message = "",
					       .group = "",
					       .plural = "pods",
					       .name = cases[i].says };
		struct err e;

		ck_assert_int_eq((int)kube_fault(404, &s, &asked, &e).outcome,
				 (int)cases[i].outcome);
	}
}
END_TEST

START_TEST(one_agent_reports_the_use_of_pools)
{
	const struct err e = forbidden(KUBE_REPORTS);

	ck_assert_msg(strstr(e.msg, "cannot report the use of railpools"), "%s", e.msg);
	ck_assert_msg(strstr(e.detail, "grant the verb report"), "%s", e.detail);
}
END_TEST

START_TEST(each_status_has_its_outcome_remedy_and_hint)
{
	means(404, STATUS(404, "NotFound", DETAILS("railblocks", "b-1")), "0 1 0", "");
	/* of something else than the object */
	means(404, STATUS(404, "NotFound", DETAILS("railblocks", "b-2")), "0 6 0", "is missing");
	means(404, STATUS(404, "NotFound", DETAILS("railpools", "b-1")), "0 6 0", "is missing");
	means(404, STATUS(404, "NotFound", ""), "0 6 0", "railblocks.railhead.io is missing");
	means(404, NULL, "0 6 0", "kubectl apply -f packaging/kubernetes/crds/");
	means(405, STATUS(405, "MethodNotAllowed", ""), "0 6 0", "is being deleted");
	means(401, STATUS(401, "Unauthorized", ""), "1 5 0", "whether it has expired");
	means(403, STATUS(403, "Forbidden", ""), "0 5 0", "rbac.yaml");
	means(409, STATUS(409, "AlreadyExists", ""), "0 2 0", "");
	means(409, STATUS(409, "Conflict", ""), "2 3 0", "");
	means(410, STATUS(410, "Expired", ""), "0 4 0", "");
	means(422, STATUS(422, "Invalid", ""), "2 5 0", "");
	means(413, STATUS(413, "RequestEntityTooLarge", ""), "0 5 0", "");
	means(429, NULL, "0 5 1000", "");
	means(429, STATUS(429, "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":4}"),
	      "0 5 4000", "");
	means(429, STATUS(429, "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":1e9}"),
	      "0 5 3600000", "");
	means(400, STATUS(400, "BadRequest", ""), "0 5 0", "");
	means(400,
	      "{\"kind\":\"Status\",\"code\":400,\"message\":\"field label not supported: "
	      "spec.node\"}",
	      "3 5 0", "since Kubernetes 1.31");
	means(414, NULL, "3 6 0", "");
	means(431, NULL, "3 6 0", "");
	means(500, STATUS(500, "InternalError", ""), "0 6 0", "");
	means(503, NULL, "0 6 0", "");
	means(504, STATUS(504, "Timeout", ""), "0 6 0", "");
	means(504,
	      STATUS(504, "Timeout",
		     ",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\"}]}"),
	      "0 4 0", "restored");
	means(504, STATUS(504, "Timeout", ",\"details\":{\"causes\":[{\"reason\":\"Other\"}]}"),
	      "0 6 0", "");
	/* a number that is not a code of HTTP */
	means(503, STATUS(-1, "Odd", ""), "0 6 0", "");
	means(503, STATUS(1000, "Odd", ""), "0 6 0", "");
	/* a proxy's own words */
	means(403, NULL, "0 6 0", "");
	means(409, "{\"reason\":\"Conflict\"}", "0 6 0", "");
	means(302, NULL, "0 6 0", "");
}
END_TEST

TEST_PROGRAM("kube_answer", a_page_has_a_revision_and_items,
	     an_event_of_an_unknown_type_or_form_is_refused,
	     each_status_has_its_outcome_remedy_and_hint, the_hint_fits_what_was_asked_for,
	     people_write_pools, a_pod_that_is_not_there_is_known_by_its_own_name,
	     one_agent_reports_the_use_of_pools)
