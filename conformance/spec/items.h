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

/* ways.c: make an ADD fail in each way, and call each() after each of them. */
void each_refusal(struct t *t, void (*each)(struct t *t, const char *way));
/* Call each() for each version of the protocol that the plugin supports, from `least` on. */
void each_version(struct t *t, const char *least, void (*each)(struct t *t, const char *version));
/* Is the address of the last ADD free, in the pool of the profile or of the fake IPAM? */
bool is_free(struct t *t);
bool released(struct t *t, const char *when);
/* Attach with a pool of one address (an IPAM), or with the usual configuration. */
bool attach_last(struct t *t, const char *name);
/* Set another MAC address on the link and in prevResult, like the plugin tuning. Returns false and
 * changes nothing if this kind of link has the MAC of its master. */
bool given_mac(struct t *t);
/* Make the first call, which creates permanent folders and a store: these are not a leak. */
void warm_up(struct t *t);
/* setup.c, for a chained plugin: the pod's interface goes up, with the address of prevResult. */
void bring_up(struct t *t);
/* ADD with this environment variable or key must succeed, and DEL after it. */
bool add_and_del(struct t *t, const char *name);

#endif
