/* SPDX-License-Identifier: Apache-2.0 */
/* netconf.h: `railctl netconf`: files with network configurations. */
#ifndef RAILHEAD_RAILCTL_ATTACHMENTS_NETCONF_H
#define RAILHEAD_RAILCTL_ATTACHMENTS_NETCONF_H

#include "lib/cli/cmd.h"
#include "lib/cli/finding.h"

extern const struct cmd cmd_netconf;

/*
 * netconf_check - what the plugins say about a text before a pod does: a configuration, a list of
 * them, or NetworkAttachmentDefinitions as JSON or YAML. An error is FINDING_FAIL, an unknown key
 * FINDING_WARN. The caller clears *out. -1: no memory, or the text is none of these.
 */
int netconf_check(const char *text, size_t len, struct findings *out, struct err *e) must_check;

#endif
