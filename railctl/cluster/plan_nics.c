/* SPDX-License-Identifier: Apache-2.0 */
/* plan_nics.c: `railctl cluster plan --format`: addresses of NICs for the programs that set them.
 */
#include <stdio.h>
#include <string.h>

#include "railctl/cluster/plan.h"

struct nic {
	const char *node, *interface;
	uint32_t rail;
	char address[PREFIX_STR_LEN];
	const struct json *routes;
};

/* The texts around the name of a node, around those of its rails, and before those of routes.
 * rails, bonds: before the first rail that is no bond, or is one. */
static const struct nic_format {
	const char *name, *before, *after, *rails, *bonds, *file, *match, *address, *end, *dst, *gw,
		*metric;
} formats[] = {
	{ "netplan", "---\n", ": /etc/netplan/60-railhead.yaml\nnetwork:\n  version: 2",
	  "  ethernets:\n", "  bonds:\n", "", "\n    \"", "\":\n      addresses:\n      - ",
	  "\n      routes:\n", "      - to: ", "        via: ", "        metric: " },
	{ "networkd", "", "", "", "", "/etc/systemd/network/60-railhead-",
	  ".network\n[Match]\nName=", "\n[Network]\nAddress=", "\n",
	  "[Route]\nDestination=", "Gateway=", "Metric=" },
};

static void print_nic(FILE *to, const struct nic_format *f, const struct nic *x)
{
	fprintf(to, "# %s, rail %u: %s%s%s%s%s%s%s", x->node, x->rail, f->file, x->interface,
		f->match, x->interface, f->address, x->address, f->end);
	json_each (route, x->routes) {
		const double metric = json_num(json_get(route, "priority"));

		fprintf(to, "%s%s\n%s%s\n", f->dst, json_text(route, "dst"), f->gw,
			json_text(route, "gw"));
		if (metric > 0)
			fprintf(to, "%s%.0f\n", f->metric, metric);
	}
}

/* The name comes from the node: nobody shall write lines of other nodes by it. */
static bool is_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"\\#*?[]!%$/", *c))
			return false;
	return *name;
}

/* Why a rail is left out; NULL: it is not. */
static const char *left_out(const struct fabric_port *port, const char *name, bool has_address)
{
	if (*port->by)
		return "DHCP or router advertisements make its addresses or routes";
	if (!is_plain(name))
		return "its interface has no plain name";
	return has_address ? NULL : "it has no address yet";
}

/* The rails that are bonds, or the others. */
static int print_rails(FILE *to, const struct plan *p, size_t i, const struct nic_format *format,
		       bool bonds)
{
	const struct pin *pin = &p->pin[i];
	const struct fabric_node *n = p->host[i].node;
	bool begun = false;

	for (const struct fabric_port *x = n->port; x < n->port + n->n; x++) {
		auto_json struct json *o = json_new_object();
		const char *name = *x->bond ? x->bond : x->interface, *why;
		struct nic nic = { pin->node, name, x->rail, "", NULL };
		struct ip_prefix a;

		if (x->member || x->rail >= p->file.rails || (*x->bond != '\0') != bonds)
			continue;
		a.addr = plan_host_address(p, i, x->rail);
		a.len = (uint8_t)p->made.subnet_len;
		why = left_out(x, name, a.addr.family != IP_NONE);
		if (why) {
			fprintf(to, "# %s: rail %u is left out: %s\n", pin->node, x->rail, why);
			continue;
		}
		if (!o || rail_plan_add_routes(&p->made, x->rail, pin->group, o))
			return -1;
		(void)ip_format_prefix(a, nic.address);
		nic.routes = json_get(o, "routes");
		if (!begun)
			fputs(bonds ? format->bonds : format->rails, to);
		begun = true;
		print_nic(to, format, &nic);
	}
	return 0;
}

static int print_host(FILE *to, const struct plan *p, size_t i, const struct nic_format *format)
{
	const char *node = p->pin[i].node;

	fprintf(to, "%s# %s%s\n", format->before, node, format->after);
	if (!p->host[i].node || p->pin[i].group == PIN_NONE) {
		fprintf(to, "# %s is left out: %s\n", node,
			p->host[i].node ? "its group is not known" : "its agent does not listen");
		return 0;
	}
	return print_rails(to, p, i, format, false) || print_rails(to, p, i, format, true) ? -1 : 0;
}

int plan_print_nics(const struct cmd_run *r, const struct plan *p, struct err *e)
{
	const char *name = opt_get(&r->opts, "format"), *node = opt_get(&r->opts, "node");
	const struct nic_format *format = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			format = &formats[i];
	if (!format)
		return err_set(e, ERR_CONFIG, 0, "--format \"%.64s\" is not netplan or networkd",
			       name);
	for (size_t i = 0; i < p->n_pins; i++) {
		if (node && strcmp(p->pin[i].node, node) != 0)
			continue;
		n++;
		if (print_host(r->out.to, p, i, format))
			return err_nomem(e);
	}
	return n ? 0 : err_set(e, ERR_NOTFOUND, 0, "--node \"%.256s\" is not in the plan", node);
}
