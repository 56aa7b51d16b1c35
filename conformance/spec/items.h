/* SPDX-License-Identifier: Apache-2.0 */
/* items.h: what the files of items share. */
#ifndef CONFORMANCE_SPEC_ITEMS_H
#define CONFORMANCE_SPEC_ITEMS_H

#include "conformance/spec/box.h"
#include "conformance/spec/json.h"
#include "conformance/spec/observe.h"
#include "conformance/spec/shape.h"
#include "conformance/spec/spec.h"

/* When the last of a row of kills comes, if none was too late before. */
enum { KILL_LATEST_US = 400000 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ITEMS(name)                                                                                \
	extern const struct item items_##name[];                                                   \
	extern const size_t n_items_##name
ITEMS(process);
ITEMS(version);
ITEMS(error);
ITEMS(add);
ITEMS(del);
ITEMS(check);
ITEMS(status);
ITEMS(gc);
ITEMS(config);
ITEMS(result);
ITEMS(delegate);
ITEMS(chain);
ITEMS(ipam);
ITEMS(robust);
ITEMS(robust2);
ITEMS(robust3);
#undef ITEMS

/* ways.c: each way to make an ADD fail, one after the other, then each(); the plugin must not be
 * harmed. */
void each_refusal(struct t *t, void (*each)(struct t *t, const char *way));
/* Versions of the protocol that the plugin knows, from the one named on. */
void each_version(struct t *t, const char *least, void (*each)(struct t *t, const char *version));
/* The last ADD's address is held by nobody: the pool of the profile, or the fake's, is asked. */
bool is_free(struct t *t);
bool released(struct t *t, const char *when);
/* Configuration with one address in all, and an attachment that has it (an IPAM), or a plain
 * attachment. */
bool attach_last(struct t *t, const char *name);
/* Another MAC address, as tuning gives one, on the link and in prevResult; false and no change:
 * this kind of link has its master's. */
bool given_mac(struct t *t);
/* What the first call makes for good (folders, a store) is not a leak. */
void warm_up(struct t *t);
/* setup.c, for a chained plugin: the pod's interface goes up, with the address of prevResult. */
void bring_up(struct t *t);
/* ADD with this environment variable or key must succeed, and DEL after it. */
bool add_and_del(struct t *t, const char *name);

#endif
