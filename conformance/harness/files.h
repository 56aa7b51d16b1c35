/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: folders of files, as lines of text. */
#ifndef CONFORMANCE_HARNESS_FILES_H
#define CONFORMANCE_HARNESS_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "conformance/harness/text.h"

/* Return false to stay out of a folder. */
typedef bool (*files_fn)(const char *path, const struct stat *st, void *arg);
/* Call fn for the path and all below it, other file systems included; links are not followed. */
void files_walk(const char *path, files_fn fn, void *arg);

/*
 * Whether one of the patterns (NULL-terminated list; NULL: none) matches. One with a slash is for
 * whole paths, where * also matches slashes; one without is for the names of all but folders.
 */
bool files_match(const char *const *patterns, const char *path, const struct stat *st);

struct files_scope {
	const char *prefix;        /* of each line: "file" */
	const char *const *ignore; /* patterns of what is left out, with all below */
	const char *const *opaque; /* patterns of files whose contents do not count */
	bool folders;              /* folders count */
};
/* Append "PREFIX PATH: MODE CONTENTS" for each; contents only of files below 4096 bytes. */
void files_lines(const char *root, const struct files_scope *s, struct text *out);
/* Append "PREFIX PATH: CONTENTS" for the sysctls of IPv4 and IPv6 of the current namespace. */
void sysctl_lines(const char *prefix, const char *const *ignore, struct text *out);

#endif
