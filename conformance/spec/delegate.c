/* SPDX-License-Identifier: Apache-2.0 */
/* delegate.c: 1.11, delegation. */
#include "conformance/spec/items.h"

#include <string.h>
#include <sys/stat.h>

/* A second fake in a folder of its own. */
static void second_fake(struct t *t, const char *dir)
{
	(void)mkdir(dir, 0755);
	copy_file(t->self, text("%s/" FAKE, dir));
	if (!write_file(text("%s/" FAKE ".base", dir), "pool"))
		broken(dir);
}

static void cni_108(struct t *t)
{
	second_fake(t, WORK "/second");
	(void)mkdir(WORK "/folder", 0755);
	(void)mkdir(WORK "/folder/" FAKE, 0755);
	/* A folder of that name is not a program; of two programs the first counts. */
	t->path = WORK "/folder:" WORK "/second:" WORK "/bin";
	if (!attach(t, "a"))
		return;
	expect(t, access(WORK "/second/" FAKE ".log", F_OK) == 0 && fake_calls("ADD") == 0,
	       "the first program of that name in CNI_PATH must be run");
	set(t, "ipam", "{\"type\":\"no-such-ipam\"}");
	pod(t, "b");
	if (refused(t, "ADD", NULL))
		names(t, "no-such-ipam");
}

static void cni_109(struct t *t)
{
	static const char *const wanted[] = { "CNI_COMMAND=ADD",
					      "CNI_CONTAINERID=cid-a",
					      "CNI_IFNAME=net1",
					      "CNI_NETNS=/run/netns/a",
					      "CNI_ARGS=IgnoreUnknown=1;FOO=BAR",
					      "CNI_PATH=",
					      "SOME_VARIABLE=of the runtime" };

	t->args = "IgnoreUnknown=1;FOO=BAR";
	t->env[0] = "SOME_VARIABLE=of the runtime";
	if (!attach(t, "a"))
		return;
	for (size_t i = 0; i < COUNT(wanted); i++)
		expect(t, strstr(fake_env("ADD"), wanted[i]), "the delegate must see %s",
		       wanted[i]);
	ok(t, "DEL");
	expect(t, strstr(fake_env("DEL"), "CNI_COMMAND=DEL"), "the delegate must see the command");
}

static void cni_110(struct t *t)
{
	set(t, "args", "{\"cni\":{\"labels\":[]}}");
	set(t, "runtimeConfig", "{\"ips\":[\"10.99.0.77\"]}");
	set(t, "someKey", "\"of somebody\"");
	if (at_least(t->version, "0.3.0"))
		set(t, "prevResult", text("{\"cniVersion\":\"%s\",\"dns\":{}}", t->version));
	if (!attach(t, "a"))
		return;
	cJSON *got = jparse(fake_stdin("ADD"));
	expect(t, cJSON_Compare(got, t->conf, true),
	       "the delegate must get the whole configuration, it got %.300s", fake_stdin("ADD"));
}

static void cni_111(struct t *t)
{
	fake_rules("*: stderr=noise-of-the-ipam");
	if (!attach(t, "a"))
		return;
	expect(t, strstr(t->err, "noise-of-the-ipam"), "the delegate's stderr must come out");
	ok(t, "DEL");
	fake_rules("ADD: stderr=noise-of-the-ipam error=11");
	refused(t, "ADD", NULL);
	expect(t, strstr(t->err, "noise-of-the-ipam"),
	       "the delegate's stderr must come out when it fails, too");
}

/* ipvlan: two pods on one master cannot have one address. */
static void ipam_result(struct t *t, const char *version, size_t pod)
{
	set(t, "ipam",
	    text("{\"type\":\"" FAKE "\",\"result\":{%s\"ips\":[{\"version\":\"4\",\"address\":"
		 "\"10.99.0.%zu/24\"}]}}",
		 version, 7 + pod));
}

static void cni_112(struct t *t)
{
	static const char *const versions[] = { "", "\"cniVersion\":\"0.3.1\",",
						"\"cniVersion\":\"0.4.0\",",
						"\"cniVersion\":\"1.0.0\"," };

	for (size_t i = 0; i < COUNT(versions); i++) {
		ipam_result(t, versions[i], i);
		if (!attach(t, text("p%zu", i)))
			return;
		const char *problem = shape_problem(t->doc, t->version, INTERFACE);
		expect(t, !problem, "the delegate's result with %s: %s", versions[i], problem);
		expect(t, *address_in(t->doc, 4), "the delegate's address must be there");
	}
	fake_rules("ADD: out=null");
	pod(t, "null");
	run(t, "ADD");
	if (t->rc)
		is_error(t, NULL);
}

/* The delegate is run for the command, and its error becomes ours. */
static void executes(struct t *t, const char *cmd)
{
	int before = fake_calls(cmd);

	fake_rules("");
	ok(t, cmd);
	expect(t, fake_calls(cmd) > before, "%s must run the delegate's %s", cmd, cmd);
	fake_rules(text("%s: error=11", cmd));
	refused(t, cmd, NULL);
	fake_rules("");
}

static void cni_113(struct t *t)
{
	if (!attach(t, "a"))
		return;
	if (at_least(t->version, "0.4.0")) {
		set_prev(t);
		executes(t, "CHECK");
	}
	if (at_least(t->version, "1.1.0")) {
		executes(t, "STATUS");
		executes(t, "GC");
	}
	executes(t, "DEL");
}

static void cni_114(struct t *t)
{
	if (!attach(t, "a"))
		return;
	fake_rules("DEL: error=11");
	refused(t, "DEL", NULL);
	expect(t, !has_link(t->ns, t->ifname), "an error of the IPAM must not keep the interface");
	fake_rules("");
	ok(t, "DEL");
	released(t, "the next DEL");
}

static void cni_115(struct t *t)
{
	set(t, "ipam",
	    text("{\"type\":\"" FAKE "\",\"result\":{\"cniVersion\":\"%s\",\"ips\":[]}}",
		 t->version));
	pod(t, "a");
	refused(t, "ADD", NULL);
	expect(t, !has_link(t->ns, t->ifname), "no interface may be left");
}

static void cni_116(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	netns_drop(t->ns);
	ok(t, "DEL");
	released(t, "DEL after the namespace went");
	t->cid = "never-seen";
	ok(t, "DEL");
}

static void cni_117(struct t *t)
{
	fake_rules("ADD: error=1");
	pod(t, "a");
	refused(t, "ADD", "1");
}

static void cni_118(struct t *t)
{
	static const char *const codes[] = { "11", "50", "3", "101", "150" };

	pod(t, "a");
	for (size_t i = 0; i < COUNT(codes); i++) {
		fake_rules(text("ADD: error=%s", codes[i]));
		if (refused(t, "ADD", codes[i]))
			names(t, "made up");
	}
}

static void cni_119(struct t *t)
{
	if (!attach(t, "a"))
		return;
	const char *path = t->path;

	t->path = "/never";
	refused(t, "DEL", NULL);
	expect(t, !has_link(t->ns, t->ifname), "the interface must go without the IPAM's program");
	t->path = path;
	ok(t, "DEL");
	released(t, "DEL with the program there again");
}

const struct item items_delegate[] = {
	{ 108,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "the plugin runs the first regular file of the delegate's name in CNI_PATH",
	  cni_108,
	  NULL,
	  { "ADD: setenv=CNI_PATH=" WORK "/bin",
	    "ADD?failed: set=msg=\"not&found\" del=details" } },
	{ 109,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "the delegate gets the plugin's environment",
	  cni_109,
	  NULL,
	  { "ADD: unsetenv=SOME_VARIABLE", "ADD: setenv=CNI_ARGS=x",
	    "ADD: setenv=CNI_IFNAME=net2" } },
	{ 110,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "the delegate gets the whole configuration",
	  cni_110,
	  NULL,
	  { "ADD: unconf=args", "ADD: unconf=someKey" } },
	{ 111,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD,
	  "the plugin passes the delegate's stderr on",
	  cni_111,
	  NULL,
	  { "ADD: mute" } },
	{ 112,
	  MUST,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "the delegate's result may have another version, or none",
	  cni_112,
	  NULL,
	  { "ADD?in=\"0.4.0\": error=6", "ADD?failed: out=", "ADD?ok: del=ips" } },
	{ 113,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "CHECK, DEL, GC and STATUS run the delegates and return their errors",
	  cni_113,
	  NULL,
	  { "DEL: unconf=ipam", "CHECK: unconf=ipam", "GC: unconf=ipam",
	    "STATUS?failed: exit=0 out=" } },
	{ 114,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "an error of the IPAM's DEL does not stop the removal of the interface",
	  cni_114,
	  NULL,
	  { "DEL?failed: ip=link,add,IF,type,veth", "DEL?failed: exit=0 out=" } },
	{ 115,
	  LIB,
	  INTERFACE,
	  NEED_ADD,
	  "a result of the IPAM without an address is an error",
	  cni_115,
	  NULL,
	  { "ADD: unconf=ipam" } },
	{ 116,
	  SHOULD,
	  IPAM,
	  NEED_POOL,
	  "the IPAM's DEL needs no namespace and accepts an unknown container",
	  cni_116,
	  NULL,
	  { "DEL: skip", "DEL?env=CNI_CONTAINERID=never-seen: error=3",
	    "DEL?netns=gone: error=8" } },
	{ 117,
	  LIB,
	  INTERFACE,
	  NEED_ADD,
	  "if the IPAM does not know the version, the plugin returns its error 1",
	  cni_117,
	  NULL,
	  { "ADD?failed: set=code=7" } },
	{ 118,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "the plugin returns a delegate's error unchanged",
	  cni_118,
	  NULL,
	  { "ADD?failed: set=code=999", "ADD?failed: set=msg=\"lost\"" } },
	{ 119,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "DEL without the IPAM's program removes the interface, then fails",
	  cni_119,
	  NULL,
	  { "DEL?failed: exit=0 out=", "DEL?failed: ip=link,add,IF,type,veth" } },
};
const size_t n_items_delegate = COUNT(items_delegate);
