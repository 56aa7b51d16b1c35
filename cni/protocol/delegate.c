/* SPDX-License-Identifier: Apache-2.0 */
/* delegate.c: find a plugin in CNI_PATH, run it with our input, and pass its error on. */
#include "cni/protocol/delegate.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/sys/build_mark.h"

int delegate_find(const char *cni_path, const char *type, char *out, size_t size, struct err *e)
{
	struct slice rest = { cni_path, strlen(cni_path) }, dir;
	struct stat st;

	while (slice_next(&rest, ':', &dir)) {
		int n = snprintf(out, size, "%.*s/%s", (int)dir.len, dir.p, type);
		if (dir.len == 0 || n < 0 || (size_t)n >= size)
			continue;
		if (stat(out, &st) == 0 && S_ISREG(st.st_mode))
			return 0;
	}
	err_set(e, ERR_DELEGATE, 0, "ipam.type: failed to find plugin \"%.64s\" in path [%.256s]",
		type, cni_path);
	return err_hint(e, "install the program \"%.64s\" in one of these directories", type);
}

/* A variable that an override replaces; NULL leaves the inherited value unchanged. */
struct variable {
	const char *name, *value;
};
#define OVERRIDES 11

static bool is_overridden(const char *entry, const struct variable *vars)
{
	for (size_t i = 0; i < OVERRIDES; i++) {
		size_t len = strlen(vars[i].name);
		if (vars[i].value && strncmp(entry, vars[i].name, len) == 0 && entry[len] == '=')
			return true;
	}
	return false;
}

/* One block: the pointers, then the text of the replaced variables. */
static char **make_env(const struct delegate_call *what, struct err *e)
{
	const struct variable vars[OVERRIDES] = {
		{ "CNI_COMMAND", cni_command_name(what->cmd) },
		{ "CNI_CONTAINERID", what->container },
		{ "CNI_IFNAME", what->ifname },
		{ "CNI_NETNS", what->netns },
		{ "CNI_ARGS", what->args },
		{ "CNI_PATH", what->path },
		{ DELEGATE_CONFLICT, what->conflict },
		{ DELEGATE_PROBE, what->probe },
		{ DELEGATE_MASTER, what->master },
		{ DELEGATE_LEASE, what->lease },
		{ DELEGATE_CALLER, "1" },
	};
	size_t n = 0, text = 0, used = 0;

	while (environ[n])
		n++;
	for (size_t i = 0; i < OVERRIDES; i++)
		text += vars[i].value ? strlen(vars[i].name) + strlen(vars[i].value) + 2 : 0;
	char **env = malloc((n + OVERRIDES + 1) * sizeof(*env) + text);
	if (!env) {
		err_nomem(e);
		return NULL;
	}
	char *end = (char *)(env + n + OVERRIDES + 1);
	for (size_t i = 0; i < n; i++) {
		if (!is_overridden(environ[i], vars))
			env[used++] = environ[i];
	}
	for (size_t i = 0; i < OVERRIDES; i++) {
		if (!vars[i].value)
			continue;
		env[used++] = end;
		end = stpcpy(stpcpy(stpcpy(end, vars[i].name), "="), vars[i].value) + 1;
	}
	env[used] = NULL;
	return env;
}

/* The code that we carry, when the program found is the same: not one of another build, and not a
 * wrapper around it. */
static bool is_carried(const struct delegate_builtin *b, const char *type, const char *path)
{
	return b && strcmp(b->type, type) == 0 && build_mark_found(path, b->mark);
}

static int run_builtin(const void *builtin)
{
	return ((const struct delegate_builtin *)builtin)->run();
}

int delegate_start(const struct cni_call *call, const struct delegate_call *what, int timeout_ms,
		   struct delegate *d, struct err *e)
{
	const char *type = call->conf.ipam_type;
	const char *path = what->path ? what->path : call->env.path;

	const struct delegate_builtin *b = call->builtin;
	const bool alone = b && !b->mark && strcmp(b->type, type) == 0;

	if (alone)
		(void)snprintf(d->path, sizeof(d->path), "%.64s", type);
	else if (delegate_find(path, type, d->path, sizeof(d->path), e))
		return -1;
	auto_free char **env = make_env(what, e);
	if (!env)
		return -1;
	d->type = type;

	bool carried = alone || is_carried(b, type, d->path);
	const struct exec_req req = { .path = d->path,
				      .run = carried ? run_builtin : NULL,
				      .arg = call->builtin,
				      .envp = env,
				      .input = call->conf.text,
				      .input_len = call->conf.len,
				      .timeout_ms = timeout_ms };
	log_debug(&call->ctx.log, "ipam.type \"%s\": %s of %s%s", type, cni_command_name(what->cmd),
		  d->path, carried ? ", the same build: in a child without execve" : "");
	if (exec_start(&req, &d->child, e))
		return err_wrap(e, "ipam.type: \"%.64s\"", type);
	return 0;
}

struct error_object {
	int64_t code;
	const char *msg, *details;
};

static const struct json_field error_fields[] = {
	{ "code", J_I64, J_AT(struct error_object, code), .flags = J_REQUIRED, .min = 1,
	  .max = INT32_MAX },
	{ "msg", J_STRING, J_AT(struct error_object, msg) },
	{ "details", J_STRING, J_AT(struct error_object, details) },
	{ 0 },
};

/* The delegate's own words, when it left any (CNI-118). */
int delegate_pass_on(const char *type, const struct exec_result *res, struct err *e)
{
	struct error_object o = { 0 };
	auto_json struct json *tree = NULL;
	struct err ignored;

	if (json_parse(res->output, res->len, "error object", &tree, &ignored) ||
	    json_type(tree) != JSON_OBJECT || json_decode(tree, "", error_fields, &o, &ignored)) {
		err_set(e, ERR_DELEGATE, 0,
			"ipam.type: \"%.64s\" failed with exit status %d and without an error "
			"object",
			type, WEXITSTATUS(res->status));
		return res->len ? err_hint(e, "it printed: %.512s", res->output) : -1;
	}
	err_set(e, (enum err_code)o.code, 0, "%s",
		o.msg && *o.msg ? o.msg : "failed without a message");
	return o.details ? err_hint(e, "%s", o.details) : -1;
}

int delegate_finish(struct delegate *d, char **output, size_t *len, struct err *e)
{
	struct exec_result res;

	if (exec_finish(&d->child, &res, e))
		return err_wrap(e, "ipam.type: \"%.64s\"", d->type);
	auto_free char *text = res.output;
	if (WIFSIGNALED(res.status))
		return err_set(e, ERR_DELEGATE, 0, "ipam.type: \"%.64s\" was killed by signal %d",
			       d->type, WTERMSIG(res.status));
	if (!WIFEXITED(res.status) || WEXITSTATUS(res.status))
		return delegate_pass_on(d->type, &res, e);
	if (output) {
		*output = TAKE_PTR(text);
		*len = res.len;
	}
	return 0;
}

int delegate_run(const struct cni_call *call, const struct delegate_call *what, int timeout_ms,
		 struct err *e)
{
	struct delegate d;

	if (delegate_start(call, what, timeout_ms, &d, e))
		return -1;
	return delegate_finish(&d, NULL, NULL, e);
}
