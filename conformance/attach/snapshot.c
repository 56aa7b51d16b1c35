/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c: snapshots for scripts. conformance/harness/snapshot.h says what a snapshot has.
 *
 *	snapshot [OPTION VALUE]... >FILE
 *	snapshot --diff BEFORE NOW
 *
 *	--root FOLDER      include the files of this folder
 *	--ignore PATTERN   omit these files and sysctls
 *	--opaque PATTERN   omit the contents of these files
 *	--program FOLDER   include processes that run a program of this folder
 *	--folders yes      include folders, not only files
 *	--settling yes     the links here may still change their state
 *	--rdma yes         include RDMA devices
 *
 * With --diff it compares two files with snapshots; a script may have added lines to them. Exit
 * status 0: equal; 1: different; 2: an error.
 */
#include "conformance/harness/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 32 };

struct values {
	const char *of[VALUES_MAX + 1];
	size_t n;
};

struct arguments {
	struct values roots, ignore, opaque, programs;
	struct values folders, settling, rdma;
};

static void read_file(const char *path, struct text *out)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		text_add(out, "%s", line);
	if (!f || ferror(f))
		die("%s: %s", path, strerror(errno));
	free(line);
	(void)fclose(f);
}

static int print_difference(const char *before, const char *now)
{
	auto_text a = { .p = NULL };
	auto_text b = { .p = NULL };
	auto_text diff = { .p = NULL };

	read_file(before, &a);
	read_file(now, &b);
	if (!snapshot_differs(&a, &b, &diff))
		return 0;
	(void)fputs(diff.p, stdout);
	return 1;
}

static struct values *values_of(struct arguments *a, const char *option)
{
	const struct {
		const char *name;
		struct values *values;
	} all[] = {
		{ "--root", &a->roots },      { "--ignore", &a->ignore },
		{ "--opaque", &a->opaque },   { "--program", &a->programs },
		{ "--folders", &a->folders }, { "--settling", &a->settling },
		{ "--rdma", &a->rdma },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].name, option) == 0)
			return all[i].values;
	}
	die("no such option: %s", option);
}

static void parse(char **argv, struct arguments *a)
{
	for (; *argv; argv += 2) {
		struct values *v = values_of(a, argv[0]);
		if (!argv[1] || v->n == VALUES_MAX)
			die("%s: a value is missing, or there are too many", argv[0]);
		v->of[v->n++] = argv[1];
	}
}

int main(int argc, char **argv)
{
	struct arguments a = { .roots = { .n = 0 } };
	auto_text out = { .p = NULL };

	if (argc == 4 && strcmp(argv[1], "--diff") == 0)
		return print_difference(argv[2], argv[3]);
	parse(argv + 1, &a);
	snapshot_take(
		&(struct snapshot_scope){
			.roots = a.roots.of,
			.ignore = a.ignore.of,
			.opaque = a.opaque.of,
			.programs = a.programs.n ? a.programs.of : NULL,
			.folders = a.folders.n,
			.settling = a.settling.n,
			.rdma = a.rdma.n,
		},
		&out);
	return fputs(out.p, stdout) < 0 || fflush(stdout) ? 2 : 0;
}
