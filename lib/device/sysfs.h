/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.h: attribute files of /sys and /proc/sys: one short value a file.
 *
 * root is ctx->sysfs or ctx->proc; path is relative to it. Values are bounded and the trailing
 * newline is cut.
 */
#ifndef RAILHEAD_LIB_DEVICE_SYSFS_H
#define RAILHEAD_LIB_DEVICE_SYSFS_H

#include "lib/base/err.h"

/*
 * sysfs_read_fd - the value of an open file. -1 with errno, and then the content of buf is
 * undefined. EFBIG: the value is longer; EILSEQ: it has a NUL.
 */
int sysfs_read_fd(int fd, char *buf, size_t size) must_check;
int sysfs_read(const char *root, const char *path, char *buf, size_t size,
	       struct err *e) must_check;
int sysfs_read_u64(const char *root, const char *path, uint64_t *out, struct err *e) must_check;
int sysfs_write(const char *root, const char *path, const char *value, struct err *e) must_check;

/*
 * sysctl_net_path - set a variable of one interface in the network namespace the caller is in. key
 * is its family and name, "ipv6/disable_ipv6" for <proc>/sys/net/ipv6/conf/<ifname>/disable_ipv6.
 * Skips the write when the value already stands. ERR_FIELD (EINVAL) for a key or ifname that is no
 * such thing.
 */
int sysctl_net_path(const char *proc, const char *ifname, const char *key, const char *value,
		    struct err *e) must_check;

#endif
