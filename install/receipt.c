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

static const struct json_field program_fields[] = {
	{ "name", J_CHARS, J_AT(struct receipt_program, name), .flags = J_REQUIRED },
	{ "sha256", J_CHARS, J_AT(struct receipt_program, sha256), .flags = J_REQUIRED,
	  .min = DIGEST_LEN - 1 },
	{ 0 },
};

static const struct json_field fields[] = {
	{ "receipt", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "version", J_CHARS, J_AT(struct receipt, version), .flags = J_REQUIRED, .min = 1 },
	{ "build", J_CHARS, J_AT(struct receipt, build), .flags = J_REQUIRED, .min = 1 },
	{ "chain", J_CHARS, J_AT(struct receipt, chain), .flags = J_OMIT },
	{ "changing", J_BOOL, J_AT(struct receipt, changing), .flags = J_OMIT },
	{ "programs", J_LIST, J_AT(struct receipt, program), .flags = J_REQUIRED,
	  .item = sizeof(struct receipt_program), .has = offsetof(struct receipt, n),
	  .of = program_fields },
	{ 0 },
};

/* The checks that the table does not make, or with a worse text. */
static int receipt_check_list(const struct json *programs, struct err *e)
{
	if (json_len(programs) > RECEIPT_PROGRAMS)
		return err_set(e, ERR_CONFIG, 0, WHERE ".programs: more than %d programs",
			       RECEIPT_PROGRAMS);
	json_each (n, programs) {
		const char *name = json_text(n, "name");

		if (json_type(n) != JSON_OBJECT)
			return err_set(e, ERR_DECODE, 0, WHERE ".programs has %s",
				       json_type_name(n));
		if (!program_name_valid(name))
			return err_set(e, ERR_CONFIG, 0,
				       WHERE ".programs: \"%.64s\" is not a name of a program",
				       name);
	}
	return 0;
}

static int check_program(const struct receipt *r, const struct receipt_program *p, struct err *e)
{
	if (strspn(p->sha256, HEX_DIGITS) != DIGEST_LEN - 1)
		return err_set(e, ERR_CONFIG, 0, WHERE ".programs: %s: sha256 is not a digest",
			       p->name);
	if (receipt_find(r, p->name) != p)
		return err_set(e, ERR_CONFIG, 0, WHERE ".programs has %s twice", p->name);
	return 0;
}

int receipt_decode(const char *text, size_t len, struct receipt *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct receipt r = { .n = 0 };

	if (json_parse(text, len, WHERE, &tree, e))
		return -1;
	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, WHERE " is %s, not an object",
			       json_type_name(tree));
	if (receipt_check_list(json_get(tree, "programs"), e) ||
	    json_decode(tree, WHERE, fields, &r, e))
		return -1;
	for (size_t i = 0; i < r.n; i++)
		if (check_program(&r, &r.program[i], e))
			return -1;
	*out = r;
	return 0;
}

char *receipt_print(const struct receipt *r)
{
	return json_print_fields(fields, r, true);
}
