/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h: the plugin railhead in the pod network of a node: an entry in the list of plugins that
 * the runtime reads.
 *
 * A runtime takes the first file of its folder, by name. If that is of Multus, the pod network is
 * the first file that is not. Multus may have a copy of its list, which gets the entry, too.
 * Only one process at a time changes the folder: the caller has the lock of railhead-install.
 */
#ifndef RAILHEAD_INSTALL_CHAIN_H
#define RAILHEAD_INSTALL_CHAIN_H

#include "install/chain_text.h"

#define CHAIN_FILE_LEN 256

/* chain_open - the folder of configurations: root alone may write there. A descriptor, or -1. */
int chain_open(const char *path, struct err *e) must_check;

/*
 * chain_put - the pod network gets the entry. chain_take - no file of the folder has it, also none
 * that its owner has set aside. 1: a file was changed; 0: none. Each is replaced by one rename;
 * owner and mode stay. file is the one that has the pod network. ERR_IO: a file cannot be read or
 * written. ERR_AGAIN: its owner writes it. ERR_DECODE: it is not JSON. ERR_NOTFOUND, ERR_CONFIG:
 * there is no list that can have the entry. chain_take() ignores what is not JSON and does not name
 * the plugin.
 */
int chain_put(int dir, char file[CHAIN_FILE_LEN], struct err *e) must_check;
int chain_take(int dir, struct err *e) must_check;

#endif
