// SPDX-License-Identifier: Apache-2.0
/* Values that are compared: how bad a difference is, its effect and its remedy. */
#include <stdio.h>
#include <string.h>

#include "diag/diff_priv.h"

/* ---- what a difference means ---- */

struct meaning {
	const char *id;
	enum finding_state state;
	const char *reason, *remedy;
};

static const struct meaning other_device = {
	"device", FINDING_FAIL, "a job gets another device than on the expected machine",
	"compare \"lspci -nn\" of both machines"
};
static const struct meaning other_node = {
	"numa", FINDING_WARN, "processes that are bound to a NUMA node may run far from the device",
	"compare the BIOS settings of both machines, such as NPS or SNC"
};
static const struct meaning other_path = {
	"path", FINDING_FAIL, "data takes another path than on the expected machine",
	"compare the slots of the cards, and \"railctl topo check\" of both machines"
};
static const struct meaning other_nearest = {
	"nearest", FINDING_FAIL, "the GPU has other near HCAs than on the expected machine",
	"compare the slots of the cards and the state of the ports"
};
static const struct meaning other_nccl = {
	"nccl", FINDING_FAIL, "NCCL chooses otherwise, so the rails of a job do not match",
	"compare \"railctl topo\" of both machines"
};
static const struct meaning other_gdr = { "gdr", FINDING_FAIL,
					  "NCCL uses GPUDirect RDMA on one of the two machines",
					  "compare \"railctl topo check\" of both machines" };
static const struct meaning other_role = {
	"role", FINDING_WARN, "the HCA counts for a job on one of the two machines",
	"compare the ports, addresses and default routes of both machines"
};
static const struct meaning other_name = {
	"name", FINDING_WARN, "a list of names, such as NCCL_IB_HCA, means another device here",
	"make the list on each node with \"railctl topo --env\", or name devices by a udev rule"
};
static const struct meaning other_port = {
	"port", FINDING_FAIL, "the rail is not as on the expected machine",
	"compare cables and switch ports, and \"railctl rdma list\" of both machines"
};
static const struct meaning other_setting = {
	"setting", FINDING_WARN, "NCCL needs another setting than on the expected machine",
	"take the variables of \"railctl topo --env\" on each node"
};
static const struct meaning other_machine = { "vm", FINDING_FAIL,
					      "one of the two is a virtual machine",
					      "compare machines of one kind" };

/* ---- findings ---- */

struct finding *diff_add(struct diff *d, const char *id, enum finding_state state,
			 const char *expected, const char *found)
{
	struct finding *f = findings_add(d->out, id, state);

	finding_set_value(f, "expected %s, found %s", expected ? expected : "none",
			  found ? found : "none");
	return f;
}

static void diff_rows_add(struct diff *d, const struct meaning *m, const char *subject,
			  const char *what, const char *const text[2])
{
	struct finding *f = findings_add(d->out, m->id, m->state);

	finding_set_value(f, "%s: expected %s, found %s", what, text[0], text[1]);
	finding_set_reason(f, "%s", m->reason);
	finding_set_remedy(f, "%s", m->remedy);
	if (subject)
		finding_set_subject(f, "%s", subject);
}

static void diff_rows_add_unknown(struct diff *d, const struct meaning *m, const char *subject,
				  const char *what, bool of_found)
{
	struct finding *f = findings_add(d->out, m->id, FINDING_UNKNOWN);

	finding_set_value(f, "%s", what);
	finding_set_reason(f, "the %s machine does not have this value",
			   of_found ? "second" : "first");
	finding_set_remedy(f, "read both machines in the same way, as root");
	if (subject)
		finding_set_subject(f, "%s", subject);
}

/* ---- single values ---- */

struct row {
	const char *outer; /* the object in the device that has the key; NULL: the device */
	const char *key;
	const char *what; /* for people */
	const struct meaning *meaning;
	bool null_is_none; /* null means that there is none; else it is unknown */
};

static const struct json *diff_rows_value_of(const struct row *r, const struct json *device)
{
	return json_get(r->outer ? json_get(device, r->outer) : device, r->key);
}

static const char *diff_rows_show(const struct json *n, char text[DIFF_TEXT_LEN])
{
	char shown[JSON_SHOW_LEN];

	if (!n)
		return "none";
	(void)snprintf(text, DIFF_TEXT_LEN, "%s", json_str(n) ? json_str(n) : json_show(n, shown));
	return text;
}

static void compare_values(struct diff *d, const struct row *r, const char *subject,
			   const struct json *expected, const struct json *found)
{
	char text[2][DIFF_TEXT_LEN];

	if ((!expected && !found) || (expected && found && json_same(expected, found)))
		return;
	if (r->null_is_none || (expected && found))
		diff_rows_add(d, r->meaning, subject, r->what,
			      (const char *const[]){ diff_rows_show(expected, text[0]),
						     diff_rows_show(found, text[1]) });
	else
		diff_rows_add_unknown(d, r->meaning, subject, r->what, !found);
}

/* rows: up to an entry without a key. */
static void compare_rows(struct diff *d, const struct row *rows, const char *subject,
			 const struct json *expected, const struct json *found)
{
	for (const struct row *r = rows; r->key; r++)
		compare_values(d, r, subject, diff_rows_value_of(r, expected),
			       diff_rows_value_of(r, found));
}

/* ---- lists of HCAs ---- */

/* The name that an HCA of the first machine has on the second one. */
static const char *translate(const struct diff *d, const char *name)
{
	const struct diff_pair *p = diff_find(&d->hca, false, "name", name);

	return p && p->found ? json_text(p->found, "name") : name;
}

static bool diff_rows_has_name(const struct json *list, const char *name)
{
	json_each (it, list) {
		if (json_str(it) && strcmp(json_str(it), name) == 0)
			return true;
	}
	return false;
}

static bool is_same_list(const struct diff *d, const struct json *expected,
			 const struct json *found)
{
	if (json_len(expected) != json_len(found))
		return false;
	json_each (it, expected) {
		if (json_str(it) && !diff_rows_has_name(found, translate(d, json_str(it))))
			return false;
	}
	return true;
}

static const char *join_names(const struct json *list, char text[DIFF_TEXT_LEN])
{
	size_t len = 0;

	(void)snprintf(text, DIFF_TEXT_LEN, "none");
	json_each (it, list) {
		if (len >= DIFF_TEXT_LEN - 1)
			break;
		len += (size_t)snprintf(text + len, DIFF_TEXT_LEN - len, "%s%s", len ? "," : "",
					json_str(it) ? json_str(it) : "");
	}
	return text;
}

static void compare_lists(struct diff *d, const struct row *rows, const char *subject,
			  const struct json *expected, const struct json *found)
{
	for (const struct row *r = rows; r->key; r++) {
		const struct json *a = diff_rows_value_of(r, expected),
				  *b = diff_rows_value_of(r, found);
		char text[2][DIFF_TEXT_LEN];

		if (!is_same_list(d, a, b))
			diff_rows_add(d, r->meaning, subject, r->what,
				      (const char *const[]){ join_names(a, text[0]),
							     join_names(b, text[1]) });
	}
}

/* ---- a GPU ---- */

static const struct row gpu_rows[] = {
	{ NULL, "vendor", "vendor", &other_device, false },
	{ NULL, "numa", "NUMA node", &other_node, false },
	{ "differs", "setting", "setting of NCCL", &other_setting, true },
	{ NULL, NULL, NULL, NULL, false },
};
static const struct row nccl_rows[] = {
	{ "nccl", "class", "NCCL's path to its HCA", &other_nccl, false },
	{ "nccl", "bandwidth_gBps", "GB/s of that path", &other_nccl, false },
	{ "nccl", "gdr", "GPUDirect RDMA of NCCL", &other_gdr, false },
	{ NULL, NULL, NULL, NULL, false },
};
static const struct row gpu_lists[] = {
	{ NULL, "nearest", "nearest HCAs", &other_nearest, false },
	{ NULL, "share", "HCAs that it should use", &other_nearest, false },
	{ NULL, NULL, NULL, NULL, false },
};
static const struct row nccl_lists[] = {
	{ "nccl", "local", "HCAs that NCCL will use", &other_nccl, false },
	{ NULL, NULL, NULL, NULL, false },
};
static const struct row path_rows[] = {
	{ NULL, "class", "class", &other_path, false },
	{ NULL, "switches", "switch chips", &other_path, false },
	{ NULL, "bandwidth_gbps", "Gbit/s of the narrowest link", &other_path, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct json *relation_of(const struct json *gpu, const char *hca)
{
	json_each (it, json_get(gpu, "hcas")) {
		if (strcmp(json_text(it, "name"), hca) == 0)
			return it;
	}
	return NULL;
}

/* Only paths to HCAs that the GPU should use or that are nearest: a job uses no others. */
static void compare_paths(struct diff *d, const struct diff_pair *p)
{
	json_each (it, json_get(p->expected, "nearest")) {
		const char *name = json_str(it) ? json_str(it) : "";
		const struct json *a = relation_of(p->expected, name);
		const struct json *b = relation_of(p->found, translate(d, name));
		char subject[2 * DIFF_LABEL_LEN + 2];

		(void)snprintf(subject, sizeof(subject), "%s %.63s", p->label, name);
		if (a && b)
			compare_rows(d, path_rows, subject, a, b);
	}
}

void diff_gpu_nccl(struct diff *d, const struct diff_pair *p)
{
	compare_rows(d, nccl_rows, p->label, p->expected, p->found);
	compare_lists(d, nccl_lists, p->label, p->expected, p->found);
}

void diff_gpu(struct diff *d, const struct diff_pair *p)
{
	compare_rows(d, gpu_rows, p->label, p->expected, p->found);
	diff_gpu_nccl(d, p);
	compare_lists(d, gpu_lists, p->label, p->expected, p->found);
	compare_paths(d, p);
}

/* ---- an HCA ---- */

static const struct row hca_rows[] = {
	{ NULL, "name", "name", &other_name, false },
	{ NULL, "kind", "kind", &other_device, false },
	{ NULL, "numa", "NUMA node", &other_node, false },
	{ NULL, "role", "role", &other_role, false },
	{ NULL, NULL, NULL, NULL, false },
};
static const struct row port_rows[] = {
	{ NULL, "active", "active", &other_port, false },
	{ NULL, "layer", "link layer", &other_port, false },
	{ NULL, "rate_mbps", "Mbit/s", &other_port, false },
	{ NULL, "ifname", "interface", &other_name, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct json *port_of(const struct json *hca, const struct json *number)
{
	json_each (it, json_get(hca, "ports")) {
		const struct json *own = json_get(it, "port");

		if (own && number && json_same(own, number))
			return it;
	}
	return NULL;
}

static void compare_ports(struct diff *d, const struct diff_pair *p)
{
	json_each (it, json_get(p->expected, "ports")) {
		const struct json *number = json_get(it, "port"),
				  *found = port_of(p->found, number);
		char subject[DIFF_LABEL_LEN + 16];

		if (port_of(p->expected, number) != it)
			continue; /* without a number, or with one that another port has */
		(void)snprintf(subject, sizeof(subject), "%s:%.0f", p->label, json_num(number));
		if (found)
			compare_rows(d, port_rows, subject, it, found);
		else
			diff_rows_add(d, &other_port, subject, "port",
				      (const char *const[]){ "one", "none" });
	}
}

void diff_hca(struct diff *d, const struct diff_pair *p)
{
	compare_rows(d, hca_rows, p->label, p->expected, p->found);
	compare_ports(d, p);
}

/* ---- the machine ---- */

static const struct row machine_rows[] = {
	{ "source", "vm", "virtual machine", &other_machine, false },
	{ "advice", "setting", "setting of NCCL for all GPUs", &other_setting, true },
	{ NULL, NULL, NULL, NULL, false },
};

void diff_machine(struct diff *d, const struct json *expected, const struct json *found)
{
	compare_rows(d, machine_rows, NULL, expected, found);
}
