/* SPDX-License-Identifier: Apache-2.0 */
/* device.h: devices and attachments as metrics; see railhead-metrics(5). */
#ifndef RAILHEAD_RAILHEADD_METRICS_DEVICE_H
#define RAILHEAD_RAILHEADD_METRICS_DEVICE_H

#include "lib/json/json.h"
#include "railheadd/metrics/exposition.h"

/*
 * device_metrics_add - a sample of railheadd/watch/sample.h as families. Members that are missing
 * give no sample. Pure.
 */
void device_metrics_add(struct exposition *x, const struct json *sample);

/* device_metrics_main - for a child (sampler_conf.run): a sample in both forms on stdout. */
int device_metrics_main(void);

#endif
