/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c: addresses with ports as text, and lists of them. */
#include "rdma/probe/peers.h"

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

static bool peers_is_listed(const struct peers *peers, const struct peer *p)
{
	for (size_t i = 0; i < peers->n; i++) {
		if (peers->list[i].port == p->port && ip_equal(peers->list[i].addr, p->addr))
			return true;
	}
	return false;
}

/* The line without its comment and the blanks around it. */
static struct slice trimmed(struct slice line)
{
	const char *comment = memchr(line.p, '#', line.len);

	if (comment)
		line.len = (size_t)(comment - line.p);
	while (line.len && strchr(" \t\r", line.p[line.len - 1]))
		line.len--;
	while (line.len && strchr(" \t", *line.p)) {
		line.p++;
		line.len--;
	}
	return line;
}

static int add_line(struct slice line, uint16_t port, struct peers *out, struct err *e)
{
	char text[PEER_TEXT_LEN];
	struct peer p;

	if (!line.len)
		return 0;
	if (slice_copy(line, text, sizeof(text)))
		return err_set(e, ERR_CONFIG, 0, "this is not an address");
	if (peer_parse(text, port, &p, e))
		return -1;
	if (peers_is_listed(out, &p))
		return 0;
	if (out->n == PEERS_MAX)
		return err_set(e, ERR_CONFIG, 0, "more than %d peers", PEERS_MAX);
	out->list[out->n++] = p;
	return 0;
}

int peers_parse(const char *text, size_t len, uint16_t port, struct peers *out, struct err *e)
{
	struct slice rest = { text, len }, line;
	unsigned number = 0;

	out->n = 0;
	while (slice_next(&rest, '\n', &line)) {
		number++;
		if (add_line(trimmed(line), port, out, e))
			return err_wrap(e, "line %u", number);
	}
	if (out->n < 2)
		return err_set(e, ERR_CONFIG, 0,
			       "it lists %zu peers, and it takes two to exchange anything", out->n);
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
