/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h: one line of key=value pairs for each event, on a descriptor: stderr, or the log file that
 * a configuration names. errno is kept.
 *
 * Only main programs and the CNI engine log above debug; libraries return errors instead.
 */
#ifndef RAILHEAD_LIB_BASE_LOG_H
#define RAILHEAD_LIB_BASE_LOG_H

#include "lib/base/base.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log {
	int fd;               /* -1: silent */
	enum log_level level; /* what is less urgent is dropped */
	const char *tag;      /* program or plugin name, borrowed */
	const char *context;  /* e.g. "container=c1 ifname=net1", borrowed, may be NULL */
};

/*
 * log_msg - write one line of at most 4096 bytes, with one write(2):
 *	level=info program=macvlan container=c1 ifname=net1 msg="moved \"eth1\""
 * Bytes that are control characters or not UTF-8 are written as \xNN; longer text ends in "...".
 */
void log_msg(const struct log *log, enum log_level level, const char *fmt, ...) printf_like(3, 4);

#define log_error(l, ...) log_msg((l), LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(l, ...)  log_msg((l), LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(l, ...)  log_msg((l), LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(l, ...) log_msg((l), LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
