/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_probe.c: rdma-probe: the command line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "lib/cli/help.h"
#include "lib/base/version.h"
#include "rdma/probe/run/run.h"

#define PEERS_FILE_MAX (256 * 1024)

static const struct probe_cmd *const commands[] = {
	&probe_list, &probe_dmabuf, &probe_serve, &probe_connect, &probe_allreduce,
};

static const struct opt globals[] = {
	{ "json", NULL, "print JSON, for programs", 0 },
	{ "no-color", NULL, "no colours, even on a terminal", 0 },
	{ "help", NULL, "show help for the command", 0 },
	{ "version", NULL, "print the version", 0 },
	{ NULL, NULL, NULL, 0 },
};

int probe_usage(struct probe *p, struct err *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->status = PROBE_USAGE;
	err_set(e, ERR_CONFIG, 0, "%s", text);
	return err_hint(e, "see \"rdma-probe %s%s--help\"", p->cmd ? p->cmd->name : "",
			p->cmd ? " " : "");
}

int probe_read_peers(const char *path, uint16_t port, struct peers *out, struct err *e)
{
	auto_free char *text = NULL;
	size_t len;

	if (strcmp(path, "-") == 0) {
		if (fs_read_fd(STDIN_FILENO, PEERS_FILE_MAX, &text, &len, e))
			return -1;
	} else {
		ssize_t n = fs_read_at(AT_FDCWD, path, PEERS_FILE_MAX, &text, e);
		if (n < 0)
			return -1;
		len = (size_t)n;
	}
	return peers_parse(text, len, port, out, e) ? err_wrap(e, "%s", path) : 0;
}

/* ---- help ---- */

#define OPTIONS_MAX 32

static void help_all_options(FILE *to, const struct probe_cmd *c)
{
	struct opt all[OPTIONS_MAX + 1] = { { NULL, NULL, NULL, 0 } };
	size_t n = 0;

	for (size_t i = 0; i < PROBE_TABLES && c->opts[i]; i++) {
		for (const struct opt *o = c->opts[i]; o->name && n < OPTIONS_MAX; o++)
			all[n++] = *o;
	}
	help_options(to, "options", all);
}

static void show_help(const struct probe *p)
{
	const struct probe_cmd *c = p->cmd;
	FILE *to = stdout;

	if (c) {
		fprintf(to, "usage: rdma-probe %s%s%s [options]\n\n", c->name, c->words ? " " : "",
			c->words ? c->words : "");
		help_wrap(to, c->summary);
		if (c->about) {
			fputc('\n', to);
			help_wrap(to, c->about);
		}
	} else {
		fprintf(to, "usage: rdma-probe COMMAND [options]\n\n");
		help_wrap(to, "test RDMA traffic and measure its speed\n\ncommands:");
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
			help_entry(to, commands[i]->name, commands[i]->summary);
	}
	if (c)
		help_all_options(to, c);
	help_options(to, "options of every command", globals);
}

static int show_version(const struct probe *p, struct err *e)
{
	auto_json struct json *o = json_new_object();

	if (!p->out.json) {
		out_line(&p->out, OUT_PLAIN, "rdma-probe %s", RAILHEAD_VERSION);
		return 0;
	}
	if (!o || json_add_str(o, "name", "rdma-probe") ||
	    json_add_str(o, "version", RAILHEAD_VERSION))
		return err_nomem(e);
	return out_json(&p->out, o, e);
}

/* ---- the command line ---- */

static const struct probe_cmd *find_cmd(const char *name, const char **near)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
		(void)opt_nearer(name, commands[i]->name, near);
	}
	return NULL;
}

static int bad_option(struct probe *p, struct err *e)
{
	if (e->code != ERR_NOMEM)
		p->status = PROBE_USAGE;
	return *e->detail ? -1
			  : err_hint(e, "see \"rdma-probe %s%s--help\"", p->cmd ? p->cmd->name : "",
				     p->cmd ? " " : "");
}

static int parse_args(struct probe *p, char *const *argv, struct err *e)
{
	const struct opt *tables[PROBE_TABLES + 1] = { globals };
	const char *near = NULL;
	int n = opt_parse(argv, tables, true, &p->opts, e);

	if (n < 0)
		return bad_option(p, e);
	if (!argv[n])
		return 0;
	p->cmd = find_cmd(argv[n], &near);
	if (!p->cmd) {
		probe_usage(p, e, "\"%.64s\" is no command of rdma-probe", argv[n]);
		return near ? err_hint(e, "did you mean \"rdma-probe %s\"?", near) : -1;
	}
	for (size_t i = 0; i < PROBE_TABLES - 1 && p->cmd->opts[i]; i++)
		tables[i + 1] = p->cmd->opts[i];
	if (opt_parse(argv + n + 1, tables, false, &p->opts, e) < 0)
		return bad_option(p, e);
	return 0;
}

static int run_cmd(struct probe *p, char *const *argv, struct err *e)
{
	if (parse_args(p, argv, e))
		return -1;
	out_init(&p->out, stdout, opt_is_set(&p->opts, "json"), opt_is_set(&p->opts, "no-color"));
	if (opt_is_set(&p->opts, "help")) {
		show_help(p);
		return 0;
	}
	if (opt_is_set(&p->opts, "version"))
		return show_version(p, e);
	if (!p->cmd)
		return probe_usage(p, e, "rdma-probe needs a command");
	if (p->opts.n_words > p->cmd->max_words)
		return probe_usage(p, e, "\"%.64s\" is one word too many",
				   p->opts.words[p->cmd->max_words]);
	if (conf_read(&p->opts, &p->conf, e))
		return bad_option(p, e);
	return p->cmd->run(p, e);
}

static enum probe_status status_of(const struct probe *p, const struct err *e)
{
	if (p->status != PROBE_OK)
		return p->status;
	return e->code == ERR_STATE         ? PROBE_WRONG
	       : e->code == ERR_UNAVAILABLE ? PROBE_NOTHING
					    : PROBE_FAILED;
}

int main(int argc, char **argv)
{
	struct probe p = { 0 };
	struct err e = { 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	int rc = run_cmd(&p, argv + (argc > 0), &e);
	if (rc) {
		(void)fflush(stdout);
		out_complain("rdma-probe", &e);
		p.status = status_of(&p, &e);
	} else if (p.out.to && out_finish(&p.out, &e)) {
		if (e.errnum != EPIPE)
			out_complain("rdma-probe", &e);
		p.status = PROBE_FAILED;
	}
	opts_clear(&p.opts);
	return (int)p.status;
}
