/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_exchange.h: one request and its answer, awaited. */
#ifndef RAILHEAD_FABRIC_UFM_EXCHANGE_H
#define RAILHEAD_FABRIC_UFM_EXCHANGE_H

#include "lib/base/err.h"

struct ufm_exchange {
	const char *url, *authorization;
	const char *ca;   /* certificates in PEM; NULL: those that the system trusts */
	const char *body; /* NULL: GET, else POST */
};

/* ufm_ask - an answer of at most 1 MiB within 15 s; the caller frees *answer. ERR_UNAVAILABLE. */
int ufm_ask(const struct ufm_exchange *x, int *status, char **answer, struct err *e) must_check;

#endif
