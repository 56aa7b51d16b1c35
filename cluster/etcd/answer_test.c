/* SPDX-License-Identifier: Apache-2.0 */
/* answer_test.c: answers as 3.4 and 3.5 give them, what they omit, and what is not an answer. */
#include "cluster/etcd/answer.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct json *tree_of(const char *text)
{
	struct json *tree = NULL;
	struct err e;

	ck_assert_msg(!json_parse(text, strlen(text), "test", &tree, &e), "%s", e.msg);
	return tree;
}

#define HEADER "\"header\":{\"cluster_id\":\"1\",\"revision\":\"9\"}"
#define KV     "{\"key\":\"L2E=\",\"create_revision\":\"3\",\"mod_revision\":\"7\",\"value\":\"dg==\"}"

START_TEST(a_range_has_revision_values_and_more)
{
	auto_json struct json *full =
		tree_of("{" HEADER ",\"kvs\":[" KV "],\"more\":true,\"count\":\"2\"}");
	auto_json struct json *empty = tree_of("{" HEADER "}");
	auto_kv struct etcd_kv kv = { 0 };
	struct etcd_range r;
	struct err e;

	ck_assert_int_eq(etcd_range_read(full, &r, &e), 0);
	ck_assert(r.revision == 9 && r.more && json_len(r.kvs) == 1);
	ck_assert_int_eq(etcd_kv_read(json_first(r.kvs), &kv, &e), 0);
	ck_assert_str_eq(kv.key, "/a");
	ck_assert_str_eq(kv.bytes, "v");
	ck_assert(kv.len == 1 && kv.revision == 7);
	ck_assert_int_eq(etcd_range_read(empty, &r, &e), 0);
	ck_assert(r.revision == 9 && !r.more && !r.kvs);
}
END_TEST

START_TEST(a_transaction_says_whether_it_succeeded)
{
	auto_json struct json *done = tree_of("{" HEADER ",\"succeeded\":true,\"responses\":["
					      "{\"response_put\":{}},{\"response_put\":{}}]}");
	auto_json struct json *there = tree_of(
		"{" HEADER ",\"responses\":[{\"response_range\":{" HEADER ",\"kvs\":[" KV "]}}]}");
	auto_json struct json *absent =
		tree_of("{" HEADER ",\"responses\":[{\"response_range\":{}}]}");
	auto_json struct json *told =
		tree_of("{" HEADER ",\"succeeded\":true,\"responses\":[{\"response_put\":{}},"
			"{\"response_range\":{\"kvs\":[" KV "],\"more\":true,\"count\":\"2\"}}]}");
	struct etcd_txn t;
	struct err e;

	ck_assert_int_eq(etcd_txn_read(told, &t, &e), 0);
	ck_assert(t.succeeded && t.more && json_len(t.kvs) == 1 && t.all == 2 && !t.before);
	ck_assert_int_eq(etcd_txn_read(done, &t, &e), 0);
	ck_assert(t.succeeded && t.revision == 9 && !t.kvs);
	ck_assert_int_eq(etcd_txn_read(there, &t, &e), 0);
	ck_assert(!t.succeeded && json_len(t.kvs) == 1);
	ck_assert_int_eq(etcd_txn_read(absent, &t, &e), 0);
	ck_assert(!t.succeeded && !json_len(t.kvs));
}
END_TEST

START_TEST(a_look_has_a_revision_for_each_key)
{
	auto_json struct json *two = tree_of("{" HEADER ",\"succeeded\":true,\"responses\":["
					     "{\"response_range\":{\"kvs\":[" KV "]}},"
					     "{\"response_range\":{}}]}");
	int64_t revisions[3] = { 1, 1, 1 };
	struct err e;

	ck_assert_int_eq(etcd_look_read(two, revisions, 2, &e), 0);
	ck_assert(revisions[0] == 7 && revisions[1] == 0);
	ck_assert_int_eq(etcd_look_read(two, revisions, 3, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
}
END_TEST

static struct etcd_watch watch_of(struct json **tree, const char *text)
{
	struct etcd_watch w = { 0 };
	struct err e;

	json_free(*tree);
	*tree = tree_of(text);
	ck_assert_msg(!etcd_watch_read(*tree, &w, &e), "%s", e.msg);
	return w;
}

START_TEST(a_watch_says_why_it_ended)
{
	auto_json struct json *tree = NULL;
	struct etcd_watch w = watch_of(&tree, "{\"result\":{" HEADER ",\"created\":true}}");

	ck_assert(w.created && w.revision == 9 && !w.events && !w.code && !*w.reason);
	w = watch_of(&tree,
		     "{\"result\":{" HEADER ",\"canceled\":true,\"compact_revision\":\"5\"}}");
	ck_assert(w.canceled && w.compacted == 5 && !w.code);
	w = watch_of(&tree, "{\"result\":{\"canceled\":true,\"cancel_reason\":"
			    "\"rpc error: code = PermissionDenied desc = x\"}}");
	ck_assert(w.canceled && w.code == 7);
	w = watch_of(&tree, "{\"result\":{\"canceled\":true,\"cancel_reason\":\"code = New\"}}");
	ck_assert(w.canceled && !w.code);
	w = watch_of(&tree, "{\"result\":{" HEADER ",\"fragment\":true,\"events\":[{},{}]}}");
	ck_assert(w.fragment && json_len(w.events) == 2);
	w = watch_of(&tree,
		     "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"gone\"}}");
	ck_assert_int_eq(w.code, 14);
	ck_assert_str_eq(w.reason, "gone");
	w = watch_of(&tree, "{\"error\":{\"code\":16,\"message\":\"gone\"}}");
	ck_assert_int_eq(w.code, 16);
	w = watch_of(&tree, "{\"error\":\"text\"}");
	ck_assert_int_eq(w.code, 2);
}
END_TEST

START_TEST(an_event_has_the_value_before_a_deletion)
{
	auto_json struct json *put = tree_of("{\"kv\":" KV "}");
	auto_json struct json *gone =
		tree_of("{\"type\":\"DELETE\",\"kv\":{\"key\":\"L2E=\"},\"prev_kv\":" KV "}");
	struct etcd_event ev;
	struct err e;

	ck_assert_int_eq(etcd_event_read(put, &ev, &e), 0);
	ck_assert(!ev.deleted && !ev.was.key);
	ck_assert_str_eq(ev.kv.key, "/a");
	etcd_event_clear(&ev);
	ck_assert_int_eq(etcd_event_read(gone, &ev, &e), 0);
	ck_assert(ev.deleted && ev.kv.len == 0);
	ck_assert_str_eq(ev.was.bytes, "v");
	etcd_event_clear(&ev);
}
END_TEST

START_TEST(tokens_and_problems)
{
	auto_json struct json *token = tree_of("{\"token\":\"abc.7\"}");
	auto_json struct json *broken = tree_of("{\"token\":\"a\\r\\nb\"}");
	auto_json struct json *old = tree_of("{\"error\":\"etcdserver: x\",\"code\":11}");
	auto_json struct json *newer = tree_of("{\"code\":8,\"message\":\"etcdserver: y\"}");
	auto_json struct json *none = tree_of("{\"code\":\"a\"}");

	ck_assert_str_eq(etcd_token_read(token), "abc.7");
	ck_assert_ptr_null(etcd_token_read(broken));
	ck_assert_ptr_null(etcd_token_read(none));
	ck_assert_int_eq(etcd_problem_read(old).code, 11);
	ck_assert_str_eq(etcd_problem_read(old).text, "etcdserver: x");
	ck_assert_int_eq(etcd_problem_read(newer).code, 8);
	ck_assert_str_eq(etcd_problem_read(newer).text, "etcdserver: y");
	ck_assert_int_eq(etcd_problem_read(none).code, 2);
	ck_assert_str_eq(etcd_problem_read(none).text, "");
}
END_TEST

START_TEST(no_answers)
{
	static const char *const bad[] = {
		"{}",
		"[]",
		"{\"header\":{\"revision\":9}}",
		"{\"header\":{\"revision\":\"-9\"}}",
		"{\"header\":{\"revision\":\"9\"},\"kvs\":{},\"responses\":{}}",
		"{\"result\":{\"events\":{}}}",
		"{\"result\":{\"header\":{\"revision\":\"x\"}}}",
		"{\"result\":{\"compact_revision\":\"x\"}}",
		"{\"kv\":{}}",
		("{\"type\":\"MOVE\",\"kv\":" KV "}"),
		("{\"type\":1,\"kv\":" KV "}"),
		"{\"kv\":{\"key\":\"L2E\"}}",
		"{\"kv\":{\"key\":1}}",
		"{\"kv\":{\"key\":\"AGE=\"}}",
		"{\"kv\":{\"key\":\"L2E=\",\"value\":1}}",
		"{\"kv\":{\"key\":\"L2E=\",\"mod_revision\":7}}",
		("{\"kv\":" KV ",\"prev_kv\":{}}"),
	};
	struct etcd_range r;
	struct etcd_txn t;
	struct etcd_watch w;
	struct etcd_event ev;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *tree = tree_of(bad[i]);

		ck_assert_int_eq(etcd_range_read(tree, &r, &e), -1);
		ck_assert_int_eq(etcd_txn_read(tree, &t, &e), -1);
		ck_assert_int_eq(etcd_watch_read(tree, &w, &e), -1);
		ck_assert_int_eq(etcd_event_read(tree, &ev, &e), -1);
		ck_assert_int_eq(e.code, ERR_DECODE);
	}
}
END_TEST

static int event(void *arg, struct err *e)
{
	struct etcd_event ev;

	if (etcd_event_read(arg, &ev, e))
		return -1;
	etcd_event_clear(&ev);
	return 0;
}

START_TEST(no_memory)
{
	auto_json struct json *tree = tree_of("{\"kv\":" KV ",\"prev_kv\":" KV "}");

	ck_assert_str_eq(alloc_fail_each(event, tree), "ok");
}
END_TEST

TEST_PROGRAM("etcd_answer", a_range_has_revision_values_and_more,
	     a_transaction_says_whether_it_succeeded, a_look_has_a_revision_for_each_key,
	     a_watch_says_why_it_ended, an_event_has_the_value_before_a_deletion,
	     tokens_and_problems, no_answers, no_memory)
