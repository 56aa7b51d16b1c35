/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_check.c: `railctl rdma check`: print the findings of the RDMA doctor. */
#include <errno.h>
#include <time.h>

#include "lib/cli/check.h"
#include "railctl/device/rdma.h"
#include "railctl/device/lossy.h"
#include "railctl/device/pkey.h"
#include "railctl/device/pod.h"
#include "diag/doctor.h"

#define ID_WIDTH 13

static void wait_ms(int64_t ms, void *arg)
{
	struct timespec left = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	(void)arg;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

#define INTERVAL_S 1

static int take_interval(struct cmd_run *r, int64_t *ms, struct err *e)
{
	const char *text = opt_get(&r->opts, "interval");
	uint64_t seconds = INTERVAL_S;

	if (text && parse_u64(text, 0, 3600, &seconds))
		return cmd_usage(r, e, "--interval \"%.64s\" is not a number from 0 to 3600", text);
	*ms = (int64_t)seconds * 1000;
	return 0;
}

int rdma_check_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_asked_pkeys struct asked_pkeys pkeys = { 0 };
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_rails struct rails rails = { 0 };
	auto_probe_data struct probe_data data = { 0 };
	auto_qos_cards struct qos_cards cards = { 0 };
	struct probe_view view = { .ctx = &r->ctx, .wait = wait_ms };
	char host[RDMA_POD_SYSFS_LEN];
	struct lib_version nccl = NCCL_VERSION_NEWEST;
	auto_fd int fd = -1;

	if (take_interval(r, &view.watch_ms, e) || rdma_take_version(r, "nccl-version", &nccl, e) ||
	    rdma_asked_pkeys(r, &pkeys, e) || rdma_cards_read(&r->ctx, QOS_DIR, &cards, e) ||
	    rdma_pod_host_sysfs(r, &fd, host, e))
		return -1;
	view.nccl = opt_is_set(&r->opts, "nccl-version") ? &nccl : NULL;
	view.lossy = opt_is_set(&r->opts, "lossy");
	view.host_sysfs = *host ? host : NULL;
	view.pkeys = pkeys.one;
	view.n_pkeys = pkeys.n;
	if (rdma_pod_read(r, &view.pid, &v, e) || rails_find(&v, &rails, e) ||
	    probe_data_read(&view, &v, &rails, &data, e))
		return -1;
	for (size_t i = 0; i < v.n_devices; i++)
		data.device[i].lossy = rdma_is_on_lossy(&cards, r->ctx.sysfs, &v.device[i]);
	return doctor_check(&data, out, e);
}

static int rdma_check_run(struct cmd_run *r, struct err *e)
{
	auto_findings struct findings found = { 0 };

	if (rdma_check_find(r, &found, e))
		return -1;
	return check_report(r, &found, ID_WIDTH, FINDINGS_OK, e);
}

static const struct opt options[] = {
	RDMA_OPT_NETNS,
	RDMA_OPT_NCCL_VERSION,
	{ "interval", "SECONDS", "how long counters are watched; default 1, 0: read once", 0 },
	{ "pkey", "PKEY",
	  "a partition that InfiniBand ports must be in; may be given more than "
	  "once",
	  OPT_MANY },
	{ "lossy", NULL, "the fabric has no priority flow control: its absence is not a finding",
	  0 },
	{ "strict", NULL, "exit status 1 also when a finding is a warning or unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rdma check",
	"railctl rdma check --netns /run/netns/pod1 --json",
	"railctl rdma check --interval 3",
	"railctl rdma check --pkey 0x8001",
	NULL,
};

const struct cmd rdma_check_cmd = {
	.name = "check",
	.summary = "find errors of RDMA in a pod, and say what to do",
	.about = "Each line is ok, warn, fail or unknown, with the evidence, the effect (so) and "
		 "the remedy (do). The exit status is 1 when a check fails. Counters are read "
		 "twice, and their difference is judged. The command sees most in the pod. On the "
		 "host, use --netns /proc/PID/ns/net of a process of the pod: then it also sees "
		 "the character devices and limits of that process.",
	.opts = { options },
	.examples = examples,
	.run = rdma_check_run,
};
