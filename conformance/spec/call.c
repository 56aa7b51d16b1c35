/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one run of the plugin. */
#include <stdlib.h>
#include <string.h>

#include "conformance/harness/cni.h"
#include "conformance/spec/box.h"
#include "conformance/spec/json.h"

enum { LIMIT_MS = 15000 };

static char **environment(const struct t *t, const char *cmd)
{
	return cni_env(&(struct cni_call){ .cmd = cmd,
					   .container = t->cid,
					   .netns = t->ns,
					   .ifname = t->ifname,
					   .args = t->args,
					   .path = t->path,
					   .more = t->env });
}

struct job job_start(struct t *t, const char *cmd)
{
	const char *const args[] = { t->how.argument, NULL };
	char *json = t->raw ? NULL : jtext(t->conf);
	struct job j = { .cmd = cmd, .env = environment(t, cmd), .input = t->raw ? t->raw : json };

	process_start(&(struct command){ .program = t->plugin,
					 .args = args,
					 .env = j.env,
					 .input = j.input,
					 .input_len = t->raw ? t->raw_len : 0,
					 .input_kind = t->how.in,
					 .broken_stdout = t->how.broken_stdout,
					 .netns = t->how.in_pod ? t->ns : NULL,
					 .root = t->how.root,
					 .cwd = t->how.cwd },
		      &j.process);
	return j;
}

/* Also the kill: at the time asked for, or when the plugin hangs. */
static void await(struct t *t, struct job *j, struct exited *e)
{
	double limit = t->facts->slower * LIMIT_MS;

	if (t->how.kill_after_us) {
		usleep((useconds_t)t->how.kill_after_us);
		(void)kill(j->process.pid, SIGKILL);
	}
	process_wait(&j->process, (long)limit, e);
	t->overdue = e->timed_out ? limit : 0;
	t->rc = WIFSIGNALED(e->status) ? -WTERMSIG(e->status) : WEXITSTATUS(e->status);
}

/* One line that says what was done and what came of it. */
static char *tell(const struct t *t, const struct job *j)
{
	char *line = text("%s", "");

	for (size_t i = 0; j->env[i]; i++) {
		if (strncmp(j->env[i], "PATH=", 5) != 0)
			line = text("%s%s'%.120s'", line, i ? " " : "", j->env[i]);
	}
	return text("env %s | stdin %.700s | exit %d%s | stdout %.500s | stderr %.300s", line,
		    j->input ? one_line(j->input) : "", t->rc,
		    t->overdue > 0 ? " (killed at the limit)" : "", one_line(t->out),
		    one_line(t->err));
}

void job_end(struct t *t, struct job *j)
{
	struct exited e;

	await(t, j, &e);
	t->ms = (double)e.us / 1e3;
	t->rss_kib = e.rss_kib;
	t->out = e.out;
	t->err = e.err;
	t->doc = jparse(t->out);
	t->said = tell(t, j);
	if (j->cmd && strcmp(j->cmd, "ADD") == 0 && t->rc == 0 && t->doc)
		t->result = t->doc;
}

void run(struct t *t, const char *cmd)
{
	struct job j = job_start(t, cmd);

	job_end(t, &j);
	/* The real plugin below a killed wrong one ends a moment later. It is our child then,
	 * because we are the first process of the namespace. */
	if (t->how.kill_after_us && strcmp(t->plugin, t->real) != 0) {
		for (int i = 0; i < 200 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
			usleep(1000);
	}
	memset(&t->how, 0, sizeof(t->how));
}

void run_net(struct t *t, const char *cmd)
{
	struct t saved = *t;

	t->cid = t->ns = t->ifname = t->args = NULL;
	run(t, cmd);
	t->cid = saved.cid;
	t->ns = saved.ns;
	t->ifname = saved.ifname;
	t->args = saved.args;
}
