#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reclaim.sh [FILE]: print a second DaemonSet, whose agents also free the blocks of dead nodes: `railheadd --reclaim`.
#
# FILE is the manifest of the agents, daemonset.yaml beside this script unless it is named. The second DaemonSet runs on the nodes with
# the label railhead.io/reclaim, and the first one on all others: only one agent runs on a node. Label one node.
set -eu

file=${1:-$(dirname "$0")/daemonset.yaml}
out=$(sed -n '/^kind: DaemonSet$/,$ {
	s/^  name: railheadd$/  name: railheadd-reclaim/
	s|\(app.kubernetes.io/name: railheadd\)}|\1-reclaim}|
	s|^\( *args: \[.*\)]$|\1, --reclaim]|
	s|\(key: railhead.io/reclaim, operator: \)DoesNotExist|\1Exists|
	p
}' "$file")
for made in 'name: railheadd-reclaim$' 'name: railheadd-reclaim}' 'args: .* --reclaim]$' 'railhead.io/reclaim, operator: Exists'; do
	echo "$out" | grep -q -- "$made" || {
		echo "reclaim.sh: $file is not as daemonset.yaml is: no line matches \"$made\"" >&2
		exit 1
	}
done
echo "# Made of ${file##*/} by packaging/kubernetes/reclaim.sh."
echo "apiVersion: apps/v1"
echo "$out"
