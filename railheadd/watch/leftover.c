/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.c: both sides are one program of one build, so the lines have no version. */
#include "railheadd/watch/leftover.h"

#include "lib/base/text.h"

static const struct json_enum kinds[] = {
	{ "attachment", LEFTOVER_ATTACHMENT }, { "rdma", LEFTOVER_RDMA }, { "vf", LEFTOVER_VF },
	{ "partition", LEFTOVER_PARTITION },   { "end", LEFTOVER_END },   { NULL, 0 },
};

static const struct json_enum outcomes[] = {
	{ "stale", LEFTOVER_STALE },
	{ "alone", LEFTOVER_ALONE },
	{ "repaired", LEFTOVER_REPAIRED },
	{ "failed", LEFTOVER_FAILED },
	{ NULL, 0 },
};

static const struct json_field keys[] = {
	{ "kind", J_ENUM, J_AT(struct leftover, kind), .flags = J_REQUIRED, .names = kinds },
	{ "outcome", J_ENUM, J_AT(struct leftover, outcome), .names = outcomes },
	{ "what", J_STRING, J_AT(struct leftover, what), .max = 512 },
	{ "mark", J_STRING, J_AT(struct leftover, mark), .max = 16 },
	{ "state", J_STRING, J_AT(struct leftover, state), .max = 32 },
	{ "why", J_STRING, J_AT(struct leftover, why), .max = 1024 },
	{ "pod", J_STRING, J_AT(struct leftover, pod), .max = 384 },
	{ "uid", J_STRING, J_AT(struct leftover, uid), .max = 63 },
	{ 0 },
};

const char *leftover_kind_name(enum leftover_kind kind)
{
	return kinds[kind].name;
}

char *leftover_print(const struct leftover *f)
{
	auto_text struct text line = { .s = NULL };
	auto_free char *text = json_print_fields(keys, f, false);

	if (!text)
		return NULL;
	text_add(&line, text);
	text_add(&line, "\n");
	return text_take(&line);
}

int leftover_parse(const char *line, size_t len, struct json **tree, struct leftover *out,
		   struct err *e)
{
	auto_json struct json *root = NULL;
	struct leftover f = {
		.what = "", .mark = "", .state = "", .why = "", .pod = "", .uid = ""
	};

	if (json_parse(line, len, "leftover", &root, e) ||
	    json_decode(root, "leftover", keys, &f, e))
		return -1;
	*out = f;
	*tree = TAKE_PTR(root);
	return 0;
}
