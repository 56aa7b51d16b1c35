/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c: runs a command of a plugin, and prints its result or error for the runtime. */
#include "cni/protocol/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cni/protocol/logging.h"
#include "lib/base/text.h"
#include "lib/base/version.h"
#include "lib/json/case.h"
#include "lib/sys/fs.h"

#define OUT_FD 1

static int print_text(const char *text, struct err *e)
{
	return fs_write_fd(OUT_FD, text, strlen(text), e);
}

/*
 * Runtimes print msg and details in one line, and drop code. So details begin with it, and have no
 * line breaks. A delegate of railhead has done both.
 */
static char *one_line_of_details(const struct err *e)
{
	auto_text struct text t = { 0 };
	char code[32];
	size_t n = (size_t)snprintf(code, sizeof(code), "error %d", (int)e->code);

	if (strncmp(e->detail, code, n) != 0 || (e->detail[n] && e->detail[n] != ';'))
		text_addf(&t, "%s%s", code, *e->detail ? "; " : "");
	for (const char *line = e->detail; *line;) {
		size_t len = strcspn(line, "\n");

		text_add_len(&t, line, len);
		line += len + strspn(line + len, "\n");
		text_add(&t, len && *line ? "; " : "");
	}
	return text_take(&t);
}

/* The one place where an error becomes JSON (CNI-032). Without memory a constant must do. */
static void print_error(const struct err *e, enum cni_version v)
{
	struct err ignored;
	auto_json struct json *o = json_new_object();
	auto_free char *details = one_line_of_details(e);
	auto_free char *text = NULL;

	if (o && details && !json_add_str(o, "cniVersion", cni_version_name(v)) &&
	    !json_add_int(o, "code", (int64_t)e->code) && !json_add_str(o, "msg", e->msg) &&
	    !json_add_str(o, "details", details))
		text = json_print(o, true);
	if (print_text(text ? text : "{\"code\":107,\"msg\":\"out of memory\"}", &ignored) == 0)
		(void)!print_text("\n", &ignored);
}

static int print_versions(struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *list;

	if (!o || json_add_str(o, "cniVersion", cni_version_name(CNI_CURRENT)) ||
	    !(list = json_add_array(o, "supportedVersions")))
		return err_nomem(e);
	for (int v = 0; v < CNI_VERSIONS; v++) {
		if (json_push_str(list, cni_version_name((enum cni_version)v)))
			return err_nomem(e);
	}
	auto_free char *text = json_print(o, false);
	if (!text)
		return err_nomem(e);
	return print_text(text, e) || print_text("\n", e) ? -1 : 0;
}

/* Called by hand, without CNI_COMMAND: say what this is, on stderr, and exit 0 (CNI-007). */
static int print_about(const struct cni_plugin *p)
{
	fprintf(stderr, "CNI %s plugin of railhead %s\nCNI protocol versions supported:", p->name,
		RAILHEAD_VERSION);
	for (int v = 0; v < CNI_VERSIONS; v++)
		fprintf(stderr, "%s %s", v ? "," : "", cni_version_name((enum cni_version)v));
	/* The pages of macvlan and ipvlan have longer names: the short ones are other people's too.
	 */
	const char *prefix = strncmp(p->name, "railhead", 8) == 0 ? "" : "railhead-";
	fprintf(stderr, "\nIt is run by a container runtime; see %s%s(8).\n", prefix, p->name);
	return 0;
}

int cni_emit_result(const struct cni_call *call, const struct cni_result *r, struct err *e)
{
	auto_free char *text = NULL;

	if (cni_result_print(r, call->conf.version, &text, e))
		return -1;
	if (print_text(text, e))
		return err_wrap(e, "print the result");
	return 0;
}

int cni_emit_prev(const struct cni_call *call, struct err *e)
{
	auto_json struct json *r = json_dup(call->conf.prev_result);

	if (!r || (!json_get(r, "cniVersion") &&
		   json_add_str(r, "cniVersion", cni_version_name(call->conf.version))))
		return err_nomem(e);
	auto_free char *text = json_print(r, false);
	if (!text)
		return err_nomem(e);
	return print_text(text, e) ? err_wrap(e, "print the result") : 0;
}

struct key_warning {
	const char *section;
	struct log log;
};

static int warn_of_key(const struct json_key *k, void *arg)
{
	const struct key_warning *w = arg;
	char shown[JSON_SHOW_LEN];

	if (k->finding == JSON_KEY_CASE)
		log_warn(&w->log, "%s: the configuration has this key in another case; write it so",
			 k->path);
	if (k->finding == JSON_KEY_UNREAD && cni_conf_warns_of(k->path, w->section))
		log_warn(&w->log, "%s: there is no such key (value: %s); it is ignored", k->path,
			 json_show(k->value, shown));
	return 0;
}

int cni_check_keys(const struct cni_call *call, const char *section, bool alone, struct err *e)
{
	struct key_warning w = { section, call->ctx.log };

	if (cni_conf_check_keys(&call->conf, alone, e))
		return -1;
	return json_each_key(call->conf.tree, warn_of_key, &w);
}

static int dispatch(const struct cni_plugin *p, const struct cni_call *call, struct err *e)
{
	cni_command_fn fn = NULL;

	switch (call->env.cmd) {
	case CNI_ADD:
		fn = p->add;
		break;
	case CNI_DEL:
		fn = p->del;
		break;
	case CNI_CHECK:
		fn = p->check;
		break;
	case CNI_GC:
		fn = p->gc;
		break;
	case CNI_STATUS:
		fn = p->status;
		break;
	case CNI_VERSION:
		return 0; /* answered before the configuration is read */
	}
	return fn ? fn(call, e) : 0;
}

/*
 * If descriptor 0, 1 or 2 is missing, the next open() returns it. A result or a log line would then
 * be written into that file. So a descriptor that can be neither read nor written takes its place,
 * in our delegates as well.
 */
static int open_missing_stdio(struct err *e)
{
	int fd;

	do
		fd = open("/", O_PATH);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open a descriptor");
	(void)close(fd);
	return 0;
}

/* Such names are refused by ADD, so a deletion has nothing to do; what is longer must not be cut
 * either. */
static bool was_never_attached(const struct cni_call *call)
{
	return call->env.cmd == CNI_DEL &&
	       (strlen(call->env.container) > CNI_ID_MAX || strlen(call->conf.name) > CNI_ID_MAX ||
		ifname_problem(call->env.ifname));
}

static int run_command(const struct cni_plugin *p, const char *command, struct cni_call *call,
		       struct err *e)
{
	enum cni_command cmd;
	char *text;
	size_t len;

	if (cni_command_parse(command, &cmd, e))
		return -1;
	if (cmd == CNI_VERSION)
		return print_versions(e);
	if (open_missing_stdio(e) || cni_env_load(cmd, getenv, &call->env, e))
		return -1;
	if (fs_read_fd(STDIN_FILENO, JSON_MAX_SIZE, &text, &len, e))
		return err_wrap(e, "read the network configuration from stdin");
	if (cni_conf_parse(text, len, call->env.cmd, &call->conf, e))
		return -1;
	/* From here on each line of the log says whose call it is. */
	(void)snprintf(call->log_context, sizeof(call->log_context),
		       "command=%s network=%.100s container=%.100s ifname=%.16s",
		       cni_command_name(call->env.cmd), call->conf.name ? call->conf.name : "",
		       call->env.container, call->env.ifname);
	call->ctx.log.context = call->log_context;
	logging_apply(&call->conf, &call->ctx);
	return was_never_attached(call) ? 0 : dispatch(p, call, e);
}

int cni_main(const struct cni_plugin *plugin)
{
	struct cni_call call = { .conf = { .version = CNI_CURRENT },
				 .data = plugin->data,
				 .builtin = plugin->builtin };
	const char *command = getenv("CNI_COMMAND");
	struct err e = { 0 };

	if (!command || !*command)
		return print_about(plugin);
	/* A closed stdout must be an error we can undo after, not a death in mid-work (CNI-174). */
	(void)signal(SIGPIPE, SIG_IGN);
	ctx_init(&call.ctx, plugin->name);
	int rc = run_command(plugin, command, &call, &e);
	/* The runtime logs the error from stdout; our log file would not have it. */
	if (rc && call.ctx.log.fd != STDERR_FILENO)
		log_error(&call.ctx.log, "code %d: %s", (int)e.code, e.msg);
	if (rc)
		print_error(&e, call.conf.version);
	cni_conf_clear(&call.conf);
	return rc ? 1 : 0;
}
