# SPDX-License-Identifier: Apache-2.0
# Provisional: replaced by the full one.
CC ?= gcc
B := build
CFLAGS ?= -O2 -g
WARN := -std=gnu11 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wswitch-enum -Wvla -Wundef -Wcast-align -Wnull-dereference
CPPFLAGS += -I. -D_GNU_SOURCE -I/usr/include/libnl3 -I$(B)/cjson
lib_src := $(filter-out %_test.c %_fuzz.c,$(wildcard lib/*.c))
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -fvisibility=hidden -fPIE -MMD -MP -c $< -o $@
