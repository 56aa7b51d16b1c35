/* SPDX-License-Identifier: Apache-2.0 */
/* observe.h: what the kernel, the files and the fake IPAM say, not what the plugin claims. */
#ifndef CONFORMANCE_SPEC_OBSERVE_H
#define CONFORMANCE_SPEC_OBSERVE_H

#include "conformance/spec/spec.h"

/* ns is a path, NULL for the host. All arguments of ip(8) are separated by blanks. */
bool ip(const char *ns, const char *command);
/* NULL: no such link. With addresses in addr_info. */
cJSON *link_of(const char *ns, const char *name);
bool has_link(const char *ns, const char *name);
bool has_addr(const char *ns, const char *name, const char *cidr);
/* Route to dst ("default" too) of either family, any table; NULL: none. */
cJSON *route_of(const char *ns, const char *dst);
/* Links, addresses, routes, files and reservations, as text to compare. */
char *snapshot(const struct t *t);
/* Compare with an earlier one; a difference is a failure. */
bool unchanged(struct t *t, const char *before, const char *when);
/* Reservations of the fake IPAM: all, or those of a container. */
int reserved(const char *cid);
/* Calls of the fake IPAM with command, and what it was given last. */
int fake_calls(const char *cmd);
char *fake_stdin(const char *cmd);
char *fake_env(const char *cmd);
char *file_text(const char *path);
bool write_file(const char *path, const char *content);

#endif
