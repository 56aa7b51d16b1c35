/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h: metrics as text, in the two forms that Prometheus reads: OpenMetrics 1.0, and its
 * own older text format 0.0.4. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_METRICS_EXPOSITION_H
#define RAILHEAD_RAILHEADD_METRICS_EXPOSITION_H

#include "lib/base/text.h"

#define EXPOSITION_OPEN  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define EXPOSITION_OLDER "text/plain; version=0.0.4; charset=utf-8"

enum metric_type { METRIC_GAUGE, METRIC_COUNTER };

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

/* exposition_family - the head of a family; its samples follow. */
void exposition_family(struct exposition *x, const struct metric *m);

/*
 * exposition_sample - one sample of the family m, with at most two labels; a label without a name
 * is left out. Values are escaped, and cut after 256 bytes.
 */
void exposition_sample(struct exposition *x, const struct metric *m, double value,
		       const struct metric_label labels[2]);

/* exposition_end - the text with its end; NULL: no memory. The caller frees it. */
char *exposition_end(struct exposition *x);

#endif
