/* SPDX-License-Identifier: Apache-2.0 */
/* netconf.c: `railctl netconf`: what plugins say about a configuration before a pod meets them. */
#include "railctl/netconf/netconf.h"

#include <string.h>

#define FILE_MAX (4U << 20) /* bytes */

static int read_findings(const char *path, struct json **out, struct err *e)
{
	auto_free char *text = NULL;
	size_t len;

	if (cmd_read(&(struct cmd_input){ path, "", FILE_MAX }, &text, &len, e))
		return -1;
	return netconf_check(text, len, out, e) ? err_wrap(e, "%.256s", path) : 0;
}

static bool is_error(const struct json *finding)
{
	return strcmp(json_text(finding, "level"), "error") == 0;
}

static void print_finding(const struct out *o, const struct json *f)
{
	out_line(o, is_error(f) ? OUT_BAD : OUT_WARN, "%s: network %s, type %s: %s",
		 json_text(f, "level"), json_text_or(f, "network", "?"), json_text(f, "type"),
		 json_text(f, "message"));
	if (*json_text(f, "details"))
		out_line(o, OUT_PLAIN, "  %s", json_text(f, "details"));
}

static int run_check(struct cmd_run *r, struct err *e)
{
	auto_json struct json *findings = NULL;
	size_t errors = 0;

	if (read_findings(r->opts.words[0], &findings, e))
		return -1;
	json_each (it, findings) {
		errors += is_error(it);
		if (!r->out.json)
			print_finding(&r->out, it);
	}
	if (errors)
		r->status = CMD_FAILED;
	if (r->out.json)
		return out_json(&r->out, findings, e);
	out_line(&r->out, OUT_PLAIN, "%zu errors, %zu warnings", errors,
		 json_len(findings) - errors);
	return 0;
}

static const char *const check_examples[] = {
	"railctl netconf check 10-rail0.conflist",
	"railctl netconf check networks.yaml",
	NULL,
};

static const struct cmd check = {
	.name = "check",
	.words = "FILE",
	.summary = "check a network configuration without a pod",
	.about = "FILE is a configuration, a conflist, or NetworkAttachmentDefinitions as YAML or "
		 "JSON; - is standard input. The decoders of the plugins read it: misspelled keys, "
		 "wrong values and keys that exclude each other are errors, and unknown keys are "
		 "warnings. The node is not looked at. Exit status 1: there is an error.",
	.examples = check_examples,
	.min_words = 1,
	.max_words = 1,
	.run = run_check,
};

static const struct cmd *const commands[] = { &check, NULL };

const struct cmd cmd_netconf = {
	.name = "netconf",
	.summary = "check network configurations",
	.sub = commands,
};
