/* SPDX-License-Identifier: Apache-2.0 */
/* netconf.c: `railctl netconf`: what plugins say about a configuration before a pod meets them. */
#include "railctl/attachments/netconf.h"

#include "lib/cli/check.h"

#define FILE_MAX (4U << 20) /* bytes */

static int run_check(struct cmd_run *r, struct err *e)
{
	const char *path = r->opts.words[0];
	auto_findings struct findings all = { 0 };
	auto_free char *text = NULL;
	size_t len;

	if (cmd_read(&(struct cmd_input){ path, "", FILE_MAX }, &text, &len, e))
		return -1;
	if (netconf_check(text, len, &all, e))
		return err_wrap(e, "%.256s", path);
	return check_report(r, &all, 3, 0, e);
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
