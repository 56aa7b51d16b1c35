/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: links, pods and state of a worker's sandbox. */
#include "conformance/faults/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int run_quiet(const char *cmd)
{
	char line[1024];

	(void)snprintf(line, sizeof(line), "(%s) >" WORK "/shell 2>&1", cmd);
	return system(line); /* NOLINT(cert-env33-c): rare, and the text is ours */
}

void must(const char *fmt, ...)
{
	char cmd[900];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (run_quiet(cmd)) {
		(void)!system("cat " WORK "/shell >&2"); /* NOLINT(cert-env33-c) */
		die("this failed: %s", cmd);
	}
}

void pod_make(unsigned pod)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/run/netns/p%u", pod);
	if (access(path, F_OK))
		must("ip netns add p%u", pod);
}

void pod_drop(unsigned pod)
{
	char cmd[64];

	(void)snprintf(cmd, sizeof(cmd), "ip netns del p%u", pod);
	(void)run_quiet(cmd);
}

/* No link-local addresses, and fixed MACs: the same lines however often it is made. */
static void master_make(void)
{
	must("ip link add " MASTER " address 02:00:00:00:00:01 type veth peer name wire0 address "
	     "02:00:00:00:00:02 && ip link set " MASTER " addrgenmode none && "
	     "ip link set wire0 addrgenmode none && ip link set " MASTER " up && "
	     "ip link set wire0 up && "
	     "until grep -qx up /sys/class/net/" MASTER "/operstate && "
	     "grep -qx up /sys/class/net/wire0/operstate; do sleep 0.01; done");
}

void world_restore(struct world *w)
{
	(void)w;
	if (access("/run/netns/away", F_OK) == 0) {
		(void)run_quiet("ip -n away link set " MASTER " netns 1");
		must("ip netns del away");
		must("ip link set " MASTER " addrgenmode none && ip link set " MASTER " up");
	}
	if (access("/sys/class/net/" MASTER, F_OK))
		master_make();
	pod_make(0);
}

static void warm_up(struct world *w)
{
	auto_text why = { .p = NULL };

	for (int i = 0; i < 2 && !w->has_kind; i++) {
		auto_outcome o = { .out = NULL };
		call_run(w, &(struct call){ .verb = ADD }, &o);
	}
	for (int i = 0; i < 2 && w->has_kind; i++) {
		if (!call_ok(w, &(struct call){ .verb = ADD }, &why) ||
		    !call_ok(w, &(struct call){ .verb = CHECK }, &why) ||
		    !call_ok(w, &(struct call){ .verb = DEL }, &why))
			die("without any fault: %s", why.p);
	}
	world_keep_result(w, NULL);
}

void world_rebuild(struct world *w)
{
	(void)run_quiet("for n in $(ip netns list | cut -d' ' -f1); do ip netns del $n; done; "
			"for l in $(ip -o link | awk -F'[:@] *' '{print $2}'); do "
			"[ $l = lo ] || ip link del $l; done; "
			"umount -R " RUN "; umount -R " STATE "; rm -rf " RUN " " STATE "; "
			"umount /proc/sys/kernel/random/boot_id");
	master_make();
	pod_make(0);
	w->bin = WORK "/bin";
	warm_up(w);
	text_free(&w->base);
	snapshot(w, &w->base);
}

static bool kernel_has(const char *kind)
{
	char cmd[200];

	(void)snprintf(cmd, sizeof(cmd),
		       "ip link add link " MASTER " name probe0 type %s && ip "
		       "link del probe0",
		       kind);
	return run_quiet(cmd) == 0;
}

/* Copies, so that whoever builds meanwhile does not pull the programs away. */
void world_open(struct world *w)
{
	const struct options *o = w->o;

	(void)mkdir(WORK "/bin", 0755);
	(void)mkdir(WORK "/lane", 0755);
	must("cp %s/%s %s/railhead-ipam %s/railctl " WORK "/bin", o->bin, o->plugin, o->bin,
	     o->bin);
	if (o->lane)
		must("cp %s/%s %s/railhead-ipam %s/railctl " WORK "/lane", o->lane, o->plugin,
		     o->lane, o->lane);
	master_make();
	w->has_kind = kernel_has(o->plugin);
	must("ip link del " MASTER);
	world_rebuild(w);
}
