/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h: the one error type.
 *
 * Contract of a fallible function in this tree, where its header does not say otherwise: it returns
 * 0, or -1 with *e set. On success it fills its outputs and does not touch *e. On failure it leaves
 * its outputs alone. A function with a third outcome returns 1 for it, and its header says which.
 * The error is set where it happens, and each caller on the way up adds the noun it was working on
 * with err_wrap().
 */
#ifndef RAILHEAD_LIB_BASE_ERR_H
#define RAILHEAD_LIB_BASE_ERR_H

#include "lib/base/base.h"

/*
 * Codes 1 to 51 are those of the CNI specification 1.1.0, section "Error"; those from 100 are our
 * own and are documented in cni-errors(7). The numbers are part of the interface: never renumber.
 */
enum err_code {
	ERR_VERSION = 1,      /* the configuration's cniVersion is not supported */
	ERR_FIELD = 2,        /* a field's value is not supported; msg names key and value */
	ERR_CONTAINER = 3,    /* container unknown: the runtime need not DEL */
	ERR_ENV = 4,          /* missing or invalid CNI_* variable; msg names it */
	ERR_IO = 5,           /* reading or writing a file, pipe or descriptor failed */
	ERR_DECODE = 6,       /* malformed JSON or a value of the wrong type */
	ERR_CONFIG = 7,       /* the network configuration is invalid */
	ERR_NETNS = 8,        /* CNI_NETNS is not a usable network namespace */
	ERR_AGAIN = 11,       /* try again later: lock timeout, conflict */
	ERR_UNAVAILABLE = 50, /* STATUS: cannot serve ADD */
	ERR_LIMITED = 51,     /* STATUS: cannot serve ADD, running pods may be affected */
	ERR_KERNEL = 100,     /* the kernel refused; detail holds its ext-ack text */
	ERR_EXHAUSTED = 101,  /* no address left to give */
	ERR_STORE = 102,      /* the store cannot be opened, read or written */
	ERR_BUSY = 103,       /* a device, name or address has another user */
	ERR_STATE = 104,      /* the present state differs from the record */
	ERR_DELEGATE = 105,   /* a delegated plugin misbehaved: missing, garbage, killed, hung */
	ERR_FORBIDDEN = 106,  /* a policy does not allow it: namespace, quota */
	ERR_NOMEM = 107,      /* out of memory */
	ERR_NOTFOUND = 108,   /* the thing named does not exist */
	ERR_CONFLICT = 109,   /* another host on the network uses an assigned address */
	ERR_LOGIN = 110,      /* the cluster store does not know who asks, and refuses everything */
};

struct err {
	enum err_code code;
	int errnum;        /* errno of the cause, 0 if there is none */
	char msg[768];     /* one line, ends without a full stop */
	char detail[1024]; /* longer text: ext-ack, what to try; may be empty */
};

/*
 * err_set - start an error. With errnum != 0 ": " and the errno's text are appended.
 * Text that does not fit is cut at a character boundary and ends in "...". Returns -1.
 */
int err_set(struct err *e, enum err_code code, int errnum, const char *fmt, ...) printf_like(4, 5);

/* err_pass - the error of a call that was tried with an error of its own. Returns -1. */
static inline int err_pass(struct err *e, const struct err *why)
{
	*e = *why;
	return -1;
}

/* err_wrap - put "<fmt>: " before the message, keep the code. Returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* err_hint - add a line to the detail: what the kernel said, what to try next. Returns -1. */
int err_hint(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* err_nomem - out of memory. Allocates nothing. Returns -1. */
int err_nomem(struct err *e);

#endif
