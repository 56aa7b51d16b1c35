/* SPDX-License-Identifier: Apache-2.0 */
/* pkey.c: partitions that the command line and the records of a pod's attachments name. */
#include "railctl/device/pkey.h"

#include <string.h>

#include "cni/record/record.h"
#include "lib/base/array.h"
#include "sriov/claim/taken.h"

#define ASKED_MAX 65536

void rdma_asked_pkeys_clear(struct asked_pkeys *a)
{
	for (size_t i = 0; i < a->n_texts; i++)
		free(a->text[i]);
	free(a->text);
	free(a->one);
	*a = (struct asked_pkeys){ 0 };
}

int rdma_pkey_usage(struct cmd_run *r, const char *text, struct err *e)
{
	return cmd_usage(
		r, e,
		"--pkey \"%.64s\" is not a partition key: 0x0001 to 0x7fff, or with 0x8000 "
		"for full membership",
		text);
}

static int pkey_add(struct asked_pkeys *a, struct pkey_asked one, struct err *e)
{
	return ARRAY_PUSH(a->one, a->n, ASKED_MAX, "partitions that are asked for", one, e);
}

/* A copy that lives as long as a. NULL: no memory. */
static const char *pkey_keep(struct asked_pkeys *a, const char *before, const char *s,
			     struct err *e)
{
	size_t len = strlen(before) + strlen(s) + 1;

	if (ARRAY_GROW(a->text, a->n_texts, 2 * ASKED_MAX, "texts", e))
		return NULL;
	char *text = malloc(len);

	if (!text) {
		(void)err_nomem(e);
		return NULL;
	}
	(void)stpcpy(stpcpy(text, before), s);
	a->text[a->n_texts++] = text;
	return text;
}

struct search {
	struct netns_id pod;
	struct asked_pkeys *out;
	struct err *e;
	int rc;
};

static int on_pkey_record(const struct record *r, void *arg)
{
	struct search *s = arg;
	const char *text = json_str(json_get(r->device, "pkey")), *vf = sriov_device_vf(r);
	struct pkey_asked one;

	if (!r->tree || r->name_mismatch || !netns_same(r->netns_id, s->pod) || !text || !vf ||
	    pkey_parse(text, &one.pkey))
		return 0;
	one.from = pkey_keep(s->out, "attachment ", r->key.ifname, s->e);
	one.bus = one.from ? pkey_keep(s->out, "", vf, s->e) : NULL;
	s->rc = one.bus ? pkey_add(s->out, one, s->e) : -1;
	return s->rc;
}

/* rdma_pod_enter() reports a path that is not a namespace; unreadable records ask for nothing. */
static int add_recorded(struct cmd_run *r, struct asked_pkeys *out, struct err *e)
{
	const char *path = opt_get(&r->opts, "netns");
	auto_netns struct netns ns = { .fd = -1 };
	struct search s = { .out = out, .e = e };
	struct err ignored;

	if (!path || *path != '/' || netns_open(path, &ns, &ignored))
		return 0;
	s.pod = ns.id;
	if (record_each(&r->ctx, NULL, on_pkey_record, &s, &ignored) && ignored.code == ERR_NOMEM)
		return err_nomem(e);
	return s.rc;
}

int rdma_asked_pkeys(struct cmd_run *r, struct asked_pkeys *out, struct err *e)
{
	auto_asked_pkeys struct asked_pkeys a = { 0 };
	struct pkey_asked one = { .from = "--pkey" };
	const char *text;
	size_t i = 0;

	while ((text = opt_next(&r->opts, "pkey", &i))) {
		if (pkey_parse(text, &one.pkey))
			return rdma_pkey_usage(r, text, e);
		if (pkey_add(&a, one, e))
			return -1;
	}
	if (add_recorded(r, &a, e))
		return -1;
	*out = a;
	a = (struct asked_pkeys){ 0 };
	return 0;
}
