/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.c: libyaml gives events; each becomes a value of a JSON tree at once. The depth is that
 * of an array here, so nothing is recursive.
 */
#include "lib/json/yaml.h"

#include <string.h>
#include <yaml.h>

#define NUMBER_MAX 64 /* characters */

struct level {
	struct json *at; /* an object or an array of the tree */
	char *key;       /* of the next value of an object; NULL: a key comes next. Owned */
};

struct reader {
	yaml_parser_t parser;
	struct level levels[YAML_JSON_DEPTH_MAX + 1]; /* the first one is the array of documents */
	size_t depth;
	size_t values;
	size_t line; /* of the event, from 1 */
	struct err *e;
};

static int yaml_json_refuse(const struct reader *r, const char *why)
{
	return err_set(r->e, ERR_DECODE, 0, "line %zu: %s", r->line, why);
}

/* ---- scalars ---- */

static bool yaml_json_is_word(const char *s, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(s, *words) == 0)
			return true;
	}
	return false;
}

static bool is_null(const char *s)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

	return yaml_json_is_word(s, words);
}

static bool is_bool(const char *s, bool *out)
{
	static const char *const yes[] = { "true", "True", "TRUE", "yes", "Yes",
					   "YES",  "on",   "On",   "ON",  NULL };
	static const char *const no[] = { "false", "False", "FALSE", "no",  "No",
					  "NO",    "off",   "Off",   "OFF", NULL };

	*out = yaml_json_is_word(s, yes);
	return *out || yaml_json_is_word(s, no);
}

/* A number of JSON: the reader of JSON decides. 1: it is one; -1: no memory. */
static int yaml_json_read_number(const char *s, double *out)
{
	auto_json struct json *n = NULL;
	size_t len = strlen(s);
	struct err why;

	if (len > NUMBER_MAX || strspn(s, "0123456789+-.eE") != len)
		return 0;
	if (json_parse(s, len, "number", &n, &why))
		return why.code == ERR_NOMEM ? -1 : 0;
	*out = json_num(n);
	return json_type(n) == JSON_NUMBER;
}

/* Add a value to what is being read: with its key to an object, else to an array. */
static int yaml_json_add_text(struct level *l, const char *s)
{
	return l->key ? json_add_str(l->at, l->key, s) : json_push_str(l->at, s);
}

/* Values without a call of their own for arrays go through an object. */
static int add_plain(struct level *l, const char *s)
{
	auto_json struct json *box = json_new_object();
	double number;
	bool flag;
	int rc = yaml_json_read_number(s, &number);

	if (!box || rc < 0)
		return -1;
	if (rc)
		rc = json_add_num(box, "v", number);
	else if (is_null(s))
		rc = json_add_null(box, "v");
	else if (is_bool(s, &flag))
		rc = json_add_bool(box, "v", flag);
	else
		return yaml_json_add_text(l, s);
	if (rc)
		return -1;
	return l->key ? json_add_copy(l->at, l->key, json_first(box))
		      : json_push(l->at, json_dup(json_first(box)));
}

static bool yaml_json_is_plain(const yaml_event_t *event)
{
	const char *tag = (const char *)event->data.scalar.tag;

	return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!tag || (strcmp(tag, "!") != 0 && strcmp(tag, YAML_STR_TAG) != 0));
}

static int take_key(struct reader *r, struct level *l, const char *s)
{
	if (strcmp(s, "<<") == 0)
		return yaml_json_refuse(r, "merge keys (<<) are not supported: write the keys out");
	l->key = strdup(s);
	return l->key ? 0 : err_nomem(r->e);
}

static void drop_key(struct level *l)
{
	free(l->key);
	l->key = NULL;
}

static int take_scalar(struct reader *r, const yaml_event_t *event)
{
	struct level *l = &r->levels[r->depth];
	const char *s = (const char *)event->data.scalar.value;
	int rc;

	if (strlen(s) != event->data.scalar.length)
		return yaml_json_refuse(r, "a text has a NUL character");
	if (json_type(l->at) == JSON_OBJECT && !l->key)
		return take_key(r, l, s);
	/* an empty document */
	if (r->depth == 0 && yaml_json_is_plain(event) && is_null(s))
		return 0;
	rc = yaml_json_is_plain(event) ? add_plain(l, s) : yaml_json_add_text(l, s);
	drop_key(l);
	return rc ? err_nomem(r->e) : 0;
}

/* ---- objects and arrays ---- */

static int yaml_json_begin(struct reader *r, bool object)
{
	struct level *l = &r->levels[r->depth];
	struct json *child;

	if (json_type(l->at) == JSON_OBJECT && !l->key)
		return yaml_json_refuse(r, "a key is not a text");
	if (r->depth == YAML_JSON_DEPTH_MAX)
		return yaml_json_refuse(r, "too many levels");
	if (l->key) {
		child = object ? json_add_object(l->at, l->key) : json_add_array(l->at, l->key);
	} else {
		child = object ? json_new_object() : json_new_array();
		if (json_push(l->at, child))
			child = NULL;
	}
	drop_key(l);
	if (!child)
		return err_nomem(r->e);
	r->levels[++r->depth] = (struct level){ child, NULL };
	return 0;
}

static int take_event(struct reader *r, const yaml_event_t *event)
{
	r->line = event->start_mark.line + 1;
	if (++r->values > YAML_JSON_VALUES_MAX)
		return yaml_json_refuse(r, "too many values");
	if (event->type == YAML_ALIAS_EVENT)
		return yaml_json_refuse(r,
					"aliases (*name) are not supported: write the value out");
	if (event->type == YAML_SCALAR_EVENT)
		return take_scalar(r, event);
	if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT)
		return yaml_json_begin(r, event->type == YAML_MAPPING_START_EVENT);
	if (event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT)
		r->depth--;
	return 0;
}

static int not_yaml(struct reader *r)
{
	if (r->parser.error == YAML_MEMORY_ERROR)
		return err_nomem(r->e);
	r->line = r->parser.problem_mark.line + 1;
	return yaml_json_refuse(r, r->parser.problem ? r->parser.problem : "not YAML");
}

static int read_events(struct reader *r)
{
	bool end = false;

	while (!end) {
		yaml_event_t event;

		if (!yaml_parser_parse(&r->parser, &event))
			return not_yaml(r);
		end = event.type == YAML_STREAM_END_EVENT;

		int rc = take_event(r, &event);

		yaml_event_delete(&event);
		if (rc)
			return -1;
	}
	return 0;
}

int yaml_json_read(const char *text, size_t len, struct json **out, struct err *e)
{
	auto_json struct json *docs = json_new_array();
	struct reader r = { .levels = { { docs, NULL } }, .e = e };

	if (len > YAML_JSON_SIZE_MAX)
		return err_set(e, ERR_DECODE, 0, "more than %zu bytes", YAML_JSON_SIZE_MAX);
	if (!docs || !yaml_parser_initialize(&r.parser))
		return err_nomem(e);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	int rc = read_events(&r);
	for (size_t i = 0; i <= r.depth; i++)
		drop_key(&r.levels[i]);
	yaml_parser_delete(&r.parser);
	if (rc == 0)
		*out = TAKE_PTR(docs);
	return rc;
}
