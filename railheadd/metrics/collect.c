/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c: asks the driver, the repairer and the store of the node, and writes the text. */
#include "railheadd/metrics/collect.h"

#include "ipam/admin/admin.h"
#include "lib/base/version.h"
#include "railheadd/metrics/node.h"

static const struct metric read_ok = {
	"railhead_devices_read", METRIC_GAUGE,
	"1 if the devices were read for this scrape. 0: they hang, and their metrics are missing."
};
static const struct metric read_for = { "railhead_devices_read_seconds", METRIC_GAUGE,
					"How long it took to read the devices." };

static void add_devices(struct exposition *x, const struct sampler *s)
{
	static const struct metric_label none[1];
	size_t len = 0;
	const char *text = sampler_text(s, x->open, &len);

	exposition_family(x, &read_ok);
	exposition_sample(x, &read_ok, text != NULL, none);
	exposition_family(x, &read_for);
	exposition_sample(x, &read_for, (double)sampler_ms(s) / 1000, none);
	if (text)
		text_add_len(&x->text, text, len);
}

char *collect_metrics(void *arg, bool open, struct err *e)
{
	const struct collect_from *from = arg;
	auto_json struct json *status = json_new_object(), *pools = NULL, *networks = NULL;
	struct exposition x = { .open = open };
	char *text;

	if (!status || json_add_str(status, "version", RAILHEAD_VERSION)) {
		(void)err_nomem(e);
		return NULL;
	}
	if (driver_status(from->driver, status, e) || repairer_status(from->repairer, status, e) ||
	    plugin_watch_status(from->plugins, status, e) ||
	    rail_watch_status(from->rails, status, e) ||
	    transport_watch_status(from->transports, status, e) ||
	    devices_status(from->devices, status, e) || admin_pools(from->ipam, NULL, &pools, e) ||
	    admin_networks(from->ipam, &networks, e))
		return NULL;
	node_metrics_add(&x, status, pools, networks);
	node_metrics_add_latency(&x, from->latency);
	add_devices(&x, from->sampler);
	text = exposition_end(&x);
	if (!text)
		(void)err_nomem(e);
	return text;
}
