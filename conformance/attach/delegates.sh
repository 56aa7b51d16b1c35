# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The IPAM as another program: good ones of other people, and bad ones.

fake_conf() { conf ".ipam={\"type\":\"$1\"} | ${2:-.}"; }

# CNI-109, CNI-110, CNI-165
test_delegates_get_our_environment_and_the_whole_stdin()
{
	pod p1
	fake_good good
	fake_conf good '.runtimeConfig={"x":[1,2]} | .prevResult=null | .zzz="kept" | .args={"cni":{"a":1}}'
	CARGS='IgnoreUnknown=1;K8S_POD_NAME=p'
	XENV=(TRACEPARENT=00-abc-def-01 SOMETHING=else)
	want_ok ADD || return
	is "stdin of ADD" diff <(jq -S . "$W/conf") <(jq -S . "$FAKE/good.ADD.stdin")
	for v in CNI_COMMAND=ADD "CNI_CONTAINERID=$CID" "CNI_NETNS=$NS" CNI_IFNAME=net1 "CNI_ARGS=$CARGS" "CNI_PATH=$CPATH" \
		TRACEPARENT=00-abc-def-01 SOMETHING=else; do
		is "environment of ADD" grep -qxF "$v" "$FAKE/good.ADD.env"
	done
	prev
	want_ok CHECK
	is "stdin of CHECK" diff <(jq -S . "$W/conf") <(jq -S . "$FAKE/good.CHECK.stdin")
	want_ok DEL
	is "stdin of DEL" diff <(jq -S . "$W/conf") <(jq -S . "$FAKE/good.DEL.stdin")
	[ -n "$PEERS" ] || {
		want_ok GC STATUS
		eq "verbs" "$(fake_log good)" "ADD CHECK DEL GC STATUS "
		isnt "a container in the environment of GC" grep -q '^CNI_CONTAINERID=' "$FAKE/good.GC.env"
	}
}

# In the host's namespaces, not the pod's (CNI-018).
test_delegates_run_on_the_host()
{
	pod p1
	fake host <<-'EOF'
		readlink /proc/self/ns/net >"$log.net"; ls /sys/class/net >"$log.links"
		[ $CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"10.9.0.5/24"}]}'
	EOF
	fake_conf host
	want_ok ADD
	eq "namespace of the IPAM" "$(<"$FAKE/host.net")" "$(readlink /proc/self/ns/net)"
	want_ok DEL
}

# A runtime may leave descriptors open, such as its own files of secrets.
test_delegates_get_no_descriptors_of_the_caller()
{
	local verb
	pod p1
	fake fds <<-'EOF'
		ls /proc/self/fd >"$log.$CNI_COMMAND.fds"
		[ $CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"10.9.0.5/24"}]}'
	EOF
	fake_conf fds
	exec 7</etc/passwd 200</etc/passwd
	want_ok ADD DEL
	exec 7<&- 200<&-
	for verb in ADD DEL; do
		eq "descriptors of $verb, 3 is the folder that ls reads" "$(xargs <"$FAKE/fds.$verb.fds")" "0 1 2 3"
	done
}

test_delegates_results_of_other_versions()
{
	local v
	pod p1
	for v in 0.1.0 0.2.0; do
		fake old <<-EOF
			[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"$v","ip4":{"ip":"10.9.0.5/24","gateway":"10.9.0.1",
				"routes":[{"dst":"10.50.0.0/16"}]},"ip6":{"ip":"fd00:9::5/64"},"dns":{}}'
		EOF
		fake_conf old
		want_ok ADD
		has_addr p1 net1 10.9.0.5/24
		has_addr p1 net1 fd00:9::5/64
		want "converted from $v" '.ips | length == 2'
		eq "route" "$(ip -n p1 -j route show 10.50.0.0/16 | jq -r '.[0].gateway')" 10.9.0.1
		want_ok DEL
	done
	for v in 0.3.0 0.3.1 0.4.0; do
		fake old <<-EOF
			[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"$v","ips":[{"version":"4","address":"10.9.0.5/24"}]}'
		EOF
		fake_conf old
		want_ok ADD
		want "converted from $v" '.ips == [{address:"10.9.0.5/24",interface:0}]'
		want_ok DEL
	done
	# No version: that of the configuration (CNI-112).
	fake old <<-'EOF'
		[ $CNI_COMMAND != ADD ] || echo '{"ips":[{"address":"10.9.0.5/24"}]}'
	EOF
	fake_conf old
	want_ok ADD DEL
}

# fails_with NAME CODES [TEXT...]: ADD fails, leaves nothing, and the IPAM's DEL was run (CNI-040).
fails_with()
{
	local name=$1
	shift
	rm -f "$FAKE/$name.log"
	fake_conf "$name" '.ipamTimeout=1'
	want_err ADD "$@" || fail "(IPAM $name)"
	no_link p1 net1
	eq "verbs seen by $name" "$(fake_log "$name")" "ADD DEL "
	eq "container of its DEL" "$(tail -n 1 "$FAKE/$name.log" 2>/dev/null)" "DEL $CID"
}

prints()
{
	fake "$1" <<-EOF
		[ \$CNI_COMMAND != ADD ] || printf '%b' '$2'
	EOF
	fails_with "$1" "${@:3}"
}

test_delegates_that_print_rubbish()
{
	pod p1
	prints garbage 'garbage' 105 garbage
	prints nothing '' '105|7' nothing
	prints null null '105|7' null
	prints empty '{"cniVersion":"1.1.0"}' '105|7' empty
	prints noips '{"cniVersion":"1.1.0","ips":[]}' '105|7' noips
	prints array '[]' 105 array
	prints half '{"cniVersion":"1.1.0","ips":[' 105 half
	prints twice '{"ips":[{"address":"10.9.0.5/24"}]}{"ips":[]}' 105 twice
	prints badip '{"cniVersion":"1.1.0","ips":[{"address":"banana"}]}' '105|7' banana
	prints noprefix '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.5"}]}' '105|7' 10.9.0.5
	prints badtype '{"cniVersion":"1.1.0","ips":[{"address":5}]}' '105|6' address
	prints badgw '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.5/24","gateway":"x"}]}' '105|7' gateway
	prints future '{"cniVersion":"9.9.9","ips":[{"address":"10.9.0.5/24"}]}' '105|1' 9.9.9
	prints binary '\0377\0376\0000\0001' 105 binary
	prints index '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.5/24","interface":7}]}' '105|7' interface
}

test_delegates_that_die()
{
	local s
	pod p1
	for s in KILL SEGV TERM PIPE; do
		fake "dies-$s" <<-EOF
			[ \$CNI_COMMAND != ADD ] || kill -$s \$\$
		EOF
		fails_with "dies-$s" 105 "dies-$s"
	done
	fake silent <<-'EOF'
		[ $CNI_COMMAND != ADD ] || exit 1
	EOF
	fails_with silent 105 silent
	fake exits <<-'EOF'
		[ $CNI_COMMAND != ADD ] || { echo 'panic: runtime error'; exit 2; }
	EOF
	fails_with exits 105 exits
	# A result and then a failing exit is a failure.
	fake liar <<-'EOF'
		[ $CNI_COMMAND != ADD ] || { echo '{"ips":[{"address":"10.9.0.5/24"}]}'; exit 3; }
	EOF
	fails_with liar 105 liar
}

test_delegates_that_hang()
{
	pod p1
	fake hangs <<-'EOF'
		[ $CNI_COMMAND != ADD ] || exec sleep 1000
	EOF
	fails_with hangs 105 hangs
	fake stuck <<-'EOF'
		[ $CNI_COMMAND != ADD ] || { trap '' TERM INT HUP; echo '{'; while :; do read -t 100 <> <(:); done; }
	EOF
	fails_with stuck 105 stuck
}

# DEL of a hanging IPAM takes its time, but the link goes.
test_delegates_that_hang_on_DEL()
{
	pod p1
	fake slow <<-'EOF'
		[ $CNI_COMMAND != ADD ] || echo '{"ips":[{"address":"10.9.0.5/24"}]}'
		[ $CNI_COMMAND != DEL ] || exec sleep 1000
	EOF
	fake_conf slow '.ipamTimeout=1'
	want_ok ADD
	want_err DEL 105 slow
	no_link p1 net1
	fake_good slow
	want_ok DEL DEL
}

test_delegates_that_flood()
{
	pod p1
	fake flood <<-'EOF'
		[ $CNI_COMMAND != ADD ] || head -c 2097152 /dev/zero | tr '\0' ' '
	EOF
	fails_with flood 105 flood
	fake endless <<-'EOF'
		[ $CNI_COMMAND != ADD ] || yes
	EOF
	fails_with endless 105 endless
}

# Noise on stderr goes to stderr and nowhere else (CNI-111, CNI-154).
test_delegates_that_are_noisy()
{
	pod p1
	fake noisy <<-'EOF'
		head -c 300000 /dev/zero | tr '\0' x >&2; echo >&2; echo '{"code":5,"msg":"not this"}' >&2
		[ $CNI_COMMAND != ADD ] || echo '{"ips":[{"address":"10.9.0.5/24"}]}'
	EOF
	fake_conf noisy
	want_ok ADD
	has_addr p1 net1 10.9.0.5/24
	has "stderr" "${ERR: -100}" 'not this'
	want_ok DEL
}

# CNI-118
test_delegates_errors_are_passed_on_unchanged()
{
	pod p1
	fake refuses <<-'EOF'
		[ $CNI_COMMAND = DEL ] || { echo '{"cniVersion":"1.0.0","code":123,"msg":"pool \"x\" is dry","details":"line 1\nline 2"}'
		exit 1; }
	EOF
	fake_conf refuses
	cni ADD
	eq "exit" "$RC" 1
	want "the object" '.code == 123 and (.msg | contains("pool \"x\" is dry")) and
		.details == "error 123; line 1; line 2"'
	no_link p1 net1
	eq "verbs" "$(fake_log refuses)" "ADD DEL "
	need_railhead
	want_err STATUS 123 'pool "x" is dry'
	want_err GC 123 'pool "x" is dry'
	edit '.prevResult={cniVersion:"1.1.0",interfaces:[{name:"net1",sandbox:"/run/netns/p1"}],ips:[]}'
	cni CHECK
	eq "exit of CHECK" "$RC" 1
}

# CNI-114, CNI-119: the link is removed, the error is returned, the next DEL finishes.
test_delegates_failing_DEL()
{
	pod p1
	fake sour <<-'EOF'
		case $CNI_COMMAND in
		ADD) echo '{"ips":[{"address":"10.9.0.5/24"}]}' ;;
		DEL) echo '{"code":140,"msg":"not now"}'; exit 1 ;;
		esac
	EOF
	fake_conf sour
	want_ok ADD
	want_err DEL 140 "not now"
	no_link p1 net1
	want_err DEL 140 "not now"
	rm "$FAKE/sour"
	want_err DEL 105 sour
	fake_good sour
	want_ok DEL
}

test_delegates_missing_or_no_program()
{
	pod p1
	fake_conf nosuch-ipam
	want_err ADD 105 nosuch-ipam
	no_link p1 net1
	mkdir "$FAKE/folder"
	fake_conf folder
	want_err ADD 105 folder
	no_link p1 net1
	echo 'not a program' >"$FAKE/text"
	fake_conf text
	want_err ADD 105 text
	chmod +x "$FAKE/text"
	want_err ADD 105 text
	no_link p1 net1
	# An ADD that never ran its IPAM has nothing to release: a pod must be able to go.
	want_ok DEL DEL
	for ipam in nosuch-ipam folder; do
		fake_conf "$ipam"
		want_err ADD 105 "$ipam"
		want_ok DEL DEL
	done
}

# If the attachment had an address, DEL names the missing program until it exists.
test_delegates_missing_after_ADD()
{
	pod p1
	fake_good late
	fake_conf late
	want_ok ADD
	mv "$FAKE/late" "$FAKE/away"
	want_err DEL 105 late
	no_link p1 net1
	want_err DEL 105 late
	mv "$FAKE/away" "$FAKE/late"
	want_ok DEL
}

# A killed ADD may have an address: DEL keeps the record while the IPAM program is missing.
test_delegates_missing_after_a_killed_ADD()
{
	pod p1
	fake lethal <<-'EOF'
		case $CNI_COMMAND in
		ADD) touch "$log.leased"; kill -KILL $PPID ;;
		DEL) rm -f "$log.leased" ;;
		esac
	EOF
	fake_conf lethal
	cni ADD
	eq 'exit status of the killed ADD' "$RC" 137
	is 'the lease' test -e "$FAKE/lethal.leased"
	mv "$FAKE/lethal" "$FAKE/away"
	want_err DEL 105 lethal
	want_err DEL 105 lethal
	mv "$FAKE/away" "$FAKE/lethal"
	want_ok DEL
	isnt 'the lease' test -e "$FAKE/lethal.leased"
}

# A real one of other people's: what Debian ships.
test_delegates_host_local()
{
	local a
	need_peer host-local
	pod p1
	conf '.cniVersion="1.0.0" | .ipam={"type":"host-local","ranges":[[{"subnet":"10.78.0.0/24"}],
		[{"subnet":"fd00:78::/64"}]],"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"}],"dataDir":"/var/lib/cni/t"}'
	want_ok ADD || return
	a=$(addr4)
	has_addr p1 net1 "$a"
	has_addr p1 net1 "$(addr6)"
	is "the lease file" test -f "/var/lib/cni/t/testnet/${a%/*}"
	prev
	want_ok CHECK DEL DEL
	isnt "the lease file" test -f "/var/lib/cni/t/testnet/${a%/*}"
	rm -r /var/lib/cni/t
}

test_delegates_static()
{
	need_peer static
	pod p1
	conf '.cniVersion="1.0.0" | .ipam={"type":"static","addresses":[{"address":"10.79.0.9/24","gateway":"10.79.0.1"},
		{"address":"fd00:79::9/64"}],"routes":[{"dst":"10.80.0.0/16"}],"dns":{"nameservers":["10.4.4.4"]}}'
	want_ok ADD || return
	has_addr p1 net1 10.79.0.9/24
	has_addr p1 net1 fd00:79::9/64
	[ -n "$PEERS" ] || want dns '.dns.nameservers == ["10.4.4.4"]'
	prev
	want_ok CHECK DEL
	conf '.cniVersion="1.0.0" | .ipam={"type":"static"}'
	want_err ADD '105|7' static
	no_link p1 net1
}

# dhcp without its daemon: its own error, and nothing left.
test_delegates_dhcp_without_its_daemon()
{
	local daemon
	need_peer dhcp
	pod p1
	conf '.cniVersion="1.0.0" | .ipam={"type":"dhcp"}'
	want_err ADD '999|105' dhcp.sock
	no_link p1 net1
	cni DEL
	no_link p1 net1
	# The daemon may have a lease, and a configuration without ipam does not change that.
	conf .
	want_err DEL 999 dhcp.sock
	"$PEER_DIR/dhcp" daemon &
	daemon=$!
	eventually test -S /run/cni/dhcp.sock
	want_ok DEL
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	rm -rf /run/cni
}

# The other way round: our IPAM below their interface plugins.
test_delegates_our_ipam_below_the_reference_macvlan()
{
	need_railhead
	need_peer macvlan
	pod p1
	mkdir "$W/mixed"
	ln -s "$PEER_DIR/macvlan" "$W/mixed/peer"
	conf_ipam "$(v4_ipam)" '.cniVersion="1.0.0"'
	(
		BIN=$W/mixed PLUGIN=peer
		want_ok ADD && has_addr p1 net1 "$(addr4)"
		prev
		want_ok CHECK DEL
	)
	rm -r "$W/mixed"
	eq leases "$(lease_count)" 0
}

# What an IPAM started ends with it: it may hold what the next call waits for.
test_delegates_that_hang_with_all_their_children()
{
	pod p1
	fake tree <<-'EOF'
		[ $CNI_COMMAND != ADD ] || { sleep 1000 & sh -c 'sleep 1000; sleep 1000' & sleep 1000; }
	EOF
	fails_with tree 105 tree
	eq "left of the IPAM" "$(pgrep -x sleep | wc -l)" 0
}

# railhead-ipam of the same build needs no execve; of any other, it is executed. The answers are the same.
test_delegates_the_same_build_runs_in_a_child()
{
	local dir=$W/builds kind want
	need_railhead
	pod p1
	mkdir -p "$dir"
	for kind in same stripped other copied wrapped; do
		want=0
		rm -f "$dir/railhead-ipam"
		case $kind in
		same) cp "$BIN/railhead-ipam" "$dir" && want=1 ;;
		stripped) strip -o "$dir/railhead-ipam" "$BIN/railhead-ipam" && want=1 ;;
		other) sed 's/railhead-build: ./railhead-build: x/' "$BIN/railhead-ipam" >"$dir/railhead-ipam" ;;
		copied) sed 's/\(railhead-build: [0-9a-f]*\) railhead-ipam/\1 railhead-ipax/' "$BIN/railhead-ipam" >"$dir/railhead-ipam" ;;
		wrapped) printf '#!/bin/sh\nexec %s "$@"\n' "$BIN/railhead-ipam" >"$dir/railhead-ipam" ;;
		esac
		chmod 755 "$dir/railhead-ipam"
		conf_ipam "$(v4_ipam)" '.logLevel="debug"'
		CPATH=$dir
		want_ok ADD
		eq "$kind: without execve" "$(grep -c 'in a child without execve' "$W/err")" $want
		has_addr p1 net1 "$(jq -r '.ips[0].address' "$W/out")"
		want_ok DEL
		eq "$kind: DEL without execve" "$(grep -c 'in a child without execve' "$W/err")" $want
	done
}

# The IPAM that ADD ran has the address, whatever the configuration says by now.
test_delegates_of_ADD_when_the_configuration_changed()
{
	local plugin verb change
	fake_good lesser
	pod p1
	for plugin in macvlan ipvlan; do
		kernel_has "$plugin" && [ -x "$BIN/$plugin" ] || continue
		PLUGIN=$plugin
		for verb in DEL GC; do
			for change in 'del(.ipam)' '.ipam={}' '.ipam={"type":"lesser"}' '.ipam={"type":"gone-ipam"}' \
				'.ipam={"type":"railhead-ipam","dataDir":"/var/lib/railhead/elsewhere","subnet":"10.78.0.0/24"}'; do
				conf_ipam "$(v4_ipam)"
				want_ok ADD
				edit "$change | .\"cni.dev/valid-attachments\"=[]"
				cni "$verb"
				# GC has work for the IPAM of now, too.
				[ "$RC" = 0 ] || [[ $verb$change == GC*gone* ]] || fail "$verb after $change: $(said)"
				eq "$plugin: leases after $verb with $change" "$(lease_count)" 0
				no_link p1 net1
				conf_ipam "$(v4_ipam)"
				want_ok DEL
			done
		done
	done
}

# ... and an ADD that takes the place of one that was killed.
test_delegates_of_a_killed_ADD_when_the_configuration_changed()
{
	local record
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	ip -n p1 link del net1
	record=$(find $RUN/attachments -type f)
	jq -c '.adding=true' "$record" >"$W/record" && cp "$W/record" "$record"
	conf 'del(.ipam)'
	want_ok ADD
	eq 'leases after an ADD without IPAM' "$(lease_count)" 0
	want_ok DEL
}

# An IPAM that ADD did not have has no address of it: DEL does not ask it.
test_delegates_of_ADD_only()
{
	pod p1
	conf .
	want_ok ADD
	conf_ipam '{"type":"gone-ipam"}'
	want_ok DEL
	fake_good lesser
	conf_ipam '{"type":"lesser","a":[1,{"b":2}],"c":"x"}'
	want_ok ADD
	conf_ipam '{"c":"x","type":"lesser","a":[1,{"b":2}]}'
	prev
	want_ok DEL
	is 'the same IPAM gets what the runtime sent' cmp "$W/conf" "$FAKE/lesser.DEL.stdin"
}
