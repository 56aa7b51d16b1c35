/* SPDX-License-Identifier: Apache-2.0 */
/* pool_files.h: files with pools, that `pool apply` reads. */
#ifndef RAILHEAD_RAILCTL_IPAM_POOL_FILES_H
#define RAILHEAD_RAILCTL_IPAM_POOL_FILES_H

#include "lib/json/json.h"

/*
 * pool_files_write - write each member of an object as a file of its name and ".json" in the folder
 * dir, which is made if need be. If a file exists with another text, ERR_BUSY and none is written:
 * a person may have changed it.
 */
int pool_files_write(const char *dir, const struct json *files, struct err *e) must_check;

/*
 * pool_files_check - whether the functions that read pools accept one of such a file: an object
 * with its name. ERR_CONFIG, ERR_DECODE: the message has the name, the key and the value.
 */
int pool_files_check(const struct json *pool, struct err *e) must_check;

#endif
