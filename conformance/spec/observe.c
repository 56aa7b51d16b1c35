/* SPDX-License-Identifier: Apache-2.0 */
/* observe.c: look at links, addresses, routes and files with ip(8), and compare snapshots. */
#include "conformance/spec/observe.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness/snapshot.h"
#include "conformance/spec/box.h"
#include "conformance/spec/json.h"

enum { ARGS_MAX = 48, END_MS = 5000 };

static void run_ip(const char *ns, const char *command, struct exited *e)
{
	const char *argv[ARGS_MAX] = { "ip" };
	char *copy = text("%s", command), *rest = NULL;
	int n = 1;

	for (char *w = strtok_r(copy, " ", &rest); w && n < ARGS_MAX - 1;
	     w = strtok_r(NULL, " ", &rest))
		argv[n++] = w;
	program_run(ns, argv, e);
	free(copy);
}

bool ip(const char *ns, const char *command)
{
	auto_exited e;

	run_ip(ns, command, &e);
	return exited_well(&e);
}

static char *read_all(int fd)
{
	FILE *f = fdopen(fd, "r");
	char *buf = NULL;
	size_t size = 0;

	if (!f || getdelim(&buf, &size, '\0', f) < 0) {
		free(buf);
		buf = strdup("");
	}
	if (f)
		(void)fclose(f);
	return buf;
}

static cJSON *ip_json(const char *ns, const char *command)
{
	auto_exited e;

	run_ip(ns, text("-j -d %s", command), &e);
	return jparse(e.out);
}

cJSON *link_of(const char *ns, const char *name)
{
	cJSON *all = ip_json(ns, "addr show"), *one;

	cJSON_ArrayForEach(one, all)
	{
		if (strcmp(jstr(one, "ifname"), name) == 0)
			return one;
	}
	return NULL;
}

bool has_link(const char *ns, const char *name)
{
	return link_of(ns, name) != NULL;
}

bool has_addr(const char *ns, const char *name, const char *cidr)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, jget(link_of(ns, name), "addr_info"))
	{
		if (strcmp(text("%s/%.0f", jstr(one, "local"), jnum(one, "prefixlen")), cidr) == 0)
			return true;
	}
	return false;
}

cJSON *route_of(const char *ns, const char *dst)
{
	static const char *const show[] = { "-4 route show table all", "-6 route show table all" };

	for (size_t i = 0; i < 2; i++) {
		cJSON *all = ip_json(ns, show[i]), *one;
		cJSON_ArrayForEach(one, all)
		{
			if (strcmp(jstr(one, "dst"), dst) == 0)
				return one;
		}
	}
	return NULL;
}

/* ---- before and after ---- */

/* Wait for the processes that a killed plugin left; all orphans of the box are our children. */
static void await_end(const char *const *programs)
{
	auto_text left = { .p = NULL };

	for (double end = now_ms() + END_MS; now_ms() < end; usleep(1000)) {
		text_free(&left);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		running_lines(programs, &left);
		if (!left.len)
			return;
	}
}

/*
 * Folders, locks, counters and the fake's own books stay when all is gone. Of the box's links the
 * carrier comes up while the checks run.
 */
char *snapshot(const struct t *t)
{
	static const char *const roots[] = { "/run", "/var/lib", NULL };
	static const char *const ignore[] = { WORK, "/run/netns", "*lock*", "last_reserved*",
					      NULL };
	const char *const programs[] = { WORK, t->real, NULL };
	const struct snapshot_scope s = {
		.roots = roots, .ignore = ignore, .programs = programs, .settling = true
	};
	struct text out = { .p = NULL };

	await_end(programs);
	snapshot_take(&s, &out);
	text_add(&out, "reserved: %d\n", reserved(NULL));
	return out.p;
}

bool unchanged(struct t *t, const char *before, const char *when)
{
	char *after = snapshot(t);
	const struct text a = { .p = (char *)(uintptr_t)before, .len = strlen(before) };
	const struct text b = { .p = after, .len = strlen(after) };
	struct text diff = { .p = NULL };

	return !snapshot_differs(&a, &b, &diff) ||
	       expect(t, false, "%s: nothing may differ from before: %s", when, one_line(diff.p));
}

/* ---- the fake IPAM ---- */

char *file_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? strdup("") : read_all(fd);
}

bool write_file(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t len = strlen(content);
	bool good = fd >= 0 && write(fd, content, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return good;
}

int reserved(const char *cid)
{
	DIR *dir = opendir(WORK "/bin/" FAKE ".pool");
	int n = 0;

	for (struct dirent *d; dir && (d = readdir(dir));) {
		if (*d->d_name == '.')
			continue;
		char *owner = file_text(text(WORK "/bin/" FAKE ".pool/%s", d->d_name));
		if (!cid || strstr(owner, text(" %s ", cid)))
			n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

int fake_calls(const char *cmd)
{
	char *log = file_text(WORK "/bin/" FAKE ".log"), *line = text("%s ", cmd);
	int n = 0;

	for (const char *at = log; at && *at; at = strchr(at, '\n'), at += at ? 1 : 0)
		n += strncmp(at, line, strlen(line)) == 0;
	return n;
}

char *fake_stdin(const char *cmd)
{
	return file_text(text(WORK "/bin/" FAKE ".%s.stdin", cmd));
}

char *fake_env(const char *cmd)
{
	return file_text(text(WORK "/bin/" FAKE ".%s.env", cmd));
}
