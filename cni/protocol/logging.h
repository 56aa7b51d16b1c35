/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logging.h: the keys "logLevel" and "logFile" of a configuration, as sriov-cni and the SR-IOV
 * network operator write them.
 *
 * Whoever may write a NetworkAttachmentDefinition chooses that file, and it is written as root: so
 * only regular files below /var/log (or what railhead.json(5) names) with a name in .log are.
 * Nothing here makes a call fail.
 */
#ifndef RAILHEAD_CNI_PROTOCOL_LOGGING_H
#define RAILHEAD_CNI_PROTOCOL_LOGGING_H

#include "cni/protocol/conf.h"
#include "lib/base/ctx.h"

/* logging_level - "panic" and "error", "warning", "info", "debug"; -1 for any other word. Pure. */
int logging_level(const char *word);

/*
 * logging_open - the file path to append to; e names it. flags: O_WRONLY or O_RDWR. ERR_FORBIDDEN:
 * it is in none of the folders (logDirs of railhead.json), its name does not end in .log, or its
 * path has a link.
 */
int logging_open(const struct ctx *ctx, const char *path, int flags, struct err *e) must_check;

/*
 * logging_apply - set ctx->log from conf. A failure is a warning in the former log.
 * The file stays open for the life of the process.
 */
void logging_apply(const struct cni_conf *conf, struct ctx *ctx);

#endif
