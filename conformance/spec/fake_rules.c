/* SPDX-License-Identifier: Apache-2.0 */
/* fake_rules.c: the conditions and actions of rules. Those of the outcome come after the base has
 * run. */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "conformance/spec/box.h"
#include "conformance/spec/fake.h"
#include "conformance/spec/json.h"

enum { NSFS = 0x6e736673 };

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* ---- conditions ---- */

static bool if_in(struct fake *f, const char *arg)
{
	return f->input && strstr(f->input, arg);
}

static bool if_env(struct fake *f, const char *arg)
{
	size_t len = strcspn(arg, "=");
	char *name = strndup(arg, len);
	const char *value = name ? variable(name) : "";

	(void)f;
	return arg[len] ? strcmp(value, arg + len + 1) == 0 : *value != '\0';
}

static bool if_noenv(struct fake *f, const char *arg)
{
	return !if_env(f, arg);
}

static bool if_again(struct fake *f, const char *arg)
{
	(void)arg;
	return f->again;
}

static bool if_noprev(struct fake *f, const char *arg)
{
	(void)arg;
	return !cJSON_IsObject(jget(f->conf, "prevResult"));
}

/* none, gone, file, live */
static bool if_netns(struct fake *f, const char *arg)
{
	const char *path = variable("CNI_NETNS");
	struct statfs fs;

	(void)f;
	if (!*path)
		return strcmp(arg, "none") == 0;
	if (statfs(path, &fs))
		return strcmp(arg, "gone") == 0;
	return strcmp(arg, fs.f_type == NSFS ? "live" : "file") == 0;
}

static bool if_nolink(struct fake *f, const char *arg)
{
	(void)f;
	return if_nametoindex(arg) == 0;
}

static bool if_argument(struct fake *f, const char *arg)
{
	(void)arg;
	return f->argv[1] != NULL;
}

static bool if_replaced(struct fake *f, const char *arg)
{
	char self[600];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)f;
	(void)arg;
	self[n > 0 ? n : 0] = '\0';
	return strstr(self, " (deleted)") != NULL;
}

static bool if_ownns(struct fake *f, const char *arg)
{
	struct stat a, b;

	(void)f;
	(void)arg;
	return stat("/proc/self/ns/net", &a) == 0 && stat(variable("CNI_NETNS"), &b) == 0 &&
	       a.st_ino == b.st_ino;
}

static bool if_ok(struct fake *f, const char *arg)
{
	(void)arg;
	return f->rc == 0;
}

static bool if_failed(struct fake *f, const char *arg)
{
	(void)arg;
	return f->rc != 0;
}

/* ---- actions ---- */

static void assign(cJSON *tree, const char *arg)
{
	size_t len = strcspn(arg, "=");
	char *path = strndup(arg, len);
	cJSON *value = path && arg[len] ? jparse(arg + len + 1) : NULL;

	if (tree && value)
		jset(tree, path, value);
}

static void do_conf(struct fake *f, const char *arg)
{
	assign(f->conf, arg);
	f->conf_changed = true;
}

static void do_unconf(struct fake *f, const char *arg)
{
	if (f->conf)
		jdel(f->conf, arg);
	f->conf_changed = f->conf != NULL;
}

static void do_setenv(struct fake *f, const char *arg)
{
	size_t len = strcspn(arg, "=");
	char *name = strndup(arg, len);

	(void)f;
	if (name && arg[len])
		(void)setenv(name, arg + len + 1, 1);
}

static void do_unsetenv(struct fake *f, const char *arg)
{
	(void)f;
	(void)unsetenv(arg);
}

static void do_skip(struct fake *f, const char *arg)
{
	(void)arg;
	f->done = true;
}

static void do_error(struct fake *f, const char *arg)
{
	fake_error(f, (int)strtol(arg, NULL, 10), "made up");
}

static void do_crash(struct fake *f, const char *arg)
{
	(void)f;
	(void)arg;
	abort();
}

static void do_hang(struct fake *f, const char *arg)
{
	(void)f;
	(void)arg;
	for (;;)
		pause();
}

static void do_sleep(struct fake *f, const char *arg)
{
	(void)f;
	usleep((useconds_t)strtol(arg, NULL, 10) * 1000);
}

static void do_mute(struct fake *f, const char *arg)
{
	(void)arg;
	f->mute = true;
}

static void do_stderr(struct fake *f, const char *arg)
{
	(void)f;
	fprintf(stderr, "%s\n", arg);
}

static void do_touch(struct fake *f, const char *arg)
{
	const char *path = strcmp(arg, "NETNS") == 0 ? variable("CNI_NETNS") : arg;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	(void)f;
	if (fd >= 0)
		close(fd);
}

/*
 * One at a time: whoever comes second is refused. The first one waits for it, as on a busy machine
 * calls that were started at once do not run at once.
 */
static void do_solo(struct fake *f, const char *arg)
{
	int fd = open(f->self, O_RDONLY | O_CLOEXEC);
	char *second = NULL;

	(void)arg;
	if (asprintf(&second, "%s.second", f->self) < 0)
		_exit(2);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(open(second, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
		fake_error(f, 11, "busy");
		return;
	}
	for (int ms = 0; ms < 1000 && access(second, F_OK); ms++)
		usleep(1000);
	(void)unlink(second);
}

static void exec_ip(const char *arg, bool in_pod)
{
	char *argv[32] = { "ip" }, *copy = strdup(arg), *rest = NULL;
	int n = 1;

	for (char *w = strtok_r(copy, ",", &rest); w && n < 31; w = strtok_r(NULL, ",", &rest))
		argv[n++] = strcmp(w, "IF") == 0 ? (char *)variable("CNI_IFNAME") : w;
	if (in_pod && netns_enter(variable("CNI_NETNS")))
		_exit(1);
	(void)setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 1);
	dup2(null, 2);
	execvp("ip", argv);
	_exit(127);
}

/* Words of the command are separated by commas; IF is CNI_IFNAME. */
static void do_ip(struct fake *f, const char *arg)
{
	pid_t pid = fork();

	(void)f;
	if (pid == 0)
		exec_ip(arg, true);
	(void)waitpid(pid, NULL, 0);
}

static void do_host_ip(struct fake *f, const char *arg)
{
	pid_t pid = fork();

	(void)f;
	if (pid == 0)
		exec_ip(arg, false);
	(void)waitpid(pid, NULL, 0);
}

static void do_out(struct fake *f, const char *arg)
{
	f->out = strdup(arg);
}

static void do_before(struct fake *f, const char *arg)
{
	char *all = NULL;

	if (asprintf(&all, "%s\n%s", arg, f->out ? f->out : "") > 0)
		f->out = all;
}

static void do_exit(struct fake *f, const char *arg)
{
	f->rc = (int)strtol(arg, NULL, 10);
}

static void do_set(struct fake *f, const char *arg)
{
	cJSON *tree = jparse(f->out);

	assign(tree, arg);
	if (tree)
		f->out = jtext(tree);
}

static void do_del(struct fake *f, const char *arg)
{
	cJSON *tree = jparse(f->out);

	if (!tree)
		return;
	jdel(tree, arg);
	f->out = jtext(tree);
}

static void do_nothing(struct fake *f, const char *arg)
{
	(void)f;
	(void)arg;
}

/* ---- the tables ---- */

static const struct condition {
	const char *name;
	bool (*holds)(struct fake *f, const char *arg);
	bool after;
} conditions[] = {
	{ "in", if_in, false },         { "env", if_env, false },
	{ "noenv", if_noenv, false },   { "again", if_again, false },
	{ "noprev", if_noprev, false }, { "netns", if_netns, false },
	{ "nolink", if_nolink, false }, { "argument", if_argument, false },
	{ "ownns", if_ownns, false },   { "replaced", if_replaced, true },
	{ "ok", if_ok, true },          { "failed", if_failed, true },
};

static const struct action {
	const char *name;
	void (*act)(struct fake *f, const char *arg);
	bool after;
} actions[] = {
	{ "conf", do_conf, false },     { "unconf", do_unconf, false },
	{ "setenv", do_setenv, false }, { "unsetenv", do_unsetenv, false },
	{ "skip", do_skip, false },     { "error", do_error, false },
	{ "crash", do_crash, false },   { "hang", do_hang, false },
	{ "sleep", do_sleep, false },   { "mute", do_mute, false },
	{ "solo", do_solo, false },     { "read", do_nothing, false },
	{ "preip", do_ip, false },      { "stderr", do_stderr, true },
	{ "touch", do_touch, true },    { "ip", do_ip, true },
	{ "hostip", do_host_ip, true }, { "out", do_out, true },
	{ "before", do_before, true },  { "exit", do_exit, true },
	{ "set", do_set, true },        { "del", do_del, true },
	{ "fail", do_error, true },
};

static void no_such(const char *word)
{
	fprintf(stderr, "fake: no rule \"%s\"\n", word);
	_exit(99);
}

/* "name=arg" of one word; arg is "" without '='. */
static const char *split(char *word)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return "";
	*equals = '\0';
	return equals + 1;
}

static bool cmd_matches(char *cmds, const char *cmd)
{
	char *rest = NULL;

	for (char *v = strtok_r(cmds, ",", &rest); v; v = strtok_r(NULL, ",", &rest)) {
		if (strcmp(v, "*") == 0 || strcmp(v, cmd) == 0)
			return true;
	}
	return false;
}

/* 1: all hold; 0: not. *after: one of them is of the outcome. */
static bool hold(struct fake *f, char *list, bool now_after, bool *after)
{
	char *rest = NULL;

	for (char *c = strtok_r(list, "&", &rest); c; c = strtok_r(NULL, "&", &rest)) {
		const char *arg = split(c);
		const struct condition *found = NULL;
		for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
			if (strcmp(conditions[i].name, c) == 0)
				found = &conditions[i];
		}
		if (!found) {
			no_such(c);
			return false;
		}
		*after |= found->after;
		if ((!found->after || now_after) && !found->holds(f, arg))
			return false;
	}
	return true;
}

static void act(struct fake *f, char *list, bool after)
{
	char *rest = NULL;

	for (char *a = strtok_r(list, " ", &rest); a; a = strtok_r(NULL, " ", &rest)) {
		const char *arg = split(a);
		const struct action *found = NULL;
		for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
			if (strcmp(actions[i].name, a) == 0)
				found = &actions[i];
		}
		if (!found) {
			no_such(a);
			return;
		}
		if (found->after == after)
			found->act(f, arg);
	}
}

/* Conditions are checked before any action of this pass changes the call. */
static void pass(struct fake *f, char *rules, bool after)
{
	char *rest = NULL;

	for (char *line = strtok_r(rules, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t head = strcspn(line, ":?");
		char *question = line[head] == '?' ? line + head : NULL;
		char *colon = question ? strstr(question, ": ") : line + head;
		bool of_outcome = false;
		if (!colon || !*colon)
			no_such(line);
		else
			*colon++ = '\0';
		if (question)
			*question++ = '\0';
		if (!cmd_matches(line, f->cmd))
			continue;
		if (question && !hold(f, question, after, &of_outcome))
			continue;
		if (after || !of_outcome)
			act(f, colon ? colon : line, after);
	}
}

void fake_before(struct fake *f, char *rules)
{
	pass(f, rules, false);
}

void fake_after(struct fake *f, char *rules)
{
	pass(f, rules, true);
}
