/* SPDX-License-Identifier: Apache-2.0 */
/* ethtool_stats.h: the statistics of a driver, as `ethtool -S` shows them. Only reads. */
#ifndef RAILHEAD_LIB_DEVICE_ETHTOOL_STATS_H
#define RAILHEAD_LIB_DEVICE_ETHTOOL_STATS_H

#include "lib/base/err.h"

#define ETHTOOL_STATS_MAX 16384

/*
 * ethtool_stats - call fn for each statistic of the interface ifname in the caller's namespace.
 * The name ends with fn. Non-zero from fn ends the walk. ERR_KERNEL: errnum EOPNOTSUPP
 * if the driver has none, ENODEV if there is no such interface, E2BIG above ETHTOOL_STATS_MAX.
 */
typedef int (*ethtool_stat_fn)(const char *name, uint64_t value, void *arg);
int ethtool_stats(const char *ifname, ethtool_stat_fn fn, void *arg, struct err *e) must_check;

#endif
