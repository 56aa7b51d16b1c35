/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h: files of a CNI folder, changed so that a runtime finds the old program or the new one,
 * whole, at any time.
 *
 * dir is a descriptor of folder_open(), name a file name in it. Beside a program the folder may
 * have its new content (".NAME.railhead-new") and, while a removal runs, the program itself
 * (".NAME.railhead-old"). folder_heal() takes away what a killed run left of these.
 */
#ifndef RAILHEAD_INSTALL_FOLDER_H
#define RAILHEAD_INSTALL_FOLDER_H

#include "install/plan.h"
#include "lib/sys/build_mark.h"

#define PROGRAM_MAX ((size_t)64 << 20) /* bytes */

/* The content of a program. */
struct content {
	char *data; /* owned */
	size_t len;
	char sha256[DIGEST_LEN];
};
void content_clear(struct content *c);
#define auto_content auto_clean(content_clear)

/*
 * folder_open - the folder must exist, behind no link. Root alone may write to it and to every
 * folder above it. Its mount allows programs. Returns a descriptor, or -1.
 */
int folder_open(const char *path, struct err *e) must_check;

/* folder_look - what is under the name: held, and held_sha256 and held_wrong if it is ours. */
int folder_look(int dir, struct plan_item *x, struct err *e) must_check;

/*
 * folder_is_other - is it still what held and held_sha256 say? 1: no. folder_is_other_aside - the
 * same for the file that was set aside.
 */
int folder_is_other(int dir, const struct plan_item *x, struct err *e) must_check;
int folder_is_other_aside(int dir, const struct plan_item *x, struct err *e) must_check;

/* folder_read - the program of this name, and its build. ERR_STATE: not a program of railhead. */
int folder_read(int dir, const char *name, struct content *out, struct build_mark *mark,
		struct err *e) must_check;

/*
 * folder_stage - write the content beside the name, on disk when this returns. folder_switch - give
 * it the name; a file that has taken a name which x->held says was free is left there, errnum
 * EEXIST. folder_unstage - remove it. folder_sync - renames and removals are on disk.
 */
int folder_stage(int dir, const char *name, const struct content *c, struct err *e) must_check;
int folder_switch(int dir, const struct plan_item *x, struct err *e) must_check;
void folder_unstage(int dir, const char *name);
int folder_sync(int dir, struct err *e) must_check;

/*
 * folder_set_aside - take the program's name away. folder_put_back - undo that, unless the name has
 * another file by now: then a program of railhead is removed. folder_discard - remove the program
 * that was set aside.
 */
int folder_set_aside(int dir, const char *name, struct err *e) must_check;
int folder_put_back(int dir, const char *name, struct err *e) must_check;
int folder_discard(int dir, const char *name, struct err *e) must_check;

/*
 * folder_runs_aside - does a process execute the program that was set aside? 1: yes. A kernel that
 * allows writing to such a program (Linux 6.11 and 6.12) does not tell: 0.
 */
int folder_runs_aside(int dir, const char *name, struct err *e) must_check;

/*
 * folder_heal - remove new content that never got the name; put back a program set aside.
 * folder_heal_receipt - remove a receipt that never got its name; one that stays does no harm.
 */
int folder_heal(int dir, const char *name, struct err *e) must_check;
void folder_heal_receipt(int dir);

/* folder_receipt - read the receipt. 1: there is none. */
int folder_receipt(int dir, struct receipt *out, struct err *e) must_check;

/* folder_write_receipt - replace it, on disk when this returns. NULL: remove it. */
int folder_write_receipt(int dir, const struct receipt *r, struct err *e) must_check;

#endif
