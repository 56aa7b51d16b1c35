# SPDX-License-Identifier: Apache-2.0
# topology.awk: a .topo file as arguments of QEMU, one a line; README.md has the words of a .topo file.
# -v memory=MB: of the guest. -v sockets=DIR: for the cables. -v nics=FILE: gets "NAME MAC" for each card.
# The first mistake ends it with a line on stderr and status 1.

function die(text) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, text, $0 >"/dev/stderr"
	failed = 1
	exit 1
}
function arg(flag, value) { print flag; print value }
# opt(KEY): the word after KEY on this line.
function opt(key, i) {
	for (i = 3; i < NF; i++)
		if ($i == key)
			return $(i + 1)
	return ""
}
function new(name) {
	if (name !~ /^[a-z][a-z0-9.]*$/ || name in kind)
		die("a name must be new, of small letters, digits and dots")
	kind[name] = $1
}
# place(WHAT): the id of the bus that "on X" means; WHAT lists the kinds of X that will do.
function place(what, x) {
	x = opt("on")
	if (x == "")
		return what ~ /root/ ? "pcie.0" : die("needs: on NAME")
	if (!(x in kind) || index(what, kind[x]) == 0)
		die("'on " x "' is none of: " what)
	if (kind[x] != "bridge" && x in taken)
		die(x " is taken")
	taken[x] = 1
	return x
}

{ sub(/#.*/, "") }
!NF { next }
$1 == "iommu" {
	arg("-device", "intel-iommu")
	cmdline = cmdline " intel_iommu=on"
	next
}
$1 == "node" {
	new("node" $2)
	nodes[++n_nodes] = $2
	next
}
$1 == "bridge" {
	new($2)
	if (!(("node" opt("node")) in kind))
		die("no such node")
	arg("-device", "pxb-pcie,id=" $2 ",bus=pcie.0,bus_nr=" opt("bus") ",numa_node=" opt("node"))
	next
}
$1 == "port" {
	new($2)
	arg("-device", "pcie-root-port,id=" $2 ",bus=" place("root bridge") ",chassis=" ++chassis ",slot=" chassis)
	next
}
$1 == "switch" {
	bus = place("port down")
	new($2)
	arg("-device", "x3130-upstream,id=" $2 ",bus=" bus)
	for (i = 0; i < opt("ports"); i++) {
		kind[$2 "." i] = "down"
		arg("-device", "xio3130-downstream,id=" $2 "." i ",bus=" $2 ",chassis=" ++chassis ",slot=" chassis)
	}
	next
}
$1 == "nic" {
	bus = place("port down")
	new($2)
	mac = opt("mac")
	if (mac !~ /^([0-9a-f][0-9a-f]:)+[0-9a-f][0-9a-f]$/ || length(mac) != 17)
		die("needs: mac 52:54:00:..")
	order[++n_nics] = $2
	place_of[$2] = bus
	mac_of[$2] = mac
	next
}
$1 == "gpu" {
	bus = place("port down")
	new($2)
	arg("-device", (opt("as") == "" ? "bochs-display" : opt("as")) ",id=" $2 ",bus=" bus)
	next
}
$1 == "cable" {
	if (kind[$2] != "nic" || kind[$3] != "nic" || $2 == $3 || $2 in cable || $3 in cable)
		die("a cable joins two cards that have none yet")
	cable[$2] = $3
	cable[$3] = $2
	next
}
{ die("unknown word '" $1 "'") }

function socket(nic) { return sockets "/" nic ".sock" }
END {
	if (failed)
		exit 1
	for (i = 1; i <= n_nics; i++) {
		nic = order[i]
		print nic, mac_of[nic] >nics
		if (nic in cable)
			arg("-netdev", "dgram,id=n." nic ",local.type=unix,local.path=" socket(nic) \
				",remote.type=unix,remote.path=" socket(cable[nic]))
		arg("-device", "igb,id=" nic ",bus=" place_of[nic] ",mac=" mac_of[nic] ",romfile=" \
			(nic in cable ? ",netdev=n." nic : ""))
	}
	for (i = 1; i <= n_nodes; i++) {
		arg("-object", "memory-backend-ram,id=m" i ",size=" int(memory / n_nodes) "M")
		arg("-numa", "node,nodeid=" nodes[i] ",memdev=m" i (i <= 2 ? ",cpus=" i - 1 : ""))
	}
	if (cmdline != "")
		arg("-cmdline", cmdline)
}
