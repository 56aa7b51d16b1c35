/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delegate.h: run another plugin (the IPAM) as the protocol demands: found in CNI_PATH, our
 * environment, our stdin, its error object passed on unchanged (CNI-108 to CNI-119).
 *
 * A plugin that carries the IPAM's code runs it without execve, when the program that was found is
 * of the same build: docs/decisions/2026-11-22-ipam-in-a-child.md.
 */
#ifndef RAILHEAD_CNI_PROTOCOL_DELEGATE_H
#define RAILHEAD_CNI_PROTOCOL_DELEGATE_H

#include <limits.h>

#include "cni/protocol/plugin.h"
#include "lib/sys/exec.h"

/*
 * Of an IPAM's DEL after a failed ADD: which of the addresses, apart by commas, were found in use
 * on the wire. They should rest, whatever the pool's cooldown is. Other IPAMs do not know it.
 */
#define DELEGATE_CONFLICT "RAILHEAD_CONFLICT"

/*
 * Of an IPAM's ADD. "mark": the caller probes an address whose entry in the result has "probe"
 * before it uses the address. "free": the addresses of the ADD before were probed, and no host has
 * them; this ADD prints no result.
 */
#define DELEGATE_PROBE      "RAILHEAD_PROBE"
#define DELEGATE_PROBE_MARK "mark"
#define DELEGATE_PROBE_FREE "free"

/*
 * Of an IPAM's ADD: the interface of the host on which the pod's interface will be. "": it is not
 * one of the host.
 */
#define DELEGATE_MASTER "RAILHEAD_MASTER"

/*
 * Of each call of railhead-ipam. "guid": the lease is not of an address of the interface but of its
 * GUID. It belongs to the same attachment, and the result has it as a GID: lib/base/guid.h. The
 * GUID is of the pool that the key "guidPool" of the IPAM's configuration names. In an ADD,
 * "guid=GUID" requests exactly this GUID. A DEL without the variable releases addresses and GUID.
 */
#define DELEGATE_LEASE      "RAILHEAD_LEASE"
#define DELEGATE_LEASE_GUID "guid"

/* Of each call, "1": the caller is a program of railhead, which reads its keys. */
#define DELEGATE_CALLER "RAILHEAD_CALLER"

/*
 * The attachment that the delegate is called for. A member that is NULL: the variable is as in our
 * own environment. A caller that is not a plugin (railctl) sets all members.
 */
struct delegate_call {
	enum cni_command cmd;
	const char *container, *ifname, *netns;
	const char *args, *path; /* CNI_ARGS, CNI_PATH */
	const char *conflict;    /* DELEGATE_CONFLICT: addresses that another host uses */
	const char *probe;       /* DELEGATE_PROBE */
	const char *master;      /* DELEGATE_MASTER */
	const char *lease;       /* DELEGATE_LEASE */
};

/* A delegate whose code this program carries. */
struct delegate_builtin {
	const char *type; /* as in ipam.type */
	/* What its program of this build begins with (lib/sys/build_mark.h); NULL: the code runs
	 * whether there is a program or not. */
	const char *mark;
	int (*run)(void); /* the program's main: environment and stdin in, stdout and status out */
};

struct delegate {
	struct exec_child child;
	char path[PATH_MAX];
	const char *type; /* borrowed from the configuration */
};

/*
 * delegate_find - first regular file named type in the directories of cni_path (split at ':'; empty
 * ones are skipped). ERR_DELEGATE naming type and path; out is then undefined.
 */
int delegate_find(const char *cni_path, const char *type, char *out, size_t size,
		  struct err *e) must_check;

/*
 * delegate_start - start conf.ipam_type in the caller's network namespace, which must be the
 * host's. It runs the program in CNI_PATH, or call->builtin if that program is of the same build.
 */
int delegate_start(const struct cni_call *call, const struct delegate_call *what, int timeout_ms,
		   struct delegate *d, struct err *e) must_check;

/*
 * delegate_finish - wait for it; output (may be NULL when not wanted) is owned by the caller. Its
 * error object is passed on: code, msg, details. ERR_DELEGATE when it died, hung, or failed without
 * one.
 */
int delegate_finish(struct delegate *d, char **output, size_t *len, struct err *e) must_check;

/*
 * delegate_pass_on - make the error of a delegate that failed: its own error object, when that is
 * what it printed, else ERR_DELEGATE with what it printed. Pure. Returns -1.
 */
int delegate_pass_on(const char *type, const struct exec_result *res, struct err *e);

/* delegate_run - start and finish, for commands without a result. */
int delegate_run(const struct cni_call *call, const struct delegate_call *what, int timeout_ms,
		 struct err *e) must_check;

#endif
