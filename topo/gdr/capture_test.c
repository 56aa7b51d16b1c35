/* SPDX-License-Identifier: Apache-2.0 */
/* Checks on the capture of an emulated machine, after ACS bits of its switches are patched. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/testing/testing.h"
#include "topo/read/pcicap.h"
#include "topo/read/read.h"
#include "topo/testing/gdr.h"
#include "topo/testing/tree.h"

/* GPU 23:00.0 and the card 25:00.0 below one switch, 21:00.0; the root port 20:00.0 has ACS. */
#define GPU_PORT  "20:00.0/0000:21:00.0/0000:22:00.0"
#define NIC_PORT  "20:00.0/0000:21:00.0/0000:22:02.0"
#define NIC       NIC_PORT "/0000:25:00.0"
#define UPSTREAM  "20:00.0/0000:21:00.0"
#define ROOT_PORT "20:00.0"
#define EXT       0x100

static char sys[256], proc[256];

struct look {
	struct topo_machine m;
	struct topo_choice c;
	struct gdr_findings f;
};

static void look_clear(struct look *l)
{
	gdr_findings_clear(&l->f);
	topo_choice_clear(&l->c);
	topo_machine_clear(&l->m);
}
#define auto_look auto_clean(look_clear)

/* The software device of the card becomes its own. */
static void unpack(void)
{
	const char *top = tree_unpack("qemu-pxb-xio3130-igb-sriov-rxe");

	(void)snprintf(sys, sizeof(sys), "%s/sys", top);
	(void)snprintf(proc, sizeof(proc), "%s/proc", top);
	tree_ln(sys, "devices/virtual/infiniband/rxe2/device", "../../../pci0000:20/0000:" NIC);
}

static void look(struct look *l)
{
	const struct topo_tree_dirs d = { .sysfs = sys, .proc = proc };
	const struct topo_read_opts o = { 0 };
	struct err e = { 0 };

	ck_assert_msg(topo_read_sysfs(sys, proc, &o, &l->m, &e) == 0, "%s", e.msg);
	ck_assert_msg(topo_choose(&l->m, NULL, &l->c, &e) == 0, "%s", e.msg);
	ck_assert_msg(gdr_check(&l->m, &l->c, &d, &l->f, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(topo_find_hca(&l->m, "rxe2"), l->c.gpu[0].nearest[0]);
}

static int config_of(const char *path)
{
	char full[512];

	(void)snprintf(full, sizeof(full), "%s/devices/pci0000:20/0000:%s/config", sys, path);

	int fd = open(full, O_RDWR | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s", full);
	return fd;
}

static void patch(const char *path, off_t at, uint32_t value)
{
	const uint8_t b[4] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
			       (uint8_t)(value >> 24) };
	auto_fd int fd = config_of(path);

	ck_assert_int_eq(pwrite(fd, b, 4, at), 4);
}

/* ACS in place of AER, which the x3130 has alone. */
static void give_acs(const char *port, uint16_t on)
{
	patch(port, EXT, 0x0001000d);
	patch(port, EXT + 4, 0x5fU | (uint32_t)on << 16);
}

static enum finding_state acs(void)
{
	auto_look struct look l = { 0 };
	const struct finding *x;

	look(&l);
	x = gdr_test_find(&l.f, "acs", 0, topo_find_hca(&l.m, "rxe2"));
	ck_assert_ptr_nonnull(x);
	return x->state;
}

START_TEST(as_it_was_captured_nothing_redirects)
{
	unpack();
	ck_assert_int_eq(acs(), FINDING_OK); /* though the root port has SV RR CR UF on */
}
END_TEST

START_TEST(ports_below_the_switch_matter)
{
	unpack();
	give_acs(GPU_PORT, PCICAP_ACS_RR);
	ck_assert_int_eq(acs(), FINDING_WARN);
	give_acs(GPU_PORT, PCICAP_ACS_SV);
	ck_assert_int_eq(acs(), FINDING_OK);
	give_acs(NIC_PORT, PCICAP_ACS_RR | PCICAP_ACS_CR);
	ck_assert_int_eq(acs(), FINDING_WARN);
}
END_TEST

START_TEST(ports_above_the_switch_do_not)
{
	unpack();
	give_acs(UPSTREAM, 0x1d);
	give_acs(ROOT_PORT, 0x1d);
	ck_assert_int_eq(acs(), FINDING_OK);
}
END_TEST

/* Until it is ended: other programs of a machine that is busy. */
static pid_t rename_without_end(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		char a[300], b[300];

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)snprintf(a, sizeof(a), "%s/../a", sys);
		(void)snprintf(b, sizeof(b), "%s/../b", sys);
		if (mkdir(a, 0755))
			_exit(1);
		while (rename(a, b) == 0 && rename(b, a) == 0)
			;
		_exit(1);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* The kernel cannot say then whether ".." left the tree, and asks to try again. */
START_TEST(renames_elsewhere_change_nothing)
{
	int status;

	unpack();

	pid_t busy = rename_without_end();

	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(acs(), FINDING_OK);
	ck_assert_int_eq(waitpid(busy, &status, WNOHANG), 0); /* it renamed to the last */
	ck_assert_int_eq(kill(busy, SIGKILL), 0);
	ck_assert_int_eq(waitpid(busy, &status, 0), busy);
}
END_TEST

START_TEST(translated_requests_pass)
{
	unpack();
	give_acs(GPU_PORT, 0x1d | PCICAP_ACS_DT);
	ck_assert_int_eq(acs(), FINDING_WARN);
	patch(NIC, EXT, 0x0001000f); /* ATS, and on */
	patch(NIC, EXT + 4, 0x80000000);
	ck_assert_int_eq(acs(), FINDING_OK);
}
END_TEST

/* What came out, by what it is about. */
static const struct finding *same(const struct look *l, const struct finding *x)
{
	return gdr_test_find(&l->f, x->id, x->of[GDR_OF_GPU], x->of[GDR_OF_HCA]);
}

static bool is_of_config(const char *id)
{
	return !strcmp(id, "acs") || !strcmp(id, "payload") || !strcmp(id, "read-request") ||
	       !strcmp(id, "relaxed-ordering");
}

static void cut_all(const struct look *l)
{
	char command[512];

	ck_assert_uint_gt(l->m.n_pci, 20);
	(void)snprintf(command, sizeof(command),
		       "find %s -name config -type f -exec truncate -s 64 {} +", sys);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* An ordinary user's view: what was read there is unknown, and all else as before. */
START_TEST(without_root_only_configuration_space_is_unknown)
{
	auto_look struct look before = { 0 }, after = { 0 };
	size_t unknown = 0, changed = 0;

	unpack();
	give_acs(GPU_PORT, PCICAP_ACS_RR);
	look(&before);
	cut_all(&before);
	look(&after);
	ck_assert_uint_eq(before.f.all.n, after.f.all.n);
	for (size_t i = 0; i < before.f.all.n; i++) {
		const struct finding *x = &before.f.all.item[i], *y = same(&after, x);

		ck_assert_ptr_nonnull(y);
		if (is_of_config(x->id))
			unknown += y->state == FINDING_UNKNOWN;
		else
			changed += x->state != y->state || !x->value != !y->value;
	}
	ck_assert_uint_ge(unknown, 6);
	ck_assert_uint_eq(changed, 0);
	/* A function without capabilities says so in its first 64 bytes. */
	for (size_t i = 0; i < after.f.all.n; i++) {
		const struct finding *y = &after.f.all.item[i];

		if (is_of_config(y->id))
			ck_assert_msg(y->state == FINDING_UNKNOWN ||
					      !strcmp(y->value, "no PCI Express"),
				      "%s", y->id);
	}
}
END_TEST

TEST_PROGRAM("gdr_capture", as_it_was_captured_nothing_redirects, ports_below_the_switch_matter,
	     ports_above_the_switch_do_not, renames_elsewhere_change_nothing,
	     translated_requests_pass, without_root_only_configuration_space_is_unknown)
