/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: finds the members of a row, and shows each as its type. */
#include "lib/cli/list.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct json *member(const struct json *row, const char *key)
{
	const char *dot = key ? strchr(key, '.') : NULL;
	char outer[64];

	if (!dot)
		return key ? json_get(row, key) : row;
	(void)snprintf(outer, sizeof(outer), "%.*s", (int)(dot - key), key);
	return json_get(json_get(row, outer), dot + 1);
}

static const char *text_of(const struct json *n, char buf[LIST_TEXT_LEN])
{
	if (json_type(n) == JSON_NUMBER)
		return out_amount(json_num(n), buf, LIST_TEXT_LEN);
	if (json_type(n) == JSON_BOOL)
		return json_true(n) ? "yes" : "no";
	return json_str(n);
}

/* Seconds are enough for an age, so a fraction is not read. */
struct out_cell list_age(const struct cmd_run *r, const struct json *time, char buf[LIST_TEXT_LEN])
{
	const char *text = json_str(time);
	struct tm tm = { 0 };

	if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
		return (struct out_cell){ NULL, OUT_PLAIN };
	return (struct out_cell){
		out_age(r->ctx.now(r->ctx.clock) - timegm(&tm) * INT64_C(1000000000), buf),
		OUT_PLAIN
	};
}

int list_print(const struct cmd_run *r, const struct list_column *columns, const struct json *rows,
	       struct err *e)
{
	struct out_column titles[LIST_COLUMNS_MAX];
	auto_table struct out_table t = { .columns = titles };

	for (; columns[t.n_columns].title; t.n_columns++) {
		if (t.n_columns == ARRAY_SIZE(titles))
			return err_set(e, ERR_CONFIG, 0, "a table has more than %d columns",
				       LIST_COLUMNS_MAX);
		titles[t.n_columns] = (struct out_column){ columns[t.n_columns].title,
							   columns[t.n_columns].flags };
	}
	json_each (row, rows) {
		struct out_cell cells[LIST_COLUMNS_MAX];
		char buf[LIST_COLUMNS_MAX][LIST_TEXT_LEN];

		for (size_t i = 0; i < t.n_columns; i++) {
			const struct list_column *c = &columns[i];
			const struct json *n = member(row, c->key);

			if (c->other && (!n || (json_str(n) && !*json_str(n))))
				n = member(row, c->other);

			cells[i] = c->cell   ? c->cell(r, n, buf[i])
				   : c->word ? c->word(n)
					     : (struct out_cell){ text_of(n, buf[i]), c->style };
		}
		if (out_row(&t, cells, e))
			return -1;
	}
	out_table(&r->out, &t);
	return 0;
}
