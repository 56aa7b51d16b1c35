/* SPDX-License-Identifier: Apache-2.0 */
/* object_test.c: values to specs and back, patches, addresses of requests. */
#include "cluster/kube/object.h"

#include <stdio.h>

#include "cluster/kube/request.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define V4 "0000000000000000000000000a010240"
#define V6 "fd000001000000000000000000000100"

static struct cluster_object object(enum cluster_kind kind, const char *name, const char *node)
{
	struct cluster_object o = { .kind = kind, .at = { "u-1", "77" } };

	testing_append(o.name, sizeof(o.name), name);
	testing_append(o.node, sizeof(o.node), node);
	return o;
}

/* The text of a resource with this value; "refused: WHY" if there is none. */
static char *made(struct cluster_object o, const char *value, bool patch)
{
	auto_json struct json *v = NULL, *tree = NULL;
	struct err e;
	char *text = NULL;

	ck_assert_int_eq(json_parse(value, strlen(value), "value", &v, &e), 0);
	o.value = v;
	if (!(patch ? kube_patch_json : kube_object_json)(&o, &tree, &e))
		return json_print(tree, false);
	ck_assert_int_ge(asprintf(&text, "refused: %s", e.msg), 0);
	return text;
}

static void makes(struct cluster_object o, const char *value, bool patch, const char *want)
{
	auto_free char *text = made(o, value, patch);

	ck_assert_str_eq(text, want);
}

START_TEST(a_block_has_the_pool_and_start_of_its_name)
{
	makes(object(CLUSTER_BLOCK, "p-" V4, "n1"), "{\"node\":\"n1\",\"used\":3}", false,
	      "{\"metadata\":{\"name\":\"p-" V4 "\"},\"apiVersion\":\"railhead.io/v1alpha1\","
	      "\"kind\":\"RailBlock\",\"spec\":{\"used\":3,\"node\":\"n1\",\"pool\":\"p\","
	      "\"start\":\"10.1.2.64\"}}");
	makes(object(CLUSTER_BLOCK, "a-b-" V6, ""), "{}", false,
	      "{\"metadata\":{\"name\":\"a-b-" V6 "\"},\"apiVersion\":\"railhead.io/v1alpha1\","
	      "\"kind\":\"RailBlock\",\"spec\":{\"pool\":\"a-b\",\"start\":\"fd00:1::100\"}}");
	makes(object(CLUSTER_BLOCK, "odd", ""), "{}", false,
	      "{\"metadata\":{\"name\":\"odd\"},\"apiVersion\":\"railhead.io/v1alpha1\","
	      "\"kind\":\"RailBlock\",\"spec\":{}}");
	makes(object(CLUSTER_HEARTBEAT, "n1", "n1"), "{\"count\":2}", false,
	      "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"railhead.io/heartbeat\":\"\"},"
	      "\"annotations\":{\"railhead.io/heartbeat\":\"{\\\"count\\\":2}\"}},"
	      "\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
	      "\"spec\":{\"holderIdentity\":\"n1\"}}");
}
END_TEST

START_TEST(a_patch_is_conditional_on_uid_and_version)
{
	makes(object(CLUSTER_POOL, "p", ""), "{\"warm\":1}", true,
	      "[{\"op\":\"add\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
	      "{\"op\":\"add\",\"path\":\"/metadata/resourceVersion\",\"value\":\"77\"},"
	      "{\"op\":\"add\",\"path\":\"/spec\",\"value\":{\"warm\":1}}]");
	makes(object(CLUSTER_HEARTBEAT, "n1", ""), "{}", true,
	      "[{\"op\":\"add\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
	      "{\"op\":\"add\",\"path\":\"/metadata/resourceVersion\",\"value\":\"77\"},"
	      "{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{"
	      "\"railhead.io/heartbeat\":\"{}\"}}]");
}
END_TEST

/* The API server does not compare the uid of a status, so the patch tests it. */
START_TEST(a_status_is_patched_with_its_preconditions)
{
	struct cluster_object o = object(CLUSTER_POOL, "p", "");
	auto_json struct json *status = NULL, *patch = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(json_parse("{\"nodes\":2}", 11, "status", &status, &e), 0);
	o.status = status;
	ck_assert_int_eq(kube_status_json(&o, &patch, &e), 0);
	text = json_print(patch, false);
	ck_assert_str_eq(text,
			 "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
			 "{\"op\":\"add\",\"path\":\"/metadata/resourceVersion\",\"value\":\"77\"},"
			 "{\"op\":\"add\",\"path\":\"/status\",\"value\":{\"nodes\":2}}]");
}
END_TEST

#define BLOCK                                                                                      \
	"{\"node\":\"n1\",\"holder\":\"h\",\"token\":\"t1\",\"touched\":3,\"used\":2,"             \
	"\"ask\":{\"node\":\"n2\",\"token\":\"t2\"}}"

/* The owner, its claim and who asks are tested; a hint such as "used" is not. */
START_TEST(patches_that_test)
{
	struct cluster_object o = object(CLUSTER_BLOCK, "p-" V4, "n1");
	auto_json struct json *owned = NULL, *free_block = NULL, *now = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(BLOCK, strlen(BLOCK), "was", &owned, &e), 0);
	ck_assert_int_eq(json_parse("{\"touched\":4}", 13, "was", &free_block, &e), 0);
	o.was = owned;
	text = made(o, "{}", true);
	ck_assert_msg(strstr(text, "[{\"op\":\"test\",\"path\":\"/spec/node\",\"value\":\"n1\"},"),
		      "%s", text);
	ck_assert_msg(strstr(text, "\"path\":\"/spec/token\",\"value\":\"t1\"}"), "%s", text);
	ck_assert_msg(strstr(text, "\"path\":\"/spec/ask/token\",\"value\":\"t2\"}"), "%s", text);
	ck_assert_ptr_null(strstr(text, "used"));
	free(text);
	o.was = free_block;
	text = made(o, "{}", true);
	ck_assert_msg(strstr(text, "\"path\":\"/spec/holder\",\"value\":null}"), "%s", text);
	ck_assert_msg(strstr(text, "\"path\":\"/spec/touched\",\"value\":4}"), "%s", text);
	ck_assert_msg(strstr(text, "\"path\":\"/spec/ask\",\"value\":null}"), "%s", text);
	ck_assert(!kube_object_was(CLUSTER_BLOCK, owned, free_block) &&
		  !kube_object_was(CLUSTER_BLOCK, free_block, owned));
	now = json_dup(owned);
	ck_assert_int_eq(json_add_int(now, "probe", 1), 0);
	ck_assert(kube_object_was(CLUSTER_BLOCK, now, owned));
	json_del(json_get_mut(now, "ask"), "token");
	ck_assert(!kube_object_was(CLUSTER_BLOCK, now, owned));
}
END_TEST

#define BEAT(count) "{\"holder\":\"h\",\"boot\":\"b\",\"count\":" count "}"

/* An annotation is one text: it is tested as a whole, and compared by what tells two states apart.
 */
START_TEST(patches_of_heartbeats_that_test)
{
	static const char other[] =
		"{\"boot\": \"b\", \"count\": 3, \"holder\": \"h\", \"new\": 1}";
	struct cluster_object o = object(CLUSTER_HEARTBEAT, "n1", "");
	auto_json struct json *was = NULL, *next = NULL, *form = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(BEAT("3"), strlen(BEAT("3")), "was", &was, &e), 0);
	ck_assert_int_eq(json_parse(BEAT("4"), strlen(BEAT("4")), "next", &next, &e), 0);
	ck_assert_int_eq(json_parse(other, strlen(other), "form", &form, &e), 0);
	o.was = was;
	auto_free char *text = made(o, "{}", true);
	ck_assert_ptr_eq(strstr(text, "[{\"op\":\"test\",\"path\":\"/metadata/annotations/"
				      "railhead.io~1heartbeat\",\"value\":\"{\\\"holder\\\":"
				      "\\\"h\\\",\\\"boot\\\":\\\"b\\\",\\\"count\\\":3}\"},"),
			 text);
	ck_assert(kube_object_was(CLUSTER_HEARTBEAT, form, was));
	ck_assert(!kube_object_was(CLUSTER_HEARTBEAT, next, was));
}
END_TEST

START_TEST(refused_values)
{
	struct cluster_object o = object(CLUSTER_POOL, "p", "n1");
	auto_free char *large = malloc(KUBE_VALUE_MAX + 64), *text = NULL;

	makes(o, "[]", false, "refused: object \"p\" has no value");
	makes(o, "[]", true, "refused: object \"p\" has no value");
	makes(o, "{\"node\":\"n2\"}", false,
	      "refused: object \"p\" of node \"n1\": its value has another node");
	makes(o, "{\"node\":7}", false,
	      "refused: object \"p\" of node \"n1\": its value has another node");
	makes(object(CLUSTER_HEARTBEAT, "n1", "n2"), "{}", false,
	      "refused: heartbeat \"n1\" of node \"n2\": the names differ");
	memset(large, 'x', KUBE_VALUE_MAX + 63);
	memcpy(large, "{\"a\":\"", 6);
	memcpy(large + KUBE_VALUE_MAX + 61, "\"}", 3);
	text = made(o, large, false);
	ck_assert_ptr_nonnull(strstr(text, "the limit is 131072"));
}
END_TEST

#define META(more) "\"metadata\":{\"name\":\"b\",\"uid\":\"u\",\"resourceVersion\":\"5\"" more "}"

static int reads(const char *text, enum cluster_kind kind, struct cluster_object *o,
		 struct json **value, struct err *e)
{
	auto_json struct json *tree = NULL, *own = NULL;
	int rc;

	ck_assert_int_eq(json_parse(text, strlen(text), "answer", &tree, e), 0);
	rc = kube_object_read(tree, kind, o, &own, e);
	*value = rc ? NULL : json_dup(o->value);
	return rc;
}

START_TEST(an_answer_gives_name_node_version_and_value)
{
	struct cluster_object o;
	struct json *value;
	struct err e;

	ck_assert_int_eq(reads("{" META("") ",\"spec\":{\"node\":\"n\",\"a\":1}}", CLUSTER_BLOCK,
			       &o, &value, &e),
			 0);
	ck_assert_str_eq(o.name, "b");
	ck_assert_str_eq(o.node, "n");
	ck_assert_str_eq(o.at.uid, "u");
	ck_assert_str_eq(o.at.version, "5");
	ck_assert(!o.ending && json_num(json_get(value, "a")) == 1);
	json_free(value);
	ck_assert_int_eq(reads("{" META(",\"deletionTimestamp\":\"x\",\"creationTimestamp\":\"2026-"
					"11-22T10:00:00Z\",\"generation\":4") ",\"spec\":{}}",
			       CLUSTER_POOL, &o, &value, &e),
			 0);
	ck_assert(o.ending && !*o.node);
	ck_assert_str_eq(o.created, "2026-11-22T10:00:00Z");
	ck_assert_int_eq(o.generation, 4);
	json_free(value);
	ck_assert_int_eq(reads("{" META(",\"annotations\":{\"railhead.io/"
					"heartbeat\":\"{\\\"count\\\":4}\"}") ",\"spec\":{}}",
			       CLUSTER_HEARTBEAT, &o, &value, &e),
			 0);
	ck_assert_str_eq(o.node, "b");
	ck_assert(json_num(json_get(value, "count")) == 4);
	json_free(value);
}
END_TEST

/* What people see beside a definition is not a part of it. */
START_TEST(the_status_of_a_pool_is_beside_its_value)
{
	static const char text[] = "{" META("") ",\"spec\":{\"a\":1},\"status\":{\"nodes\":2}}";
	static const char odd[] = "{" META("") ",\"spec\":{\"a\":1},\"status\":[]}";
	auto_json struct json *tree = NULL, *none = NULL, *own = NULL;
	auto_free char *value = NULL;
	struct cluster_object o;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "answer", &tree, &e), 0);
	ck_assert_int_eq(kube_object_read(tree, CLUSTER_POOL, &o, &own, &e), 0);
	ck_assert(json_num(json_get(o.status, "nodes")) == 2);
	value = json_print(o.value, false);
	ck_assert_str_eq(value, "{\"a\":1}");
	ck_assert_int_eq(kube_object_read(tree, CLUSTER_BLOCK, &o, &own, &e), 0);
	ck_assert_ptr_null(o.status);
	ck_assert_int_eq(json_parse(odd, strlen(odd), "answer", &none, &e), 0);
	ck_assert_int_eq(kube_object_read(none, CLUSTER_POOL, &o, &own, &e), 0);
	ck_assert_ptr_null(o.status);
}
END_TEST

/* The API server sends the metadata of a Node alone. */
START_TEST(nodes_of_kubernetes)
{
	struct cluster_object o;
	struct json *value;
	struct err e;

	ck_assert_int_eq(reads("{\"kind\":\"PartialObjectMetadata\"," META(",\"labels\":{\"leaf\":"
									   "\"g3\"}") "}",
			       CLUSTER_KUBE_NODE, &o, &value, &e),
			 0);
	ck_assert_str_eq(o.node, "b");
	ck_assert_str_eq(json_str(json_get(value, "leaf")), "g3");
	json_free(value);
	ck_assert_int_eq(reads("{" META("") "}", CLUSTER_KUBE_NODE, &o, &value, &e), 0);
	ck_assert_uint_eq(json_len(value), 0);
	json_free(value);
}
END_TEST

START_TEST(strange_objects)
{
	static const struct {
		enum cluster_kind kind;
		const char *text, *why;
	} bad[] = {
		{ CLUSTER_POOL, "[]", "RailPool" },
		{ CLUSTER_POOL, "{" META("") "}", "RailPool.spec" },
		{ CLUSTER_POOL, "{\"metadata\":{},\"spec\":{}}", "metadata.name" },
		{ CLUSTER_POOL, "{" META("") ",\"spec\":{\"node\":3}}", "spec.node" },
		{ CLUSTER_HEARTBEAT, "{" META("") ",\"spec\":{}}", "no annotation" },
		{ CLUSTER_HEARTBEAT,
		  "{" META(",\"annotations\":{\"railhead.io/heartbeat\":\"[]\"}") ",\"spec\":{}}",
		  "not an object" },
		{ CLUSTER_HEARTBEAT,
		  "{" META(",\"annotations\":{\"railhead.io/heartbeat\":\"{\"}") ",\"spec\":{}}",
		  "Lease b" },
	};
	struct cluster_object o;
	struct json *value;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(reads(bad[i].text, bad[i].kind, &o, &value, &e), -1);
		ck_assert_msg(strstr(e.msg, bad[i].why), "%s", e.msg);
	}
}
END_TEST

static void is(char *got, const char *want)
{
	ck_assert_str_eq(got, want);
	free(got);
}

#define CRD "https://a/x/apis/railhead.io/v1alpha1/"

START_TEST(URLs_select_by_field_and_label)
{
	const struct kube_place p = { "https://a/x", "agents" };
	const struct cluster_version at = { "u", "9" };
	const struct kube_where blocks = { .kind = CLUSTER_BLOCK, .node = "n1" };
	const struct kube_where pool = { .kind = CLUSTER_BLOCK, .pool = "rail0" };
	const struct kube_where both = { .kind = CLUSTER_BLOCK, .node = "n1", .pool = "rail0" };
	const struct kube_where beats = { .kind = CLUSTER_HEARTBEAT, .node = "n1" };
	static const char *const uids[] = { "u-1", "u-2" };
	auto_free char *without_two = kube_without(uids, 2), *without_one = kube_without(uids, 1);
	const struct kube_where others = { CLUSTER_BLOCK, NULL, NULL, without_two };
	const struct kube_where all_three = { CLUSTER_BLOCK, "n1", "rail0", without_one };
	const struct kube_where all = { .kind = CLUSTER_NODE };
	const struct kube_where host = { .kind = CLUSTER_KUBE_NODE, .node = "n1" };

	is(kube_object_url(&p, CLUSTER_POOL, "p"), CRD "railpools/p");
	is(kube_object_url(&p, CLUSTER_NODE, NULL), CRD "railnodes");
	is(kube_object_url(&p, CLUSTER_KUBE_POD, "web-0.team-a"),
	   "https://a/x/api/v1/namespaces/team-a/pods/web-0");
	is(kube_object_url(&p, CLUSTER_KUBE_POD, "web.b-0.team-a"),
	   "https://a/x/api/v1/namespaces/team-a/pods/web.b-0");
	is(kube_status_url(&p, CLUSTER_POOL, "p"), CRD "railpools/p/status");
	is(kube_object_url(&p, CLUSTER_HEARTBEAT, "n"),
	   "https://a/x/apis/coordination.k8s.io/v1/namespaces/agents/leases/n");
	is(kube_page_url(&p, &blocks, 7, ""),
	   CRD "railblocks?limit=7&fieldSelector=spec.node%3Dn1");
	is(kube_page_url(&p, &pool, 7, ""),
	   CRD "railblocks?limit=7&fieldSelector=spec.pool%3Drail0");
	is(kube_page_url(&p, &both, 7, ""),
	   CRD "railblocks?limit=7&fieldSelector=spec.node%3Dn1%2Cspec.pool%3Drail0");
	ck_assert_ptr_null(kube_without(uids, 0));
	is(kube_page_url(&p, &others, 7, ""),
	   CRD "railblocks?limit=7&fieldSelector=spec.poolUID%21%3Du-1%2Cspec.poolUID%21%3Du-2");
	is(kube_page_url(&p, &all_three, 7, ""),
	   CRD "railblocks?limit=7&fieldSelector=spec.node%3Dn1%2Cspec.pool%3Drail0"
	       "%2Cspec.poolUID%21%3Du-1");
	is(kube_page_url(&p, &all, 7, "a+/=~b"), CRD "railnodes?limit=7&continue=a%2B%2F%3D~b");
	is(kube_page_url(&p, &beats, 7, ""),
	   "https://a/x/apis/coordination.k8s.io/v1/namespaces/agents/leases?limit=7"
	   "&fieldSelector=metadata.name%3Dn1&labelSelector=railhead.io%2Fheartbeat");
	is(kube_page_url(&p, &host, 1, ""),
	   "https://a/x/api/v1/nodes?limit=1&fieldSelector=metadata.name%3Dn1");
	is(kube_watch_url(&p, &host, "12", 0),
	   "https://a/x/api/v1/nodes?watch=1&allowWatchBookmarks=true&resourceVersion=12"
	   "&fieldSelector=metadata.name%3Dn1");
	is(kube_watch_url(&p, &all, "12", 0),
	   CRD "railnodes?watch=1&allowWatchBookmarks=true&resourceVersion=12");
	is(kube_watch_url(&p, &all, "12", 5),
	   CRD "railnodes?watch=1&allowWatchBookmarks=true&resourceVersion=12"
	       "&timeoutSeconds=5");
	is(kube_remove_body(&at),
	   "{\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"9\"},\"apiVersion\":\"v1\","
	   "\"kind\":\"DeleteOptions\"}");
}
END_TEST

static int make_one(void *arg, struct err *e)
{
	auto_json struct json *tree = NULL, *patch = NULL, *status = NULL;

	return kube_object_json(arg, &tree, e) || kube_patch_json(arg, &patch, e) ||
			       kube_status_json(arg, &status, e)
		       ? -1
		       : 0;
}

static int make_urls(void *arg, struct err *e)
{
	const struct kube_place p = { "https://a", "agents" };
	const struct cluster_version at = { "u", "9" };
	auto_free char *url = kube_page_url(&p, arg, 7, "a+b");
	auto_free char *watch = url ? kube_watch_url(&p, arg, "1", 5) : NULL;
	auto_free char *body = watch ? kube_remove_body(&at) : NULL;

	return body ? 0 : err_nomem(e);
}

START_TEST(no_memory)
{
	struct cluster_object block = object(CLUSTER_BLOCK, "p-" V4, "n1");
	struct cluster_object beat = object(CLUSTER_HEARTBEAT, "n1", "n1");
	struct kube_where where = { .kind = CLUSTER_HEARTBEAT, .node = "n1" };
	auto_json struct json *value = json_new_object();

	block.value = beat.value = block.was = beat.was = value;
	block.status = beat.status = value;
	ck_assert_str_eq(alloc_fail_each(make_one, &block), "ok");
	ck_assert_str_eq(alloc_fail_each(make_one, &beat), "ok");
	ck_assert_str_eq(alloc_fail_each(make_urls, &where), "ok");
}
END_TEST

TEST_PROGRAM("kube_object", a_block_has_the_pool_and_start_of_its_name,
	     a_patch_is_conditional_on_uid_and_version, a_status_is_patched_with_its_preconditions,
	     patches_that_test, patches_of_heartbeats_that_test, refused_values,
	     an_answer_gives_name_node_version_and_value, the_status_of_a_pool_is_beside_its_value,
	     nodes_of_kubernetes, strange_objects, URLs_select_by_field_and_label, no_memory)
