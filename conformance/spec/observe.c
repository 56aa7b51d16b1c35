/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/spec/observe.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/spec/box.h"
#include "conformance/spec/json.h"

enum { ARGS_MAX = 48 };

static void exec_ip(const char *ns, const char *command, int out)
{
	char *argv[ARGS_MAX] = { "ip" }, *copy = strdup(command), *rest = NULL;
	int n = 1;

	for (char *w = strtok_r(copy, " ", &rest); w && n < ARGS_MAX - 1;
	     w = strtok_r(NULL, " ", &rest))
		argv[n++] = w;
	if (ns && enter(ns))
		_exit(126);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	dup2(out >= 0 ? out : null, 1);
	dup2(null, 2);
	execvp("ip", argv);
	_exit(127);
}

static pid_t start_ip(const char *ns, const char *command, int out)
{
	pid_t pid = fork();

	if (pid < 0)
		broken("fork");
	if (pid == 0)
		exec_ip(ns, command, out);
	return pid;
}

static bool succeeded(pid_t pid)
{
	int status = 1;

	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ip(const char *ns, const char *command)
{
	return succeeded(start_ip(ns, command, -1));
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

static char *ip_text(const char *ns, const char *command)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		broken("pipe");
	pid_t pid = start_ip(ns, command, fds[1]);
	close(fds[1]);
	char *out = read_all(fds[0]);
	(void)succeeded(pid);
	return out;
}

static cJSON *ip_json(const char *ns, const char *command)
{
	char *out = ip_text(ns, text("-j -d %s", command));
	cJSON *tree = jparse(out);

	free(out);
	return tree;
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

static FILE *listing;

static bool is_furniture(const char *path)
{
	const char *name = strrchr(path, '/');

	/* Locks, counters and the fake's own books stay when all is gone. */
	return !name || strstr(path, WORK) || strstr(name, "lock") || strstr(name, "last_reserved");
}

static int list_file(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st;
	(void)where;
	if (flag != FTW_D && flag != FTW_DP && !is_furniture(path) && !strstr(path, "/netns/"))
		fprintf(listing, "file %s\n", path);
	return 0;
}

static void list_links(FILE *f, const char *ns)
{
	const cJSON *one, *addr;

	cJSON_ArrayForEach(one, ip_json(ns, "addr show"))
	{
		fprintf(f, "%s link %s mtu %.0f mac %s promiscuity %.0f\n", ns ? ns : "host",
			jstr(one, "ifname"), jnum(one, "mtu"), jstr(one, "address"),
			jnum(one, "promiscuity"));
		cJSON_ArrayForEach(addr, jget(one, "addr_info"))
		{
			if (strcmp(jstr(addr, "scope"), "link") != 0)
				fprintf(f, "%s addr %s %s\n", ns ? ns : "host", jstr(one, "ifname"),
					jstr(addr, "local"));
		}
	}
	fprintf(f, "%s%s", ip_text(ns, "-4 route show table all"), ip_text(ns, "-4 rule"));
}

static void list_pods(FILE *f)
{
	struct dirent **entries = NULL;
	int n = scandir("/run/netns", &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char *path = text("/run/netns/%s", entries[i]->d_name);
		struct stat st;
		if (*entries[i]->d_name != '.' && stat(path, &st) == 0 && st.st_size == 0 &&
		    has_link(path, "lo"))
			list_links(f, path);
	}
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(char *lines)
{
	char *line[1024] = { NULL }, *rest = NULL, *out = text("%s", "");
	size_t n = 0;

	for (char *l = strtok_r(lines, "\n", &rest); l && n < 1024; l = strtok_r(NULL, "\n", &rest))
		line[n++] = l;
	qsort(line, n, sizeof(line[0]), by_line);
	for (size_t i = 0; i < n; i++)
		out = text("%s%s\n", out, line[i]);
	return out;
}

char *snapshot(const struct t *t)
{
	char *buf = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&buf, &size);

	(void)t;
	if (!f)
		broken("memory");
	listing = f;
	list_links(f, NULL);
	list_pods(f);
	(void)nftw("/run", list_file, 16, FTW_PHYS);
	(void)nftw("/var/lib", list_file, 16, FTW_PHYS);
	fprintf(f, "reserved %d\n", reserved(NULL));
	(void)fclose(f);
	return sorted(buf);
}

static const char *first_other(const char *a, const char *b)
{
	char *copy = strdup(a), *rest = NULL;

	for (char *l = strtok_r(copy, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
		const char *at = strstr(b, l);
		if (!at || (at[strlen(l)] && at[strlen(l)] != '\n'))
			return l;
	}
	return NULL;
}

bool unchanged(struct t *t, const char *before, const char *when)
{
	const char *after = snapshot(t);
	const char *more = first_other(after, before), *less = first_other(before, after);

	return expect(t, !more && !less, "%s: nothing may differ from before: %s%s%s%s", when,
		      more ? "left behind: " : "", more ? more : "", less ? " missing: " : "",
		      less ? less : "");
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

int fake_calls(const char *verb)
{
	char *log = file_text(WORK "/bin/" FAKE ".log"), *line = text("%s ", verb);
	int n = 0;

	for (const char *at = log; at && *at; at = strchr(at, '\n'), at += at ? 1 : 0)
		n += strncmp(at, line, strlen(line)) == 0;
	return n;
}

char *fake_stdin(const char *verb)
{
	return file_text(text(WORK "/bin/" FAKE ".%s.stdin", verb));
}

char *fake_env(const char *verb)
{
	return file_text(text(WORK "/bin/" FAKE ".%s.env", verb));
}
