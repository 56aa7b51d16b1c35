/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_mode.c: `railctl rdma mode`: shared or exclusive, now and at boot. */
#include <errno.h>
#include <string.h>

#include "railctl/device/rdma.h"
#include "rdma/device/boot.h"

static const char *boot_dir(const struct cmd_run *r)
{
	const char *dir = opt_get(&r->opts, "modprobe-dir");

	return dir ? dir : RDMA_BOOT_DIR;
}

/* ---- show ---- */

/* Returns 1 with the mode in *out, 0 if this kernel has no RDMA, -1 with an error. */
static int mode_now(struct rdma_sys *out, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct err why;

	if (nl_rdma_open(&nl, &why))
		return why.errnum == EPROTONOSUPPORT ? 0 : err_pass(e, &why);
	return nl_rdma_sys_get(nl, out, e) ? -1 : 1;
}

static int show_mode_json(const struct cmd_run *r, const struct rdma_sys *now,
			  const struct rdma_boot *boot, struct err *e)
{
	auto_json struct json *o = json_new_object();

	if (!o || (now && json_add_str(o, "mode", rdma_mode_name(now->mode))) ||
	    json_add_str(o, "atBoot", rdma_mode_name(boot->mode)) ||
	    (boot->given && json_add_str(o, "file", boot->file)))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static int show_mode(struct cmd_run *r, struct err *e)
{
	struct rdma_boot boot;
	struct rdma_sys now;
	int known = mode_now(&now, e);

	if (known < 0 || rdma_boot_read(boot_dir(r), &boot, e))
		return -1;
	if (r->out.json)
		return show_mode_json(r, known ? &now : NULL, &boot, e);
	out_pair(&r->out, "Mode", "%s",
		 known ? rdma_mode_name(now.mode) : "none: this kernel has no RDMA");
	out_pair(&r->out, "At boot", "%s (%s%s%s)", rdma_mode_name(boot.mode),
		 boot.given ? boot_dir(r) : "the kernel's default", boot.given ? "/" : "",
		 boot.file);
	return 0;
}

/* ---- set ---- */

/* Returns 1 if the mode is set, 0 if only a boot can set it (*why has the reason), -1: an error. */
static int set_now(enum rdma_mode mode, struct err *why, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys now;

	if (nl_rdma_open(&nl, why)) {
		if (why->errnum == EPROTONOSUPPORT)
			return 0;
		return err_pass(e, why);
	}
	if (nl_rdma_sys_get(nl, &now, e))
		return -1;
	if (now.mode == mode || nl_rdma_sys_set(nl, mode, why) == 0)
		return 1;
	if (why->errnum == EBUSY)
		return 0;
	return err_pass(e, why);
}

static int mode_report_done(struct cmd_run *r, enum rdma_mode mode, const struct err *why,
			    struct err *e)
{
	const char *name = rdma_mode_name(mode);
	auto_json struct json *o = r->out.json ? json_new_object() : NULL;
	char line[OUT_ERROR_LEN];

	r->status = why ? CMD_FAILED : CMD_OK;
	if (!r->out.json && why)
		out_line(&r->out, OUT_WARN,
			 "The RDMA mode is not changed now: %s. %s/" RDMA_BOOT_FILE
			 " sets mode %s at "
			 "the next boot: reboot, or repeat this when no pod is left. If ib_core is "
			 "part of the initramfs, rebuild that (update-initramfs -u, or dracut -f). "
			 "With --boot-only this is a success.",
			 out_error(why, line), boot_dir(r), name);
	else if (!r->out.json)
		out_line(&r->out, OUT_GOOD, "RDMA mode %s.", name);
	if (!r->out.json)
		return 0;
	if (!o || json_add_str(o, "atBoot", name) || json_add_bool(o, "now", !why) ||
	    json_add_str(o, "why", why ? out_error(why, line) : NULL))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static int set_mode(struct cmd_run *r, enum rdma_mode mode, struct err *e)
{
	bool only_boot = opt_is_set(&r->opts, "boot-only");
	struct err why;
	int done = 1;

	if (!only_boot)
		done = set_now(mode, &why, e);
	if (done < 0 || rdma_boot_write(boot_dir(r), mode, e))
		return -1;
	return mode_report_done(r, mode, done ? NULL : &why, e);
}

static int mode_run(struct cmd_run *r, struct err *e)
{
	const char *word = r->opts.n_words ? r->opts.words[0] : NULL;

	if (!word)
		return show_mode(r, e);
	if (strcmp(word, rdma_mode_name(RDMA_SHARED)) == 0)
		return set_mode(r, RDMA_SHARED, e);
	if (strcmp(word, rdma_mode_name(RDMA_EXCLUSIVE)) == 0)
		return set_mode(r, RDMA_EXCLUSIVE, e);
	return cmd_usage(r, e, "\"%.64s\" is neither shared nor exclusive", word);
}

static const struct opt options[] = {
	{ .name = "boot-only", .help = "change the mode only at the next boot" },
	{ .name = "modprobe-dir", .value = "DIR", .help = "instead of " RDMA_BOOT_DIR },
	{ 0 },
};

const struct cmd rdma_mode_cmd = {
	.name = "mode",
	.words = "[shared|exclusive]",
	.summary = "show or set the mode in which this node shares RDMA devices",
	.about =
		"In mode shared every network namespace sees the RDMA devices of the host. Pods "
		"with macvlan and ipvlan need it, because they all use the device of their "
		"parent. In mode exclusive a device is in one namespace and moves into a pod. VFs "
		"need it, so that a pod cannot reach the devices of other pods. A node is in one "
		"mode.\n\nThe kernel changes the mode only while the host's network namespace is "
		"the only one. With pods on the node the new mode is written for the next boot, "
		"into " RDMA_BOOT_DIR "/" RDMA_BOOT_FILE ". The exit status is 1 then, because the "
		"mode is not the one that was asked for. With --boot-only it is 0.",
	.examples =
		(const char *const[]){ "railctl rdma mode", "railctl rdma mode exclusive", NULL },
	.opts = { options },
	.max_words = 1,
	.run = mode_run,
};
