/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c: the text of a case: VERB PROGRAM CALL:WHAT:N [RECOVERY]. */
#include "conformance/faults/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cmd_words[] = { "add", "del", "check", "gc" };
const char *const cmd_names[] = { "ADD", "DEL", "CHECK", "GC" };

/* The IPAM is "PLUGIN+ipam" when the plugin runs it. */
static void target_word(enum target t, const char *plugin, char *out, size_t size)
{
	(void)snprintf(out, size, "%s%s", t == ALONE ? "railhead-ipam" : plugin,
		       t == CHILD ? "+ipam" : "");
}

static bool parse_cmd(const char *word, enum cni_command *out)
{
	for (size_t i = 0; i < COUNT(cmd_words); i++) {
		if (strcmp(word, cmd_words[i]) == 0) {
			*out = (enum cni_command)i;
			return true;
		}
	}
	return false;
}

static bool parse_target(const char *word, const char *plugin, enum target *out)
{
	char name[64];

	for (int i = PLUGIN; i <= ALONE; i++) {
		target_word((enum target)i, plugin, name, sizeof(name));
		if (strcmp(word, name) == 0) {
			*out = (enum target)i;
			return true;
		}
	}
	return false;
}

bool fault_parse(const char *text, const char *plugin, struct fault *out)
{
	struct fault f = { .nth = 1 };
	char cmd[8], target[64], nth[12] = "1";

	int n = sscanf(text, "%7s %63s %23[^:]:%31[^: ]:%11s %11s", cmd, target, f.call, f.what,
		       nth, f.recovery);
	if (n < 4 || !parse_cmd(cmd, &f.cmd) || !parse_target(target, plugin, &f.target))
		return false;
	char *end;
	f.nth = (unsigned)strtoul(nth, &end, 10);
	if (*end)
		return false;
	if (!*f.recovery)
		(void)strcpy(f.recovery, "del");
	*out = f;
	return true;
}

void fault_print(const struct fault *f, const char *plugin, char *out, size_t size)
{
	char target[64];

	target_word(f->target, plugin, target, sizeof(target));
	(void)snprintf(out, size, "%s %s %s:%s:%u %s", cmd_words[f->cmd], target, f->call, f->what,
		       f->nth, f->recovery);
}

enum { A, B, C, D, E, F, G, H };
const char *const fault_classes[] = {
	"(a) a system call fails",
	"(b) killed at a system call",
	"(c) an allocation fails",
	"(d) disk full, read-only, clock, boot",
	"(e) races",
	"(f) master, netns, module, IPAM gone",
	"(g) a system call fails from then on",
	"(h) and another one after it",
};
const size_t fault_n_classes = COUNT(fault_classes);

const char *fault_class(const struct fault *f)
{
	static const char *const around[] = { "full", "read-only", "boot", "reboot" };

	if (strchr(f->what, '+') || strchr(f->what, '/'))
		return fault_classes[strchr(f->what, '+') ? G : H];
	if (strcmp(f->call, "malloc") == 0)
		return fault_classes[C];
	if (strcmp(f->call, "race") == 0)
		return fault_classes[E];
	if (strcmp(f->call, "clock") == 0)
		return fault_classes[D];
	if (strcmp(f->call, "scene") == 0) {
		for (size_t i = 0; i < COUNT(around); i++) {
			if (strncmp(f->what, around[i], strlen(around[i])) == 0)
				return fault_classes[D];
		}
		return fault_classes[F];
	}
	if (strcmp(f->what, "KILL") == 0)
		return fault_classes[B];
	if (strcmp(f->what, "@del") == 0 || strcmp(f->what, "@gc") == 0)
		return fault_classes[E];
	return fault_classes[*f->what == '@' ? F : A];
}
