/* SPDX-License-Identifier: Apache-2.0 */
/* fakes.c: three plugins for tests of the engine: one makes, one moves, one follows. */
#include "cni/testing/fakes.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/net.h"
#include "lib/testing/testing.h"

struct fakes fakes;

static void append(const char *path, const char *text)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

bool fake_has(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The name of a hook, and what the record on disk says now. */
static int hook(const struct cni_call *call, const char *name, struct err *e)
{
	const struct attach_type *type = call->data;
	const struct record_key key = attach_key(call);
	auto_record struct record r = { 0 };
	struct record_place place;
	char line[128];
	struct err none;

	ck_assert_int_eq(record_place(&call->ctx, type->records, &place, &none), 0);
	if (record_read(&place.ctx, &key, &r, &none))
		(void)snprintf(line, sizeof(line), "%s ", name);
	else
		(void)snprintf(line, sizeof(line), "%s[%s%s%s] ", name, r.adding ? "adding" : "",
			       r.deleting ? "deleting" : "", r.device ? ",device" : "");
	append(FAKE_TRACE, line);
	if (fakes.killed_at && strcmp(fakes.killed_at, name) == 0)
		_exit(0);
	if (fakes.fails_at && strcmp(fakes.fails_at, name) == 0)
		return err_set(e, ERR_KERNEL, 0, "%s fails", name);
	return 0;
}

/* ---- makes ---- */

static int make(struct attach *a, struct err *e)
{
	const struct link_spec spec = { .data.macvlan.mode = MACVLAN_BRIDGE };

	return attach_create_link(a, spec, e) || hook(a->call, "create", e) ? -1 : 0;
}

static int check_made(struct attach *a, struct err *e)
{
	return hook(a->call, "check", e);
}

const struct attach_type fake_maker = { .name = "maker",
					.role = ATTACH_MAKES,
					.kind = "macvlan",
					.create = make,
					.check = check_made };

/* ---- moves: the interface "dev", whose owner is in the file FAKE_TAKEN ---- */

static int set_device(struct attach *a, struct err *e)
{
	json_free(a->device);
	a->device = json_new_object();
	return a->device && json_add_str(a->device, "was", "dev") == 0 ? 0 : err_nomem(e);
}

static int find_device(struct attach *a, struct err *e)
{
	if (hook(a->call, "find", e))
		return -1;
	struct err none;
	(void)!nl_link_by_name(a->host_nl, "dev", &a->master, &none);
	return 0;
}

static int claim(struct attach *a, struct err *e)
{
	append(FAKE_TAKEN, a->call->env.container);
	return hook(a->call, "claim", e) || set_device(a, e) ? -1 : 0;
}

static int move(struct attach *a, struct err *e)
{
	const char *to = a->call->env.ifname;

	return nl_link_move(a->host_nl, a->master.ifindex, &a->pod, to, e) ||
			       hook(a->call, "create", e)
		       ? -1
		       : 0;
}

static int move_back(const struct record *r, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 }, host = net_self();
	struct link_info link;
	struct err none;
	int rc = attach_netns_of(&fakes.call->ctx, r, &pod, e);

	if (rc <= 0)
		return rc;
	auto_nl struct nl *nl = net_socket_in(&pod);
	if (nl_link_by_name(nl, r->key.ifname, &link, &none))
		return 0;
	return nl_link_move(nl, link.ifindex, &host, "dev", e);
}

static int restore_moved(const struct ctx *ctx, const struct record *r, struct err *e)
{
	(void)ctx;
	if (hook(fakes.call, "restore", e) || move_back(r, e))
		return -1;
	(void)unlink(FAKE_TAKEN);
	return 0;
}

static int release_moved(const struct cni_call *call, const struct record *r, struct err *e)
{
	if (hook(call, r ? "release-recorded" : "release", e))
		return -1;
	if (!r)
		(void)unlink(FAKE_TAKEN);
	return 0;
}

const struct attach_type fake_mover = {
	.name = "mover",
	.role = ATTACH_MOVES,
	.kind = "",
	.find = find_device,
	.claim = claim,
	.create = move,
	.check = check_made,
	.restore = restore_moved,
	.release = release_moved,
};

/* ---- follows: what it changes is the file FAKE_FOLLOWED ---- */

static int find_nothing(struct attach *a, struct err *e)
{
	return hook(a->call, "find", e);
}

static int check_earlier(const struct attach *a, const struct record *r, struct err *e)
{
	if (hook(a->call, "check_earlier", e))
		return -1;
	return fake_has(FAKE_FOLLOWED) ? err_set(e, ERR_BUSY, 0, "%s has it", r->key.container) : 0;
}

static int prepare(struct attach *a, struct err *e)
{
	a->below = "below";
	a->nothing_to_restore = json_get(a->call->conf.tree, "harmless") != NULL;
	return hook(a->call, "prepare", e) || set_device(a, e) ? -1 : 0;
}

static int follow(struct attach *a, struct err *e)
{
	append(FAKE_FOLLOWED, "x");
	return hook(a->call, "create", e) || set_device(a, e) ? -1 : 0;
}

static int add_key(const struct attach *a, struct cni_result *r, struct err *e)
{
	auto_json struct json *tree = json_dup(a->call->conf.prev_result);

	if (hook(a->call, "result", e))
		return -1;
	ck_assert_int_eq(json_add_str(tree, "follower", "was here"), 0);
	if (cni_result_parse(tree, "prevResult", a->call->conf.version, r, e))
		return -1;
	r->tree = TAKE_PTR(tree);
	return 0;
}

static int restore_followed(const struct ctx *ctx, const struct record *r, struct err *e)
{
	(void)ctx;
	ck_assert_str_eq(json_str(json_get(r->device, "was")), "dev");
	ck_assert_str_eq(r->master, "below");
	if (hook(fakes.call, "restore", e))
		return -1;
	(void)unlink(FAKE_FOLLOWED);
	return 0;
}

static int undo_followed(const struct attach *a, const struct record *r, struct err *e)
{
	ck_assert_str_eq(json_str(json_get(r->device, "was")), "dev");
	if (hook(a->call, "undo", e))
		return -1;
	(void)unlink(FAKE_FOLLOWED);
	return 0;
}

static void begin_state(void *state)
{
	*(int *)state = ++fakes.states;
}

static void clear_state(void *state)
{
	fakes.states -= *(int *)state;
}

const struct attach_type fake_follower = {
	.name = "follower",
	.role = ATTACH_FOLLOWS,
	.kind = "",
	.records = "follower",
	.defaults = begin_state,
	.clear = clear_state,
	.find = find_nothing,
	.check_earlier = check_earlier,
	.prepare = prepare,
	.create = follow,
	.result = add_key,
	.check = check_made,
	.restore = restore_followed,
	.undo = undo_followed,
	.release = release_moved,
};
