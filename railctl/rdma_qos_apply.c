/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_qos_apply.c: `railctl rdma qos apply`: what files ask for, at boot. */
#include <stdio.h>
#include <string.h>

#include "lib/fs.h"
#include "railctl/dropin.h"
#include "railctl/rdma_qos.h"

struct apply {
	struct rail *rail;
	struct nl *nl;
	const struct dropin *d;
	struct json *array; /* NULL: text */
	struct json *pfs;   /* interface: the file that was about it */
	unsigned done, failed;
};

/* A card's driver may come later than we do, and its RDMA device later still. */
static int wait_for(const struct apply *a, const struct qos_file *f, struct qos_port *out,
		    struct err *e)
{
	struct err why;

	for (;;) {
		bool found = qos_find(&a->rail->ctx, f->pf, out, &why) == 0;

		if (found && (*out->rdma || !(f->want.has & QOS_BIT(QOS_TC))))
			return 0;
		if ((!found && why.code != ERR_NOTFOUND) || !dropin_nap(a->d)) {
			if (found)
				return 0;
			*e = why;
			return -1;
		}
	}
}

static int claim(const struct apply *a, const char *netdev, const char *name, struct err *e)
{
	const char *other = json_str(json_get(a->pfs, netdev));

	if (other) {
		err_set(e, ERR_CONFIG, 0, "pf: %s is what %s is about already", netdev, other);
		return err_hint(e, "one file for each PF; %s was followed", other);
	}
	return json_add_str(a->pfs, netdev, name) ? err_nomem(e) : 0;
}

static int follow(const struct apply *a, const char *name, struct qos_file *f, unsigned *changed,
		  struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_trusted_at(a->d->fd, name, DROPIN_MAX, &text, e);
	struct qos_port port;

	if (len < 0 || qos_file_decode(text, (size_t)len, name, f, e))
		return -1;

	const struct qos_work w = { &a->rail->ctx, a->nl, &port };

	return wait_for(a, f, &port, e) || claim(a, port.netdev, name, e) ||
			       qos_set(&w, &f->want, changed, e)
		       ? err_wrap(e, "%s", name)
		       : 0;
}

static int tell_json(const struct apply *a, const char *name, const struct qos_file *f,
		     const char *action, const struct err *why)
{
	struct json *o = json_push_object(a->array);

	if (!o || json_add_str(o, "file", name) || json_add_str(o, "action", action) ||
	    (why ? json_add_str(o, "error", why->msg)
		 : json_add_str(o, "pf", f->pf) || qos_add_json(o, &f->want)))
		return -1;
	return 0;
}

static int apply_file(const char *name, void *arg, struct err *e)
{
	struct apply *a = arg;
	struct qos_file f = { .pf = "" };
	struct err why;
	char line[OUT_ERROR_LEN];
	unsigned changed = 0;
	bool failed = follow(a, name, &f, &changed, &why);
	const char *action = failed ? "failed" : changed ? "set" : "left-alone";

	a->failed += failed;
	a->done += !failed;
	if (a->array)
		return tell_json(a, name, &f, action, failed ? &why : NULL) ? err_nomem(e) : 0;
	out_line(&a->rail->out, failed ? OUT_BAD : OUT_GOOD, "%s %s%s%s", action,
		 failed ? out_error(&why, line) : name, failed ? "" : ": ", f.pf);
	(void)fflush(a->rail->out.to);
	return 0;
}

static int finish(const struct apply *a, struct err *e)
{
	if (a->failed)
		a->rail->status = RAIL_FAILED;
	if (a->array)
		return out_json(&a->rail->out, a->array, e);
	if (!a->done && !a->failed)
		out_line(&a->rail->out, OUT_PLAIN,
			 "No file %s/*" DROPIN_SUFFIX ": nothing was done.", a->d->dir);
	else
		out_line(&a->rail->out, OUT_PLAIN, "%u file%s followed, %u failed", a->done,
			 a->done == 1 ? "" : "s", a->failed);
	return 0;
}

static int apply(struct rail *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	auto_json struct json *pfs = json_new_object();
	auto_nl struct nl *nl = NULL;
	auto_dropin struct dropin d = { .fd = -1 };
	struct apply a = { .rail = r, .d = &d, .array = array, .pfs = pfs };

	if (!pfs || (r->out.json && !array))
		return err_nomem(e);
	if (dropin_open(r, QOS_DIR, &d, e) || nl_open(&nl, e))
		return -1;
	a.nl = nl;
	return dropin_each(&d, apply_file, &a, e) || finish(&a, e) ? -1 : 0;
}

static const struct opt options[] = {
	DROPIN_OPT_DIR(QOS_DIR),
	DROPIN_OPT_WAIT,
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = { "railctl rdma qos apply --wait 30", NULL };

const struct cmd rdma_qos_apply_cmd = {
	.name = "apply",
	.summary = "set what the files of " QOS_DIR " ask for",
	.about = "Each file is about one card: {\"pf\": \"ens3f0\", \"trust\": \"dscp\", "
		 "\"pfc\": [3]}; see railhead-qos.d(5). railhead-qos.service runs this at boot. A "
		 "file that is wrong, or that cannot be followed, does not stop the others; the "
		 "exit status is 1 then.",
	.opts = options,
	.examples = examples,
	.run = apply,
};
