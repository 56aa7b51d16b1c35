/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h: FNV-1a, 64 bits: short, and the same on every machine, as ids on disk need it. It does
 * not resist who chooses the bytes. Source: draft-eastlake-fnv.
 */
#ifndef RAILHEAD_LIB_BASE_HASH_H
#define RAILHEAD_LIB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* hash_add - go on from h, HASH_START at first, with len bytes. */
uint64_t hash_add(uint64_t h, const void *bytes, size_t len);

/* hash_add_text - the same with the characters of a text, without its NUL. */
uint64_t hash_add_text(uint64_t h, const char *text);

#endif
