/* SPDX-License-Identifier: Apache-2.0 */
/* ipam_verify.c: `railctl ipam verify`. */
#include "ipam/verify.h"

#include "railctl/ipam.h"

struct report {
	const struct rail *rail;
	struct json *problems; /* NULL: text, as they are found */
	bool nomem;
};

static void found(const char *text, void *arg)
{
	struct report *x = arg;

	if (x->problems)
		x->nomem = x->nomem || json_push_str(x->problems, text);
	else
		out_line(&x->rail->out, OUT_WARN, "%s", text);
}

static int print_json(const struct rail *r, const struct verify *v, struct json *problems,
		      struct err *e)
{
	auto_json struct json *o = json_new_object();
	bool put = o && json_add_int(o, "pools", (int64_t)v->pools) == 0 &&
		   json_add_int(o, "leased", (int64_t)v->held) == 0 &&
		   json_add_int(o, "resting", (int64_t)v->resting) == 0 &&
		   json_add_int(o, "found", (int64_t)v->problems) == 0 &&
		   json_add_int(o, "left", (int64_t)v->left) == 0;

	if (!put || json_add_copy(o, "problems", problems))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static void print_text(const struct rail *r, const struct verify *v)
{
	out_line(&r->out, v->left ? OUT_BAD : OUT_GOOD,
		 "%llu pool%s, %llu lease%s, %llu at rest: %llu problem%s found, %llu left",
		 (unsigned long long)v->pools, v->pools == 1 ? "" : "s",
		 (unsigned long long)v->held, v->held == 1 ? "" : "s",
		 (unsigned long long)v->resting, (unsigned long long)v->problems,
		 v->problems == 1 ? "" : "s", (unsigned long long)v->left);
	if (v->left && !v->repair)
		out_line(&r->out, OUT_PLAIN,
			 "\"railctl ipam verify --repair\" mends what can be mended.");
}

static int verify(struct rail *r, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *problems = json_new_array();
	struct report x = { .rail = r, .problems = r->out.json ? problems : NULL };
	struct verify v = { .repair = opt_is_set(&r->opts, "repair"), .found = found, .arg = &x };

	if (!problems)
		return err_nomem(e);
	int rc = rail_open(r, false, &m, e);
	if (rc < 0 || (rc == 0 && ipam_verify(&m, &v, e)))
		return -1;
	if (x.nomem)
		return err_nomem(e);
	if (v.left)
		r->status = RAIL_FAILED;
	if (r->out.json)
		return print_json(r, &v, problems, e);
	print_text(r, &v);
	return 0;
}

static const struct opt opts[] = {
	{ "repair", NULL, "mend what is found", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl ipam verify",
	"railctl ipam verify --repair",
	NULL,
};

const struct cmd cmd_ipam_verify = {
	.name = "verify",
	.summary = "check that what the store holds agrees with itself",
	.about =
		"Each problem is a line that says what it means. Exit status 1: problems are left.",
	.opts = opts,
	.examples = examples,
	.run = verify,
};
