/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h: the environment that makes NCCL and UCX use a pod's own rails, and why. Pure.
 *
 * What is printed is held against NCCL's own rule (nccl.h) for every rail before it is given out;
 * where no setting leads to the right GID, a warning says so.
 *
 * What is left out is missing when it looks as if it should be a rail: its port or link is down, it
 * has no address, its GIDs are not there. Not missing is what the caller did not name, what has the
 * default route, a second interface of a port, and a card without an address of its own.
 */
#ifndef RAILHEAD_RDMA_ENV_ENV_H
#define RAILHEAD_RDMA_ENV_ENV_H

#include "lib/json/json.h"
#include "rdma/inventory/rail.h"

struct env_options {
	int tc, sl;                    /* traffic class, service level; -1: not given */
	const char *tc_why;            /* who says so; NULL: as asked for */
	int cross_nic;                 /* NCCL_CROSS_NIC; -1: as the rails' networks suggest */
	enum ip_family family;         /* addresses to use; IP_NONE: IPv4 if every rail has one */
	const char *const *interfaces; /* only these are rails; NULL-terminated; NULL: all */
	const char *socket; /* interface of NCCL_SOCKET_IFNAME; NULL: that of the default route */
};

#define ENV_OPTIONS_INIT                                                                           \
	{                                                                                          \
		.tc = -1, .sl = -1, .cross_nic = -1                                                \
	}

#define ENV_TEXT_LEN 400

struct env_var {
	const char *name; /* static */
	char *value;      /* owned */
	char why[ENV_TEXT_LEN];
};

#define ENV_VARS_MAX 16

struct env {
	struct env_var var[ENV_VARS_MAX];
	size_t n_vars;
	char (*warning)[ENV_TEXT_LEN]; /* owned */
	size_t n_warnings;
	char (*left_out)[ENV_TEXT_LEN]; /* owned: what is no rail, and why */
	size_t n_left_out;
	char (*missing)[ENV_TEXT_LEN]; /* owned: those of left_out that should be one */
	size_t n_missing;
	size_t n_rails; /* that the variables name */
};

/*
 * env_make - ERR_NOTFOUND when there is no rail that could be used (the detail says why of each
 * that was left out); ERR_CONFIG when o names an interface that is none.
 */
int env_make(const struct rdma_inventory *v, const struct env_options *o, struct env *out,
	     struct err *e) must_check;

void env_clear(struct env *v);
#define auto_env auto_clean(env_clear)

/* ---- as text (env_text.c); freed with free(); NULL: no memory ---- */

/* env_quote - a word for a POSIX shell that is s, whatever bytes it has. */
char *env_quote(const char *s);

/* env_shell - "export NAME='value'" a line; explain: a comment with the why before each. Warnings
 * are comments in any case. */
char *env_shell(const struct env *v, bool explain);

/* env_kubernetes - the list under "env:" of a container, YAML. */
char *env_kubernetes(const struct env *v, bool explain);

/* env_json - {"rails": N, "env": [{name, value, why}], "warnings": [...], "leftOut": [...],
 * "missing": [...]}. */
struct json *env_json(const struct env *v);

#endif
