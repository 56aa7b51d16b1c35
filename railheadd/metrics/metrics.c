/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: a scrape first lets the sampler read the devices, and then collects the text. */
#include "railheadd/metrics/metrics.h"

#include <stdlib.h>

#include "railheadd/metrics/device.h"
#include "railheadd/metrics/listener.h"

/* Prometheus waits 10 seconds if it is not told otherwise. */
#define DEVICES_MS 5000

struct metrics {
	struct collect_from from;
	struct sampler *sampler;
	struct listener *listener;
};

int metrics_new(const struct metrics_conf *conf, struct metrics **out, struct err *e)
{
	const struct sampler_conf devices = { conf->base, conf->ctx, device_metrics_main,
					      DEVICES_MS };
	struct listener_conf listen = {
		.base = conf->base, .ctx = conf->ctx, .port = conf->port, .fn = collect_metrics
	};
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return err_nomem(e);
	m->from = conf->from;
	listen.arg = &m->from;
	if (sampler_new(&devices, &m->sampler, e) == 0) {
		m->from.sampler = m->sampler;
		listen.prepare =
			(struct listener_prepare){ sampler_wait, sampler_cancel, m->sampler };
		if (listener_new(&listen, &m->listener, e) == 0) {
			*out = m;
			return 0;
		}
	}
	metrics_free(m);
	return -1;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	listener_free(m->listener);
	sampler_free(m->sampler);
	free(m);
}
