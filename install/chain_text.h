/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_text.h: the entry of the plugin railhead in the text of a network configuration. Pure.
 *
 * The entry is the last of the list of plugins. All other bytes stay as their author wrote them,
 * and without the entry the text is the one of before.
 */
#ifndef RAILHEAD_INSTALL_CHAIN_TEXT_H
#define RAILHEAD_INSTALL_CHAIN_TEXT_H

#include "lib/base/err.h"

#define CHAIN_PROGRAM "railhead"

enum chain_kind {
	CHAIN_LIST,     /* the pod's network is this list */
	CHAIN_COPY,     /* Multus has a copy of a list that is in another file of the folder */
	CHAIN_POINTER,  /* Multus reads the list from another file each time */
	CHAIN_NO_CHAIN, /* one plugin without a list, an empty list, or an older protocol */
};

/*
 * chain_edit - *out becomes the text with our entry (wanted), or without the first one. NULL:
 * nothing is to be done, or the text cannot have the entry. The caller frees *out. ERR_DECODE: the
 * text is not JSON. ERR_NOMEM.
 */
int chain_edit(const char *text, bool wanted, enum chain_kind *kind, char **out,
	       struct err *e) must_check;

#endif
