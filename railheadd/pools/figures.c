/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c: blocks are counted, never leases: only the node of a pod knows its address. */
#include "railheadd/pools/figures.h"

#include <string.h>

#include "lib/cli/out.h"

#define REPORTER "reportedBy"

static int add_figures(struct json *to, const struct json *counted)
{
	double all = json_num(json_get(counted, "addresses"));
	double owned = json_num(json_get(counted, "inBlocks"));
	char use[16];

	(void)out_percent(all > 0 ? owned / all : 0, use, sizeof(use));
	return json_add_num(to, "addresses", all) || json_add_num(to, "inBlocks", owned) ||
			       json_add_num(to, "free", all - owned) ||
			       json_add_str(to, "use", use) ||
			       json_add_num(to, "blocks",
					    json_num(json_get(counted, "allBlocks"))) ||
			       json_add_num(to, "granted", json_num(json_get(counted, "blocks"))) ||
			       json_add_num(to, "nodes", json_num(json_get(counted, "nodes")))
		       ? -1
		       : 0;
}

struct json *pool_figures_json(const struct json *counted, const char *node)
{
	auto_json struct json *status = json_new_object();

	if (!status || (json_get(counted, "addresses") && add_figures(status, counted)) ||
	    json_add_str(status, REPORTER, node))
		return NULL;
	return TAKE_PTR(status);
}

int pool_figures_ready(struct json *figures, const struct node_pool *is, int64_t generation,
		       const struct json *old, int64_t now)
{
	const struct json *conditions = json_get(old, "conditions"), *was = NULL;
	const char *ready = *is->waits ? "False" : "True";
	struct json *list, *one;
	char time[OUT_TIME_LEN];

	if (!*is->waits && is->generation != generation)
		return conditions ? json_add_copy(figures, "conditions", conditions) : 0;
	json_each (c, conditions) {
		if (strcmp(json_text(c, "type"), "Ready") == 0)
			was = c;
	}
	list = json_add_array(figures, "conditions");
	one = list ? json_push_object(list) : NULL;
	if (!one || json_add_str(one, "type", "Ready") || json_add_str(one, "status", ready) ||
	    json_add_str(one, "reason", *is->waits ? "Waits" : "TakenOver") ||
	    json_add_str(one, "message", is->waits) ||
	    json_add_int(one, "observedGeneration", generation))
		return -1;
	if (strcmp(json_text(was, "status"), ready) == 0)
		return json_add_str(one, "lastTransitionTime",
				    json_text(was, "lastTransitionTime"));
	return json_add_str(one, "lastTransitionTime", out_time(now, time));
}

bool pool_figures_same(const struct json *figures, const struct json *status)
{
	json_each (f, figures) {
		if (strcmp(json_key(f), REPORTER) != 0 &&
		    !json_same(f, json_get(status, json_key(f))))
			return false;
	}
	return true;
}
