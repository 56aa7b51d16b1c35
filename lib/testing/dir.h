/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dir.h: a folder for a test that vanishes with the test's process, however that ends.
 *
 * A tmpfs over /mnt in a mount namespace of its own (and a user namespace, unless root). For test
 * programs only.
 */
#ifndef RAILHEAD_LIB_TESTING_DIR_H
#define RAILHEAD_LIB_TESTING_DIR_H

#include <sys/stat.h>

/* testing_dir - enter the namespace and mount the folder; its path. Fails the test if it cannot. */
const char *testing_dir(void);

/* testing_file - make or replace the file at path, with that mode. */
void testing_file(const char *path, mode_t mode, const char *text);

#endif
