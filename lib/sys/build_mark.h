/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_mark.h: tell whether a file is a program of our own build.
 *
 * Every program has a mark, "railhead-build: ID NAME" and a newline: the same ID for all programs
 * of one build, made from their code (Makefile, tools/ident.c). The mark is an ELF note, so that
 * the linker puts it right behind the program headers, and strip leaves it there.
 */
#ifndef RAILHEAD_LIB_SYS_BUILD_MARK_H
#define RAILHEAD_LIB_SYS_BUILD_MARK_H

#include "lib/base/base.h"

#define BUILD_MARK_HEAD 4096 /* bytes: the mark lies within the first ones of the file */

/*
 * build_mark_found - is path a regular ELF file that we may execute, and does it begin with mark?
 * False also for a file that cannot be read: whoever asks then executes it and sees why.
 */
bool build_mark_found(const char *path, const char *mark);

#define BUILD_ID_LEN 65 /* hexadecimal digits and NUL */

/* A mark, read: of which build the program is, and its name there. */
struct build_mark {
	char id[BUILD_ID_LEN];
	char program[32];
};

/*
 * build_mark_read - the mark in the first bytes of a file, as many as there are up to
 * BUILD_MARK_HEAD. -1: it is not a program of railhead. Pure.
 */
int build_mark_read(const void *head, size_t len, struct build_mark *out) must_check;

/* railhead_build - the ID of this build. Only programs have it, and tests do not (tools/ident.c).
 */
extern const char railhead_build[];

#endif
