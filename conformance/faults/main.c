/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults [OPTIONS] BINDIR: spoil calls of a plugin in every way, one at a time.
 *
 *	--plugin NAME   macvlan (the default), macvlan-rail, macvlan-host, macvlan-tuned,
 *	                macvlan-demand (a VLAN of a bond), rails, ipvlan,
 *	                sriov and rails-sriov (on the machine's own cards),
 *	                rdma (behind macvlan, in mode shared), rdma-exclusive (the machine
 *	                in that mode), ib-sriov, ib-sriov-exclusive and ipoib (on the
 *	                machine's own InfiniBand ports)
 *	--lane DIR      programs whose allocations and clock can be spoiled
 *	--only CASE     one case, with all that is to be seen
 *	--sample N      N cases: a share for each class, and of each kind one before any has two
 *	--seed N        others than without
 *	--workers N     sandboxes at a time
 *	--crowd N       processes in a race, at most
 *	--limit N       seconds that a call may take
 *	--list          print the cases, run none
 */
#include "conformance/faults/faults.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option longs[] = {
	{ "plugin", required_argument, NULL, 'p' },  { "lane", required_argument, NULL, 'l' },
	{ "only", required_argument, NULL, 'o' },    { "sample", required_argument, NULL, 's' },
	{ "workers", required_argument, NULL, 'w' }, { "sandbox", required_argument, NULL, 'b' },
	{ "limit", required_argument, NULL, 't' },   { "list", no_argument, NULL, 'n' },
	{ "worker", no_argument, NULL, 'W' },        { "seed", required_argument, NULL, 'e' },
	{ "crowd", required_argument, NULL, 'c' },   { 0 },
};

static unsigned number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n > 1000000)
		die("not a number: %s", text);
	return (unsigned)n;
}

static bool take(int c, struct options *o)
{
	switch (c) {
	case 'p':
		o->plugin = optarg;
		return true;
	case 'l':
		o->lane = optarg;
		return true;
	case 'o':
		o->only = optarg;
		return true;
	case 's':
		o->sample = number(optarg);
		return true;
	case 'e':
		o->seed = number(optarg);
		return true;
	case 'w':
		o->workers = number(optarg);
		return true;
	case 'c':
		o->crowd = number(optarg);
		return true;
	case 't':
		o->limit = number(optarg);
		return true;
	case 'b':
		o->sandbox = optarg;
		return true;
	case 'n':
		o->list = true;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct options o = { .plugin = "macvlan", .workers = 2, .limit = 20, .crowd = 50 };
	bool worker = false;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == 'W')
			worker = true;
		else if (!take(c, &o))
			return 2;
	}
	if (optind + 1 != argc || (!worker && !o.sandbox) || !o.workers)
		die("usage: conformance/faults/run.sh BINDIR [OPTIONS]");
	o.bin = argv[optind];
	if (o.only)
		o.workers = 1;
	return worker ? worker_main(&o) : parent_main(&o);
}
