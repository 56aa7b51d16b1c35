/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: calls a plugin of the attach engine in the process of the test. */
#include "cni/testing/call.h"

#include <fcntl.h>
#include <stdio.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static cni_command_fn function_of(const struct attach_type *type, enum cni_command cmd)
{
	const struct cni_plugin p = attach_plugin(type);
	const cni_command_fn fn[] = {
		[CNI_ADD] = p.add, [CNI_DEL] = p.del,       [CNI_CHECK] = p.check,
		[CNI_GC] = p.gc,   [CNI_STATUS] = p.status,
	};

	return fn[cmd];
}

/* Standard output is the protocol's, so it goes into a file meanwhile. */
static int run_with_output(cni_command_fn fn, const struct cni_call *call, const char *to,
			   struct err *e)
{
	int out = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), was = dup(1), rc;

	ck_assert(out >= 0 && was >= 0 && fflush(stdout) == 0);
	ck_assert_int_eq(dup2(out, 1), 1);
	rc = fn(call, e);
	ck_assert_int_eq(dup2(was, 1), 1);
	(void)close(was);
	(void)close(out);
	return rc;
}

int testing_call(const struct attach_type *type, struct cni_call *call, char *conf, const char *out,
		 struct err *e)
{
	ck_assert_msg(cni_conf_parse(conf, strlen(conf), call->env.cmd, &call->conf, e) == 0, "%s",
		      e->msg);
	call->data = type;
	int rc = run_with_output(function_of(type, call->env.cmd), call, out, e);
	cni_conf_clear(&call->conf);
	return rc;
}

int testing_call_keys(const struct attach_type *type, struct cni_call *call, const char *keys,
		      const char *out, struct err *e)
{
	const char *netns = *call->env.netns ? call->env.netns : "/none";
	char *conf;

	ck_assert_int_gt(asprintf(&conf,
				  "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"x\",%s,"
				  "\"prevResult\":{\"cniVersion\":\"1.1.0\",\"interfaces\":"
				  "[{\"name\":\"net1\",\"sandbox\":\"%s\"}]}}",
				  keys, netns),
			 0);
	return testing_call(type, call, conf, out, e);
}

char *testing_printed(const char *out)
{
	char *text;
	struct err e;

	ck_assert_int_ge(fs_read_at(AT_FDCWD, out, 65536, &text, &e), 0);
	return text;
}

void testing_printed_has(const char *out, const char *piece)
{
	auto_free char *text = testing_printed(out);
	struct json *tree;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "answer", &tree, &e), 0);
	auto_free char *flat = json_print(tree, false);
	json_free(tree);
	ck_assert_msg(strstr(flat, piece) != NULL, "%s", flat);
}

static int count(const struct record *r, void *arg)
{
	(void)r;
	++*(unsigned *)arg;
	return 0;
}

unsigned testing_records(const struct ctx *ctx, const char *folder)
{
	struct record_place place;
	unsigned n = 0;
	struct err e;

	ck_assert_int_eq(record_place(ctx, folder, &place, &e), 0);
	ck_assert_int_eq(record_each(&place.ctx, NULL, count, &n, &e), 0);
	return n;
}

struct testing_world testing_world(const char *run_dir)
{
	struct testing_world w = { .pod = { .fd = -1 } };

	(void)testing_dir();
	net_enter_new();
	w.pod = net_another();
	net_veth("up", "up-peer", NULL);
	(void)snprintf(w.netns, sizeof(w.netns), "/proc/%d/fd/%d", (int)getpid(), w.pod.fd);
	ctx_init(&w.ctx, "test");
	w.ctx.run_dir = run_dir;
	w.ctx.cni_dir = NULL;
	w.ctx.log.fd = -1;
	return w;
}

void testing_replace(const char *path, const char *from, const char *to)
{
	auto_free char *text = testing_printed(path);
	char *at = strstr(text, from);

	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(strlen(from), strlen(to));
	for (; at; at = strstr(at, from))
		memcpy(at, to, strlen(to));
	testing_file(path, 0600, text);
}
