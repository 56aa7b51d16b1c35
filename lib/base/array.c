/* SPDX-License-Identifier: Apache-2.0 */
/* array.c: the capacity of an array follows from its number of items: the next power of two. */
#include "lib/base/array.h"

#include <string.h>

size_t array_room(size_t n)
{
	size_t room = n ? 1 : 0;

	while (room && room < n)
		room *= 2;
	return room;
}

int array_grow(void *array, size_t n, size_t more, struct array_kind kind, struct err *e)
{
	void *items;

	if (n > kind.max || more > kind.max - n)
		return err_set(e, kind.code ? kind.code : ERR_NOMEM, 0, "more than %zu %s",
			       kind.max, kind.what);

	size_t room = array_room(n + more);

	if (n + more == 0 || (room && room == array_room(n)))
		return 0;
	memcpy(&items, array, sizeof(items));
	items = room ? reallocarray(items, room, kind.size) : NULL;
	if (!items)
		return err_nomem(e);
	memcpy(array, &items, sizeof(items));
	return 0;
}
