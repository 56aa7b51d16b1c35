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

#include <stdbool.h>

#define BUILD_MARK_HEAD 4096 /* bytes: the mark lies within the first ones of the file */

/*
 * build_mark_found - is path a regular ELF file that we may execute, and does it begin with mark?
 * False also for a file that cannot be read: whoever asks then executes it and sees why.
 */
bool build_mark_found(const char *path, const char *mark);

#endif
