#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the names of the plugins on one line, without railhead-ipam: plugins/names.h.
sed -n 's/^#define PLUGIN_NAMES //p' "${0%/*}/../plugins/names.h" | tr -d '",'
