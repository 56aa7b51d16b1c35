/* SPDX-License-Identifier: Apache-2.0 */
/* untar.h: unpacks a tar from an untrusted source, within bounds. */
#ifndef RAILHEAD_TOPO_CAPTURE_UNTAR_H
#define RAILHEAD_TOPO_CAPTURE_UNTAR_H

#include "lib/base/err.h"

#define UNTAR_BYTES   ((size_t)256 * 1024 * 1024)
#define UNTAR_ENTRIES 200000
#define UNTAR_FOLDERS 50000 /* folders without an entry of their own */

/*
 * untar - unpack the tar that fd reads (ustar, long names of GNU and pax) into the folder dir:
 * folders (mode 0700), files (mode 0600) and symbolic links; other modes and owners are ignored.
 * No file is written through a link. Hard links and unknown types are omitted. ERR_FIELD: it is not
 * a tar, ends early, exceeds a bound, has a name that leads out of dir, or has a device.
 */
int untar(int fd, int dir, struct err *e) must_check;

#endif
