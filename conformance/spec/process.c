/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: 1.1, process, environment, stdin and stdout. */
#include "conformance/spec/items.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void cni_001(struct t *t)
{
	pod(t, "a");
	t->how.argument = "--help";
	ok(t, "ADD");
	t->how.argument = "ADD";
	ok(t, "DEL");
	t->how.cwd = WORK;
	run(t, "VERSION");
	expect(t, t->rc == 0, "VERSION must not depend on the working directory");
}

static void nonzero(struct t *t, const char *way)
{
	expect(t, t->rc > 0, "%s: the exit status must be non-zero, without a signal", way);
}

static void cni_002(struct t *t)
{
	if (attach(t, "a"))
		ok(t, "DEL");
	each_refusal(t, nonzero);
}

static void cni_003(struct t *t)
{
	run(t, "VERSION");
	expect(t, cJSON_IsObject(t->doc), "VERSION must print one JSON object and nothing else");
	if (t->p->kind == INTERFACE && !t->facts->kernel_has_link)
		return;
	attach(t, "a");
}

static void error_on_stdout(struct t *t, const char *way)
{
	expect(t, strstr(t->out, "\"code\"") && strstr(t->out, "\"msg\""),
	       "%s: the error object must be on stdout", way);
}

static void cni_004(struct t *t)
{
	each_refusal(t, error_on_stdout);
}

static void only_error(struct t *t, const char *way)
{
	expect(t, cJSON_IsObject(t->doc) && jget(t->doc, "code"),
	       "%s: stdout must hold the error object alone", way);
}

static void cni_005(struct t *t)
{
	each_refusal(t, only_error);
}

static void cni_006(struct t *t)
{
	static const char *const wrong[] = { "add", "Add", "ADD ", "CREATE", "DELETE" };

	pod(t, "a");
	for (size_t i = 0; i < COUNT(wrong); i++)
		refused(t, wrong[i], "4");
	expect(t, t->p->kind != INTERFACE || !has_link(t->ns, t->ifname),
	       "no interface may come of an unknown command");
}

static void cni_007(struct t *t)
{
	static const char *const none[] = { NULL, "" };

	for (size_t i = 0; i < COUNT(none); i++) {
		run(t, none[i]);
		if (t->rc == 0)
			expect(t, !*t->out && *t->err,
			       "without CNI_COMMAND: say what this is on stderr, nothing on "
			       "stdout");
		else
			is_error(t, "4");
	}
}

struct required {
	const char *cmd, *variable;
	size_t offset;
};

static const struct required required[] = {
	{ "ADD", "CNI_CONTAINERID", offsetof(struct t, cid) },
	{ "ADD", "CNI_NETNS", offsetof(struct t, ns) },
	{ "ADD", "CNI_IFNAME", offsetof(struct t, ifname) },
	{ "DEL", "CNI_CONTAINERID", offsetof(struct t, cid) },
	{ "DEL", "CNI_IFNAME", offsetof(struct t, ifname) },
	{ "CHECK", "CNI_CONTAINERID", offsetof(struct t, cid) },
	{ "CHECK", "CNI_NETNS", offsetof(struct t, ns) },
	{ "CHECK", "CNI_IFNAME", offsetof(struct t, ifname) },
};

static bool has_cmd(const struct t *t, const char *cmd)
{
	return strcmp(cmd, "CHECK") != 0 || supports(t, "0.4.0") || supports(t, "1.0.0");
}

static void cni_008(struct t *t)
{
	static const char *const values[] = { NULL, "" };

	pod(t, "a");
	for (size_t i = 0; i < 2 * COUNT(required); i++) {
		const struct required *r = &required[i / 2];
		const char **field = (const char **)(void *)((char *)t + r->offset), *kept = *field;
		if (!has_cmd(t, r->cmd))
			continue;
		*field = values[i % 2];
		if (refused(t, r->cmd, "4"))
			names(t, r->variable);
		*field = kept;
	}
	t->cid = t->ns = t->ifname = NULL;
	if (refused(t, "ADD", "4")) {
		names(t, "CNI_CONTAINERID");
		names(t, "CNI_NETNS");
		names(t, "CNI_IFNAME");
	}
}

static void cni_009(struct t *t)
{
	pod(t, "a");
	t->path = NULL;
	run(t, "ADD");
	if (t->rc == 0)
		return;
	if (is_error(t, "4"))
		names(t, "CNI_PATH");
}

static void refuse_values(struct t *t, const char **field, const char *const *values, size_t n)
{
	static const char *const cmds[] = { "ADD", "DEL", "CHECK" };

	pod(t, "a");
	for (size_t i = 0; i < n; i++) {
		for (size_t v = 0; v < COUNT(cmds); v++) {
			if (!has_cmd(t, cmds[v]))
				continue;
			*field = values[i];
			refused(t, cmds[v], "4");
		}
	}
}

static void cni_010(struct t *t)
{
	static const char *const bad[] = { "-a",   ".a",  "_a",  "a b",     "a/b",
					   "../a", "a\n", "a:b", "\xc3\xa9" };

	if (t->p->kind != INTERFACE || t->facts->kernel_has_link) {
		pod(t, "good_1.2-3");
		t->cid = "Good_1.2-3";
		ok(t, "ADD");
		ok(t, "DEL");
	}
	refuse_values(t, &t->cid, bad, COUNT(bad));
}

static void cni_011(struct t *t)
{
	static const char *const bad[] = { "\"-a\"",   "\".a\"",   "\"a b\"",    "\"a/b\"",
					   "\"../a\"", "\"a\\n\"", "\"\\u00e9\"" };

	pod(t, "a");
	for (size_t i = 0; i < COUNT(bad); i++) {
		set(t, "name", bad[i]);
		refused(t, "ADD", "7");
	}
}

static void cni_012(struct t *t)
{
	static const char *const bad[] = {
		"sixteen-bytes-xx", ".", "..", "a/b", "a:b", "a b", "a\tb", "a\nb"
	};

	refuse_values(t, &t->ifname, bad, COUNT(bad));
}

static void cni_013(struct t *t)
{
	static const char *const good[] = { "eth0", "net1.5-x_y", "fifteen-bytes-x" };

	for (size_t i = 0; i < COUNT(good); i++) {
		t->ifname = good[i];
		if (!attach(t, text("p%zu", i)))
			return;
		expect(t, has_link(t->ns, good[i]), "a link named %s must be in the pod", good[i]);
	}
}

static void cni_014(struct t *t)
{
	pod(t, "a");
	ip(t->ns, "link add net1 type veth");
	const char *before = snapshot(t);
	refused(t, "ADD", NULL);
	unchanged(t, before, "after an ADD over an interface that exists");
}

static void cni_015(struct t *t)
{
	pod(t, "a");
	t->raw = "";
	refused(t, "ADD", "6");
	t->raw = "{\"cniVersion\":\"1.0.0\",";
	refused(t, "ADD", "6");
	t->raw = NULL;
	unset(t, "name");
	refused(t, "ADD", "7");
	reset(t);
	pod(t, "a");
	t->how.in = INPUT_DIRECTORY;
	refused(t, "ADD", "5");
	t->raw = "no JSON";
	run(t, "VERSION");
	expect(t, t->rc == 0, "VERSION must not read the configuration");
}

/* The member is put in front of the others, or behind them. */
static void with_twice(struct t *t, const char *first, const char *last)
{
	char *json = jtext(t->conf);

	json[strlen(json) - 1] = '\0';
	t->raw = text("{\"cniVersion\":\"%s\",%s,\"cniVersion\":\"%s\"}", first, json + 1, last);
}

static void cni_016(struct t *t)
{
	const char *good = t->version;

	pod(t, "a");
	cJSON_DeleteItemFromObjectCaseSensitive(t->conf, "cniVersion");
	with_twice(t, "9.9.9", good);
	ok(t, "DEL");
	with_twice(t, good, "9.9.9");
	refused(t, "DEL", "1");
}

static void cni_017(struct t *t)
{
	set(t, "capabilities", "{\"mac\":true,\"ips\":true,\"portMappings\":true}");
	set(t, "args", "{\"cni\":{\"labels\":[]},\"other\":{}}");
	set(t, "cni.dev/unknown", "{}");
	set(t, "dns", "{\"nameservers\":[\"192.0.2.1\"]}");
	set(t, "ipMasq", "false");
	set(t, "runtimeConfig", "{\"unknown\":1}");
	set(t, "someUnknownKey", "[1,2,3]");
	add_and_del(t, "a");
}

static void cni_018(struct t *t)
{
	if (!attach(t, "a"))
		return;
	expect(t, has_link(t->ns, t->ifname), "the interface must be in CNI_NETNS");
	expect(t, !has_link(NULL, t->ifname), "the interface must not be in the host's namespace");
}

/* Calls with one command beside each other, for pods p0, p1, ... */
static int parallel(struct t *t, const char *cmd, int n)
{
	struct job jobs[16];
	int good = 0;

	for (int i = 0; i < n; i++) {
		pod(t, text("p%d", i));
		jobs[i] = job_start(t, cmd);
	}
	for (int i = 0; i < n; i++) {
		job_end(t, &jobs[i]);
		good += t->rc == 0;
		expect(t, t->rc == 0, "%d calls of %s beside each other must succeed", n, cmd);
	}
	return good;
}

static void cni_019(struct t *t)
{
	warm_up(t);
	/* The pods count as part of the surroundings. */
	for (int i = 0; i < 8; i++)
		pod(t, text("p%d", i));
	/* Devices that are there before any pod may have a state file from their first use
	 * on. */
	if (t->p->host_network && (parallel(t, "ADD", 8) != 8 || parallel(t, "DEL", 8) != 8))
		return;
	const char *before = snapshot(t);
	if (parallel(t, "ADD", 8) == 8 && parallel(t, "DEL", 8) == 8 && t->p->kind != META)
		unchanged(t, before, "after eight ADD and eight DEL in parallel");
}

/* A fixed pause would be over, on a busy machine, before the program runs. */
static void await_exec(pid_t pid, const char *program)
{
	const char *link = text("/proc/%d/exe", (int)pid);
	char exe[PATH_MAX];

	for (int ms = 0; ms < 5000; ms++) {
		ssize_t n = readlink(link, exe, sizeof(exe) - 1);

		exe[n > 0 ? n : 0] = '\0';
		if (strcmp(exe, program) == 0)
			return;
		usleep(1000);
	}
}

static void cni_020(struct t *t)
{
	const char *old = t->plugin, *copy = text(WORK "/replaced");

	copy_file(old, copy);
	/* A wrong plugin goes by the files beside it. */
	copy_file(access(text("%s.base", old), F_OK) ? "/dev/null" : text("%s.base", old),
		  text(WORK "/replaced.base"));
	if (access(text("%s.base", old), F_OK))
		remove_file(WORK "/replaced.base");
	else
		copy_file(text("%s.rules", old), WORK "/replaced.rules");
	copy_file(copy, WORK "/new");
	t->plugin = copy;
	pod(t, "a");
	t->how.in = INPUT_SLOW;
	struct job j = job_start(t, "ADD");
	await_exec(j.process.pid, copy);
	(void)rename(WORK "/new", copy);
	job_end(t, &j);
	memset(&t->how, 0, sizeof(t->how));
	expect(t, t->rc == 0, "a call must survive that its program is replaced by rename");
	ok(t, "DEL");
}

static void cni_021(struct t *t)
{
	t->env[0] = "TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	t->env[1] = "BAGGAGE=a=b";
	if (!attach(t, "a"))
		return;
	expect(t, strstr(fake_env("ADD"), t->env[0]), "TRACEPARENT must reach the delegate");
	expect(t, strstr(fake_env("ADD"), t->env[1]), "BAGGAGE must reach the delegate");
}

static void cni_022(struct t *t)
{
	profile_section(t, "smallPool");
	warm_up(t);
	pod(t, "a");
	const char *before = snapshot(t);
	bool too_late = false;
	for (long us = 300; us < KILL_LATEST_US && !too_late && t->verdict == PASS; us += us / 3) {
		t->how.kill_after_us = us;
		run(t, "ADD");
		too_late = t->rc == 0;
		ok(t, "DEL");
		if (t->p->kind == INTERFACE)
			unchanged(t, before, text("killed after %ld us, then DEL", us));
	}
	if (t->p->kind == IPAM)
		released(t, "ADDs killed, then DEL");
}

const struct item items_process[] = {
	{ 1,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "the plugin reads environment and stdin, no arguments",
	  cni_001,
	  NULL,
	  { "ADD?argument: error=4" } },
	{ 2,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "the exit status is 0 on success, non-zero on failure",
	  cni_002,
	  NULL,
	  { "ADD?failed: exit=0", "DEL?ok: exit=3",
	    "ADD?in=a_b: crash\nADD?noenv=CNI_NETNS: crash" } },
	{ 3,
	  MUST,
	  ANY,
	  0,
	  "stdout has one JSON object and nothing else",
	  cni_003,
	  NULL,
	  { "VERSION: before=hello", "ADD?ok: before=log:line" } },
	{ 4,
	  DES,
	  ANY,
	  0,
	  "the error object is printed on stdout",
	  cni_004,
	  NULL,
	  { "ADD?failed: stderr=made_up out=" } },
	{ 5,
	  LIB,
	  ANY,
	  0,
	  "on failure stdout has only the error object",
	  cni_005,
	  NULL,
	  { "ADD?failed: before={}" } },
	{ 6,
	  MUST,
	  ANY,
	  0,
	  "CNI_COMMAND is compared exactly; an unknown command is error 4",
	  cni_006,
	  NULL,
	  { "add: skip", "CREATE?failed: set=code=100" } },
	{ 7,
	  LIB,
	  ANY,
	  0,
	  "without CNI_COMMAND: about text on stderr and exit 0, or error 4",
	  cni_007,
	  NULL,
	  { "-: skip out=hello", "-: crash" } },
	{ 8,
	  LIB,
	  ANY,
	  0,
	  "missing variables are one error 4 that names all of them",
	  cni_008,
	  NULL,
	  { "ADD?noenv=CNI_NETNS: setenv=CNI_NETNS=/run/netns/a", "CHECK?noenv=CNI_IFNAME: skip",
	    "ADD?failed: set=msg=\"missing\"" } },
	{ 9,
	  DES,
	  ANY,
	  NEED_ADD,
	  "without CNI_PATH: success, or an error 4 that names it",
	  cni_009,
	  NULL,
	  { "ADD?noenv=CNI_PATH: error=999" } },
	{ 10,
	  MUST,
	  ANY,
	  0,
	  "CNI_CONTAINERID may only have the characters of the specification",
	  cni_010,
	  NULL,
	  { "DEL?env=CNI_CONTAINERID=a/b: skip", "ADD?failed: set=code=999" } },
	{ 11,
	  LIB,
	  ANY,
	  0,
	  "a network name may only have the characters of the specification",
	  cni_011,
	  NULL,
	  { "ADD?in=../a: conf=name=\"a\"", "ADD?failed: set=code=4" } },
	{ 12,
	  MUST,
	  ANY,
	  0,
	  "CNI_IFNAME may only have the length and characters of the specification",
	  cni_012,
	  NULL,
	  { "ADD?env=CNI_IFNAME=sixteen-bytes-xx: setenv=CNI_IFNAME=cut",
	    "DEL?env=CNI_IFNAME=..: skip" } },
	{ 13,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "the interface in the pod is always named CNI_IFNAME",
	  cni_013,
	  NULL,
	  { "ADD: setenv=CNI_IFNAME=other0" } },
	{ 14,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "if the pod has an interface of that name, ADD fails and leaves it alone",
	  cni_014,
	  NULL,
	  { "ADD: preip=link,del,IF", "ADD?failed: ip=link,add,temp0,type,veth" } },
	{ 15,
	  LIB,
	  ANY,
	  0,
	  "unreadable stdin is error 5, bad JSON is error 6, a missing name is error 7",
	  cni_015,
	  NULL,
	  { "ADD?failed: set=code=999", "VERSION?in=JSON: read error=6" } },
	{ 16,
	  LIB,
	  ANY,
	  0,
	  "the last one of duplicate keys counts",
	  cni_016,
	  NULL,
	  { "DEL?in=\"9.9.9\": error=1" } },
	{ 17,
	  MAY,
	  ANY,
	  NEED_ADD,
	  "unknown keys in the configuration are not errors",
	  cni_017,
	  NULL,
	  { "ADD?in=someUnknownKey: error=2" } },
	{ 18,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "the plugin enters CNI_NETNS itself",
	  cni_018,
	  NULL,
	  { "ADD?ok: ip=link,set,IF,netns,1" } },
	{ 19,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "parallel calls for different containers succeed",
	  cni_019,
	  NULL,
	  { "ADD: solo", "DEL: solo" } },
	{ 20,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "the program may be replaced while it runs",
	  cni_020,
	  NULL,
	  { "ADD?replaced: fail=5 exit=1" } },
	{ 21,
	  LIB,
	  INTERFACE,
	  NEED_ADD,
	  "the delegate gets the trace variables",
	  cni_021,
	  NULL,
	  { "ADD: unsetenv=TRACEPARENT", "ADD: unsetenv=BAGGAGE" } },
	{ 22,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "DEL cleans up after a kill at any point of ADD",
	  cni_022,
	  NULL,
	  { "DEL: skip" } },
};
const size_t n_items_process = COUNT(items_process);
