/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put before every file that clang-tidy reads, except lib/base/err.c: the analyzer does not look
 * into other files, and would follow paths on which err_set() returned 0.
 */
#ifndef RAILHEAD_TOOLS_TIDY_H
#define RAILHEAD_TOOLS_TIDY_H

#include "lib/base/err.h"

#define err_set(...)  ((err_set)(__VA_ARGS__), -1)
#define err_wrap(...) ((err_wrap)(__VA_ARGS__), -1)
#define err_hint(...) ((err_hint)(__VA_ARGS__), -1)
#define err_nomem(e)  ((err_nomem)(e), -1)

#endif
