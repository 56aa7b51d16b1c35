/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: railhead-install: its options, and the variables of a container for them. The
 * last sentence also goes to the termination message of the container.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "install/run.h"
#include "install/needed.h"
#include "install/plan.h"
#include "lib/cli/cmd.h"
#include "lib/sys/build_mark.h"

#define SOURCE      "/opt/railhead/cni"
#define TARGET      "/host/opt/cni/bin"
#define TERMINATION "/dev/termination-log"
#define MESSAGE_MAX 4096 /* what the kubelet reads */

/* The option, or else the variable. Either may be NULL; an empty value counts as none. */
static const char *chosen(const struct cmd_run *r, const char *option, const char *variable,
			  const char *otherwise)
{
	const char *value = option ? opt_get(&r->opts, option) : NULL;

	if (!value && variable)
		value = getenv(variable);
	return value && *value ? value : otherwise;
}

static int read_force(struct cmd_run *r, bool *out, struct err *e)
{
	const char *value = chosen(r, NULL, "FORCE", "0");

	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return cmd_usage(r, e, "FORCE is \"%.64s\"; it may be 0 or 1", value);
	*out = opt_is_set(&r->opts, "force") || *value == '1';
	return 0;
}

static int check_absolute(struct cmd_run *r, const char *what, const char *path, struct err *e)
{
	return *path == '/'
		       ? 0
		       : cmd_usage(r, e, "the %s \"%.256s\" must be an absolute path", what, path);
}

/* Programs that `make install` or a package brought have no receipt: their names say which. */
static int check_needed(const struct install *in, char summary[SUMMARY_LEN], struct err *e)
{
	auto_free struct plan *plan = calloc(1, sizeof(*plan));
	struct receipt names = { .n = 0 };

	if (!plan)
		return err_nomem(e);
	if (plan_choose(in->list, in->prefix, plan, e))
		return -1;
	for (size_t i = 0; i < plan->n; i++) {
		if (receipt_add(&names, plan->item[i].name, "", e))
			return -1;
	}
	if (needed_check(in->ctx, &names, e))
		return -1;
	(void)snprintf(summary, SUMMARY_LEN, "no attachment of this node needs the plugins");
	return 0;
}

static int run_install(struct cmd_run *r, char summary[SUMMARY_LEN], struct err *e)
{
	struct install in = {
		.ctx = &r->ctx,
		.out = &r->out,
		.source = chosen(r, "source", NULL, SOURCE),
		.target = chosen(r, "target", "CNI_BIN", TARGET),
		.list = chosen(r, "plugins", "PLUGINS", NULL),
		.prefix = chosen(r, "prefix", "PLUGIN_PREFIX", ""),
		.chain = chosen(r, "chain", "CNI_CONF", NULL),
		.build = railhead_build,
		.remove = opt_is_set(&r->opts, "remove"),
		.dry_run = opt_is_set(&r->opts, "dry-run"),
	};

	r->ctx.run_dir = chosen(r, "run-dir", NULL, r->ctx.run_dir);
	r->ctx.cni_dir = chosen(r, "cni-dir", NULL, r->ctx.cni_dir);
	if (read_force(r, &in.force, e) || check_absolute(r, "source", in.source, e) ||
	    check_absolute(r, "target", in.target, e) ||
	    (in.chain && check_absolute(r, "folder to chain in", in.chain, e)) ||
	    check_absolute(r, "folder of attachments", r->ctx.run_dir, e) ||
	    check_absolute(r, "folder of libcni", r->ctx.cni_dir, e))
		return -1;
	return opt_is_set(&r->opts, "needed") ? check_needed(&in, summary, e)
					      : install_run(&in, summary, e);
}

/* Outside of Kubernetes there is no such file, and none is made. */
static void leave_message(const char *text)
{
	auto_fd int fd =
		open(TERMINATION, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	auto_free char *clean = out_clean(text); /* it has text of the receipt */
	const char *message = clean ? clean : "out of memory";
	size_t len = strlen(message);

	/* It stays empty if it cannot be written. The same text is in the log of the container. */
	if (fd >= 0 && write(fd, message, len < MESSAGE_MAX ? len : MESSAGE_MAX) < 0)
		return;
}

static int main_run(struct cmd_run *r, struct err *e)
{
	/* A question has no last words. */
	const bool says = !opt_is_set(&r->opts, "needed");
	char summary[SUMMARY_LEN], line[OUT_ERROR_LEN];

	if (run_install(r, summary, e)) {
		if (says)
			leave_message(out_error(e, line));
		return -1;
	}
	out_line(&r->out, OUT_PLAIN, "%s", summary);
	if (says)
		leave_message(summary);
	return 0;
}

static const struct opt options[] = {
	{ "target", "DIR", "the CNI folder (default: $CNI_BIN, or " TARGET ")", 0 },
	{ "source", "DIR", "the folder with the programs (default: " SOURCE ")", 0 },
	{ "prefix", "PREFIX", "put before the names of plugins (default: $PLUGIN_PREFIX)", 0 },
	{ "plugins", "LIST", "only these, separated by commas (default: $PLUGINS, or all)", 0 },
	{ "chain", "DIR",
	  "add railhead to the pod network in this folder of configurations (also: $CNI_CONF)", 0 },
	{ "force", NULL, "replace files of other projects, too (also: FORCE=1)", 0 },
	{ "remove", NULL, "remove what was installed, if no attachment needs it", 0 },
	{ "dry-run", NULL, "change nothing; print the actions", 0 },
	{ "needed", NULL, "change nothing; fail if an attachment needs a plugin of this prefix",
	  0 },
	{ "run-dir", "DIR", "the folder of the attachments' records (default: /run/railhead)", 0 },
	{ "cni-dir", "DIR", "the folder of libcni's cache (default: /var/lib/cni)", 0 },
	{ 0 },
};

static const char *const examples[] = {
	"railhead-install",
	"railhead-install --source build/bin --target /opt/cni/bin --prefix rh- --dry-run",
	"railhead-install --target /opt/cni/bin --remove",
	NULL,
};

static const struct cmd root = {
	.name = "railhead-install",
	.summary = "put railhead's plugins into the CNI folder of a host",
	.about =
		"The entry of railhead's image. Each plugin is written beside its name, synced and "
		"renamed, so that pods can start and stop meanwhile. Files of other projects are "
		"left alone. Earlier programs that this install does not have are removed once no "
		"attachment needs them. The last line is also the termination message of the "
		"container. See railhead-install(8).",
	.examples = examples,
	.opts = { options },
	.run = main_run,
};

int main(int argc, char **argv)
{
	static const struct opt globals[] = {
		CMD_OPT_NO_COLOR, CMD_OPT_HELP, CMD_OPT_VERSION, { NULL, NULL, NULL, 0 }
	};
	static const struct cmd_program program = { &root, globals, NULL, NULL, true };

	(void)argc;
	return cmd_main(&program, argv, NULL);
}
