/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sm_file.h: the files in <state_dir>/sm: one membership each. The name is the key: partition and
 * GUID, such as 0001-0200000000000a01.
 */
#ifndef RAILHEAD_FABRIC_SM_FILE_H
#define RAILHEAD_FABRIC_SM_FILE_H

#include "fabric/membership.h"
#include "lib/base/ctx.h"
#include "lib/json/json.h"

#define SM_FOLDER        "sm"
#define SM_FILE_NAME_LEN 22 /* with NUL */

struct sm_file {
	struct sm_entry x;              /* borrows from tree, or from the caller */
	char boot[CTX_BOOT_ID_LEN + 1]; /* when it became a member; "" while leaving */
	struct json *tree;              /* NULL when built by hand */
};

/* ---- text: pure ---- */

/* sm_file_name - the name of its file. Returns out. */
char *sm_file_name(uint16_t pkey, struct guid guid, char out[SM_FILE_NAME_LEN]);

/* sm_file_name_parse - -1: no name of an entry. */
int sm_file_name_parse(const char *name, uint16_t *partition, struct guid *guid) must_check;

/* sm_file_print - the text of a file; the caller frees it. NULL: no memory. */
char *sm_file_print(const struct sm_file *x);

/* sm_file_decode - the reverse. ERR_DECODE, ERR_CONFIG, ERR_FIELD. Clear out afterwards. */
int sm_file_decode(const char *text, size_t len, struct sm_file *out, struct err *e) must_check;
void sm_file_clear(struct sm_file *x);
#define auto_sm_file auto_clean(sm_file_clear)

/* sm_file_is_of - the attachment owns it. */
bool sm_file_is_of(const struct sm_file *x, const struct sm_who *who);

/* ---- files ---- */

/* sm_file_open_dir - the folder. Without create: errnum ENOENT when it is absent. */
int sm_file_open_dir(const struct ctx *ctx, bool create, struct err *e) must_check;

/* sm_file_read - 1: read; 0: there is none. A damaged file is ERR_DECODE, ERR_CONFIG or ERR_FIELD.
 */
int sm_file_read(int dir, const char *name, struct sm_file *out, struct err *e) must_check;

/* sm_file_write - durable: on disk, too, when it returns. */
int sm_file_write(int dir, const struct sm_file *x, bool durable, struct err *e) must_check;

/* sm_file_each - call fn for each file in the order of names. A file that is damaged, or cannot be
 * read now, is logged and left out. Non-zero from fn stops the scan. */
typedef int (*sm_file_fn)(const char *name, const struct sm_file *x, void *arg);
int sm_file_each(const struct ctx *ctx, int dir, sm_file_fn fn, void *arg,
		 struct err *e) must_check;

#endif
