#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make a tree of /sys and /proc from its description: one line for each thing, "#" begins a comment.
#
# usage: make.sh DESCRIPTION FOLDER
#
#	cpu VENDOR FAMILY MODEL [FLAG] | cpu arm64	the processor of /proc/cpuinfo
#	node N CPUMAP				a NUMA node
#	pci PATH CLASS IDS NUMA SPEED WIDTH	a function: devices/PATH; IDS is vendor:device[:subvendor:subdevice]; SPEED "-": none
#	rdma PATH NAME RATE LAYER GUID [STATE]	an RDMA device of one port, Gbit/s; LAYER Ethernet or InfiniBand
#	net PATH NAME				an interface
#	file NAME TEXT				any other file below FOLDER
set -eu
[ $# -eq 2 ] || { echo "usage: make.sh DESCRIPTION FOLDER" >&2; exit 2; }
description=$(realpath "$1")
exec <"$1"
functions= hcas= netdevs=
mkdir -p "$2"
cd "$2"

put() { [ -d "${1%/*}" ] || mkdir -p "${1%/*}"; printf '%s\n' "$2" >"$1"; }

# The folders of all functions, by one process: tests wait for this script.
folders()
{
	awk '$1 == "pci" { print "sys/devices/" $2 }
		$1 == "rdma" { print "sys/devices/" $2 "/infiniband/" $3 "/ports/1" }
		$1 == "net" { print "sys/devices/" $2 "/net/" $3 }' "$description" | xargs -r mkdir -p
}

# links FOLDER TARGET...: links in a folder below sys, each with the last part of its target as name.
links()
{
	[ $# -gt 1 ] || return 0
	in=$1
	shift
	mkdir -p "sys/$in"
	ln -s -t "sys/$in" "$@"
}

cpu()
{
	[ "$1" != arm64 ] || { put proc/cpuinfo 'CPU implementer	: 0x41'; return; }
	put proc/cpuinfo "vendor_id	: $1
cpu family	: $2
model		: $3
flags		: fpu${4:+ $4}"
}

pci()
{
	at=sys/devices/$1
	put "$at/class" "$2"
	rest=$3
	for name in vendor device subsystem_vendor subsystem_device; do
		[ -z "$rest" ] || put "$at/$name" "0x${rest%%:*}"
		case $rest in *:*) rest=${rest#*:} ;; *) rest= ;; esac
	done
	put "$at/numa_node" "$4"
	if [ "$5" != - ]; then
		for end in max current; do
			put "$at/${end}_link_speed" "$5 GT/s PCIe"
			put "$at/${end}_link_width" "$6"
		done
	fi
	functions="$functions ../../../devices/$1"
}

rdma()
{
	at=sys/devices/$1/infiniband/$2
	put "$at/sys_image_guid" "$5"
	put "$at/ports/1/state" "${6:-4: ACTIVE}"
	put "$at/ports/1/rate" "$3 Gb/sec (4X)"
	put "$at/ports/1/link_layer" "$4"
	hcas="$hcas ../../devices/$1/infiniband/$2"
}

net()
{
	put "sys/devices/$1/net/$2/dev_port" 0
	netdevs="$netdevs ../../devices/$1/net/$2"
}

folders
while read -r kind a b c d e f; do
	case $kind in
	cpu) cpu "$a" "$b" "$c" "$d" ;;
	node) put "sys/devices/system/node/node$a/cpumap" "$b" ;;
	pci) pci "$a" "$b" "$c" "$d" "$e" "$f" ;;
	rdma) rdma "$a" "$b" "$c" "$d" "$e" "$f" ;;
	net) net "$a" "$b" ;;
	file) put "$a" "$b${c:+ $c}${d:+ $d}${e:+ $e}${f:+ $f}" ;;
	'' | '#'*) ;;
	*) echo "$description: \"$kind\" is not a kind of line" >&2; exit 1 ;;
	esac
done
# shellcheck disable=SC2086 # words
{
	links bus/pci/devices $functions
	links class/infiniband $hcas
	links class/net $netdevs
}
