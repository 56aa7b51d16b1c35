/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: calls of a plugin of the attach engine, in this process. For test programs only. */
#ifndef RAILHEAD_CNI_TESTING_CALL_H
#define RAILHEAD_CNI_TESTING_CALL_H

#include "cni/engine/attach.h"
#include "lib/sys/netns.h"
#include "lib/testing/testing.h"

/*
 * testing_call - run the command of call->env, with call->ctx, and this configuration, which is
 * freed. What is printed replaces the file out. The result of the command. Aborts the test when the
 * configuration is not one.
 */
int testing_call(const struct attach_type *type, struct cni_call *call, char *conf, const char *out,
		 struct err *e);

/*
 * testing_call_keys - the same for the configuration of network "net" with these keys. Its
 * prevResult has the interface "net1" in call->env.netns, or in /none if that is empty.
 */
int testing_call_keys(const struct attach_type *type, struct cni_call *call, const char *keys,
		      const char *out, struct err *e);

/* good - the test fails, with the error, unless rc is 0. */
static inline void good(int rc, const struct err *e)
{
	ck_assert_msg(rc == 0, "%s (%s)", e->msg, e->detail);
}

/* fails - the test fails unless rc is -1, with this code, and with word in message or detail. */
static inline void fails(int rc, const struct err *e, enum err_code code, const char *word)
{
	ck_assert_int_eq(rc, -1);
	ck_assert_msg(e->code == code && (strstr(e->msg, word) || strstr(e->detail, word)),
		      "%d: %s (%s)", (int)e->code, e->msg, e->detail);
}

/* testing_printed - what is in that file; free it with free(). */
char *testing_printed(const char *out);

/* testing_printed_has - the test fails unless that JSON, without blanks, has piece. */
void testing_printed_has(const char *out, const char *piece);

/* testing_replace - in that file each `from` becomes `to`, of the same length. Fails if it has
 * none.
 */
void testing_replace(const char *path, const char *from, const char *to);

/* testing_records - how many records there are in run_dir and its folder (NULL: none). */
unsigned testing_records(const struct ctx *ctx, const char *folder);

/*
 * testing_world - a host in a namespace of its own with the interface "up", and a pod. Records are
 * in run_dir.
 */
struct testing_world {
	struct ctx ctx;
	struct netns pod;
	char netns[64]; /* its path */
};
struct testing_world testing_world(const char *run_dir);

#endif
