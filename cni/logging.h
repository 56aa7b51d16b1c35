/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logging.h: the keys "logLevel" and "logFile" of a configuration, as sriov-cni and the SR-IOV
 * network operator write them.
 *
 * Whoever may write a NetworkAttachmentDefinition chooses that file, and it is written as root: so
 * only regular files below /var/log with a name in .log are. Nothing here makes a call fail.
 */
#ifndef RAILHEAD_CNI_LOGGING_H
#define RAILHEAD_CNI_LOGGING_H

#include "cni/conf.h"
#include "lib/log.h"

#define LOGGING_ROOT "/var/log/"

/*
 * logging_level - "panic" and "error", "warning", "info", "debug"; -1 for any other word. Pure.
 * logging_path_problem - why a file is not written, or NULL if it may be. Pure.
 */
int logging_level(const char *word);
const char *logging_path_problem(const char *path);

/*
 * logging_apply - set log as conf says; what cannot be done is a warning in the log as it was. The
 * file stays open for the life of the process.
 */
void logging_apply(const struct cni_conf *conf, struct log *log);

#endif
