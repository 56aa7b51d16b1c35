/* SPDX-License-Identifier: Apache-2.0 */
/* rails_check.c: `railctl rails check`: what is wrong with the rails of pods. */
#include "diag/inspect_code.h"
#include "lib/cli/check.h"
#include "railctl/attachments/rails.h"

#define ID_WIDTH 17

static struct finding *rails_check_add(struct findings *out, enum inspect_code code)
{
	struct finding *f = findings_add(out, inspect_code_check(code), FINDING_UNKNOWN);

	f->code = inspect_code_name(code);
	return f;
}

static void rails_check_tell_unread(struct findings *out, const char *pod, const char *why)
{
	struct finding *f = rails_check_add(out, INSPECT_NAMESPACE_UNREAD);

	finding_set_subject(f, "%s", pod);
	finding_set_value(f, "%s", why);
	finding_set_reason(f, "the rails of this pod were not checked");
	finding_set_remedy(f, "run it as root on the node itself");
}

static void tell_damaged(struct findings *out, size_t n)
{
	struct finding *f = rails_check_add(out, INSPECT_NAMESPACE_RECORD);

	finding_set_subject(f, "records");
	finding_set_value(f, "%zu cannot be read", n);
	finding_set_reason(f, "the rails of their pods were not checked");
	finding_set_remedy(f, "railctl attachments list names them");
}

/* A check that looked at nothing did not succeed: it may be a container without the records of its
 * node. */
static void tell_nothing(struct findings *out, const struct rails_pods *p, const char *run_dir)
{
	struct finding *f = rails_check_add(out, INSPECT_NAMESPACE_EMPTY);

	finding_set_subject(f, "%s", p->n ? p->pod[0].netns : "records");
	finding_set_value(f, "no living attachment is on record in %s/attachments%s", run_dir,
			  p->n ? ", and no rule leads from an address of this namespace to a table "
				 "of its own"
			       : "");
	finding_set_reason(f, "no rail was checked");
	finding_set_remedy(f, "run it as root on the node, or in a pod with rails");
}

/* For programs each address has its own finding; people read one line for one reason. */
static int check_pods(const struct rails_pods *p, const struct cmd_run *r, struct findings *out,
		      struct err *e)
{
	char name[RAILS_POD_LEN];

	for (size_t i = 0; i < p->n; i++) {
		(void)rails_pod_name(&p->pod[i], name);
		if (*p->pod[i].why)
			rails_check_tell_unread(out, name, p->pod[i].why);
		else if (inspect_check(&p->pod[i].s, name, !r->out.json, out, e))
			return -1;
	}
	if (p->damaged)
		tell_damaged(out, p->damaged);
	if (!out->n)
		tell_nothing(out, p, r->ctx.run_dir);
	return findings_check(out, e) || findings_sort(out, e) ? -1 : 0;
}

int rails_check_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_rails_pods struct rails_pods p = { 0 };

	return rails_pods_read(r, &p, e) || check_pods(&p, r, out, e) ? -1 : 0;
}

static int attachments_check_run(struct cmd_run *r, struct err *e)
{
	auto_findings struct findings found = { 0 };

	if (rails_check_find(r, &found, e))
		return -1;
	return check_report(r, &found, ID_WIDTH, opt_is_set(&r->opts, "all") ? FINDINGS_OK : 0, e);
}

static const struct opt options[] = {
	RAILS_OPT_POD,
	RAILS_OPT_NETNS,
	{ "all", NULL, "print also what is ok", 0 },
	{ "strict", NULL, "exit status 1 also when a finding is a warning or unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rails check",
	"railctl rails check --netns /run/netns/pod1 --strict --json",
	NULL,
};

const struct cmd rails_check_cmd = {
	.name = "check",
	.summary = "find packets that leave by a wrong rail, and say what to do",
	.about = "Each line is warn, fail or unknown, worst first. It has the evidence, the effect "
		 "(so) and the remedy (do). JSON also has those that are ok. The exit status is 1 "
		 "when a check fails, or nothing could be checked. Without records it is about the "
		 "namespace in which it runs. The kernel is asked for the way from each address to "
		 "each "
		 "gateway. Nothing is sent or changed.",
	.opts = { options },
	.examples = examples,
	.run = attachments_check_run,
};
