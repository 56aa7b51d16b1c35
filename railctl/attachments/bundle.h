/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h: a tar that grows by one piece after the other, and the list of them. If a piece is not
 * available, the list has the reason.
 */
#ifndef RAILHEAD_RAILCTL_ATTACHMENTS_BUNDLE_H
#define RAILHEAD_RAILCTL_ATTACHMENTS_BUNDLE_H

#include "lib/cli/cmd.h"
#include "topo/capture/tar.h"

struct bundle {
	struct cmd_run *run;
	struct tar tar;
	struct json *files; /* [{"file", "what", "bytes", "error"}], borrowed */
};

/*
 * Each of these adds a piece. In the list it has "bytes" if it is in the tar, and "error" if it
 * lacks something: a program that fails may have printed something before. -1: no memory. file: its
 * path in the tar.
 *
 * bundle_command - what a command of railctl prints, such as "ipam usage --json".
 * bundle_program - what another program prints; argv[0] is its path.
 * bundle_file - a whole file. bundle_conf - one in JSON, without secrets.
 * bundle_tail - the end of a log.
 */
int bundle_command(struct bundle *b, const char *file, const char *command,
		   struct err *e) must_check;
int bundle_program(struct bundle *b, const char *file, char *const *argv, struct err *e) must_check;
int bundle_file(struct bundle *b, const char *file, const char *path, struct err *e) must_check;
int bundle_conf(struct bundle *b, const char *file, const char *path, struct err *e) must_check;
int bundle_tail(struct bundle *b, const char *file, const char *path, struct err *e) must_check;

/* bundle_text - a piece that is there already, and is not in the list. */
void bundle_text(struct bundle *b, const char *file, const char *text);

#endif
