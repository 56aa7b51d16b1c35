/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_path.h: open, as root, a path that the author of a configuration chose.
 *
 * A network configuration names files: the store, the log. Such a path is opened from "/" one
 * component at a time, each relative to the one before, without following a link. So no other
 * process can redirect it, even while it is being opened. (openat2(2) does the same in one call,
 * but does not report the owners of the folders.)
 *
 * ERR_FORBIDDEN with a hint what to do where a rule is broken; errnum ELOOP for a symbolic link,
 * EPERM else. ERR_IO with errno for what the kernel says; ENOENT: it is not there.
 */
#ifndef RAILHEAD_LIB_SYS_SAFE_PATH_H
#define RAILHEAD_LIB_SYS_SAFE_PATH_H

#include <limits.h>
#include <sys/types.h>

#include "lib/base/err.h"

enum safe_rule {
	SAFE_OWNED = 1, /* each folder belongs to root (or us), and no other user may write there */
	SAFE_CREATE = 2, /* a missing folder is made, mode 0700 */
	SAFE_PUBLIC = 4, /* each folder may be entered by all users */
};

/*
 * safe_path_below - path, or its folder "/run" written as "/var/run", is one of roots (NULL ends
 * them) or below one. False for relative paths and those with "." or ".." in them. Pure.
 */
bool safe_path_below(const char *path, const char *const *roots);

/* safe_open_dir - the folder path; rules is of enum safe_rule. */
int safe_open_dir(const char *path, unsigned rules, struct err *e) must_check;

/* safe_check_dir - SAFE_OWNED for an open folder. */
int safe_check_dir(int fd, const char *path, struct err *e) must_check;

/* safe_open_parent - the folder of path, and in *last what is behind the last slash. */
int safe_open_parent(const char *path, unsigned rules, const char **last, struct err *e) must_check;

/*
 * safe_open_file - a plain file below dirfd that has this one name and is root's or ours; with
 * O_CREAT in flags made when absent, mode 0600. Nothing else is opened, so no device is started and
 * no FIFO waited for.
 */
int safe_open_file(int dirfd, const char *name, int flags, struct err *e) must_check;

/*
 * safe_program - where the links of path lead, if only root can have put a program there: a plain
 * executable file of root (or us), in folders of root, and no other user may write to any of them.
 */
int safe_program(const char *path, char real[PATH_MAX], struct err *e) must_check;

/*
 * safe_read - the text of a file that only root can have written, in folders of SAFE_OWNED. Returns
 * the length, or -1: the message begins with the path.
 */
ssize_t safe_read(const char *path, size_t max, char **out, struct err *e) must_check;

/*
 * safe_read_public - what path says, if every user of this host may read it: a plain file of at
 * most max bytes, in no kernel file system. Links are followed (resolv.conf is one on many hosts);
 * the rules hold for what they lead to. Returns the length or -1.
 */
ssize_t safe_read_public(const char *path, size_t max, char **out, struct err *e) must_check;

#endif
