/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: `railctl ipam verify`: the checks of the store and of pods. */
#include "ipam/lease/verify.h"

#include "railctl/ipam/verify.h"

/* The results of all checks. */
struct report {
	struct verify store;
	struct living living;
	struct findings problems;
	uint64_t left;
};

static void report_clear(struct report *x)
{
	findings_clear(&x->problems);
}

static void on_verify_problem(const char *text, void *arg)
{
	struct report *x = arg;
	enum finding_state state = x->store.repair ? FINDING_WARN : FINDING_FAIL;

	finding_set_value(findings_add(&x->problems, "store", state), "%s", text);
}

static int verify_print_json(const struct cmd_run *r, const struct report *x, struct err *e)
{
	auto_json struct json *o = findings_json(&x->problems, "findings");
	bool put = o && json_add_int(o, "pools", (int64_t)x->store.pools) == 0 &&
		   json_add_int(o, "leased", (int64_t)x->store.held) == 0 &&
		   json_add_int(o, "resting", (int64_t)x->store.resting) == 0 &&
		   json_add_int(o, "attached", (int64_t)x->living.compared) == 0 &&
		   json_add_int(o, "unrecorded", (int64_t)x->living.unrecorded) == 0 &&
		   json_add_int(o, "found", (int64_t)x->problems.n) == 0 &&
		   json_add_int(o, "left", (int64_t)x->left) == 0;

	if (!put)
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static void verify_print_text(const struct cmd_run *r, const struct report *x)
{
	findings_print(&r->out, &x->problems, 7, 0);
	if (x->living.unrecorded)
		out_line(&r->out, OUT_PLAIN,
			 "%llu of the leases without a record of an attachment: made by other "
			 "plugins, and not compared with interfaces",
			 (unsigned long long)x->living.unrecorded);
	out_line(&r->out, x->left ? OUT_BAD : OUT_GOOD,
		 "%llu pool%s, %llu lease%s, %llu at rest: %llu problem%s found, %llu left",
		 (unsigned long long)x->store.pools, x->store.pools == 1 ? "" : "s",
		 (unsigned long long)x->store.held, x->store.held == 1 ? "" : "s",
		 (unsigned long long)x->store.resting, (unsigned long long)x->problems.n,
		 x->problems.n == 1 ? "" : "s", (unsigned long long)x->left);
	if (x->store.problems && x->store.left && !x->store.repair)
		out_line(&r->out, OUT_PLAIN,
			 "\"railctl ipam verify --repair\" repairs what can be repaired.");
}

/* The number of the node was changed by other means than `node set`. */
static int verify_check_slices(struct report *x, struct err *e)
{
	auto_json struct json *pools = NULL;

	if (admin_pools(x->living.ipam, NULL, &pools, e))
		return -1;
	json_each (pool, pools) {
		const struct json *own = json_get(pool, "slice");
		double n = json_num(json_get(own, "leasesInOtherSlices"));

		if (n > 0)
			finding_set_value(
				findings_add(&x->problems, "slice", FINDING_FAIL),
				"pool %s: this node has slice %.0f, and %.0f leased address%s "
				"in the slice of another node, which can assign %s too",
				json_text(pool, "name"), json_num(json_get(own, "number")), n,
				n > 1 ? "es are" : " is", n > 1 ? "them" : "it");
	}
	return 0;
}

static int verify_store(struct cmd_run *r, struct report *x, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc > 0)
		(void)ctl_no_store(r, e);
	if (rc)
		return rc;
	x->living.ipam = &m;
	if (ipam_verify(&m, &x->store, e))
		return -1;
	x->left = x->store.left;
	uint64_t before = x->problems.n;
	if (verify_check_slices(x, e) || compare_with_pods(&x->living, &x->problems, e))
		return -1;
	x->left += x->problems.n - before;
	return 0;
}

int verify_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_clean(report_clear) struct report x = {
		.store = { .found = on_verify_problem },
		.living = { .run = r },
	};
	int rc;

	x.store.arg = &x;
	rc = verify_store(r, &x, e);
	*out = x.problems;
	x.problems = (struct findings){ 0 };
	return rc;
}

static int verify_run(struct cmd_run *r, struct err *e)
{
	auto_clean(report_clear) struct report x = {
		.store = { .repair = opt_is_set(&r->opts, "repair"), .found = on_verify_problem },
		.living = { .run = r },
	};

	x.store.arg = &x;
	if (verify_store(r, &x, e) || findings_check(&x.problems, e))
		return -1;
	if (x.left)
		r->status = CMD_FAILED;
	if (r->out.json)
		return verify_print_json(r, &x, e);
	verify_print_text(r, &x);
	return 0;
}

static const struct opt opts[] = {
	{ "repair", NULL, "repair the store", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl ipam verify",
	"railctl ipam verify --repair",
	NULL,
};

const struct cmd cmd_ipam_verify = {
	.name = "verify",
	.summary = "check that the store is consistent and agrees with the attachments",
	.about = "Each problem is one line. Exit status 1: problems remain.",
	.opts = { opts },
	.examples = examples,
	.run = verify_run,
};
