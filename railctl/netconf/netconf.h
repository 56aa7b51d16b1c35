/* SPDX-License-Identifier: Apache-2.0 */
/* netconf.h: `railctl netconf`: files with network configurations. */
#ifndef RAILHEAD_RAILCTL_NETCONF_NETCONF_H
#define RAILHEAD_RAILCTL_NETCONF_NETCONF_H

#include "lib/cli/cmd.h"

extern const struct cmd cmd_netconf;

/*
 * netconf_check - what the plugins say about a text before a pod does: a configuration, a list of
 * them, or NetworkAttachmentDefinitions as JSON or YAML. *out: an array of {network, type, level,
 * message, details} for each finding, where level is "error" or "warning"; owned by the caller.
 * -1: no memory, or the text is none of these.
 */
struct json;
int netconf_check(const char *text, size_t len, struct json **out, struct err *e) must_check;

#endif
