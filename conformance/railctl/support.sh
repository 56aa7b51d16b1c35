# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# support.sh: the bundle for people who cannot log in: its pieces, its secrets, and what is missing.
# shellcheck disable=SC2154

# bundled FILE: a piece
bundled() { tar xOf "$W/b.tar" "$1"; }
# listed FILE: its entry in the list
listed() { bundled bundle.json | jq -c --arg f "$1" '.files[] | select(.file == $f)'; }

test_support_bundle_has_the_state_of_the_node()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	mkdir -p /etc/railhead/vf.d /etc/cni/net.d /var/log/railhead
	echo '{"etcd":{"user":"u","password":"hidden-1","passwordFile":"/etc/railhead/pw","endpoints":["https://a:hidden-2@h"]}}' >/etc/railhead/agent.json
	echo hidden-3 >/etc/railhead/pw
	echo 'token: hidden-4' >/etc/railhead/broken.json
	echo '{"name":"n"}' >/etc/cni/net.d/10-n.conflist
	{ head -c 3000000 /dev/zero | tr '\0' a; echo; head -c 99 /dev/zero | tr '\0' b; echo " last line"; } >/var/log/railhead/audit.log
	mkfifo /etc/railhead/vf.d/fifo.json
	ok support-bundle "$W/b.tar"
	has "$W/b.tar: "
	eq "mode" "$(stat -c %a "$W/b.tar")" 600
	eq "status" "$(bundled status.json | jq -r '.pools[].name')" p
	eq "lease" "$(bundled ipam/leases.json | jq -r '.[].address')" 10.1.0.1
	eq "pool" "$(bundled ipam/pools.json | jq -r '.[].name')" p
	bundled attachments.txt | grep -q "No attachments" || fail "attachments: $(bundled attachments.txt)"
	bundled topo/machine.tar | tar t >"$W/machine" || fail "the topology is not a tar"
	eq "configuration" "$(bundled etc/railhead/agent.json | jq -c .etcd)" \
		'{"user":"u","password":"(left out)","passwordFile":"/etc/railhead/pw","endpoints":["https://(left out)@h"]}'
	eq "network" "$(bundled etc/cni/net.d/10-n.conflist | jq -r .name)" n
	! grep -aq hidden "$W/b.tar" || fail "a secret: $(grep -ao 'hidden-.' "$W/b.tar")"
	listed etc/railhead/broken.json | grep -q '"error":"[^"]*broken.json' || fail "no JSON: $(listed etc/railhead/broken.json)"
	eq "a FIFO" "$(listed etc/railhead/vf.d/fifo.json | jq -c '[.bytes,.error]')" '[null,"no regular file"]'
	eq "the end of a log" "$(bundled var/log/railhead/audit.log | tail -n 1 | tail -c 10)" "last line"
	eq "the log is cut before a line" "$(bundled var/log/railhead/audit.log | wc -c)" 110
	listed cluster/status.json | grep -q 'no node agent answers' || fail "no agent: $(listed cluster/status.json)"
	has "cluster/status.json: exit status 1: railctl: no node agent answers"
	# what a command printed before it failed stays
	eq "check" "$(listed rdma/check.txt | jq -c 'has("bytes")')" true
	rm -rf /etc/railhead/* /etc/cni/net.d/10-n.conflist /var/log/railhead
}

# Other projects name their secrets as they like, and logs quote them.
test_support_bundle_shows_only_what_it_knows()
{
	local key
	mkdir -p /etc/cni/net.d /var/log/railhead
	for key in private_key psk pwd auth community bearer passwd_hash sig zzz; do
		jq -n --arg k $key '{name: "n", ipam: {($k): "hidden-1"}, plugins: [{type: "x", ($k): ["hidden-2", {a: "hidden-3"}], ("my-" + $k): 12345678}]}' \
			>/etc/cni/net.d/$key.conf
		printf '%s\n' "time=1 msg=\"x\" $key=hidden-5" "{\"$key\":\"hidden-6\"}" >>/var/log/railhead/a.log
	done
	echo '{"name":"n","type":"x","master":"eth1","url":"https://h/x?sig=hidden-7"}' >/etc/cni/net.d/url.conf
	cat >>/var/log/railhead/a.log <<-'EOF'
		> Authorization: Bearer hidden-8
		wifi psk: hidden-4, community is hidden-c
		level=info program=sm-ufm msg="POST https://u:hidden-9@h/x with password hidden-a"
		level=info program=macvlan ifname=net1 msg="moved eth1"
	EOF
	mkdir -p /etc/railhead/sm.d && printf '#!/bin/sh\necho "login: password: hidden-b"; exit 1\n' >/etc/railhead/sm.d/10-x && chmod 755 /etc/railhead/sm.d/10-x
	ok support-bundle "$W/b.tar"
	! grep -aqE 'hidden|12345678' "$W/b.tar" || fail "a secret: $(grep -aoE '.{0,30}(hidden-.|12345678)' "$W/b.tar")"
	eq "names stay" "$(bundled etc/cni/net.d/psk.conf | jq -c .)" '{"name":"n","ipam":{"psk":"(left out)"},"plugins":[{"type":"x","psk":"(left out)","my-psk":"(left out)"}]}'
	eq "our line" "$(bundled var/log/railhead/a.log | tail -n 1)" 'level=info program=macvlan ifname=net1 msg="moved eth1"'
	rm -rf /etc/cni/net.d/*.conf /var/log/railhead /etc/railhead/sm.d
}

# All keys of the examples are known; their tiers and pools have names of their own.
test_support_bundle_shows_the_examples_whole()
{
	local f n=0
	mkdir -p /etc/cni/net.d /etc/railhead/vf.d /etc/railhead/qos.d
	for f in "$ROOT"/examples/*/*.{json,conflist}; do
		cp "$f" "/etc/cni/net.d/$((++n)).conf"
	done
	[ $n -gt 20 ] || fail "test error: $n examples"
	ok support-bundle "$W/b.tar"
	for f in /etc/cni/net.d/[0-9]*.conf; do
		is "the same: $(head -c 200 "$f")" diff <(jq -S . "$f") <(bundled "${f#/}" | jq -S .)
	done
	rm /etc/cni/net.d/[0-9]*.conf
}

test_support_bundle_does_not_wait_for_a_reader_of_a_FIFO()
{
	mkfifo "$W/b.fifo"
	refused 1 "no program reads" support-bundle "$W/b.fifo"
	refused 1 "no program reads" topo capture "$W/b.fifo"
	tar t <"$W/b.fifo" >"$W/list" &
	ok support-bundle "$W/b.fifo"
	wait $!
	grep -qx bundle.json "$W/list" || fail "through a FIFO: $(<"$W/list")"
}

# As of another store. The reference has a plugin of the same name. Each plugin says on standard error which one it is.
test_support_bundle_of_another_store()
{
	ok --data-dir /var/lib/other/ipam ipam pool add q --subnet 10.2.0.0/24 --this-node-only
	[ -x /usr/lib/cni/macvlan ] || skip "no reference plugins in /usr/lib/cni: tools/deps.sh check"
	need ipvlan
	mount -t tmpfs none /opt && mkdir -p /opt/cni/bin || fail "test error: /opt"
	cp /usr/lib/cni/macvlan "$BIN/ipvlan" /opt/cni/bin
	ok support-bundle --data-dir /var/lib/other/ipam --json "$W/b.tar"
	want '.bytes > 0 and (.files | map(select(.file == "ipam/pools.json")) | length == 1)'
	eq "pool" "$(bundled ipam/pools.json | jq -r '.[].name')" q
	eq "the reference's" "$(bundled plugins/macvlan.txt | sed -n '1s/ version.*//p')" "CNI macvlan plugin"
	[[ $(bundled plugins/ipvlan.txt) == "CNI ipvlan plugin of railhead "* ]] || fail "ours: $(bundled plugins/ipvlan.txt)"
	eq "none" "$(listed plugins/sriov.txt)" ""
	umount /opt
	ok support-bundle --run-dir "$W/a folder" "$W/b.tar"
	eq "attachments" "$(listed attachments.json | jq -c '[has("bytes"), has("error")]')" '[true,false]'
	refused 1 "No such file" support-bundle "$W/nowhere/b.tar"
	# As out of a container whose root is read-only. The programs may be below /tmp.
	mount --rbind /tmp /tmp && mount -o remount,bind,ro /tmp || fail "test error: /tmp"
	if touch /tmp/railhead-support 2>/dev/null; then fail "test error: /tmp can be written"; fi
	railctl support-bundle - >"$W/b.tar" 2>"$W/err" || fail "standard output: $(<"$W/err")"
	umount -l /tmp
	eq "to standard output" "$(listed version.json | jq -c '[has("bytes"), has("error")]')" '[true,false]'
	eq "the pieces after it" "$(for p in attachments ipam/pools vf/list; do bundled $p.json | jq -c type; done | xargs)" "array array array"
	[ ! -e - ] || fail "a file of the name -"
	refused 2 "needs FILE.tar" support-bundle
}
