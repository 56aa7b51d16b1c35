/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h: metrics as text, in the two forms that Prometheus reads: OpenMetrics 1.0, and its
 * own older text format 0.0.4. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_METRICS_EXPOSITION_H
#define RAILHEAD_RAILHEADD_METRICS_EXPOSITION_H

#include "ipam/alloc/histogram.h"
#include "lib/base/text.h"

#define EXPOSITION_OPEN  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define EXPOSITION_OLDER "text/plain; version=0.0.4; charset=utf-8"

/* METRIC_UNKNOWN: of a driver that does not say whether it only grows. */
enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_UNKNOWN, METRIC_HISTOGRAM };

struct exposition {
	struct text text;
	bool open; /* OpenMetrics */
};

struct metric {
	const char *name; /* without "_total", which counters get */
	enum metric_type type;
	const char *help;
};

struct metric_label {
	const char *name, *value;
};

/* metric_number - a whole number as the value of a label. Returns out. */
#define METRIC_NUMBER_LEN 24
const char *metric_number(double n, char out[METRIC_NUMBER_LEN]);

/* exposition_family - the head of a family; its samples follow. */
void exposition_family(struct exposition *x, const struct metric *m);

/*
 * exposition_sample - one sample of the family m; a label without a name ends the list. Values are
 * escaped, and cut after 256 bytes.
 */
void exposition_sample(struct exposition *x, const struct metric *m, double value,
		       const struct metric_label *labels);

/* exposition_histogram - the samples of one histogram of the family m, in seconds. */
void exposition_histogram(struct exposition *x, const struct metric *m, const struct histogram *h,
			  struct metric_label label);

/* exposition_end - the text with its end; NULL: no memory. The caller frees it. */
char *exposition_end(struct exposition *x);

#endif
