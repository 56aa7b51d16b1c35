/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sm.h: a node with hooks that log each call, and that a test makes fail, hang or kill.
 */
#ifndef RAILHEAD_FABRIC_TESTING_SM_H
#define RAILHEAD_FABRIC_TESTING_SM_H

#include "fabric/sm.h"

#define TESTSM_ETC    "/mnt/etc"
#define TESTSM_STATE  "/mnt/state"
#define TESTSM_HOOK   TESTSM_ETC "/sm.d/10-a"
#define TESTSM_SECOND TESTSM_ETC "/sm.d/20-b"
#define TESTSM_LOG    "/mnt/log"
#define TESTSM_SOON   10000 /* ms; no test waits for it */

extern struct ctx testsm_ctx;

/* testsm - begin: no hook, and a boot. testsm_boot - another boot. */
void testsm(void);
void testsm_boot(char digit);

/* testsm_hook - an executable at path. It logs "NAME ACTION CONTAINER". */
void testsm_hook(const char *path);

/* testsm_behave - "10-a", "add": from now on this hook does that then, in shell. NULL: it succeeds
 * again. */
void testsm_behave(const char *name, const char *action, const char *shell);

/* testsm_member - of partition 0x8001, for interface net1 of the container. */
struct sm_member testsm_member(uint64_t guid, const char *container);

/* testsm_add, testsm_del - calls of a plugin. testsm_must_add, testsm_must_del - they succeed. */
int testsm_add(uint64_t guid, const char *container, struct err *e) must_check;
int testsm_del(const char *container, int timeout_ms, struct err *e) must_check;
void testsm_must_add(uint64_t guid, const char *container);
void testsm_must_del(const char *container);

/* testsm_log_is - the calls of hooks since the last look. */
void testsm_log_is(const char *expected);

/* testsm_entries_are - "GUID-END CONTAINER STATE TRIES", a line for each. */
void testsm_entries_are(const char *expected);

/* testsm_retry_gives - of sm_retry(): "CONTAINER done" or "CONTAINER failed", a line for each.
 * testsm_note_result - for a call of sm_retry(); arg is a text of 1024 bytes. */
void testsm_retry_gives(const char *expected);
void testsm_note_result(const struct sm_entry *x, const struct err *why, void *arg);

#endif
