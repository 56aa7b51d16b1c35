/* SPDX-License-Identifier: Apache-2.0 */
/* device.c: the table of families, and where each finds its values in the sample. */
#include "railheadd/metrics/device.h"

#include <string.h>

/* ---- attachments ---- */

static const struct metric attachments = { "railhead_attachments", METRIC_GAUGE,
					   "Attachments on record, by the plugin that made them." };
static const struct metric attachment = {
	"railhead_attachment_info", METRIC_GAUGE,
	"1 for each attached interface, with its pod and the RDMA port below it. shared=\"true\": "
	"other pods and the host may use that port, too."
};

/* True if an earlier attachment is of this plugin. */
static bool is_counted(const struct json *list, const struct json *one)
{
	json_each (o, list) {
		if (o == one)
			return false;
		if (strcmp(json_text(o, "plugin"), json_text(one, "plugin")) == 0)
			return true;
	}
	return false;
}

static void add_counts(struct exposition *x, const struct json *list)
{
	exposition_family(x, &attachments);
	json_each (one, list) {
		const struct metric_label labels[] = { { "plugin", json_text(one, "plugin") },
						       { 0 } };
		unsigned n = 0;

		if (is_counted(list, one))
			continue;
		json_each (o, list)
			n += strcmp(json_text(o, "plugin"), labels->value) == 0;
		exposition_sample(x, &attachments, n, labels);
	}
}

static void add_attachments(struct exposition *x, const struct json *list)
{
	exposition_family(x, &attachment);
	json_each (o, list) {
		const struct json *port = json_get(o, "port");
		char number[METRIC_NUMBER_LEN];
		const struct metric_label labels[] = {
			{ "network", json_text(o, "network") },
			{ "container", json_text(o, "container") },
			{ "interface", json_text(o, "interface") },
			{ "namespace", json_text(o, "namespace") },
			{ "pod", json_text(o, "pod") },
			{ "plugin", json_text(o, "plugin") },
			{ port ? "device" : NULL, json_text(o, "device") },
			{ "port", metric_number(json_num(port), number) },
			{ port ? "shared" : NULL,
			  json_true(json_get(o, "own")) ? "false" : "true" },
			{ 0 }
		};

		/* The interface of a chained plugin is that of another one. */
		if (!json_true(json_get(o, "chained")))
			exposition_sample(x, &attachment, 1, labels);
	}
}

/* ---- RDMA ports ---- */

struct port_metric {
	struct metric metric;
	const char *object, *member; /* member NULL: each of the object, with the label counter */
};

static const struct port_metric of_ports[] = {
	{ { "railhead_rdma_retries", METRIC_COUNTER,
	    "Packets that the RDMA port sent again; namespace and pod only if one pod alone has "
	    "the "
	    "port." },
	  "trouble",
	  "retry" },
	{ { "railhead_rdma_out_of_sequence", METRIC_COUNTER,
	    "Packets that the RDMA port received out of order." },
	  "trouble",
	  "sequence" },
	{ { "railhead_rdma_cnp_sent", METRIC_COUNTER,
	    "Congestion notifications that the RDMA port sent, because packets came with an ECN "
	    "mark." },
	  "trouble",
	  "cnpSent" },
	{ { "railhead_rdma_cnp_received", METRIC_COUNTER,
	    "Congestion notifications that the RDMA port received: it must slow down." },
	  "trouble",
	  "cnpReceived" },
	{ { "railhead_rdma_link_down", METRIC_COUNTER, "How often the RDMA port lost its link." },
	  "trouble",
	  "linkDown" },
	{ { "railhead_rdma_port_counter", METRIC_UNKNOWN,
	    "A counter of the RDMA port, under the kernel's name (sysfs, counters)." },
	  "counters",
	  NULL },
	{ { "railhead_rdma_hw_counter", METRIC_UNKNOWN,
	    "A counter of the RDMA port, under the driver's name (sysfs, hw_counters)." },
	  "hw_counters",
	  NULL },
};

static void add_of_port(struct exposition *x, const struct port_metric *m, const struct json *port)
{
	char number[METRIC_NUMBER_LEN];
	struct metric_label labels[] = { { "device", json_text(port, "device") },
					 { "port", metric_number(json_num(json_get(port, "port")),
								 number) },
					 { "namespace", json_text(port, "namespace") },
					 { "pod", json_text(port, "pod") },
					 { NULL, NULL },
					 { NULL, NULL } };
	const struct json *from = json_get(port, m->object);

	if (m->member) {
		const struct json *n = json_get(from, m->member);

		if (n)
			exposition_sample(x, &m->metric, json_num(n), labels);
		return;
	}
	json_each (n, from) {
		labels[4] = (struct metric_label){ "counter", json_key(n) };
		exposition_sample(x, &m->metric, json_num(n), labels);
	}
}

/* ---- interfaces and cards ---- */

struct host_metric {
	struct metric metric;
	const char *list, *member;
	const char *label; /* the member is an object, and this its key; NULL: a number */
};

static const struct host_metric of_host[] = {
	{ { "railhead_interface_carrier_down", METRIC_COUNTER,
	    "How often the interface of the host lost its link." },
	  "interfaces",
	  "carrierDown",
	  NULL },
	{ { "railhead_interface_pfc_sent", METRIC_COUNTER,
	    "Pause frames of priority flow control that the interface of the host sent." },
	  "interfaces",
	  "pfcSent",
	  "priority" },
	{ { "railhead_interface_pfc_received", METRIC_COUNTER,
	    "Pause frames of priority flow control that the interface of the host received." },
	  "interfaces",
	  "pfcReceived",
	  "priority" },
	{ { "railhead_interface_driver_counter", METRIC_UNKNOWN,
	    "A counter of the driver about pauses or congestion, under its own name." },
	  "interfaces",
	  "driver",
	  "counter" },
	{ { "railhead_vfs", METRIC_GAUGE, "VFs of the card." }, "cards", "vfs", NULL },
	{ { "railhead_vfs_most", METRIC_GAUGE, "How many VFs the card can have." },
	  "cards",
	  "most",
	  NULL },
	{ { "railhead_vfs_used", METRIC_GAUGE, "VFs of the card that attachments have." },
	  "cards",
	  "used",
	  NULL },
};

static void add_of_host(struct exposition *x, const struct host_metric *m, const struct json *list)
{
	exposition_family(x, &m->metric);
	json_each (o, list) {
		const struct json *n = json_get(o, m->member);
		struct metric_label labels[] = { { "interface", json_text(o, "interface") },
						 { "pf", json_text(o, "pf") },
						 { NULL, NULL },
						 { NULL, NULL } };
		struct metric_label *next = json_get(o, "pf") ? &labels[2] : &labels[1];

		next->name = NULL;
		if (!m->label && n)
			exposition_sample(x, &m->metric, json_num(n), labels);
		json_each (one, m->label ? n : NULL) {
			*next = (struct metric_label){ m->label, json_key(one) };
			exposition_sample(x, &m->metric, json_num(one), labels);
		}
	}
}

static const struct metric left_out = { "railhead_devices_left_out", METRIC_GAUGE,
					"Attachments, ports and counters beyond the limits of a "
					"scrape." };

void device_metrics_add(struct exposition *x, const struct json *sample)
{
	add_counts(x, json_get(sample, "attachments"));
	add_attachments(x, json_get(sample, "attachments"));
	for (size_t i = 0; i < ARRAY_SIZE(of_ports); i++) {
		exposition_family(x, &of_ports[i].metric);
		json_each (port, json_get(sample, "ports"))
			add_of_port(x, &of_ports[i], port);
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_host); i++)
		add_of_host(x, &of_host[i], json_get(sample, of_host[i].list));
	exposition_family(x, &left_out);
	exposition_sample(x, &left_out, json_num(json_get(sample, "leftOut")),
			  (struct metric_label[1]){ { 0 } });
}
