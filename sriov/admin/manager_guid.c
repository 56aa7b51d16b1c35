/* SPDX-License-Identifier: Apache-2.0 */
/* manager_guid.c: where the GUIDs of new InfiniBand VFs come from. Pure. */
#include "sriov/admin/manager.h"

static bool is_given(struct guid g)
{
	return !guid_equal(g, GUID_ZERO);
}

static int manager_guid_check_list(const struct guid_source *s, struct err *e)
{
	char text[GUID_STR_LEN];

	for (uint32_t i = 0; i < s->n; i++) {
		guid_format(s->list[i], text);
		if (!guid_is_usable(s->list[i]))
			return err_set(e, ERR_CONFIG, 0, "guids: no port can have %s", text);
		for (uint32_t k = 0; k < i; k++)
			if (guid_equal(s->list[i], s->list[k]))
				return err_set(e, ERR_CONFIG, 0, "guids: %s is there twice", text);
	}
	return 0;
}

int guid_source_check(const struct guid_source *s, uint32_t count, struct err *e)
{
	char text[GUID_STR_LEN];
	uint64_t first = guid_number(s->first);

	if (s->n && is_given(s->first))
		return err_set(e, ERR_CONFIG, 0, "guids and firstGuid exclude each other");
	if (s->n && s->n < count)
		return err_set(e, ERR_CONFIG, 0, "guids: there are %u for %u VFs", s->n, count);
	if (is_given(s->first) && UINT64_MAX - first <= count)
		return err_set(e, ERR_CONFIG, 0, "firstGuid: there are no %u GUIDs from %s on",
			       count, guid_format(s->first, text));
	return manager_guid_check_list(s, e);
}

struct guid guid_source_at(const struct guid_source *s, struct guid pf, uint32_t index)
{
	if (index < s->n)
		return s->list[index];
	if (!s->n && is_given(s->first))
		return guid_of_number(guid_number(s->first) + index);
	return manager_guid(pf, index);
}
