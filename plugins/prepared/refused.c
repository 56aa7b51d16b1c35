/* SPDX-License-Identifier: Apache-2.0 */
/* refused.c: the file that says why a container did not start. The driver makes an Event of it. */
#include <fcntl.h>
#include <stdio.h>

#include "lib/sys/fs.h"
#include "plugins/prepared/prepared_priv.h"

static const struct json_field refusal_fields[] = {
	{ "pod", J_NESTED, J_AT(struct prepared_refusal, pod), .flags = J_REQUIRED,
	  .of = prepared_id_fields },
	{ "claim", J_NESTED, J_AT(struct prepared_refusal, claim), .flags = J_REQUIRED,
	  .of = prepared_id_fields },
	{ "code", J_I64, J_AT(struct prepared_refusal, code), .flags = J_REQUIRED, .max = -1 },
	{ "node", J_STRING, J_AT(struct prepared_refusal, node), .flags = J_REQUIRED },
	{ "message", J_STRING, J_AT(struct prepared_refusal, message), .flags = J_REQUIRED },
	{ "hint", J_STRING, J_AT(struct prepared_refusal, hint), .flags = J_REQUIRED },
	{ 0 },
};

void prepared_refusals(const struct ctx *ctx, char out[PATH_MAX])
{
	(void)snprintf(out, PATH_MAX, "%.1024s/" PREPARED_REFUSED, ctx->run_dir);
}

int prepared_refuse(const struct ctx *ctx, const struct prepared_refusal *r, struct err *e)
{
	auto_free char *text = json_print_fields(refusal_fields, r, false);
	char path[PATH_MAX], file[PREPARED_FILE];

	prepared_refusals(ctx, path);
	prepared_name(r->claim.uid, PREPARED_CLAIM, file);
	auto_fd int dir = fs_open_dir(path, true, e);
	if (dir < 0)
		return -1;
	return text ? fs_replace_at(dir, file, text, false, e) : err_nomem(e);
}

int prepared_refusal_forget(const struct ctx *ctx, const char *claim_uid, struct err *e)
{
	char path[PATH_MAX], file[PREPARED_FILE];

	prepared_refusals(ctx, path);
	prepared_name(claim_uid, PREPARED_CLAIM, file);
	return fs_unlink_in(path, file, e);
}

int prepared_refusal_decode(const char *text, size_t len, struct prepared_refusal *out,
			    struct err *e)
{
	struct prepared_refusal r = { .tree = NULL };

	if (json_parse(text, len, "a refusal", &r.tree, e) ||
	    json_decode(r.tree, "a refusal", refusal_fields, &r, e)) {
		json_free(r.tree);
		if (e->code != ERR_NOMEM)
			e->code = ERR_DECODE;
		return -1;
	}
	*out = r;
	return 0;
}
