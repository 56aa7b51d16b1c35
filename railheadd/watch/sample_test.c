/* SPDX-License-Identifier: Apache-2.0 */
/* sample_test.c: which pod has which counters, in both modes, on a node that rdma/testing makes up.
 */
#include "railheadd/watch/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/text.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "rdma/testing/node.h"
#include "sriov/vf/state.h"

#define POD_SYS "/mnt/podsys"
#define PF      "0000:3b:00.0"

static void put(const char *root, const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	testing_file(full, 0644, text);
}

static void counter(const char *root, const char *device, const char *file, const char *text)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "class/infiniband/%s/ports/1/%s", device, file);
	put(root, path, text);
}

static int pod_sysfs(const struct netns *ns, const struct netns *host, struct err *e)
{
	ck_assert(!netns_same(ns->id, host->id));
	(void)e;
	return open(POD_SYS, O_PATH | O_CLOEXEC);
}

struct made_by {
	const char *plugin, *container, *args;
	int ifindex;
};

static void record(const struct testnode *w, const struct testpod *p, struct made_by by)
{
	struct record r = { .key = { "rails", by.container, "net1" },
			    .plugin = by.plugin,
			    .kind = "",
			    .netns = p->path,
			    .netns_id = p->ns.id,
			    .ifindex = by.ifindex,
			    .master = "pf0",
			    .cni_path = "",
			    .args = by.args };
	struct err e;

	ck_assert_msg(record_write(&w->ctx, &r, &e) == 0, "%s", e.msg);
}

#define ARGS(pod) "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=" pod

static struct json *take(const struct testnode *w)
{
	const struct sample_from from = { &w->ctx, pod_sysfs };
	struct json *out = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(sample_take(&from, &out, &e) == 0, "%s", e.msg);
	return out;
}

/* The elements of a list that have this member, as one text. */
static char *which(const struct json *sample, const char *list, const char *key, const char *value)
{
	auto_text struct text all = { .s = NULL };

	json_each (o, json_get(sample, list)) {
		auto_free char *text = json_print(o, false);

		if (strcmp(json_str(json_get(o, key)), value) == 0)
			text_addf(&all, "%s\n", text);
	}
	text_add(&all, "");
	return text_take(&all);
}

static void says(const struct json *sample, const char *list, const char *key_value,
		 const char *piece)
{
	char key[32], value[32];

	ck_assert_int_eq(sscanf(key_value, "%31[^=]=%31s", key, value), 2);
	auto_free char *text = which(sample, list, key, value);
	const char *end = strchr(text, '\n');

	ck_assert_msg(end && !end[1], "one of %s: %s", key_value, text);
	ck_assert_msg(strstr(text, piece) != NULL, "%s", text);
}

/* A VF's port is the pod's. The port of the PF is everybody's, whoever has a macvlan on it. */
START_TEST(shared_mode)
{
	struct testnode w = testnode(RDMA_SHARED, 2);
	struct testpod vf = testpod("c1"), above = testpod("c2");

	testnode_give(1, &vf);
	testnode_macvlan(&above);
	record(&w, &vf, (struct made_by){ "sriov", "c1", ARGS("p1"), 0 });
	record(&w, &above, (struct made_by){ "macvlan", "c2", ARGS("p2"), 0 });
	counter(TESTNODE_SYS, "mlx5_1", "hw_counters/out_of_sequence", "5\n");
	counter(TESTNODE_SYS, "mlx5_1", "hw_counters/lifespan", "10\n");
	counter(TESTNODE_SYS, "mlx5_1", "hw_counters/text", "many\n");
	counter(TESTNODE_SYS, "mlx5_1", "counters/port_xmit_data", "9007199254740991\n");
	counter(TESTNODE_SYS, "mlx5_pf", "hw_counters/np_cnp_sent", "7\n");
	put(TESTNODE_SYS, "class/net/pf0/carrier_down_count", "3\n");
	auto_json struct json *s = take(&w);

	says(s, "attachments", "pod=p1", "\"device\":\"mlx5_1\",\"port\":1,\"own\":true");
	says(s, "attachments", "pod=p2", "\"device\":\"mlx5_pf\",\"port\":1,\"own\":false");
	says(s, "ports", "device=mlx5_1",
	     "\"namespace\":\"ns\",\"pod\":\"p1\",\"trouble\":{\"sequence\":5},"
	     "\"counters\":{\"port_xmit_data\":9007199254740991},"
	     "\"hw_counters\":{\"out_of_sequence\":5}}");
	says(s, "ports", "device=mlx5_pf",
	     "\"namespace\":\"\",\"pod\":\"\",\"trouble\":{\"linkDown\":3,");
	says(s, "ports", "device=mlx5_0", "\"hw_counters\":{}");
	says(s, "interfaces", "interface=pf0", "\"carrierDown\":3");
	testpod_end(&vf);
	testpod_end(&above);
}
END_TEST

START_TEST(exclusive_mode)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 2);
	struct testpod vf = testpod("c1"), above = testpod("c2");
	auto_nl struct nl *nl = NULL;

	testnode_give(1, &vf);
	testnode_macvlan(&above);
	nl = net_socket_in(&vf.ns);
	w.hca->dev[2].in = vf.ns.id;
	w.hca->dev[2].ifindex = net_ifindex(nl, "net1");
	w.hca->dev[2].ifin = vf.ns.id;
	record(&w, &vf, (struct made_by){ "sriov", "c1", ARGS("p1"), w.hca->dev[2].ifindex });
	record(&w, &above, (struct made_by){ "macvlan", "c2", ARGS("p2"), 0 });
	counter(POD_SYS, "mlx5_1", "hw_counters/out_of_sequence", "5\n");
	counter(TESTNODE_SYS, "mlx5_1", "hw_counters/out_of_sequence", "1\n");
	auto_json struct json *s = take(&w);

	says(s, "ports", "device=mlx5_1", "\"pod\":\"p1\",\"trouble\":{\"sequence\":5}");
	says(s, "attachments", "pod=p1", "\"device\":\"mlx5_1\",\"port\":1,\"own\":true");
	/* The device of the host serves nobody in a pod in this mode. */
	says(s, "attachments", "pod=p2", "\"chained\":false}");
	says(s, "ports", "device=mlx5_0", "\"pod\":\"\"");
	testpod_end(&vf);
	testpod_end(&above);
}
END_TEST

/* The device is on the host again, and its pod has no counter any more. */
START_TEST(a_pod_that_is_gone)
{
	struct testnode w = testnode(RDMA_SHARED, 2);
	struct testpod gone = testpod("c1"), reused = testpod("c2");

	testnode_give(1, &reused);
	record(&w, &gone, (struct made_by){ "sriov", "c1", ARGS("p1"), 0 });
	testpod_end(&gone);
	ck_assert_int_eq(rename(TESTNODE_RUN "/attachments/rails/c1,net1", "/mnt/was"), 0);
	/* A path that leads to another namespace by now. */
	struct testpod other = { .ns = gone.ns, .name = "c1" };
	(void)snprintf(other.path, sizeof(other.path), "%s", reused.path);
	other.ns.id = w.host;
	record(&w, &other, (struct made_by){ "sriov", "c1", ARGS("p1"), 0 });
	auto_json struct json *s = take(&w);

	says(s, "attachments", "pod=p1", "\"chained\":false}");
	says(s, "ports", "device=mlx5_1", "\"pod\":\"\"");
	testpod_end(&reused);
}
END_TEST

static void entry(const struct testnode *w, uint32_t n, bool owned, const char *boot)
{
	struct vf_entry x = { .index = n,
			      .owned = owned,
			      .owner = { .key = { "rails", "c1", "net1" }, .netns = "/n" } };
	struct err e;

	(void)snprintf(x.vf, sizeof(x.vf), "%s", testnode_vf(n));
	(void)snprintf(x.pf, sizeof(x.pf), "%s", PF);
	if (boot)
		(void)snprintf(x.boot, sizeof(x.boot), "%s", boot);
	else
		ck_assert_int_eq(ctx_boot_id(&w->ctx, x.boot, &e), 0);
	ck_assert_msg(vf_state_write(&w->ctx, &x, &e) == 0, "%s", e.msg);
}

START_TEST(vfs_of_a_card)
{
	struct testnode w = testnode(RDMA_SHARED, 3);

	fakepci_file(TESTNODE_SYS, PF, "sriov_numvfs", "3\n");
	fakepci_file(TESTNODE_SYS, PF, "sriov_totalvfs", "16\n");
	entry(&w, 0, true, NULL);
	entry(&w, 1, false, NULL);
	entry(&w, 2, true, "00000000-0000-0000-0000-000000000000");
	auto_json struct json *s = take(&w);

	says(s, "cards", "pf=" PF, "\"interface\":\"pf0\",\"vfs\":3,\"most\":16,\"used\":1}");
}
END_TEST

START_TEST(a_kernel_without_rdma)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");

	w.hca->absent = true;
	testnode_macvlan(&p);
	record(&w, &p, (struct made_by){ "macvlan", "c1", "", 0 });
	auto_json struct json *s = take(&w);
	auto_free char *text = json_print(json_get(s, "ports"), false);

	ck_assert_str_eq(text, "[]");
	says(s, "attachments", "container=c1", "\"namespace\":\"\",\"pod\":\"\"");
	testpod_end(&p);
}
END_TEST

START_TEST(which_counters_of_a_driver)
{
	static const char *const kept[] = { "rx_prio3_pause",
					    "tx_prio7_pause_duration",
					    "tx_pause_storm_warning_events",
					    "rx_pfc_ena_frames_pri3",
					    "tx_priority_0_xoff.nic",
					    "rx_prio0_cong_discard" };
	static const char *const other[] = {
		"rx_packets",  "rx_prio8_pause", "rx_prio3_bytes", "", "rx_prio3_pause_transition",
		"rx0_xdp_drop"
	};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		ck_assert_msg(sample_keeps_counter(kept[i]), "%s", kept[i]);
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		ck_assert_msg(!sample_keeps_counter(other[i]), "%s", other[i]);
}
END_TEST

TEST_PROGRAM("railheadd/watch/sample", shared_mode, exclusive_mode, a_pod_that_is_gone,
	     vfs_of_a_card, a_kernel_without_rdma, which_counters_of_a_driver)
