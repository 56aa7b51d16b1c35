/* SPDX-License-Identifier: Apache-2.0 */
/* untar.h: unpack a tar that nobody vouches for. */
#ifndef RAILHEAD_TOPO_CAPTURE_UNTAR_H
#define RAILHEAD_TOPO_CAPTURE_UNTAR_H

#include "lib/base/err.h"

#define UNTAR_BYTES   ((size_t)256 * 1024 * 1024)
#define UNTAR_ENTRIES 200000
#define UNTAR_FOLDERS 50000 /* that entries lie in, and that have no entry of their own */

/*
 * untar - the tar that fd gives (ustar, with GNU's and pax's long names) into the folder dir:
 * folders (mode 0700), files (0600) and symbolic links, whatever else it says of them. Nothing is
 * written through a link. Hard links and what it does not know are left out. ERR_FIELD: it is no
 * tar, ends early, is larger than the bounds, names something outside, or holds a device.
 */
int untar(int fd, int dir, struct err *e) must_check;

#endif
