/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.c: the head of a counter has the name without "_total" in OpenMetrics, and with it in
 * the older format. That and the last line are all that differs.
 */
#include "railheadd/metrics/exposition.h"

#include <stdio.h>

#define VALUE_MAX       256
#define METRIC_NAME_MAX 64

static const char *suffix(const struct metric *m, bool wanted)
{
	return m->type == METRIC_COUNTER && wanted ? "_total" : "";
}

const char *metric_number(double n, char out[METRIC_NUMBER_LEN])
{
	(void)snprintf(out, METRIC_NUMBER_LEN, "%.0f", n);
	return out;
}

void exposition_family(struct exposition *x, const struct metric *m)
{
	static const char *const older[] = {
		[METRIC_GAUGE] = "gauge",
		[METRIC_COUNTER] = "counter",
		[METRIC_UNKNOWN] = "untyped",
		[METRIC_HISTOGRAM] = "histogram",
	};
	const char *end = suffix(m, !x->open);

	text_addf(&x->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", m->name, end, m->help, m->name, end,
		  m->type == METRIC_UNKNOWN && x->open ? "unknown" : older[m->type]);
}

static void exposition_add_escaped(struct text *t, const char *value)
{
	for (size_t i = 0; i < VALUE_MAX && value[i]; i++) {
		if (value[i] == '\n')
			text_add(t, "\\n");
		else if (value[i] == '"' || value[i] == '\\')
			text_addf(t, "\\%c", value[i]);
		else
			text_add_len(t, value + i, 1);
	}
}

void exposition_sample(struct exposition *x, const struct metric *m, double value,
		       const struct metric_label *labels)
{
	const char *before = "{";

	text_addf(&x->text, "%s%s", m->name, suffix(m, true));
	for (size_t i = 0; labels[i].name; i++) {
		text_addf(&x->text, "%s%s=\"", before, labels[i].name);
		exposition_add_escaped(&x->text, labels[i].value);
		text_add(&x->text, "\"");
		before = ",";
	}
	text_addf(&x->text, "%s %.17g\n", *before == ',' ? "}" : "", value);
}

static void bound_text(size_t i, char out[32])
{
	if (i == HISTOGRAM_BOUNDS)
		(void)snprintf(out, 32, "+Inf");
	else if (histogram_bounds[i] % 1000000 == 0) /* OpenMetrics wants a point in a number */
		(void)snprintf(out, 32, "%.1f", histogram_bounds[i] / 1e6);
	else
		(void)snprintf(out, 32, "%g", histogram_bounds[i] / 1e6);
}

void exposition_histogram(struct exposition *x, const struct metric *m, const struct histogram *h,
			  struct metric_label label)
{
	char name[3][METRIC_NAME_MAX], le[32];
	struct metric of[3];
	uint64_t n = 0;

	for (int i = 0; i < 3; i++) {
		static const char *const ends[] = { "bucket", "count", "sum" };

		(void)snprintf(name[i], sizeof(name[i]), "%s_%s", m->name, ends[i]);
		of[i] = (struct metric){ .name = name[i], .type = METRIC_GAUGE };
	}
	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
		n += h->n[i];
		bound_text(i, le);
		exposition_sample(x, &of[0], (double)n,
				  (const struct metric_label[3]){ label, { "le", le } });
	}
	exposition_sample(x, &of[1], (double)n, (const struct metric_label[3]){ label });
	exposition_sample(x, &of[2], (double)h->sum / 1e6, (const struct metric_label[3]){ label });
}

char *exposition_end(struct exposition *x)
{
	if (x->open)
		text_add(&x->text, "# EOF\n");
	return text_take(&x->text);
}
