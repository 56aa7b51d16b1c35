/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.c: both sides are one program of one build, so the lines have no version. */
#include "railheadd/watch/leftover.h"

#include <string.h>

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

struct fields {
	int kind, outcome;
	const char *what, *mark, *state, *why, *pod, *uid;
};

#define TEXT(name, most)                                                                           \
	{                                                                                          \
		.key = #name, .kind = J_STRING, .offset = offsetof(struct fields, name),           \
		.max = (most)                                                                      \
	}

static const struct json_field keys[] = {
	{ .key = "kind",
	  .kind = J_ENUM,
	  .offset = offsetof(struct fields, kind),
	  .flags = J_REQUIRED,
	  .names = kinds },
	{ .key = "outcome",
	  .kind = J_ENUM,
	  .offset = offsetof(struct fields, outcome),
	  .names = outcomes },
	TEXT(what, 512),
	TEXT(mark, 16),
	TEXT(state, 32),
	TEXT(why, 1024),
	TEXT(pod, 384),
	TEXT(uid, 63),
	{ .key = NULL },
};

const char *leftover_kind_name(enum leftover_kind kind)
{
	return kinds[kind].name;
}

char *leftover_print(const struct leftover *f)
{
	auto_json struct json *o = json_new_object();
	auto_text struct text line = { .s = NULL };

	if (!o || json_add_str(o, "kind", kinds[f->kind].name) ||
	    json_add_str(o, "outcome", outcomes[f->outcome].name) ||
	    json_add_str(o, "what", f->what) || json_add_str(o, "mark", f->mark) ||
	    json_add_str(o, "state", f->state) || json_add_str(o, "why", f->why) ||
	    json_add_str(o, "pod", f->pod) || json_add_str(o, "uid", f->uid))
		return NULL;
	auto_free char *text = json_print(o, false);
	text_add(&line, text);
	text_add(&line, "\n");
	return text_take(&line);
}

int leftover_parse(const char *line, size_t len, struct json **tree, struct leftover *out,
		   struct err *e)
{
	auto_json struct json *root = NULL;
	struct fields f = { .what = "", .mark = "", .state = "", .why = "", .pod = "", .uid = "" };

	if (json_parse(line, len, "leftover", &root, e) ||
	    json_decode(root, "leftover", keys, &f, e))
		return -1;
	*out = (struct leftover){ (enum leftover_kind)f.kind,
				  (enum leftover_outcome)f.outcome,
				  f.what,
				  f.mark,
				  f.state,
				  f.why,
				  f.pod,
				  f.uid };
	*tree = TAKE_PTR(root);
	return 0;
}

int leftover_add_due(struct json *list, const struct leftover *f)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "kind", kinds[f->kind].name) ||
			       json_add_str(o, "what", f->what) || json_add_str(o, "mark", f->mark)
		       ? -1
		       : 0;
}

static bool is_text(const struct json *o, const char *key, const char *text)
{
	const char *s = json_str(json_get(o, key));

	return s && strcmp(s, text) == 0;
}

bool leftover_is_due(const struct json *list, const struct leftover *f)
{
	json_each (o, list) {
		if (is_text(o, "what", f->what) && is_text(o, "mark", f->mark) &&
		    is_text(o, "kind", kinds[f->kind].name))
			return true;
	}
	return false;
}
