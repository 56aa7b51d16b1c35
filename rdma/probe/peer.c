/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c: addresses with ports as text. */
#include "rdma/probe/peer.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"

/* Cut the port off the text: "[v6]:port" or "v4:port". An IPv6 address alone has more colons. */
static int cut_port(char *text, char **addr, uint16_t *port)
{
	char *colon = strrchr(text, ':');
	uint64_t n;

	*addr = text;
	if (text[0] == '[') {
		char *end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -1;
		*end = '\0';
		*addr = text + 1;
		colon = end[1] ? end + 1 : NULL;
	} else if (colon && strchr(text, ':') != colon) {
		colon = NULL;
	}
	if (!colon)
		return 0;
	*colon = '\0';
	if (parse_u64(colon + 1, 1, UINT16_MAX, &n))
		return -1;
	*port = (uint16_t)n;
	return 0;
}

int peer_parse(const char *text, uint16_t port, struct peer *out, struct err *e)
{
	char copy[PEER_TEXT_LEN + 8], *addr;
	struct peer p = { .port = port };

	if (strlen(text) >= sizeof(copy))
		return err_set(e, ERR_CONFIG, 0, "\"%.60s...\" is not an address", text);
	memcpy(copy, text, strlen(text) + 1);
	if (cut_port(copy, &addr, &p.port) || ip_parse(addr, &p.addr))
		return err_set(e, ERR_CONFIG, 0,
			       "\"%s\" is not an address: 10.0.0.1, 10.0.0.1:PORT, fd00::1 or "
			       "[fd00::1]:PORT",
			       text);
	*out = p;
	return 0;
}

char *peer_format(const struct peer *p, char out[PEER_TEXT_LEN])
{
	char addr[IP_STR_LEN];
	bool bare = p->port == PEERS_PORT, six = p->addr.family == IP_V6;

	ip_format(p->addr, addr);
	if (bare)
		(void)snprintf(out, PEER_TEXT_LEN, "%s", addr);
	else
		(void)snprintf(out, PEER_TEXT_LEN, "%s%s%s:%u", six ? "[" : "", addr,
			       six ? "]" : "", p->port);
	return out;
}
