/* SPDX-License-Identifier: Apache-2.0 */
/* label_db.c: one record, an object of texts. */
#include "ipam/lease/label_db.h"

#include <string.h>

#include "ipam/conf/labels.h"

int label_db_load(struct lease_db *l, struct json **out, struct err *e)
{
	auto_json struct json *labels = NULL;
	const char *text;

	*out = NULL;
	if (lease_db_get(l, KEY_LABELS, &text, e))
		return -1;
	if (!text)
		return 0;
	if (json_parse(text, strlen(text), KEY_LABELS, &labels, e) ||
	    labels_check(labels, KEY_LABELS, e)) {
		e->code = e->code == ERR_NOMEM ? ERR_NOMEM : ERR_STORE;
		return -1;
	}
	*out = TAKE_PTR(labels);
	return 0;
}

int label_db_put(struct lease_db *l, const struct json *labels, struct err *e)
{
	lease_db_sync(l);
	return labels ? lease_db_put(l, KEY_LABELS, json_print(labels, false), e)
		      : lease_db_del(l, KEY_LABELS, e);
}
