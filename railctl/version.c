/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: `railctl version`. */
#include "lib/base/version.h"

#include "railctl/cmd.h"

static int version_run(struct ctl *r, struct err *e)
{
	auto_json struct json *o = json_new_object();

	if (!r->out.json) {
		out_line(&r->out, OUT_PLAIN, "railctl %s", RAILHEAD_VERSION);
		return 0;
	}
	if (!o || json_add_str(o, "name", "railctl") ||
	    json_add_str(o, "version", RAILHEAD_VERSION))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static const char *const version_examples[] = { "railctl version", NULL };

const struct cmd cmd_version = {
	.name = "version",
	.summary = "print the version",
	.examples = version_examples,
	.run = version_run,
};
