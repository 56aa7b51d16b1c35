/* SPDX-License-Identifier: Apache-2.0 */
/* attached.c: the file of what is attached of a claim. */
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared_priv.h"

static const struct json_field attached_fields[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "network", J_STRING, J_AT(struct attached, network), .flags = J_REQUIRED },
	{ "sandbox", J_STRING, J_AT(struct attached, id), .flags = J_REQUIRED },
	{ "ifname", J_STRING, J_AT(struct attached, ifname), .flags = J_REQUIRED },
	{ "netns", J_STRING, J_AT(struct attached, netns), .flags = J_REQUIRED },
	{ "results", J_ARRAY, J_AT(struct attached, results), .flags = J_REQUIRED },
	{ 0 },
};

void attached_clear(struct attached *a)
{
	json_free(a->tree);
	*a = (struct attached){ .tree = NULL };
}

int attached_read(int dir, const char *file, struct attached *out, struct err *e)
{
	auto_attached struct attached a = { .tree = NULL };
	auto_free char *text = NULL;
	ssize_t len = fs_read_trusted_at(dir, file, JSON_MAX_SIZE, &text, e);

	if (len < 0 && fs_is_gone(dir, file, e))
		return 0;
	if (len < 0 || json_parse(text, (size_t)len, file, &a.tree, e) ||
	    json_decode(a.tree, file, attached_fields, &a, e))
		return -1;
	*out = a;
	a.tree = NULL;
	return 1;
}

int attached_write(int dir, const char *uid, const struct attached *a, struct err *e)
{
	auto_free char *text = json_print_fields(attached_fields, a, false);
	char file[PREPARED_FILE];

	prepared_name(uid, PREPARED_RESULT, file);
	return text ? fs_replace_at(dir, file, text, false, e) : err_nomem(e);
}
