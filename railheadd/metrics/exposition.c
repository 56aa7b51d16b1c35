/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.c: the head of a counter has the name without "_total" in OpenMetrics, and with it in
 * the older format. That and the last line are all that differs.
 */
#include "railheadd/metrics/exposition.h"

#define VALUE_MAX 256

static const char *suffix(const struct metric *m, bool wanted)
{
	return m->type == METRIC_COUNTER && wanted ? "_total" : "";
}

void exposition_family(struct exposition *x, const struct metric *m)
{
	const char *end = suffix(m, !x->open);

	text_addf(&x->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", m->name, end, m->help, m->name, end,
		  m->type == METRIC_COUNTER ? "counter" : "gauge");
}

static void add_escaped(struct text *t, const char *value)
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
		       const struct metric_label labels[2])
{
	const char *before = "{";

	text_addf(&x->text, "%s%s", m->name, suffix(m, true));
	for (int i = 0; i < 2; i++) {
		if (!labels[i].name)
			continue;
		text_addf(&x->text, "%s%s=\"", before, labels[i].name);
		add_escaped(&x->text, labels[i].value);
		text_add(&x->text, "\"");
		before = ",";
	}
	text_addf(&x->text, "%s %.17g\n", *before == ',' ? "}" : "", value);
}

char *exposition_end(struct exposition *x)
{
	if (x->open)
		text_add(&x->text, "# EOF\n");
	return text_take(&x->text);
}
