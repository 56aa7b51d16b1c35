/* SPDX-License-Identifier: Apache-2.0 */
/* pool_figures.c: blocks are counted, never leases: only the node of a pod knows its address. */
#include "railheadd/report/pool_figures.h"

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

	if (!status || add_figures(status, counted) || json_add_str(status, REPORTER, node))
		return NULL;
	return TAKE_PTR(status);
}

bool pool_figures_can(const struct json *counted)
{
	return json_get(counted, "addresses") != NULL;
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
