/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h: what the agent asks a child of child.h, as a text, and how it reads the answer. Pure.
 *
 * A question is owned by the caller; NULL: no memory.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_ASK_H
#define RAILHEAD_RAILHEADD_DEVICES_ASK_H

#include "railheadd/devices/wire.h"

/* ask_look - of child_look. folder: the configurations of resources. kubelet: the folder with the
 * sockets of device plugins. */
char *ask_look(const char *folder, const char *kubelet);

/* The result of a look. set and look.of have the same order. */
struct ask_seen {
	struct json *set;   /* owned; of resource_set_to_json() */
	struct json *given; /* owned; ids of pods by resource, as lists; NULL: not known */
	char unlisted[sizeof(((struct err *)0)->msg)]; /* why they are not known; "": they are */
	uint32_t interval;                             /* seconds */
	struct resource_look look;
};
int ask_look_read(const struct json *answer, struct ask_seen *out, struct err *e) must_check;
void ask_seen_clear(struct ask_seen *s);
#define auto_ask_seen auto_clean(ask_seen_clear)

/*
 * ask_publish - of child_publish: the look, and the configuration that it used. A file that has
 * changed since then, perhaps into a bad one, is not read again.
 */
char *ask_publish(const struct ask_seen *seen);

/* ask_allocate - of child_allocate: an element of ask_seen.set, the devices of this resource, and a
 * request. */
char *ask_allocate(const struct json *resource, const struct resource_devices *d,
		   const struct wire_allocate *request);

/* The result for each container of a request. */
struct ask_allocated {
	struct resource_allocation *of; /* owned */
	size_t n;
};
int ask_allocate_read(const struct json *answer, size_t n, struct ask_allocated *out,
		      struct err *e) must_check;
void ask_allocated_clear(struct ask_allocated *a);
#define auto_ask_allocated auto_clean(ask_allocated_clear)

/* ask_register - of child_register. kubelet: the path of its socket. */
char *ask_register(const char *kubelet, const char *endpoint, const char *resource);

#endif
