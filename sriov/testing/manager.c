/* SPDX-License-Identifier: Apache-2.0 */
/* manager.c: a PF whose sriov_numvfs is a file, and calls of manager_create. */
#include "sriov/testing/manager.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"
#include "lib/testing/time.h"

struct progress progress;

static void on_progress(void *arg, const char *line)
{
	(void)arg;
	testing_append(progress.text, sizeof(progress.text), line);
	testing_append(progress.text, sizeof(progress.text), "\n");
	if (!strstr(line, ": making "))
		return;
	progress.autoprobe = autoprobe();
	if (progress.num_becomes)
		fakepci_link(TESTHOST_SYS, TESTHOST_PF, "sriov_numvfs", progress.num_becomes);
}

void pf_state(const char *text)
{
	ck_assert(mkdir(STATE, 0700) == 0 || errno == EEXIST);
	ck_assert(mkdir(STATE "/vf", 0700) == 0 || errno == EEXIST);
	testing_file(PF_STATE, 0600, text);
}

void set_num(const char *n)
{
	fakepci_file(TESTHOST_SYS, TESTHOST_PF, "sriov_numvfs", n);
}

void num_is(const char *n)
{
	char text[16] = "";
	FILE *f = fopen(TESTHOST_SYS "/bus/pci/devices/" TESTHOST_PF "/sriov_numvfs", "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	(void)fclose(f);
	text[strcspn(text, "\n")] = '\0';
	ck_assert_str_eq(text, n);
}

bool autoprobe(void)
{
	FILE *f = fopen(TESTHOST_SYS "/bus/pci/devices/" TESTHOST_PF "/sriov_drivers_autoprobe",
			"re");

	ck_assert_ptr_nonnull(f);
	int c = fgetc(f);
	(void)fclose(f);
	return c == '1';
}

struct testhost manager_testhost(uint32_t vfs, const char *now)
{
	struct testhost w = testhost(vfs);

	faketime_begin(NULL);
	w.ctx.state_dir = STATE;
	set_num(now);
	fakepci_file(TESTHOST_SYS, TESTHOST_PF, "sriov_drivers_autoprobe", "1\n");
	return w;
}

int create(const struct testhost *w, const struct vf_order *o, struct vf_order_result *made,
	   struct err *e)
{
	const struct manager m = { &w->ctx, w->nl, on_progress, NULL };

	progress.text[0] = '\0';
	return manager_create(&m, o, made, e);
}

struct vf_order_result created(const struct testhost *w, uint32_t count)
{
	struct vf_order_result made = { .pf = "" };
	struct err e = { .msg = "" };
	int rc = create(w, &(struct vf_order){ .pf = "pf0", .count = count }, &made, &e);

	ck_assert_msg(rc == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
	ck_assert_str_eq(made.pf, TESTHOST_PF);
	return made;
}

struct err refused(const struct testhost *w, const struct vf_order *o)
{
	struct vf_order_result made = { .before = 77 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(create(w, o, &made, &e), -1);
	ck_assert_uint_eq(made.before, 77);
	return e;
}

void pf_mac(const struct testhost *w, uint8_t out[MAC_LEN])
{
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert_int_eq(nl_link_by_name(w->nl, "pf0", &link, &e), 0);
	memcpy(out, link.addr.byte, MAC_LEN);
}
