/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_test.c: the names of all metrics, as users' dashboards have them: a change here is a
 * change for users.
 */
#include "railheadd/metrics/node.h"

#include "ipam/alloc/hint.h"
#include "lib/testing/testing.h"

static const char status_text[] =
	"{\"version\":\"1\",\"node\":\"a\",\"store\":\"etcd\",\"contact\":true,"
	"\"contactSeconds\":7,\"health\":\"ok\",\"conflicts\":{\"blocks\":2,\"pools\":0,"
	"\"numbers\":1},"
	"\"events\":{\"told\":5,\"repeated\":3,\"dropped\":1,\"failed\":0},\"pools\":"
	"[{\"name\":\"rail0\",\"spare\":5,\"warm\":8}],"
	"\"heard\":{\"answered\":9,\"refused\":1,\"unanswered\":2},"
	"\"repair\":{\"passes\":3,\"cutOff\":0,\"repaired\":{\"attachment\":2,\"rdma\":0,\"vf\":1},"
	"\"failed\":{\"attachment\":0,\"rdma\":0,\"vf\":0},\"waitingCount\":1,\"leftCount\":4},"
	"\"plugins\":{\"folder\":\"/b\",\"version\":\"1\",\"changing\":false,\"intact\":4,"
	"\"overwritten\":[\"rdma\",\"sriov\"],\"missing\":[\"ipvlan\"],\"otherBuild\":[],"
	"\"restored\":5,\"restoreFailed\":6},"
	"\"rails\":{\"looks\":2,\"list\":[{\"checks\":{\"device\":\"ok\",\"port\":\"warn\","
	"\"link\":\"unknown\",\"rate\":\"fail\"},\"degraded\":[],\"device\":\"mlx5_0\","
	"\"port\":1,\"pci\":\"0000:21:00.0\"}]},"
	"\"devicePlugin\":{\"resources\":[{\"name\":\"x.y/a\",\"healthy\":3,\"unhealthy\":1,"
	"\"registered\":true,\"watched\":true,\"registrations\":2,\"allocated\":9,"
	"\"refused\":4},{\"name\":\"x.y/b\",\"registered\":true,\"watched\":false}]}}";
static const char pools_text[] =
	"[{\"name\":\"rail0\",\"used\":3,\"resting\":1,\"capacity\":8,\"reserved\":4,"
	"\"blocks\":{\"granted\":1,\"others\":0,\"lent\":2,\"borrowed\":3}},"
	"{\"name\":\"six\",\"used\":0,\"resting\":0,\"capacity\":\"18446744073709551616\"}]";

static const char networks_text[] = "[{\"network\":\"n\",\"used\":4,\"resting\":2}]";

static const char older[] =
	"# HELP railhead_build_info The version of the node agent.\n"
	"# TYPE railhead_build_info gauge\n"
	"railhead_build_info{version=\"1\"} 1\n"
	"# HELP railhead_store_contact 1 if the cluster store answered the last request, and knows "
	"the agent.\n"
	"# TYPE railhead_store_contact gauge\n"
	"railhead_store_contact{store=\"etcd\"} 1\n"
	"# HELP railhead_store_contact_seconds How long railhead_store_contact has had its value.\n"
	"# TYPE railhead_store_contact_seconds gauge\n"
	"railhead_store_contact_seconds{store=\"etcd\"} 7\n"
	"# HELP railhead_store_requests_total Requests to the cluster store, by their result.\n"
	"# TYPE railhead_store_requests_total counter\n"
	"railhead_store_requests_total{result=\"answered\"} 9\n"
	"railhead_store_requests_total{result=\"refused\"} 1\n"
	"railhead_store_requests_total{result=\"unanswered\"} 2\n"
	"# HELP railhead_health 1 for the state that the agent is in.\n"
	"# TYPE railhead_health gauge\n"
	"railhead_health{state=\"ok\"} 1\n"
	"railhead_health{state=\"cut-off\"} 0\n"
	"railhead_health{state=\"unconfirmed\"} 0\n"
	"railhead_health{state=\"frozen\"} 0\n"
	"railhead_health{state=\"twin\"} 0\n"
	"# HELP railhead_conflicts Blocks that the cluster gives to others while pods live in "
	"them, pools that overlap, and nodes with the number of this one.\n"
	"# TYPE railhead_conflicts gauge\n"
	"railhead_conflicts{kind=\"block\"} 2\n"
	"railhead_conflicts{kind=\"pool\"} 0\n"
	"railhead_conflicts{kind=\"number\"} 1\n"
	"# HELP railhead_events_total Events of Kubernetes about pods and this node, by their "
	"result.\n"
	"# TYPE railhead_events_total counter\n"
	"railhead_events_total{result=\"told\"} 5\n"
	"railhead_events_total{result=\"repeated\"} 3\n"
	"railhead_events_total{result=\"dropped\"} 1\n"
	"railhead_events_total{result=\"failed\"} 0\n"
	"# HELP railhead_pool_capacity Addresses of the pool that this node may assign.\n"
	"# TYPE railhead_pool_capacity gauge\n"
	"railhead_pool_capacity{pool=\"rail0\"} 8\n"
	"railhead_pool_capacity{pool=\"six\"} 1.8446744073709552e+19\n"
	"# HELP railhead_pool_reserved Addresses of the whole shared pool that the cluster "
	"reserves, as this node knows them.\n"
	"# TYPE railhead_pool_reserved gauge\n"
	"railhead_pool_reserved{pool=\"rail0\"} 4\n"
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
	"# HELP railhead_pool_lent Addresses of its blocks that this node lends or offers to other "
	"nodes.\n"
	"# TYPE railhead_pool_lent gauge\n"
	"railhead_pool_lent{pool=\"rail0\"} 2\n"
	"# HELP railhead_pool_borrowed Addresses in blocks of other nodes that they lend to this "
	"node.\n"
	"# TYPE railhead_pool_borrowed gauge\n"
	"railhead_pool_borrowed{pool=\"rail0\"} 3\n"
	"# HELP railhead_pool_spare Addresses of the shared pool that this node can assign without "
	"asking anyone.\n"
	"# TYPE railhead_pool_spare gauge\n"
	"railhead_pool_spare{pool=\"rail0\"} 5\n"
	"# HELP railhead_pool_warm Addresses of the shared pool that this node wants ahead: "
	"railhead_pool_spare should be so many.\n"
	"# TYPE railhead_pool_warm gauge\n"
	"railhead_pool_warm{pool=\"rail0\"} 8\n"
	"# HELP railhead_leases Addresses in the store of this node, of pools and of networks "
	"without one, by state.\n"
	"# TYPE railhead_leases gauge\n"
	"railhead_leases{state=\"leased\"} 7\n"
	"railhead_leases{state=\"resting\"} 3\n"
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
	"railhead_repair_left 4\n"
	"# HELP railhead_plugins Programs that railhead-install put into the CNI folder, by what "
	"is "
	"there now.\n"
	"# TYPE railhead_plugins gauge\n"
	"railhead_plugins{state=\"intact\"} 4\n"
	"railhead_plugins{state=\"overwritten\"} 2\n"
	"railhead_plugins{state=\"missing\"} 1\n"
	"railhead_plugins{state=\"otherBuild\"} 0\n"
	"# HELP railhead_plugins_restored_total Programs that the agent put back into the CNI "
	"folder.\n"
	"# TYPE railhead_plugins_restored_total counter\n"
	"railhead_plugins_restored_total 5\n"
	"# HELP railhead_plugins_restore_failures_total Programs that the agent could not put "
	"back.\n"
	"# TYPE railhead_plugins_restore_failures_total counter\n"
	"railhead_plugins_restore_failures_total 6\n"
	"# HELP railhead_rails_read 1 if the last look at the rails had no error. At 0, "
	"railhead_rail_degraded has no sample.\n"
	"# TYPE railhead_rails_read gauge\n"
	"railhead_rails_read 1\n"
	"# HELP railhead_rail_degraded 1 if the RDMA port is degraded for that reason. Without a "
	"sample it is not known.\n"
	"# TYPE railhead_rail_degraded gauge\n"
	"railhead_rail_degraded{device=\"mlx5_0\",port=\"1\",pci=\"0000:21:00.0\",reason="
	"\"device\"}"
	" 0\n"
	"railhead_rail_degraded{device=\"mlx5_0\",port=\"1\",pci=\"0000:21:00.0\",reason=\"port\"}"
	" 1\n"
	"railhead_rail_degraded{device=\"mlx5_0\",port=\"1\",pci=\"0000:21:00.0\",reason=\"rate\"}"
	" 1\n"
	"# HELP railhead_device_plugin_devices Devices that the kubelet can give to pods, by "
	"resource and health.\n"
	"# TYPE railhead_device_plugin_devices gauge\n"
	"railhead_device_plugin_devices{resource=\"x.y/a\",health=\"healthy\"} 3\n"
	"railhead_device_plugin_devices{resource=\"x.y/a\",health=\"unhealthy\"} 1\n"
	"railhead_device_plugin_devices{resource=\"x.y/b\",health=\"healthy\"} 0\n"
	"railhead_device_plugin_devices{resource=\"x.y/b\",health=\"unhealthy\"} 0\n"
	"# HELP railhead_device_plugin_registered 1 if the kubelet has registered the resource and "
	"watches its devices.\n"
	"# TYPE railhead_device_plugin_registered gauge\n"
	"railhead_device_plugin_registered{resource=\"x.y/a\"} 1\n"
	"railhead_device_plugin_registered{resource=\"x.y/b\"} 0\n"
	"# HELP railhead_device_plugin_registrations_total Registrations with the kubelet; it "
	"needs "
	"one after each of its starts.\n"
	"# TYPE railhead_device_plugin_registrations_total counter\n"
	"railhead_device_plugin_registrations_total{resource=\"x.y/a\"} 2\n"
	"railhead_device_plugin_registrations_total{resource=\"x.y/b\"} 0\n"
	"# HELP railhead_device_plugin_calls_total Calls of the kubelet for devices of a pod, and "
	"those that failed.\n"
	"# TYPE railhead_device_plugin_calls_total counter\n"
	"railhead_device_plugin_calls_total{resource=\"x.y/a\",outcome=\"allocated\"} 9\n"
	"railhead_device_plugin_calls_total{resource=\"x.y/a\",outcome=\"refused\"} 4\n"
	"railhead_device_plugin_calls_total{resource=\"x.y/b\",outcome=\"allocated\"} 0\n"
	"railhead_device_plugin_calls_total{resource=\"x.y/b\",outcome=\"refused\"} 0\n";

static struct json *parse(const char *text)
{
	struct json *tree = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0, "%s", e.msg);
	return tree;
}

START_TEST(the_names_are_fixed)
{
	auto_json struct json *status = parse(status_text), *pools = parse(pools_text),
			      *networks = parse(networks_text);
	struct exposition x = { .open = false };

	node_metrics_add(&x, status, pools, networks);
	auto_free char *text = exposition_end(&x);
	for (size_t i = 0; i <= strlen(older); i++)
		ck_assert_msg(text[i] == older[i], "there is \"%.60s\", not \"%.60s\"", text + i,
			      older + i);
}
END_TEST

static const char latency[] =
	"# HELP railhead_add_seconds Time in which ADDs got their addresses or failed to.\n"
	"# TYPE railhead_add_seconds histogram\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"5e-05\"} 1\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.0001\"} 1\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.0002\"} 1\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.0005\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.001\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.002\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.005\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.01\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.02\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.05\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.1\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.2\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"0.5\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"1.0\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"20.0\"} 3\n"
	"railhead_add_seconds_bucket{outcome=\"done\",le=\"+Inf\"} 4\n"
	"railhead_add_seconds_count{outcome=\"done\"} 4\n"
	"railhead_add_seconds_sum{outcome=\"done\"} 21\n"
	"railhead_add_seconds_bucket{outcome=\"full\",le=\"5e-05\"} 0\n";

START_TEST(the_time_of_adds_is_a_histogram)
{
	struct histogram of[HINT_OUTCOMES] = { { .sum = 0 } };
	struct exposition x = { .open = true };

	histogram_observe(&of[HINT_DONE], 40);
	histogram_observe(&of[HINT_DONE], 230);
	histogram_observe(&of[HINT_DONE], 230);
	histogram_observe(&of[HINT_DONE], 20999500);
	node_metrics_add_latency(&x, of);
	auto_free char *text = exposition_end(&x);
	for (size_t i = 0; i < strlen(latency); i++)
		ck_assert_msg(text[i] == latency[i], "there is \"%.80s\", not \"%.80s\"", text + i,
			      latency + i);
	ck_assert_ptr_nonnull(strstr(text, "railhead_add_seconds_count{outcome=\"failed\"} 0\n"));
}
END_TEST

/* The head of a counter has no _total there, and the text has an end. */
START_TEST(openmetrics_differs_in_heads_and_end)
{
	auto_json struct json *status = parse(status_text), *pools = parse(pools_text),
			      *networks = parse(networks_text);
	struct exposition x = { .open = true };

	node_metrics_add(&x, status, pools, networks);
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
	auto_json struct json *pools = parse("[]"), *networks = parse("[]");
	struct exposition x = { .open = true };

	node_metrics_add(&x, status, pools, networks);
	auto_free char *text = exposition_end(&x);
	ck_assert_ptr_null(strstr(text, "railhead_store_contact"));
	ck_assert_ptr_null(strstr(text, "railhead_repair"));
	ck_assert_ptr_null(strstr(text, "railhead_plugins"));
	ck_assert_ptr_null(strstr(text, "railhead_rail_"));
	ck_assert_ptr_null(strstr(text, "railhead_events"));
}
END_TEST

static char *rails_text(const char *rails)
{
	auto_json struct json *status = parse(rails), *pools = parse("[]"), *networks = parse("[]");
	struct exposition x = { .open = false };

	node_metrics_add(&x, status, pools, networks);
	return exposition_end(&x);
}

#define OLD_LIST                                                                                   \
	"\"list\":[{\"checks\":{\"port\":\"ok\"},\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"\"}]"

/* A card that hangs makes the look fail, and was well at the look before. */
START_TEST(a_look_that_fails_has_no_rails)
{
	auto_free char *well = rails_text("{\"rails\":{\"looks\":7," OLD_LIST "}}");
	auto_free char *hangs =
		rails_text("{\"rails\":{\"error\":\"not read\",\"looks\":7," OLD_LIST "}}");
	auto_free char *begins = rails_text("{\"rails\":{\"looks\":0,\"list\":[]}}");

	ck_assert_ptr_nonnull(strstr(well, "\nrailhead_rails_read 1\n"));
	ck_assert_ptr_nonnull(strstr(well, "railhead_rail_degraded{"));
	ck_assert_ptr_nonnull(strstr(hangs, "\nrailhead_rails_read 0\n"));
	ck_assert_ptr_null(strstr(hangs, "railhead_rail_degraded{"));
	ck_assert_ptr_null(strstr(begins, "railhead_rail"));
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
	exposition_sample(&x, &m, 0.5, (struct metric_label[3]){ { "l", value }, { "k", "v" } });
	auto_free char *text = exposition_end(&x);
	value[256] = '\0';
	ck_assert(strncmp(text, "m{l=\"a\\\"b\\\\c\\nd\"} 1\nm{l=\"aaa", 28) == 0);
	ck_assert_ptr_nonnull(strstr(text, value));
	ck_assert_ptr_nonnull(strstr(text, "aaa\",k=\"v\"} 0.5\n"));
	ck_assert_uint_eq(strlen(text), 20 + 5 + 256 + 13);
}
END_TEST

TEST_PROGRAM("railheadd/metrics/node", the_names_are_fixed, the_time_of_adds_is_a_histogram,
	     openmetrics_differs_in_heads_and_end, without_a_store_and_without_repair,
	     a_look_that_fails_has_no_rails, labels_are_escaped_and_bounded)
