/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h: an open IPAM with its own store, and a clock and a boot id that tests set. */
#ifndef RAILHEAD_IPAM_TESTING_FIXTURE_H
#define RAILHEAD_IPAM_TESTING_FIXTURE_H

#include <stdio.h>
#include <sys/stat.h>

#include "ipam/lease/session.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

#define SECOND INT64_C(1000000000)
#define BOOT_1 "11111111-1111-1111-1111-111111111111"
#define BOOT_2 "22222222-2222-2222-2222-222222222222"

struct fixture {
	struct ctx ctx;
	int64_t now;
	struct ipam m;
	struct err e;        /* of the last call that failed */
	char text[512];      /* the last result of w_add */
	const char *ifname;  /* net1 */
	const char *network; /* of configurations: net */
	bool probes;         /* the caller of ADD probes */
};

static inline int64_t fixture_now(void *clock)
{
	return *(const int64_t *)clock;
}

/* fixture_boot - close the IPAM and open it again in the boot with this id. */
static inline void fixture_boot(struct fixture *w, const char *id)
{
	struct err e;

	testing_file("/mnt/proc/sys/kernel/random/boot_id", 0600, id);
	ipam_close(&w->m);
	ck_assert_msg(ipam_open(&w->ctx, NULL, true, &w->m, &e) == 0, "%s", e.msg);
}

/* fixture_close - close the IPAM: tests run under a leak checker. */
static inline void fixture_close(struct fixture *w)
{
	ipam_close(&w->m);
}
#define auto_fixture auto_clean(fixture_close)

/* fixture_open - a new folder with an empty store, in the boot BOOT_1. */
static inline void fixture_open(struct fixture *w)
{
	*w = (struct fixture){ .now = INT64_C(1795219200) * SECOND,
			       .ifname = "net1",
			       .network = "net" };
	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/proc", 0700) | mkdir("/mnt/proc/sys", 0700) |
				 mkdir("/mnt/proc/sys/kernel", 0700) |
				 mkdir("/mnt/proc/sys/kernel/random", 0700),
			 0);
	w->ctx = (struct ctx){ .proc = "/mnt/proc",
			       .run_dir = "/mnt/run",
			       .state_dir = "/mnt/state",
			       .now = fixture_now,
			       .clock = &w->now,
			       .log = { .fd = -1 } };
	fixture_boot(w, BOOT_1);
}

#endif
