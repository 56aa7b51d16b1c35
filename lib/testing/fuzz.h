/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h: the frame of every X_fuzz.c: one function that libFuzzer calls with bytes, and
 * what must hold of every call in this tree, whatever it is fed.
 *
 *	FUZZ(const uint8_t *data, size_t size) { ...; return 0; }
 *
 * Built by `make fuzz`, run by tools/fuzz.sh; the seeds are in <folder>/corpus/X.seeds.
 */
#ifndef RAILHEAD_LIB_TESTING_FUZZ_H
#define RAILHEAD_LIB_TESTING_FUZZ_H

#include <stdio.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/parse.h"

/* FUZZ - the function that libFuzzer calls with each input; it returns 0. fuzz_begin() comes before
 * all of them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
#define FUZZ(...)                                                                                  \
	int LLVMFuzzerInitialize(int *argc, char ***argv)                                          \
	{                                                                                          \
		return fuzz_begin(argc, argv);                                                     \
	}                                                                                          \
	int LLVMFuzzerTestOneInput(__VA_ARGS__)

/* MUST - a property. Where it does not hold, the fuzzer stops and keeps the input. */
#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			(void)fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__,        \
				      #cond);                                                      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/*
 * fuzz_begin - libFuzzer keeps findings in the current folder unless an argument names a prefix. A
 * target that a person starts keeps them beside itself, so below build/; a later argument overrides
 * this one.
 */
static inline int fuzz_begin(int *argc, char ***argv)
{
	size_t n = (size_t)*argc;
	char **args = calloc(n + 2, sizeof(*args)), *prefix;

	MUST(args && n && asprintf(&prefix, "-artifact_prefix=%s-", **argv) > 0);
	memcpy(args + 1, *argv, n * sizeof(*args));
	args[0] = args[1];
	args[1] = prefix;
	*argv = args;
	++*argc;
	return 0;
}

/* What outputs hold before a call; a pointer of such bytes must never be followed. */
#define FUZZ_FILL 0x5a
#define FUZZ_PTR  ((void *)UINT64_C(0x5a5a5a5a5a5a5a5a))
#define FUZZ_OUT(type, name)                                                                       \
	type name;                                                                                 \
	memset(&(name), FUZZ_FILL, sizeof(name))

/* Each byte equals the one behind it, and the first one is as it was. */
static inline bool fuzz_untouched(const void *p, size_t size)
{
	const uint8_t *b = (const uint8_t *)p;

	return size == 0 || (*b == FUZZ_FILL && !memcmp(b, b + 1, size - 1));
}

/* A message is one line of UTF-8 text; what is said beside it may have several. */
static inline void fuzz_error_is_good(const struct err *e)
{
	MUST((int)e->code > 0 && e->errnum >= 0);
	MUST(memchr(e->msg, 0, sizeof(e->msg)) && memchr(e->detail, 0, sizeof(e->detail)));
	MUST(*e->msg && !strchr(e->msg, '\n'));
	MUST(utf8_valid(e->msg, strlen(e->msg)) && utf8_valid(e->detail, strlen(e->detail)));
}

/*
 * fuzz_ok - the contract of lib/base/err.h: 0 and *e as it was, or -1, a good error, and the size
 * bytes of out as they were. Both were FUZZ_FILL before the call. e NULL: the function sets none.
 */
static inline bool fuzz_ok(int rc, const struct err *e, const void *out, size_t size)
{
	MUST(rc == 0 || rc == -1);
	if (rc == 0) {
		MUST(!e || fuzz_untouched(e, sizeof(*e)));
		return true;
	}
	if (e)
		fuzz_error_is_good(e);
	MUST(fuzz_untouched(out, size));
	return false;
}

/* fuzz_text - a string of its own on the heap, so that reading one byte too far is noticed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* fuzz_cut - the bytes up to the next line break as a string; *data goes behind it. */
static inline char *fuzz_cut(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memchr(*data, '\n', *size) : NULL;
	size_t len = end ? (size_t)(end - *data) : *size;
	char *text = fuzz_text(*data, len);

	*data += end ? len + 1 : len;
	*size -= end ? len + 1 : len;
	return text;
}

#endif
