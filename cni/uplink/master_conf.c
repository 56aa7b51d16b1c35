/* SPDX-License-Identifier: Apache-2.0 */
/* master_conf.c: reads the key "master". */
#include "cni/uplink/master.h"

#include <stdio.h>
#include <string.h>

#include "topo/read/rail_list.h"

#define KEY         "master"
#define RAIL        "rail:"
#define MAC         "mac:"
#define FORMS       "an interface, an alternative name, a PCI address, \"rail:N\" or \"mac:ADDRESS\""
#define KEY_LEN     64
#define SHOWN(text) (int)strnlen(text, 64), text

static bool master_conf_begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The kernel limits only the length of an alternative name. The other rules are those of a name. */
static const char *name_problem(const char *text)
{
	char head[IFNAME_LEN];
	const size_t len = strnlen(text, LINK_ALTNAME_LEN);

	if (len == LINK_ALTNAME_LEN)
		return "interface name is too long";
	if (len < IFNAME_LEN)
		return ifname_problem(text);
	if (!utf8_valid(text, len))
		return "interface name is not UTF-8 text";
	/* piece by piece: characters of more than one byte have none of those that are refused */
	for (size_t at = 0, n; at < len; at += n) {
		n = utf8_char(text + at, len - at);
		memcpy(head, text + at, n);
		head[n] = '\0';
		const char *problem = *head == '.' ? NULL : ifname_problem(head);
		if (problem)
			return problem;
	}
	return NULL;
}

static int parse_rail(const char *key, struct master_candidate *c, struct err *e)
{
	uint64_t number;

	if (parse_u64(c->text + strlen(RAIL), 0, RAIL_NUMBER_MAX, &number))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%.*s\": the number of a rail is 0 to %d, as `railctl topo` "
			       "has it",
			       key, SHOWN(c->text), RAIL_NUMBER_MAX);
	c->form = MASTER_RAIL;
	c->rail = (uint32_t)number;
	return 0;
}

static int parse_mac_of(const char *key, struct master_candidate *c, struct err *e)
{
	static const uint8_t zero[HW_ADDR_MAX];

	if (hw_addr_parse(c->text + strlen(MAC), &c->mac))
		return err_set(e, ERR_CONFIG, 0, "%s: \"%.*s\": not a MAC address", key,
			       SHOWN(c->text));
	/* The loopback interface has it. */
	if (memcmp(c->mac.byte, zero, c->mac.len) == 0)
		return err_set(e, ERR_CONFIG, 0, "%s: \"%.*s\": no card has this address", key,
			       SHOWN(c->text));
	c->form = MASTER_MAC;
	return 0;
}

/* No interface can have a colon in its name, and all other forms have one. */
int master_parse(const char *key, const char *text, struct master_candidate *out, struct err *e)
{
	struct master_candidate c = { .form = MASTER_NAME, .text = text };
	struct pci_addr pci;

	if (master_conf_begins(text, RAIL) || master_conf_begins(text, MAC)) {
		if (master_conf_begins(text, RAIL) ? parse_rail(key, &c, e)
						   : parse_mac_of(key, &c, e))
			return -1;
	} else if (pci_parse_loose(text, &pci) == 0) {
		c.form = MASTER_PCI;
		(void)pci_format(pci, c.pci);
	} else {
		const char *problem = name_problem(text);

		if (problem) {
			err_set(e, ERR_CONFIG, 0, "%s: \"%.*s\": %s", key, SHOWN(text), problem);
			return err_hint(e, "it takes " FORMS);
		}
	}
	*out = c;
	return 0;
}

static int master_conf_read_list(const char *of, const struct json *list, struct master_conf *out,
				 struct err *e)
{
	char key[KEY_LEN], shown[JSON_SHOW_LEN];

	json_each (it, list) {
		(void)snprintf(key, sizeof(key), "%s[%zu]", of, out->n);
		if (out->n == MASTER_CANDIDATES_MAX)
			return err_set(e, ERR_CONFIG, 0, "%s: more than %d candidates", of,
				       MASTER_CANDIDATES_MAX);
		if (!json_str(it))
			return err_set(e, ERR_DECODE, 0, "%s: must be a string, got %s", key,
				       json_show(it, shown));
		if (master_parse(key, json_str(it), &out->candidate[out->n], e))
			return -1;
		out->n++;
	}
	return out->n ? 0 : err_set(e, ERR_CONFIG, 0, "%s: the list of candidates is empty", of);
}

int master_read_value(const char *key, const struct json *n, struct master_conf *out, struct err *e)
{
	struct master_conf c = { .n = 0 };
	char shown[JSON_SHOW_LEN];

	if (n && json_type(n) == JSON_ARRAY) {
		if (master_conf_read_list(key, n, &c, e))
			return -1;
	} else if (n && !json_str(n)) {
		return err_set(e, ERR_DECODE, 0, "%s: must be a string or a list, got %s", key,
			       json_show(n, shown));
	} else if (n && *json_str(n)) {
		if (master_parse(key, json_str(n), &c.candidate[0], e))
			return -1;
		c.n = 1;
	}
	*out = c;
	return 0;
}

int master_read_conf(const struct json *config, struct master_conf *out, struct err *e)
{
	const struct json *n = json_get(config, KEY);

	if (!n || json_type(n) != JSON_OBJECT)
		return master_read_value(KEY, n, out, e);
	*out = (struct master_conf){ .n = 1, .on_demand = n };
	out->candidate[0].form = MASTER_ON_DEMAND;
	out->candidate[0].text = json_get(n, "vlan") ? "a VLAN on demand" : "a bond on demand";
	return 0;
}

void master_of_name(struct master_conf *c, const char *ifname)
{
	*c = (struct master_conf){ .n = 1 };
	c->candidate[0].text = ifname;
}

const char *master_needs_host(const struct master_conf *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->candidate[i].form == MASTER_PCI || c->candidate[i].form == MASTER_RAIL ||
		    c->candidate[i].form == MASTER_ON_DEMAND)
			return c->candidate[i].text;
	return NULL;
}
