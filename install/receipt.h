/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receipt.h: which programs railhead-install put into a CNI folder. Pure.
 *
 * The receipt is a file of JSON in that folder, so that it shares the fate of the programs. It says
 * what --remove may remove, and what an install with another prefix leaves behind.
 */
#ifndef RAILHEAD_INSTALL_RECEIPT_H
#define RAILHEAD_INSTALL_RECEIPT_H

#include "lib/base/err.h"

#define RECEIPT_FILE     ".railhead-install.json"
#define RECEIPT_MAX      65536 /* bytes of the file */
#define RECEIPT_PROGRAMS 64
#define PROGRAM_NAME_LEN 64 /* a file name of at most 63 bytes, and NUL */
#define DIGEST_LEN       65 /* SHA-256 in lower-case hexadecimal digits, and NUL */

/* A program in the folder, and its content when it was written there. */
struct receipt_program {
	char name[PROGRAM_NAME_LEN];
	char sha256[DIGEST_LEN];
};

/* No pointers: a receipt is copied by assignment, and needs no clean-up. */
struct receipt {
	bool changing;    /* an install or a removal began and has not ended */
	char version[32]; /* of railhead, "0.1.0" */
	char build[DIGEST_LEN];
	char chain[256]; /* the folder whose pod network has the plugin railhead; "": none */
	size_t n;
	struct receipt_program program[RECEIPT_PROGRAMS];
};

/*
 * receipt_decode - from the text of the file. ERR_DECODE or ERR_CONFIG names what is wrong. Keys
 * that a later version adds are ignored.
 */
int receipt_decode(const char *text, size_t len, struct receipt *out, struct err *e) must_check;

/* receipt_print - the text of the file, freed with free(). NULL: no memory. */
char *receipt_print(const struct receipt *r);

/* receipt_find - the program of that name in the folder, or NULL. */
const struct receipt_program *receipt_find(const struct receipt *r, const char *name);

/* receipt_add - add a program, or change its digest. ERR_CONFIG: there would be too many. */
int receipt_add(struct receipt *r, const char *name, const char *sha256, struct err *e) must_check;

/* program_name_valid - may a file in the folder have that name? */
bool program_name_valid(const char *name);

#endif
