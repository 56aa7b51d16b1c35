/* SPDX-License-Identifier: Apache-2.0 */
/* inuse_priv.h: what the files of this room share. */
#ifndef RAILHEAD_CNI_ENGINE_INUSE_PRIV_H
#define RAILHEAD_CNI_ENGINE_INUSE_PRIV_H

#include "cni/engine/inuse.h"

/* What is in use: an address, or with none the MAC of the interface. */
struct inuse_what {
	struct ip ip;
	char text[IP_STR_LEN + 8]; /* "MAC 02:00:00:00:00:01", "address 10.0.0.1" */
};

/*
 * inuse_find - 1: a living interface on the same lower device has it, and who is set to its name
 * for people. 0: none is found. -1: it cannot be said.
 */
#define INUSE_WHO_LEN 400
int inuse_find(const struct inuse_place *at, const struct inuse_what *what, char who[INUSE_WHO_LEN],
	       struct err *e) must_check;

#endif
