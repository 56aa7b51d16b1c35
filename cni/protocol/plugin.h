/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h: the frame of a CNI plugin: environment and stdin in, one JSON document out.
 *
 *	static const struct cni_plugin plugin = { .name = "macvlan", .add = ..., .del = ... };
 *	int main(void) { return cni_main(&plugin); }
 *
 * cni_main decodes and checks all that is common, calls the verb, and turns the one error into the
 * one error object on stdout (CNI-004, CNI-005). Nothing else in a plugin writes to stdout.
 */
#ifndef RAILHEAD_CNI_PROTOCOL_PLUGIN_H
#define RAILHEAD_CNI_PROTOCOL_PLUGIN_H

#include "cni/protocol/conf.h"
#include "cni/protocol/env.h"
#include "cni/protocol/result.h"
#include "lib/base/ctx.h"

struct delegate_builtin;

struct cni_call {
	struct ctx ctx;
	struct cni_env env;
	struct cni_conf conf;
	char log_context[320];                  /* container and interface, for the log */
	const void *data;                       /* of the plugin */
	const struct delegate_builtin *builtin; /* of the plugin, or NULL: delegate.h */
};

typedef int (*cni_command_fn)(const struct cni_call *call, struct err *e);

struct cni_plugin {
	const char *name;
	cni_command_fn add; /* must call cni_emit_result() last, while it can still undo its work */
	cni_command_fn del, check, gc, status;
	const void *data;                       /* passed to the commands in call->data */
	const struct delegate_builtin *builtin; /* the same in call->builtin */
};

/* cni_main - run one call; the exit status of the program: 0 or 1. */
int cni_main(const struct cni_plugin *plugin);

/*
 * cni_check_keys - cni_conf_check_keys(), then a warning for each key that was taken in another
 * case, and for each of section that was not read (cni_conf_warns_of).
 */
int cni_check_keys(const struct cni_call *call, const char *section, bool alone,
		   struct err *e) must_check;

/*
 * cni_emit_result - print the result in the version of the configuration. ERR_IO when stdout is
 * closed or full: the caller then undoes its work (CNI-174).
 */
int cni_emit_result(const struct cni_call *call, const struct cni_result *r,
		    struct err *e) must_check;

/* cni_emit_prev - the same with prevResult, unchanged: of a plugin that adds nothing to it. */
int cni_emit_prev(const struct cni_call *call, struct err *e) must_check;

#endif
