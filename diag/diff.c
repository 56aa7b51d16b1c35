// SPDX-License-Identifier: Apache-2.0
/* Compares two machines device by device. */
#include "diag/diff.h"

#include <string.h>

#include "diag/diff_priv.h"

static int check_document(const struct json *doc, const char *which, struct err *e)
{
	const struct json *version = json_get(doc, "version");

	if (version && json_num(version) == 1 && json_type(json_get(doc, "gpus")) == JSON_ARRAY &&
	    json_type(json_get(doc, "hcas")) == JSON_ARRAY)
		return 0;
	err_set(e, ERR_CONFIG, 0, "the %s machine is not a document of \"railctl topo --json\"",
		which);
	return err_hint(e, "it has \"version\": 1, and the lists \"gpus\" and \"hcas\"");
}

/* ---- devices that one machine does not have ---- */

/* The address is in the subject, so that devices with one fate are one entry. */
static struct finding *add_single(struct diff *d, const struct diff_pair *p, const char *id,
				  enum finding_state state)
{
	const char *bdf = json_text(p->found ? p->found : p->expected, "bdf");
	struct finding *f = findings_add(d->out, id, state);

	finding_set_subject(f, "%s%s%s", p->label, *bdf ? " " : "", bdf);
	return f;
}

static void add_missing(struct diff *d, const struct diff_pair *p, const char *id)
{
	struct finding *f = add_single(d, p, id, FINDING_FAIL);

	finding_set_value(f, "expected, but not found");
	finding_set_reason(f, "a job on this machine is slower or fails");
	finding_set_remedy(f, "look for it in \"lspci\" and \"dmesg\"; see whether its driver is "
			      "loaded");
}

static void add_extra(struct diff *d, const struct diff_pair *p, const char *id)
{
	struct finding *f = add_single(d, p, id, FINDING_WARN);

	finding_set_value(f, "found, but not expected");
	finding_set_reason(f, "a job on this machine may use it");
	finding_set_remedy(f, "compare \"railctl topo\" of both machines");
}

static bool has_moved(const struct diff_pair *p)
{
	const char *a = json_text(p->expected, "bdf"), *b = json_text(p->found, "bdf");

	return *a && *b && strcmp(a, b) != 0;
}

static void add_moved(struct diff *d, const struct diff_pair *p)
{
	struct finding *f = diff_add(d, "address", FINDING_WARN, json_text(p->expected, "bdf"),
				     json_text(p->found, "bdf"));

	finding_set_subject(f, "%s", p->label);
	finding_set_reason(f, "a list of PCI addresses means another device here");
	finding_set_remedy(f, "compare the slots of the cards; one more card can move the others");
}

/* One finding if all addresses differ: the machines are of different models, or one is a VM. */
static void add_all_moved(struct diff *d)
{
	struct finding *f = diff_add(d, "address", FINDING_WARN, "the same PCI addresses", NULL);

	finding_set_reason(f, "GPUs were compared by their index, HCAs by their name");
	finding_set_remedy(f, "compare machines of one model");
}

/* ---- all devices ---- */

typedef void (*compare_fn)(struct diff *d, const struct diff_pair *p);

/* --hcas, or NCCL_IB_HCA for a file that NCCL wrote, left it out. */
static bool is_left_out(const struct json *device)
{
	const struct json *considered = json_get(device, "considered");

	return considered && !json_true(considered);
}

/* compare NULL: only look for devices that one machine does not have. */
static void compare_all(struct diff *d, const struct diff_pairs *pairs, const char *id,
			compare_fn compare)
{
	for (size_t i = 0; i < pairs->n; i++) {
		const struct diff_pair *p = &pairs->item[i];

		if (!p->found) {
			if (!is_left_out(p->expected) &&
			    !(d->what == TOPO_DIFF_NCCL && diff_is_fused(pairs, p->label)))
				add_missing(d, p, id);
		} else if (!p->expected) {
			add_extra(d, p, id);
		} else {
			if (d->what == TOPO_DIFF_ALL && d->gpu.any_address && has_moved(p))
				add_moved(d, p);
			if (compare)
				compare(d, p);
		}
	}
}

static int compare_documents(struct diff *d, const struct json *expected, const struct json *found,
			     struct err *e)
{
	if (diff_pair(json_get(expected, "gpus"), json_get(found, "gpus"), DIFF_GPU, &d->gpu, e) ||
	    diff_pair(json_get(expected, "hcas"), json_get(found, "hcas"), DIFF_HCA, &d->hca, e))
		return -1;
	if (d->what == TOPO_DIFF_NCCL) {
		compare_all(d, &d->gpu, "gpu", diff_gpu_nccl);
		compare_all(d, &d->hca, "hca", NULL);
		return 0;
	}
	diff_machine(d, expected, found);
	d->gpu.any_address |= d->hca.any_address;
	if (!d->gpu.any_address && d->gpu.n + d->hca.n)
		add_all_moved(d);
	compare_all(d, &d->gpu, "gpu", diff_gpu);
	compare_all(d, &d->hca, "hca", diff_hca);
	return diff_checks(d, expected, found, e);
}

int topo_diff(const struct json *expected, const struct json *found, enum topo_diff_what what,
	      struct findings *out, struct err *e)
{
	struct diff d = { .what = what, .out = out };
	int rc;

	if (check_document(expected, "first", e) || check_document(found, "second", e))
		return -1;
	rc = compare_documents(&d, expected, found, e);
	free(d.gpu.item);
	free(d.hca.item);
	return rc || findings_check(out, e) || findings_sort(out, e) ? -1 : 0;
}
