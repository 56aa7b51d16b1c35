/* SPDX-License-Identifier: Apache-2.0 */
/* cards.c: reads the files of qos.d, and finds the card of each. */
#include "rdma/qos/cards.h"

#include <errno.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/sys/fs.h"

#define SUFFIX   ".json"
#define FILE_MAX 65536

static int take_file(const struct ctx *ctx, int dir, const char *name, struct qos_cards *c,
		     struct err *e)
{
	auto_free char *text = NULL;
	struct qos_card card;
	struct qos_file f;
	struct err why;
	ssize_t len = fs_read_trusted_at(dir, name, FILE_MAX, &text, &why);

	if (len >= 0 && qos_file_decode(text, (size_t)len, name, &f, &why) == 0) {
		if (qos_find(ctx, f.pf, &card.port, &why) == 0) {
			card.want = f.want;
			if (ARRAY_GROW(c->card, c->n, SIZE_MAX, "cards", e))
				return -1;
			c->card[c->n++] = card;
			return 0;
		}
		/* Nodes may share a folder, and a card may be in a pod. */
		if (why.code == ERR_NOTFOUND)
			return 0;
	}
	if (why.code == ERR_NOMEM)
		return err_nomem(e);
	if (c->n_wrong++ == 0)
		c->wrong = why;
	return 0;
}

static bool has_suffix(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(SUFFIX) && strcmp(name + len - strlen(SUFFIX), SUFFIX) == 0;
}

int qos_cards_read(const struct ctx *ctx, const char *dir, struct qos_cards *out, struct err *e)
{
	auto_qos_cards struct qos_cards c = { 0 };
	auto_fs_names struct fs_names files = { .n = 0 };
	struct err why;
	auto_fd int fd = fs_open_dir(dir, false, &why);

	if (fd < 0 && why.errnum != ENOENT)
		return err_pass(e, &why);
	if (fd >= 0 && fs_names_at(fd, ".", FS_NAMES_MAX, &files, e))
		return err_wrap(e, "%s", dir);
	for (size_t i = 0; i < files.n; i++)
		if (has_suffix(files.name[i]) && take_file(ctx, fd, files.name[i], &c, e))
			return -1;
	*out = c;
	c = (struct qos_cards){ 0 };
	return 0;
}

void qos_cards_clear(struct qos_cards *c)
{
	free(c->card);
	*c = (struct qos_cards){ 0 };
}

const struct qos_card *qos_card_of(const struct qos_cards *c, const char *netdev, const char *pci)
{
	for (size_t i = 0; i < c->n; i++)
		if (*netdev && strcmp(c->card[i].port.netdev, netdev) == 0)
			return &c->card[i];
	for (size_t i = 0; i < c->n; i++)
		if (*pci && strcmp(c->card[i].port.pci, pci) == 0)
			return &c->card[i];
	return NULL;
}
