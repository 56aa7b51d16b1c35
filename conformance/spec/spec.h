/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h: the data of a check. Its process ends with it, so memory is never freed. */
#ifndef CONFORMANCE_SPEC_SPEC_H
#define CONFORMANCE_SPEC_SPEC_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "conformance/harness/process.h"

enum kind { INTERFACE = 1, IPAM = 2, META = 4, ANY = 7 };
enum level { MUST, SHOULD, MAY, LIB, CONV, DES };
enum verdict { PASS, FAIL, NOT_APPLICABLE, DECLARED };

/* The needs of a check; the runner tests them before it runs the check. */
enum need {
	NEED_ADD = 1,      /* the kernel has the plugin's kind of link */
	NEED_CHECK = 2,    /* the plugin knows protocol 0.4.0 or later */
	NEED_11 = 4,       /* 1.1.0: STATUS and GC */
	NEED_OLD = 8,      /* 0.2.0 */
	NEED_POOL = 16,    /* an IPAM that reserves what it gives: the profile has smallPool */
	NEED_MAC = 32,     /* the profile says that a MAC address can be asked for */
	NEED_PREV = 64,    /* 0.3.0 or later: prevResult exists */
	NEED_MASTER = 128, /* the profile's netconf names a master */
};

#define WRONG_MAX 4
#define MASTER    "mst0"
#define WIRE      "wire0"
#define NETWORK   "confnet"
#define WORK      "/run/cni-conformance"
#define FAKE      "conformance-ipam"

struct t;

struct item {
	int id; /* 45 is CNI-045 */
	enum level level;
	unsigned kinds, needs;
	const char *title;
	void (*check)(struct t *t); /* NULL: cannot be seen from outside, and why says the reason */
	const char *why;
	const char *wrong[WRONG_MAX]; /* rules of plugins that the check must catch: fake.h */
};

struct section {
	const char *name;
	const struct item *items;
	const size_t *n;
};
extern const struct section sections[];
extern const size_t n_sections;

struct profile {
	const char *name;
	enum kind kind;
	const char *link_kind;
	bool mac, master, host_network;
	const char *wire, *prepare, *pod_prepare; /* where to hear; what sh runs first, in pods */
	cJSON *tree;                              /* the file, $MASTER replaced */
};

/* Properties of the plugin and the kernel, read once before the items run. */
struct facts {
	const char *versions[16];
	size_t n_versions;
	bool kernel_has_link;
	double slower; /* than the machines that limits are for: 1, unless the user says */
};

/* How the next call is made where it differs from the ordinary; run() resets it. */
struct how {
	enum input_kind in;
	bool broken_stdout, in_pod;
	long kill_after_us; /* 0: not */
	const char *argument, *cwd, *root;
};

struct t {
	const struct profile *p;
	const struct facts *facts;
	const struct item *item;
	const char *plugin, *real, *self, *extra_path; /* real: what a wrong plugin runs */
	/* the call to make: NULL leaves a variable out of the environment */
	const char *version, *cid, *ns, *ifname, *args, *path;
	const char *env[16]; /* further "NAME=value", then NULL */
	cJSON *conf;
	const char *raw; /* instead of conf */
	size_t raw_len;
	struct how how;
	/* what came of it */
	int rc;                 /* exit status, or minus the signal */
	char *out, *err, *said; /* said: the call and its outcome, for evidence */
	cJSON *doc, *result;    /* stdout if it is one JSON document; that of the last good ADD */
	double ms, overdue;     /* overdue: killed at this limit (ms); 0: it ended before */
	long rss_kib;
	/* the verdict */
	enum verdict verdict;
	char *note, *evidence;
};

struct outcome {
	const struct item *item;
	const char *wrong; /* rules of the wrong plugin it ran against, NULL: the real one */
	enum verdict verdict;
	char *note, *evidence;
	double ms;
};

/* ---- call.c: the plugin is run ---- */
struct job {
	struct process process;
	const char *cmd, *input;
	char **env;
};
void run(struct t *t, const char *cmd);
/* run() in two halves, for calls beside each other: each job_end() fills t as run() does. */
struct job job_start(struct t *t, const char *cmd);
void job_end(struct t *t, struct job *j);
/* GC and STATUS: without the variables of a container. */
void run_net(struct t *t, const char *cmd);

/* ---- judge.c: what is asked of a call. All record a failure; false: it is not so. */
bool ok(struct t *t, const char *cmd);
/* codes: "4,7", NULL for any. Exactly one well-formed error object. */
bool refused(struct t *t, const char *cmd, const char *codes);
bool is_error(struct t *t, const char *codes);
bool names(struct t *t, const char *text);
bool expect(struct t *t, bool so, const char *format, ...) __attribute__((format(printf, 3, 4)));
void fail(struct t *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void not_applicable(struct t *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *text(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
/* A copy with blanks for line ends. */
const char *one_line(const char *s);
bool supports(const struct t *t, const char *version);
bool at_least(const char *version, const char *least);

/* ---- setup.c: configurations, pods ---- */
void reset(struct t *t);
void use_version(struct t *t, const char *version);
void set(struct t *t, const char *path, const char *json);
void unset(struct t *t, const char *path);
void set_prev(struct t *t);
void pod(struct t *t, const char *name);
bool attach(struct t *t, const char *name);
void fake_rules(const char *rules);
void profile_section(struct t *t, const char *key);

#endif
