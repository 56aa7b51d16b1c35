/* SPDX-License-Identifier: Apache-2.0 */
/* vf_apply.c: `railctl vf apply`: the VFs that files ask for, at boot. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/fs.h"
#include "railctl/vf.h"

#define DIR_DEFAULT "/etc/railhead/vf.d"
#define FILE_MAX    65536
#define SUFFIX      ".json"

struct apply {
	struct rail *rail;
	struct manager m;
	const char *dir;
	int fd;
	int64_t deadline;   /* for PFs to appear */
	struct json *array; /* NULL: text */
	struct json *pfs;   /* address: the file that was about it */
	unsigned done, failed;
};

/* ---- one file ---- */

static int load(const struct apply *a, const char *name, struct vf_file *out, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_at(a->fd, name, FILE_MAX, &text, e);

	if (len < 0)
		return err_wrap(e, "%s", name);
	return vf_file_decode(text, (size_t)len, name, out, e);
}

/* A card's driver may come later than we do. */
static int find_pf(const struct apply *a, const char *pf, char out[PCI_STR_LEN], struct err *e)
{
	const struct timespec pause = { 0, 100 * 1000000 };

	struct err why;

	while (inventory_find_pf(&a->rail->ctx, pf, out, &why)) {
		if (why.code != ERR_NOTFOUND || ctx_mono_ms() >= a->deadline) {
			*e = why;
			return -1;
		}
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int claim_pf(struct apply *a, const char *pf, const char *name, struct err *e)
{
	const char *other = json_str(json_get(a->pfs, pf));

	if (other) {
		err_set(e, ERR_CONFIG, 0, "pf: %s is what %s is about already", pf, other);
		return err_hint(e, "one file for each PF; %s was followed", other);
	}
	return json_add_str(a->pfs, pf, name) ? err_nomem(e) : 0;
}

static int follow(struct apply *a, const struct vf_file *f, const char *name, struct vf_made *made,
		  struct err *e)
{
	const struct vf_order order = { .pf = f->pf, .count = f->count, .driver = f->driver };
	char pf[PCI_STR_LEN];

	if (find_pf(a, f->pf, pf, e) || claim_pf(a, pf, name, e) ||
	    manager_create(&a->m, &order, made, e))
		return err_wrap(e, "%s", name);
	return 0;
}

/* ---- what became of it ---- */

static int tell_json(const struct apply *a, const char *name, const struct vf_file *f,
		     const struct vf_made *made, const struct err *why)
{
	struct json *o = json_push_object(a->array);

	if (!o || json_add_str(o, "file", name) ||
	    json_add_str(o, "action",
			 why             ? "failed"
			 : made->changed ? "created"
					 : "left-alone"))
		return -1;
	if (why)
		return json_add_str(o, "error", why->msg);
	return json_add_str(o, "pfPciAddress", made->pf) || json_add_int(o, "sriovVfs", f->count)
		       ? -1
		       : 0;
}

static int tell(struct apply *a, const char *name, const struct vf_file *f,
		const struct vf_made *made, const struct err *why)
{
	const struct out *o = &a->rail->out;
	char line[OUT_ERROR_LEN];

	if (why)
		a->failed++;
	else
		a->done++;
	if (a->array)
		return tell_json(a, name, f, made, why);
	if (why)
		out_line(o, OUT_BAD, "failed %s", out_error(why, line));
	else
		out_line(o, OUT_GOOD, "%s %s: %s has %u VF%s",
			 made->changed ? "created" : "left-alone", name, f->pf, f->count,
			 f->count == 1 ? "" : "s");
	(void)fflush(o->to);
	return 0;
}

static int apply_file(struct apply *a, const char *name, struct err *e)
{
	auto_vf_file struct vf_file f = { 0 };
	struct vf_made made = { .before = 0 };
	struct err why;
	bool failed = load(a, name, &f, &why) || follow(a, &f, name, &made, &why);

	return tell(a, name, &f, &made, failed ? &why : NULL) ? err_nomem(e) : 0;
}

/* ---- all of them ---- */

static int is_ours(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return d->d_name[0] != '.' && len > strlen(SUFFIX) &&
	       strcmp(d->d_name + len - strlen(SUFFIX), SUFFIX) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int apply_all(struct apply *a, struct err *e)
{
	struct dirent **names;
	int n = scandirat(a->fd, ".", &names, is_ours, by_name);
	int rc = 0;

	if (n < 0)
		return err_set(e, ERR_IO, errno, "list %s", a->dir);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = apply_file(a, names[i]->d_name, e);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int finish(const struct apply *a, struct err *e)
{
	if (a->failed)
		a->rail->status = RAIL_FAILED;
	if (a->array)
		return out_json(&a->rail->out, a->array, e);
	if (!a->done && !a->failed)
		out_line(&a->rail->out, OUT_PLAIN, "No file %s/*" SUFFIX ": nothing was done.",
			 a->dir);
	else
		out_line(&a->rail->out, OUT_PLAIN, "%u file%s followed, %u failed", a->done,
			 a->done == 1 ? "" : "s", a->failed);
	return 0;
}

static int take_options(struct rail *r, struct apply *a, struct err *e)
{
	const char *wait = opt_get(&r->opts, "wait");
	const char *dir = opt_get(&r->opts, "dir");
	uint64_t seconds = 0;

	if (wait && parse_u64(wait, 0, 3600, &seconds))
		return cmd_usage(r, e, "--wait \"%.64s\" is no number from 0 to 3600", wait);
	if (dir && *dir != '/')
		return cmd_usage(r, e, "--dir \"%.256s\" must be an absolute path", dir);
	a->deadline = ctx_mono_ms() + (int64_t)seconds * 1000;
	a->dir = dir ? dir : DIR_DEFAULT;
	return 0;
}

/* Nobody has to have the folder; but one that was named must be there. */
static int open_dir(struct rail *r, struct apply *a, struct err *e)
{
	struct err why;

	a->fd = fs_open_dir(a->dir, false, &why);
	if (a->fd >= 0 || (why.errnum == ENOENT && !opt_is_set(&r->opts, "dir")))
		return 0;
	*e = why;
	return -1;
}

static int apply(struct rail *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	auto_json struct json *pfs = json_new_object();
	auto_nl struct nl *nl = NULL;
	struct apply a = { .rail = r, .array = array, .pfs = pfs, .fd = -1 };

	if (!pfs || (r->out.json && !array))
		return err_nomem(e);
	if (take_options(r, &a, e) || open_dir(r, &a, e))
		return -1;
	auto_fd int fd = a.fd;
	if (nl_open(&nl, e))
		return -1;
	a.m = rail_manager(r, nl);
	if (fd >= 0 && apply_all(&a, e))
		return -1;
	return finish(&a, e);
}

static const struct opt opts[] = {
	{ "dir", "DIR", "the folder of the files (default: " DIR_DEFAULT ")", 0 },
	{ "wait", "SECONDS", "wait that long for cards whose driver is not there yet", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = { "railctl vf apply --wait 30", NULL };

const struct cmd cmd_vf_apply = {
	.name = "apply",
	.summary = "make the VFs that the files of /etc/railhead/vf.d ask for",
	.about = "Each file is about one card: {\"pf\": \"ens3f0\", \"count\": 8}; see "
		 "railhead-vf.d(5). railhead-vf.service runs this at boot. A card that has that "
		 "many VFs is left alone. A file that is wrong, or that cannot be followed, does "
		 "not stop the others; the exit status is 1 then.",
	.opts = opts,
	.examples = examples,
	.run = apply,
};
