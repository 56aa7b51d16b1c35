#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the names of the plugins on one line, without railhead-ipam: PLUGIN_NAMES of plugins/names.h, also over several lines.
exec awk '
	/^#define PLUGIN_NAMES/ { inside = 1 }
	inside { text = text " " $0 }
	inside && !/\\$/ { exit }
	END {
		gsub(/#define PLUGIN_NAMES|[",\\]/, " ", text)
		$0 = text
		if (!NF)
			exit 1
		$1 = $1
		print
	}' "${1:-${0%/*}/../plugins/names.h}"
