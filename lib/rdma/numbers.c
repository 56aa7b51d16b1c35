/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c: notes the character devices of an RDMA device, and judges new ones. */
#include "lib/rdma/numbers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"

#define FOLDER   "numbers"
#define TEXT_LEN 768 /* a uverbs and RDMA_PORTS_MAX umads */
#define NOTE_MAX 4096

const struct json_enum rdma_reactions[] = {
	{ "fail", RDMA_RENUMBERED_FAIL },
	{ "report", RDMA_RENUMBERED_REPORT },
	{ "", RDMA_RENUMBERED_FAIL },
	{ 0 },
};

static int numbers_refuse(struct err *e)
{
	return err_hint(e,
			"the pod has the old ones, which may now belong to another pod. Delete the "
			"pod, and restart the device plugin, so that it reads the new numbers. If "
			"pods get their devices after ADD, set renumbered to \"report\"");
}

/* ---- the note: a line with the pod, a line with its numbers ---- */

static int numbers_open_folder(const struct rdma_numbers *n, struct err *e)
{
	auto_fd int run = fs_open_dir(n->ctx->run_dir, true, e);

	return run < 0 ? -1 : fs_open_dir_at(run, FOLDER, true, e);
}

static void numbers_add_text(char out[TEXT_LEN], const struct rdma_chardev *c)
{
	char one[RDMA_NAME_LEN + 24];
	size_t len = strlen(out);

	if (*c->name)
		(void)snprintf(out + len, TEXT_LEN - len, "%s%s", len ? ", " : "",
			       rdma_chardev_text(c, one, sizeof(one)));
}

static char *text_of(const struct rdma_chardevs *c, char out[TEXT_LEN])
{
	*out = '\0';
	numbers_add_text(out, &c->uverbs);
	for (size_t i = 0; i < RDMA_PORTS_MAX; i++)
		numbers_add_text(out, &c->umad[i]);
	return out;
}

static int write_note(int dir, const struct rdma_numbers *n, const char *numbers, struct err *e)
{
	char note[NOTE_MAX];

	(void)snprintf(note, sizeof(note), "%.1024s\n%s\n", n->pod, numbers);
	/* No fsync: a boot gives all devices new numbers. */
	return fs_replace_at(dir, n->bus, note, false, e);
}

/* 1: text is the note, and *numbers its second line; 0: there is none. */
static int read_note(int dir, const struct rdma_numbers *n, char **text, char **numbers,
		     struct err *e)
{
	struct err why;
	char *line;

	if (fs_read_at(dir, n->bus, NOTE_MAX, text, &why) < 0)
		return why.errnum == ENOENT ? 0 : err_pass(e, &why);
	line = strchr(*text, '\n');
	if (!line)
		return 0;
	*line++ = '\0';
	line[strcspn(line, "\n")] = '\0';
	*numbers = line;
	return 1;
}

/* ---- before and after a change ---- */

int rdma_numbers_check(const struct rdma_numbers *n, const struct rdma_chardevs *now, struct err *e)
{
	auto_free char *text = NULL;
	char *had = NULL, has[TEXT_LEN];

	if (n->renumbered == RDMA_RENUMBERED_REPORT)
		return 0;
	auto_fd int dir = numbers_open_folder(n, e);
	int noted = dir < 0 ? -1 : read_note(dir, n, &text, &had, e);
	if (noted < 0)
		return -1;
	(void)text_of(now, has);
	if (!noted || strcmp(text, n->pod) != 0)
		return write_note(dir, n, has, e);
	if (strcmp(had, has) == 0)
		return 0;
	err_set(e, ERR_STATE, 0,
		"it got other character devices since the first ADD of this pod: the pod has %s, "
		"the device %s",
		had, *has ? has : "none");
	return numbers_refuse(e);
}

int rdma_numbers_judge(const struct rdma_numbers *n, const struct rdma_chardevs *was,
		       const struct rdma_chardevs *now, const char *what, struct err *e)
{
	char change[RDMA_CHANGE_LEN];

	if (!rdma_chardevs_differ(was, now, change, sizeof(change)))
		return 0;
	if (n->renumbered == RDMA_RENUMBERED_REPORT) {
		log_warn(n->log, "%s got other character devices: %s", what, change);
		return 0;
	}
	err_set(e, ERR_STATE, 0, "it got other character devices: %s", change);
	return numbers_refuse(e);
}
