/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h: waiting in tests takes no time. The linker sends ctx_mono_ms() and nanosleep()
 * here: once begun, a nap moves the clock by its length and returns at once.
 *
 * For test programs only.
 */
#ifndef RAILHEAD_LIB_TESTING_TIME_H
#define RAILHEAD_LIB_TESTING_TIME_H

#include <stdint.h>

/* faketime_begin - in a nap, fn (NULL: nothing) is called with the milliseconds gone by. */
void faketime_begin(void (*fn)(int64_t ms));

/* faketime_gone - milliseconds since the begin. */
int64_t faketime_gone(void);

#endif
