/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_metrics_test.c: the names of all metrics, as users' dashboards have them: a change here is a
 * change for users.
 */
#include "railheadd/metrics/node_metrics.h"

#include "lib/testing/testing.h"

static const char status_text[] =
	"{\"version\":\"1\",\"node\":\"a\",\"store\":\"etcd\",\"contact\":true,"
	"\"contactSeconds\":7,\"health\":\"ok\",\"pools\":[{\"name\":\"rail0\",\"spare\":5}],"
	"\"repair\":{\"passes\":3,\"cutOff\":0,\"repaired\":{\"attachment\":2,\"rdma\":0,\"vf\":1},"
	"\"failed\":{\"attachment\":0,\"rdma\":0,\"vf\":0},\"waitingCount\":1,\"leftCount\":4}}";
static const char pools_text[] =
	"[{\"name\":\"rail0\",\"used\":3,\"resting\":1,\"capacity\":8,"
	"\"blocks\":{\"granted\":1,\"others\":0}},"
	"{\"name\":\"six\",\"used\":0,\"resting\":0,\"capacity\":\"18446744073709551616\"}]";

static const char older[] =
	"# HELP railhead_build_info The version of the node agent.\n"
	"# TYPE railhead_build_info gauge\n"
	"railhead_build_info{version=\"1\"} 1\n"
	"# HELP railhead_store_contact 1 if the cluster store answered the last request.\n"
	"# TYPE railhead_store_contact gauge\n"
	"railhead_store_contact{store=\"etcd\"} 1\n"
	"# HELP railhead_store_contact_seconds How long railhead_store_contact has had its value.\n"
	"# TYPE railhead_store_contact_seconds gauge\n"
	"railhead_store_contact_seconds{store=\"etcd\"} 7\n"
	"# HELP railhead_health 1 for the state that the agent is in.\n"
	"# TYPE railhead_health gauge\n"
	"railhead_health{state=\"ok\"} 1\n"
	"railhead_health{state=\"unconfirmed\"} 0\n"
	"railhead_health{state=\"frozen\"} 0\n"
	"railhead_health{state=\"twin\"} 0\n"
	"# HELP railhead_pool_capacity Addresses of the pool that this node may assign.\n"
	"# TYPE railhead_pool_capacity gauge\n"
	"railhead_pool_capacity{pool=\"rail0\"} 8\n"
	"railhead_pool_capacity{pool=\"six\"} 1.8446744073709552e+19\n"
	"# HELP railhead_pool_used Addresses of the pool that pods have.\n"
	"# TYPE railhead_pool_used gauge\n"
	"railhead_pool_used{pool=\"rail0\"} 3\n"
	"railhead_pool_used{pool=\"six\"} 0\n"
	"# HELP railhead_pool_resting Released addresses of the pool that still cool down.\n"
	"# TYPE railhead_pool_resting gauge\n"
	"railhead_pool_resting{pool=\"rail0\"} 1\n"
	"railhead_pool_resting{pool=\"six\"} 0\n"
	"# HELP railhead_pool_blocks Blocks of the shared pool that this node assigns from.\n"
	"# TYPE railhead_pool_blocks gauge\n"
	"railhead_pool_blocks{pool=\"rail0\"} 1\n"
	"# HELP railhead_pool_spare Addresses of the shared pool that this node can assign without "
	"asking anyone.\n"
	"# TYPE railhead_pool_spare gauge\n"
	"railhead_pool_spare{pool=\"rail0\"} 5\n"
	"# HELP railhead_repair_passes_total How often the agent looked for what dead pods left.\n"
	"# TYPE railhead_repair_passes_total counter\n"
	"railhead_repair_passes_total 3\n"
	"# HELP railhead_repair_cut_off_total Passes that did not come to their end.\n"
	"# TYPE railhead_repair_cut_off_total counter\n"
	"railhead_repair_cut_off_total 0\n"
	"# HELP railhead_repairs_total Stale attachments and VFs that the agent repaired.\n"
	"# TYPE railhead_repairs_total counter\n"
	"railhead_repairs_total{kind=\"attachment\"} 2\n"
	"railhead_repairs_total{kind=\"rdma\"} 0\n"
	"railhead_repairs_total{kind=\"vf\"} 1\n"
	"# HELP railhead_repair_failures_total Repairs that failed; each is repeated.\n"
	"# TYPE railhead_repair_failures_total counter\n"
	"railhead_repair_failures_total{kind=\"attachment\"} 0\n"
	"railhead_repair_failures_total{kind=\"rdma\"} 0\n"
	"railhead_repair_failures_total{kind=\"vf\"} 0\n"
	"# HELP railhead_repair_waiting Stale attachments and VFs that wait for their repair.\n"
	"# TYPE railhead_repair_waiting gauge\n"
	"railhead_repair_waiting 1\n"
	"# HELP railhead_repair_left Attachments and VFs that the agent leaves to a person.\n"
	"# TYPE railhead_repair_left gauge\n"
	"railhead_repair_left 4\n";

static struct json *parse(const char *text)
{
	struct json *tree = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0, "%s", e.msg);
	return tree;
}

START_TEST(the_names_are_fixed)
{
	auto_json struct json *status = parse(status_text), *pools = parse(pools_text);
	struct exposition x = { .open = false };

	node_metrics_add(&x, status, pools);
	auto_free char *text = exposition_end(&x);
	for (size_t i = 0; i <= strlen(older); i++)
		ck_assert_msg(text[i] == older[i], "there is \"%.60s\", not \"%.60s\"", text + i,
			      older + i);
}
END_TEST

/* The head of a counter has no _total there, and the text has an end. */
START_TEST(openmetrics_differs_in_heads_and_end)
{
	auto_json struct json *status = parse(status_text), *pools = parse(pools_text);
	struct exposition x = { .open = true };

	node_metrics_add(&x, status, pools);
	auto_free char *text = exposition_end(&x);
	ck_assert_ptr_nonnull(strstr(text, "# TYPE railhead_repairs counter\n"
					   "railhead_repairs_total{kind=\"attachment\"} 2\n"));
	ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
}
END_TEST

START_TEST(without_a_store_and_without_repair)
{
	auto_json struct json *status =
		parse("{\"version\":\"1\",\"store\":\"none\",\"repair\":false,\"pools\":[]}");
	auto_json struct json *pools = parse("[]");
	struct exposition x = { .open = true };

	node_metrics_add(&x, status, pools);
	auto_free char *text = exposition_end(&x);
	ck_assert_ptr_null(strstr(text, "railhead_store_contact"));
	ck_assert_ptr_null(strstr(text, "railhead_repair"));
}
END_TEST

START_TEST(labels_are_escaped_and_bounded)
{
	static const struct metric m = { "m", METRIC_GAUGE, "help" };
	struct exposition x = { .open = false };
	char value[400];

	memset(value, 'a', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	exposition_sample(&x, &m, 1, (struct metric_label[2]){ { "l", "a\"b\\c\nd" } });
	exposition_sample(&x, &m, 0.5, (struct metric_label[2]){ { "l", value }, { "k", "v" } });
	auto_free char *text = exposition_end(&x);
	value[256] = '\0';
	ck_assert(strncmp(text, "m{l=\"a\\\"b\\\\c\\nd\"} 1\nm{l=\"aaa", 28) == 0);
	ck_assert_ptr_nonnull(strstr(text, value));
	ck_assert_ptr_nonnull(strstr(text, "aaa\",k=\"v\"} 0.5\n"));
	ck_assert_uint_eq(strlen(text), 20 + 5 + 256 + 13);
}
END_TEST

TEST_PROGRAM("railheadd/metrics/node_metrics", the_names_are_fixed,
	     openmetrics_differs_in_heads_and_end, without_a_store_and_without_repair,
	     labels_are_escaped_and_bounded)
