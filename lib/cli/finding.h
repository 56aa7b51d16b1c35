/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h: what a check found: a state with its evidence, what follows from it and what to do.
 *
 * A check adds findings and their texts, and asks once at the end whether there was memory for all.
 */
#ifndef RAILHEAD_LIB_CLI_FINDING_H
#define RAILHEAD_LIB_CLI_FINDING_H

#include "lib/cli/out.h"

enum finding_state {
	FINDING_OK,
	FINDING_WARN,
	FINDING_FAIL,
	FINDING_UNKNOWN, /* what decides it cannot be read; the reason says why */
};

/* finding_state_name - "ok", "warn", "fail", "unknown". */
const char *finding_state_name(enum finding_state s);
/* finding_style - the style in which lines show a state. */
enum out_style finding_style(enum finding_state s);

/* finding_worse - the worse of two: fail before warn before unknown before ok. */
enum finding_state finding_worse(enum finding_state a, enum finding_state b);

struct finding {
	const char *id;   /* of the check: a literal, "gid", "acs"; a manual page explains each */
	const char *code; /* of one kind of finding of the check: a literal; NULL: it has none */
	enum finding_state state;
	uint32_t of[2]; /* numbers that a module has for its subjects; not used here */
	/* Texts: owned, NULL when there is none. */
	char *subject;      /* the device it is about: "mlx5_0:1"; NULL: the whole machine */
	char *value, *path; /* the evidence: what was seen, and in which file */
	char *reason;       /* the conclusion; for unknown, also why. NULL when ok */
	char *remedy;       /* what to do; NULL when ok */
	bool failed;        /* there was no memory for one of the texts */
};

struct findings {
	struct finding *item; /* owned */
	size_t n;
	struct finding spare; /* is written to when there is no memory for another one */
};

/* findings_add - one more finding, valid until the next is added; never NULL. */
struct finding *findings_add(struct findings *all, const char *id, enum finding_state state);

/* findings_move - add a finding of another list, whose texts go over. Without memory it stays. */
void findings_move(struct findings *to, struct finding *f);

/* finding_set_* - set or replace one text; cut to FINDING_TEXT_LEN - 1 bytes. */
#define FINDING_TEXT_LEN 768
void finding_set_subject(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_set_value(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_set_path(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_set_reason(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_set_remedy(struct finding *f, const char *fmt, ...) printf_like(2, 3);

/* findings_check - ERR_NOMEM when a finding, or a text of one, is missing for lack of memory. */
int findings_check(const struct findings *all, struct err *e) must_check;

/* findings_sort - worst first; findings of one state keep their order. ERR_NOMEM: unchanged. */
int findings_sort(struct findings *all, struct err *e) must_check;

/* findings_worst - the worst state; FINDING_OK if there is no finding. */
enum finding_state findings_worst(const struct findings *all);
/* findings_count - how many findings have the state s. */
size_t findings_count(const struct findings *all, enum finding_state s);

/* findings_clear - free all findings and their texts. */
void findings_clear(struct findings *all);
#define auto_findings auto_clean(findings_clear)

/* ---- lines ---- */

#define FINDINGS_OK      1u /* also what is ok */
#define FINDINGS_FOLD_OK 2u /* what is ok is folded, too */
#define FINDINGS_EACH    4u /* nothing is folded */

/*
 * findings_print - "STATE  ID  SUBJECT: VALUE (PATH)" for each finding, and lines with the reason
 * ("so: ") and the remedy ("do: ") below, which are broken at spaces on a terminal. The code stands
 * in place of the id if there is one. Findings that are not ok are folded: those that conclude
 * alike have the conclusion once, and those of the same evidence one line. width: of the column of
 * ids.
 */
void findings_print(const struct out *o, const struct findings *all, int width, unsigned flags);

/* findings_print_counts - "3 ok, 1 warned, 0 failed, 2 unknown". */
void findings_print_counts(const struct out *o, const struct findings *all);

/* ---- JSON ---- */

/*
 * findings_json - {"version": 1, "state": the worst, KEY: [...]}, where each finding has check,
 * state, subject, value, consequence and remedy, which are null if there is no text, and code, if
 * there is one. NULL: no memory. Owned by the caller.
 */
struct json *findings_json(const struct findings *all, const char *key);

#endif
