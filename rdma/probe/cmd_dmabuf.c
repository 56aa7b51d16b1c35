/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dmabuf.c: `rdma-probe dmabuf`: which devices can register memory of a dma-buf. */
#include <string.h>

#include "rdma/probe/run.h"

static const char *const words[] = {
	[VERBS_YES] = "supported", [VERBS_NO] = "not supported", [VERBS_NOT_KNOWN] = "unknown"
};

struct tested {
	enum verbs_answer answer;
	char why[WIRE_TEXT];
};

static int add_json(struct json *list, const char *name, const struct tested *t)
{
	struct json *o = json_push_object(list);

	if (!o || json_add_str(o, "device", name) || json_add_str(o, "dmabuf", words[t->answer]) ||
	    json_add_str(o, "why", t->why))
		return -1;
	return 0;
}

/* The status is the worst answer, because a job uses all devices. */
static void set_status(struct cmd_run *p, enum verbs_answer answer)
{
	if (answer == VERBS_NO)
		p->status = PROBE_UNSUPPORTED;
	else if (answer == VERBS_NOT_KNOWN && p->status == CMD_OK)
		p->status = PROBE_UNKNOWN;
}

static int dmabuf(struct cmd_run *p, struct err *e)
{
	static const enum out_style styles[] = { OUT_GOOD, OUT_BAD, OUT_WARN };
	const char *wanted = probe_conf(p)->device;
	auto_devices struct verbs_devices devices = { 0 };
	auto_json struct json *list = json_new_array();
	struct tested t;
	struct err why;
	size_t n = 0;

	if (!list)
		return err_nomem(e);
	if (verbs_list(&devices, e))
		return -1;
	for (size_t i = 0; i < devices.n; i++) {
		const struct verbs_device *d = &devices.list[i];
		if (*wanted && strcmp(wanted, d->name) != 0)
			continue;
		n++;
		if (verbs_dmabuf(d->name, &t.answer, t.why, &why)) {
			t.answer = VERBS_NOT_KNOWN;
			memcpy(t.why, why.msg, sizeof(why.msg));
		}
		set_status(p, t.answer);
		if (p->out.json && add_json(list, d->name, &t))
			return err_nomem(e);
		if (!p->out.json)
			out_line(&p->out, styles[t.answer], "%s: %s: %s", d->name, words[t.answer],
				 t.why);
	}
	if (!n)
		return verbs_none(*wanted ? wanted : NULL, e);
	return p->out.json ? out_json(&p->out, list, e) : 0;
}

const struct cmd probe_dmabuf = {
	.name = "dmabuf",
	.summary = "test whether devices can register memory of a dma-buf",
	.about = "GPUDirect RDMA without its own kernel module needs this. The command tries a "
		 "registration with an invalid descriptor, and the kind of error shows the answer. "
		 "No GPU is needed.\nExit status 5: a device cannot do it. 6: no device is known "
		 "to be unable, and for some it is unknown.",
	.opts = { conf_which },
	.run = dmabuf,
};
