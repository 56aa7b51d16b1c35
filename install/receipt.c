/* SPDX-License-Identifier: Apache-2.0 */
/* receipt.c: the receipt as text, and back. */
#include "install/receipt.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/json/json.h"

#define WHERE "receipt"

bool program_name_valid(const char *name)
{
	return strlen(name) < PROGRAM_NAME_LEN && id_valid(name);
}

const struct receipt_program *receipt_find(const struct receipt *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->program[i].name, name) == 0)
			return &r->program[i];
	}
	return NULL;
}

int receipt_add(struct receipt *r, const char *name, const char *sha256, struct err *e)
{
	const struct receipt_program *known = receipt_find(r, name);
	struct receipt_program *p = &r->program[known ? known - r->program : (ptrdiff_t)r->n];

	if (!known && r->n == RECEIPT_PROGRAMS)
		return err_set(e, ERR_CONFIG, 0, "more than %d programs", RECEIPT_PROGRAMS);
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	(void)snprintf(p->sha256, sizeof(p->sha256), "%s", sha256);
	r->n += known ? 0 : 1;
	return 0;
}

/* ---- text ---- */

struct fields {
	int64_t form;
	bool changing;
	const char *version, *build;
	const struct json *programs;
};

static const struct json_field fields[] = {
	{ .key = "receipt",
	  .kind = J_I64,
	  .offset = offsetof(struct fields, form),
	  .flags = J_REQUIRED,
	  .min = 1,
	  .max = 1 },
	{ .key = "changing", .kind = J_BOOL, .offset = offsetof(struct fields, changing) },
	{ .key = "version",
	  .kind = J_STRING,
	  .offset = offsetof(struct fields, version),
	  .flags = J_REQUIRED,
	  .min = 1,
	  .max = sizeof(((struct receipt *)0)->version) - 1 },
	{ .key = "build",
	  .kind = J_STRING,
	  .offset = offsetof(struct fields, build),
	  .flags = J_REQUIRED,
	  .min = 1,
	  .max = DIGEST_LEN - 1 },
	{ .key = "programs",
	  .kind = J_ARRAY,
	  .offset = offsetof(struct fields, programs),
	  .flags = J_REQUIRED },
	{ 0 },
};

struct program_fields {
	const char *name, *sha256;
};

static int decode_program(const struct json *n, struct receipt *r, struct err *e)
{
	static const struct json_field known[] = {
		{ .key = "name",
		  .kind = J_STRING,
		  .offset = offsetof(struct program_fields, name),
		  .flags = J_REQUIRED },
		{ .key = "sha256",
		  .kind = J_STRING,
		  .offset = offsetof(struct program_fields, sha256),
		  .flags = J_REQUIRED,
		  .min = DIGEST_LEN - 1,
		  .max = DIGEST_LEN - 1 },
		{ 0 },
	};
	struct program_fields p = { NULL, NULL };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, WHERE ".programs has %s", json_type_name(n));
	if (json_decode(n, WHERE ".programs", known, &p, e))
		return -1;
	if (!program_name_valid(p.name))
		return err_set(e, ERR_CONFIG, 0,
			       WHERE ".programs: \"%.64s\" is not a name of a program", p.name);
	if (strspn(p.sha256, HEX_DIGITS) != DIGEST_LEN - 1)
		return err_set(e, ERR_CONFIG, 0, WHERE ".programs: %s: sha256 is not a digest",
			       p.name);
	if (receipt_find(r, p.name))
		return err_set(e, ERR_CONFIG, 0, WHERE ".programs has %s twice", p.name);
	return receipt_add(r, p.name, p.sha256, e) ? err_wrap(e, WHERE ".programs") : 0;
}

int receipt_decode(const char *text, size_t len, struct receipt *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct fields f = { .form = 0 };
	struct receipt r = { .n = 0 };

	if (json_parse(text, len, WHERE, &tree, e))
		return -1;
	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, WHERE " is %s, not an object",
			       json_type_name(tree));
	if (json_decode(tree, WHERE, fields, &f, e))
		return -1;
	json_each (n, f.programs) {
		if (decode_program(n, &r, e))
			return -1;
	}
	r.changing = f.changing;
	(void)snprintf(r.version, sizeof(r.version), "%s", f.version);
	(void)snprintf(r.build, sizeof(r.build), "%s", f.build);
	*out = r;
	return 0;
}

static int add_program(struct json *programs, const struct receipt_program *p)
{
	struct json *o = json_push_object(programs);

	return !o || json_add_str(o, "name", p->name) || json_add_str(o, "sha256", p->sha256);
}

char *receipt_print(const struct receipt *r)
{
	auto_json struct json *o = json_new_object();
	struct json *programs;

	if (!o || json_add_int(o, "receipt", 1) || json_add_str(o, "version", r->version) ||
	    json_add_str(o, "build", r->build) ||
	    (r->changing && json_add_bool(o, "changing", true)))
		return NULL;
	programs = json_add_array(o, "programs");
	if (!programs)
		return NULL;
	for (size_t i = 0; i < r->n; i++) {
		if (add_program(programs, &r->program[i]))
			return NULL;
	}
	return json_print(o, true);
}
