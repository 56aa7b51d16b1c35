/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h: the environment that makes NCCL and UCX use a pod's own rails, and why. Pure.
 *
 * For each rail, the GID that NCCL would take with these variables (nccl.h) is compared with the
 * right one. If no setting gives the right GID, a warning says so. Rails of InfiniBand need no GID.
 * NCCL connects only ports of one link layer, so rails of both are a warning.
 *
 * An interface that is left out is "missing" if it should be a rail: its port or link is down, it
 * has no address, or its GIDs are not there. It is not missing if the caller did
 * not name it, or if it has the default route. Second interfaces of a port and cards without an
 * address are not missing either.
 */
#ifndef RAILHEAD_RDMA_ENV_ENV_H
#define RAILHEAD_RDMA_ENV_ENV_H

#include "lib/json/json.h"
#include "lib/rdma/version.h"
#include "rdma/inventory/rail.h"

/* The libraries whose variables are wanted. */
enum {
	ENV_NCCL = 1, /* and Gloo */
	ENV_UCX = 2,
	ENV_NVSHMEM = 4,
	ENV_MOONCAKE = 8,
	ENV_ALL = 15,
};

/* env_stack - the libraries below a program: "vllm", "mooncake", ..., or a library itself. 0: the
 * name is not known. */
unsigned env_stack(const char *name);

struct env_options {
	unsigned libraries;       /* 0: NCCL, UCX, and the class of NVSHMEM */
	int tc, sl;               /* traffic class, service level; -1: not given */
	const char *tc_why;       /* the source of tc; NULL: an option */
	int cross_nic;            /* NCCL_CROSS_NIC; -1: decide by the networks of the rails */
	enum ib_link_layer layer; /* only rails of this one; IB_LAYER_UNKNOWN: all */
	uint16_t pkey;            /* partition of InfiniBand rails; 0: that of IPoIB interfaces */
	int adaptive_routing;     /* NCCL_IB_ADAPTIVE_ROUTING, 0 or 1; -1: not given */
	enum ip_family family;    /* addresses to use; IP_NONE: those of most rails, else IPv4 */
	const char *const *interfaces; /* only these are rails; NULL-terminated; NULL: all */
	/* Versions of the job, and who says them (static). NULL: they are not known, and only what
	 * is right for every version is printed; the newest is assumed for remarks. */
	struct lib_version nccl, ucx;
	const char *nccl_from, *ucx_from;
	bool pin_index;     /* NCCL_IB_GID_INDEX also where a range suffices */
	const char *socket; /* interface of NCCL_SOCKET_IFNAME; NULL: that of the default route */
	bool none_is_fine;  /* no rail is not an error: no variables, and left_out has the reason */
	const char *warning; /* one of the caller's, for *out; NULL: none */
};

#define ENV_OPTIONS_INIT                                                                           \
	{                                                                                          \
		.tc = -1, .sl = -1, .cross_nic = -1, .adaptive_routing = -1,                       \
		.nccl = NCCL_VERSION_NEWEST, .ucx = UCX_VERSION_NEWEST                             \
	}

#define ENV_TEXT_LEN 400

struct env_var {
	const char *name; /* static */
	char *value;      /* owned */
	char why[ENV_TEXT_LEN];
};

#define ENV_VARS_MAX 32

struct env {
	struct env_var var[ENV_VARS_MAX];
	size_t n_vars;
	char (*warning)[ENV_TEXT_LEN]; /* owned */
	size_t n_warnings;
	char (*left_out)[ENV_TEXT_LEN]; /* owned: interfaces that are not used, with the reason */
	size_t n_left_out;
	char (*missing)[ENV_TEXT_LEN]; /* owned: those of left_out that should be rails */
	size_t n_missing;
	size_t n_rails;               /* number of rails in the variables */
	struct lib_version nccl, ucx; /* whose variables they are */
	unsigned libraries;           /* as in the options; 0: all */
};

/*
 * env_make - choose the rails of v and compute the variables. env_clear() frees *out. ERR_NOTFOUND:
 * no rail can be used; the detail has a reason for each (see none_is_fine). ERR_CONFIG: o names an
 * interface that does not exist.
 */
int env_make(const struct rdma_inventory *v, const struct env_options *o, struct env *out,
	     struct err *e) must_check;

/* env_value - of a variable that is there, borrowed; NULL: it is not. */
const char *env_value(const struct env *x, const char *name);

void env_clear(struct env *v);
#define auto_env auto_clean(env_clear)

/* ---- as text (text.c). The caller frees the result; NULL: no memory ---- */

/* env_quote - s as one word for a POSIX shell; s may have any bytes. */
char *env_quote(const char *s);

/*
 * env_shell - a line "export NAME='value'" for each variable; explain: with its reason as a comment
 * before it. Warnings are always comments.
 */
char *env_shell(const struct env *v, bool explain);

/* env_kubernetes - the list for "env:" of a container, as YAML; explain as above. */
char *env_kubernetes(const struct env *v, bool explain);

/*
 * env_file - a line "NAME=value" for each variable whose name begins with prefix, as the files that
 * NCCL ("NCCL_": NCCL_CONF_FILE, /etc/nccl.conf) and UCX ("UCX_": ucx.conf) read themselves. Both
 * take a value to the end of its line, and let a variable of the process win. Warnings are
 * comments.
 */
char *env_file(const struct env *v, const char *prefix);

/* env_json - {"rails": N, "env": [{name, value, why}], "warnings": [...], "leftOut": [...],
 * "missing": [...]}. */
struct json *env_json(const struct env *v);

#endif
