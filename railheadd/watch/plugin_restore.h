/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_restore.h: puts a program of railhead-install back into the CNI folder. */
#ifndef RAILHEAD_RAILHEADD_WATCH_PLUGIN_RESTORE_H
#define RAILHEAD_RAILHEADD_WATCH_PLUGIN_RESTORE_H

#include "install/receipt.h"

/*
 * plugin_restore - dir is the folder, of folder_open(); source has the programs under their own
 * names, without a prefix. Only the very program that p says is written, in place of whatever has
 * its name. The caller holds the lock of railhead-install. ERR_STATE: source does not have it. A
 * failure changes nothing.
 */
int plugin_restore(int dir, const char *source, const struct receipt_program *p,
		   struct err *e) must_check;

#endif
