/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: an environment for a shell, a program, a container of Kubernetes. */
#include <string.h>

#include "lib/base/text.h"
#include "lib/cli/out.h"
#include "rdma/env/priv.h"

char *env_quote(const char *s)
{
	char *text = malloc(4 * strlen(s) + 3), *end = text;

	if (!text)
		return NULL;
	*end++ = '\'';
	for (; *s; s++) {
		if (*s == '\'')
			end = stpcpy(end, "'\\''");
		else
			*end++ = *s;
	}
	*end++ = '\'';
	*end = '\0';
	return text;
}

/* s is NULL if there was no memory for it. */
static void append_text(struct text *t, const char *before, const char *s, const char *after)
{
	text_add(t, before);
	text_add(t, s);
	text_add(t, after);
}

/* A name may contain a line break, which would end the comment: clean it first. */
static void add_comment(struct text *t, const char *before, const char *s)
{
	auto_free char *clean = out_clean(s);

	append_text(t, before, clean, "\n");
}

static void add_warnings(struct text *t, const struct env *v, bool explain)
{
	for (size_t i = 0; i < v->n_warnings; i++)
		add_comment(t, "# WARNING: ", v->warning[i]);
	for (size_t i = 0; explain && i < v->n_left_out; i++)
		add_comment(t, "# left out: ", v->left_out[i]);
}

/* Variables that are not set, because the node does not decide them. */
static void add_notes(struct text *t, const struct env *v, bool explain)
{
	const char *name, *why;

	for (size_t i = 0; explain && env_note(v, &i, &name, &why);) {
		text_add(t, "# not set: ");
		text_add(t, name);
		append_text(t, ": ", why, "\n");
	}
}

char *env_shell(const struct env *v, bool explain)
{
	auto_text struct text t = { 0 };

	add_warnings(&t, v, explain);
	for (size_t i = 0; i < v->n_vars; i++) {
		auto_free char *quoted = env_quote(v->var[i].value);

		if (explain)
			add_comment(&t, "# ", v->var[i].why);
		append_text(&t, "export ", v->var[i].name, "=");
		append_text(&t, "", quoted, "\n");
	}
	add_notes(&t, v, explain);
	return text_take(&t);
}

/* NCCL and UCX read these files, not Mooncake. */
char *env_file(const struct env *v, const char *prefix)
{
	auto_text struct text t = { 0 };

	for (size_t i = 0; i < v->n_warnings; i++)
		if (strncmp(v->warning[i], "Mooncake", strlen("Mooncake")) != 0)
			add_comment(&t, "# WARNING: ", v->warning[i]);
	for (size_t i = 0; i < v->n_vars; i++) {
		if (strncmp(v->var[i].name, prefix, strlen(prefix)) != 0)
			continue;
		append_text(&t, v->var[i].name, "=", v->var[i].value);
		text_add(&t, "\n");
	}
	return text_take(&t);
}

/* Each JSON string is a valid YAML string. */
static char *yaml_string(const char *s)
{
	auto_json struct json *list = json_new_array();
	auto_free char *text = list && json_push_str(list, s) == 0 ? json_print(list, false) : NULL;
	size_t len = text ? strlen(text) : 0;

	return len < 2 ? NULL : strndup(text + 1, len - 2);
}

char *env_kubernetes(const struct env *v, bool explain)
{
	auto_text struct text t = { 0 };

	add_warnings(&t, v, explain);
	for (size_t i = 0; i < v->n_vars; i++) {
		auto_free char *value = yaml_string(v->var[i].value);

		if (explain)
			add_comment(&t, "# ", v->var[i].why);
		append_text(&t, "- name: ", v->var[i].name, "\n");
		append_text(&t, "  value: ", value, "\n");
	}
	add_notes(&t, v, explain);
	return text_take(&t);
}

/* ---- JSON ---- */

static int add_texts(struct json *list, const char (*text)[ENV_TEXT_LEN], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (json_push_str(list, text[i]))
			return -1;
	return list ? 0 : -1;
}

static int add_vars(struct json *list, const struct env *v)
{
	for (size_t i = 0; list && i < v->n_vars; i++) {
		struct json *o = json_push_object(list);

		if (!o || json_add_str(o, "name", v->var[i].name) ||
		    json_add_str(o, "value", v->var[i].value) ||
		    json_add_str(o, "why", v->var[i].why))
			return -1;
	}
	return list ? 0 : -1;
}

struct json *env_json(const struct env *v)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_int(o, "rails", (int64_t)v->n_rails) ||
	    add_vars(json_add_array(o, "env"), v) ||
	    add_texts(json_add_array(o, "warnings"), (const char(*)[ENV_TEXT_LEN])v->warning,
		      v->n_warnings) ||
	    add_texts(json_add_array(o, "leftOut"), (const char(*)[ENV_TEXT_LEN])v->left_out,
		      v->n_left_out) ||
	    add_texts(json_add_array(o, "missing"), (const char(*)[ENV_TEXT_LEN])v->missing,
		      v->n_missing))
		return NULL;
	return TAKE_PTR(o);
}
