/* SPDX-License-Identifier: Apache-2.0 */
/* device_child.c: the child of a scrape. Both forms, because scrapes of both may wait for it. */
#include <stdio.h>

#include "lib/sys/netns_sysfs.h"
#include "railheadd/watch/sample.h"
#include "railheadd/metrics/device.h"
#include "railheadd/metrics/sampler.h"

static int device_child_print(const struct json *sample, bool open)
{
	struct exposition x = { .open = open };

	device_metrics_add(&x, sample);
	auto_free char *text = text_take(&x.text);
	return text && fputs(text, stdout) >= 0 && putchar(SAMPLER_SPLIT) != EOF ? 0 : -1;
}

int device_metrics_main(void)
{
	auto_json struct json *sample = NULL;
	struct ctx ctx;
	struct err e;

	ctx_init(&ctx, "railheadd");
	const struct sample_from from = { &ctx, netns_sysfs };
	if (sample_take(&from, &sample, &e)) {
		log_error(&ctx.log, "metrics: %s", e.msg);
		return 1;
	}
	if (device_child_print(sample, true) || device_child_print(sample, false) || fflush(stdout))
		return 1;
	return 0;
}
