/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c: all that a plugin could leave behind, as sorted lines. */
#include "conformance/faults/world.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static struct text *files_out;
static const char *files_prefix;
static bool with_contents;

/* A VF that was made anew is another one, but looks the same. */
static void blank_life(char *buf)
{
	char *life = strstr(buf, "\"life\":");

	if (!life)
		return;
	life += strlen("\"life\":");
	char *rest = life + strspn(life, "0123456789");
	(void)memmove(life, rest, strlen(rest) + 1);
}

static void add_contents(const char *path)
{
	char buf[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		(void)close(fd);
	buf[n > 0 ? n : 0] = '\0';
	for (char *p = buf; *p; p++) {
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	}
	blank_life(buf);
	text_add(files_out, " %s", n < 0 ? "(unreadable)" : buf);
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	/* What the kernel forgets when a VF leaves is not looked at: it takes most of the time. */
	if (strcmp(path, WORK) == 0 || strstr(path, "/conf/vf"))
		return FTW_SKIP_SUBTREE;
	text_add(files_out, "%s %s", files_prefix, path);
	if (!with_contents)
		text_add(files_out, " %o", st->st_mode);
	/* LMDB's own files hold what railctl is asked for. */
	if (type == FTW_F && (with_contents || (st->st_size < 4096 && !strstr(path, "/ipam/"))))
		add_contents(path);
	text_add(files_out, "\n");
	return FTW_CONTINUE;
}

/* With a prefix: sysctls, of which the contents count; else state, with modes. */
static void files(const char *root, const char *prefix, struct text *out)
{
	files_out = out;
	files_prefix = prefix ? prefix : "file";
	with_contents = prefix != NULL;
	(void)nftw(root, add_file, 16, FTW_PHYS | FTW_ACTIONRETVAL);
}

static void sysctls(const char *prefix, struct text *out)
{
	files("/proc/sys/net/ipv4/conf", prefix, out);
	files("/proc/sys/net/ipv6/conf", prefix, out);
}

/* Of the mounts only how many: each names a namespace by its number. */
static void mounts(struct text *out)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[1024];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		(void)fclose(f);
	text_add(out, "mounts %u\n", n);
}

/* ---- the pod ---- */

static void look_into(const char *path, struct text *out)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int pod = open(path, O_RDONLY | O_CLOEXEC);

	if (pod >= 0 && setns(pod, CLONE_NEWNET) == 0) {
		netlink_dump("pod", out);
		sysctls("pod", out);
		if (setns(home, CLONE_NEWNET))
			die("setns: %s", strerror(errno));
	}
	if (pod >= 0)
		(void)close(pod);
	(void)close(home);
}

/* ---- sorting and comparing ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **lines_of(const struct text *t, char **copy, size_t *n)
{
	size_t room = 1;

	for (const char *p = t->p; p && *p; p++)
		room += *p == '\n';
	char **list = malloc(room * sizeof(*list));
	*copy = strdup(t->p ? t->p : "");
	if (!list || !*copy)
		die("out of memory");
	*n = 0;
	for (char *save, *p = strtok_r(*copy, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		list[(*n)++] = p;
	qsort(list, *n, sizeof(*list), by_text);
	return list;
}

bool snapshot_differs(const struct text *before, const struct text *now, struct text *diff)
{
	char *copy_a, *copy_b;
	size_t na, nb, i = 0, j = 0, found = 0, sysctls_told = 0;

	if (before->len == now->len && strcmp(before->p, now->p) == 0)
		return false;
	char **a = lines_of(before, &copy_a, &na), **b = lines_of(now, &copy_b, &nb);
	while (i < na || j < nb) {
		int order = i == na ? 1 : j == nb ? -1 : strcmp(a[i], b[j]);
		/* A link brings its sysctls with it: those must not hide the link. */
		const char *line = order < 0 ? a[i] : order > 0 ? b[j] : "";
		bool told = strstr(line, " /proc/sys/") && sysctls_told++ > 2;
		if (order && !told && found++ < 16)
			text_add(diff, "%c %.400s\n", order < 0 ? '-' : '+', line);
		i += order <= 0;
		j += order >= 0;
	}
	free(a);
	free(b);
	free(copy_a);
	free(copy_b);
	return found > 0;
}

void snapshot(struct world *w, struct text *out)
{
	static char *const leases[] = { "railctl", "ipam", "lease", "list", "--json", NULL };

	netlink_dump("host", out);
	sysctls("host", out);
	look_into("/run/netns/p0", out);
	files("/run", NULL, out);
	files("/var/lib", NULL, out);
	mounts(out);
	if (w->ground->look)
		w->ground->look(out);
	railctl(w, leases, out);
}
