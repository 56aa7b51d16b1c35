/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cached.h: attachments that libcni keeps in its cache, and railhead has no record of: the
 * reference macvlan with railhead-ipam, or a plugin that writes no records. Their DEL runs our
 * programs, too.
 *
 * libcni writes a file after each ADD and removes it after the DEL (cacheAdd and cacheDel in
 * libcni/api.go, 1.3.0). A runtime has it in /var/lib/cni/results, and Multus in
 * /var/lib/cni/multus/results.
 */
#ifndef RAILHEAD_INSTALL_CACHED_H
#define RAILHEAD_INSTALL_CACHED_H

#include "install/needed.h"

/* The attachments that have a record. */
struct recorded {
	uint64_t *key; /* owned; recorded_key() of each */
	size_t n;
};
uint64_t recorded_key(const struct record_key *k);

/*
 * cached_load - add the attachments whose configuration names a program of the receipt. A file that
 * cannot be read, or does not say its configuration, may need each program. ERR_IO if a folder
 * cannot be read now. Sets x->no_cache if ctx->cni_dir has neither folder.
 */
int cached_load(const struct ctx *ctx, const struct receipt *ours, const struct recorded *recorded,
		struct needed *x, struct err *e) must_check;

#endif
