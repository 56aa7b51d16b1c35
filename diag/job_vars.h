/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_vars.h: the variables of NCCL, UCX, NVSHMEM and Mooncake that a process has, and its version
 * of NCCL. Pure.
 *
 * An empty variable counts as not set, and numbers are read as NCCL does (lib/rdma/param.h).
 */
#ifndef RAILHEAD_DIAG_JOB_VARS_H
#define RAILHEAD_DIAG_JOB_VARS_H

#include "lib/rdma/version.h"

enum job_var {
	JOB_NCCL_IB_TC,
	JOB_NCCL_GIN_IB_TC,
	JOB_UCX_TC,     /* UCX_IB_TRAFFIC_CLASS */
	JOB_NVSHMEM_TC, /* NVSHMEM_IB_TRAFFIC_CLASS */
	JOB_NCCL_IB_GID_INDEX,
	JOB_NCCL_IB_ADDR_FAMILY,
	JOB_NCCL_IB_ADDR_RANGE,
	JOB_NCCL_IB_ROCE_VERSION,
	JOB_NCCL_IB_HCA,
	JOB_NCCL_IB_DISABLE,
	JOB_NCCL_NET,
	JOB_NCCL_NET_PLUGIN,
	JOB_NCCL_CONF_FILE,
	JOB_NCCL_VERSION, /* set in images of NVIDIA */
	JOB_UCX_NET_DEVICES,
	JOB_UCX_TLS,
	JOB_NVSHMEM_HCA_LIST,
	JOB_NVSHMEM_HCA_PREFIX,
	JOB_MC_TE_FILTERS,
	JOB_MC_MS_FILTERS,
	JOB_MOONCAKE_DEVICE,
	JOB_MC_GID_INDEX,
	JOB_MC_FORCE_TCP,
	JOB_N
};

#define JOB_VALUE_LEN 1024 /* 32 entries of NCCL_IB_HCA */
#define JOB_FROM_LEN  64

struct job_value {
	bool set; /* false: not set, or empty */
	char text[JOB_VALUE_LEN];
	bool cut;                /* text is only its beginning */
	char from[JOB_FROM_LEN]; /* "the environment", or the path of a file */
};

/* The library of NCCL that the process has mapped. */
struct job_library {
	enum {
		JOB_LIBRARY_NONE,
		JOB_LIBRARY_UNNAMED, /* libnccl.so.2, as pip installs it: no version is visible */
		JOB_LIBRARY_NAMED,   /* its name has the version */
	} is;
	struct lib_version version;
};

struct job_vars {
	struct job_value var[JOB_N];
	struct job_library library;
};

/* The source of a version of NCCL. */
enum job_nccl {
	JOB_NCCL_UNKNOWN,
	JOB_NCCL_IMAGE,   /* NCCL_VERSION of the image, whose programs may bring their own NCCL */
	JOB_NCCL_LIBRARY, /* the library that the process has mapped */
	JOB_NCCL_ASKED,   /* the caller */
};

/* job_var_name - "NCCL_IB_TC". Static. */
const char *job_var_name(enum job_var v);

/* job_vars_environ - read the text of /proc/PID/environ: NUL after each variable. */
void job_vars_environ(struct job_vars *j, const char *text, size_t len);

/*
 * job_vars_file - read a file of settings, which NCCL reads after the environment: lines
 * NAME=VALUE, and comments with "#" in front. A variable that is set already stays, even if it is
 * empty. NCCL puts all of them into the environment of the process (src/misc/param.cc, setEnvFile),
 * but only UCX that starts later in that process sees them: variables of UCX are left out.
 */
void job_vars_file(struct job_vars *j, const char *text, const char *path);

/* job_vars_maps - find the library in the text of /proc/PID/maps: "libnccl.so.2.27.3". */
void job_vars_maps(struct job_vars *j, const char *text);

/*
 * job_nccl_version - the version of NCCL: that of the library, else that of NCCL_VERSION if no
 * library is mapped. JOB_NCCL_UNKNOWN: *out stays the same.
 */
enum job_nccl job_nccl_version(const struct job_vars *j, struct lib_version *out);

/* job_has_nccl - a variable of NCCL is set, or its library is mapped. job_is_of_ucx - that is not
 * so, and the class of UCX is set. */
bool job_has_nccl(const struct job_vars *j);
bool job_is_of_ucx(const struct job_vars *j);

/* job_number - the number that NCCL reads; unset: what it uses without one. */
int64_t job_number(const struct job_vars *j, enum job_var v, int64_t unset);

#endif
