/* SPDX-License-Identifier: Apache-2.0 */
/* plan_file.c: the file of a plan. */
#include <fnmatch.h>

#include "lib/json/yaml.h"
#include "railctl/cluster/plan.h"

#define FILE_MAX ((size_t)4 << 20) /* with the labels of all nodes */

static const struct json_field fields[] = {
	{ "supernet", J_STRING, J_AT(struct plan_file, supernet), .flags = J_REQUIRED },
	{ "rails", J_U32, J_AT(struct plan_file, rails), .flags = J_REQUIRED, .min = 1,
	  .max = RAIL_PLAN_COUNT_MAX },
	{ "nodesPerGroup", J_U32, J_AT(struct plan_file, nodes_per_group), .min = 1,
	  .max = RAIL_PLAN_NODES_MAX },
	{ "addressesPerNode", J_U32, J_AT(struct plan_file, addresses_per_node), .min = 1,
	  .max = RAIL_PLAN_PER_NODE_MAX },
	{ "blockSize", J_U32, J_AT(struct plan_file, block_size), .min = 1,
	  .max = RAIL_PLAN_PER_NODE_MAX },
	{ "groups", J_OBJECT, J_AT(struct plan_file, groups) },
	{ "leaveAlone", J_ARRAY, J_AT(struct plan_file, leave_alone) },
	{ 0 },
};

static int check_names(const struct json *list, const char *key, struct err *e)
{
	json_each (item, list)
		if (!json_str(item))
			return err_set(e, ERR_DECODE, 0, "%s: must have names of nodes, got %s",
				       key, json_type_name(item));
	return 0;
}

static int check_groups(const struct json *groups, struct err *e)
{
	json_each (group, groups) {
		if (pin_parse(json_key(group)) == PIN_NONE)
			return err_set(e, ERR_CONFIG, 0,
				       "groups: \"%.64s\" is not the name of a group: g0 to g%d",
				       json_key(group), PIN_GROUPS_MAX - 1);
		if (json_type(group) != JSON_ARRAY)
			return err_set(e, ERR_DECODE, 0,
				       "groups.%.64s: must be an array of names, got %s",
				       json_key(group), json_type_name(group));
		if (check_names(group, "groups", e))
			return -1;
	}
	return 0;
}

/* Else its labels are ignored, and each node is a new one. */
static int check_labels(const struct plan *p, struct err *e)
{
	const struct json *second = json_next(json_first(p->documents));

	return !second || json_get(second, "labels")
		       ? 0
		       : err_set(e, ERR_CONFIG, 0, "the second document has no \"labels\"");
}

int plan_file_read(const char *path, struct plan *p, struct err *e)
{
	const struct cmd_input in = { .path = path, .what = "", .max = FILE_MAX };
	auto_free char *text = NULL;
	size_t len;

	if (cmd_read(&in, &text, &len, e))
		return -1;
	if (yaml_json_read(text, len, &p->documents, e))
		return err_wrap(e, "%.200s", path);
	if (json_len(p->documents) < 1 || json_len(p->documents) > 2)
		return err_set(e, ERR_DECODE, 0, "%.200s: must be one document", path);
	if (json_decode(json_first(p->documents), "", fields, &p->file, e) ||
	    json_refuse_unknown(json_first(p->documents), "", fields, e) || check_labels(p, e) ||
	    check_groups(p->file.groups, e) || check_names(p->file.leave_alone, "leaveAlone", e))
		return err_wrap(e, "%.200s", path);
	return 0;
}

bool plan_pattern_fits(const struct json *pattern, const char *node)
{
	return fnmatch(json_str(pattern), node, 0) == 0;
}

static bool is_in(const struct json *patterns, const char *node)
{
	json_each (item, patterns)
		if (plan_pattern_fits(item, node))
			return true;
	return false;
}

uint32_t plan_file_group(const struct plan_file *f, const char *node)
{
	json_each (group, f->groups)
		if (is_in(group, node))
			return pin_parse(json_key(group));
	return PIN_NONE;
}

bool plan_file_leaves(const struct plan_file *f, const char *node)
{
	return is_in(f->leave_alone, node);
}

const struct json *plan_labels(const struct plan *p)
{
	return json_get(json_next(json_first(p->documents)), "labels");
}

const char *plan_label_of(const struct plan *p, const char *node)
{
	const char *text = json_str(json_get(plan_labels(p), node));

	return text && *text ? text : NULL;
}

const char *plan_host_of(const struct plan *p, const char *node)
{
	const struct json *hosts = json_get(json_next(json_first(p->documents)), "hosts");
	const char *text = json_str(json_get(hosts, node));

	return text && *text ? text : NULL;
}
