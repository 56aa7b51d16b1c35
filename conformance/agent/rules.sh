# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The CEL rules of the types, on the real API server. The rules are read from it: one without a case is a failure.

# Words of a line: kind, name, "no" (refused) or "yes", the spec before ("-": the object is created), the spec. A line that begins with "=" has
# the message of the rule that the next lines are about. A RailPool has 10.1.0.0/16 and blocks of 8 unless the line says it.
cases_of_rules()
{
	local a=rail0-0000000000000000000000000a010200
	cat <<-END
	= RailBlock: the name of a block is that of its pool, '-', and its first address in 32 hexadecimal digits
	RailBlock $a no - {"pool":"rail1"}
	RailBlock $a no - {"pool":"rail"}
	RailBlock ${a%0} no - {"pool":"rail0"}
	RailBlock ${a}0 no - {"pool":"rail0"}
	RailBlock ${a%0}g no - {"pool":"rail0"}
	RailBlock rail0-${a#rail0} no - {"pool":"rail0"}
	RailBlock $a yes - {"pool":"rail0"}
	RailBlock a-b-${a#rail0-} yes - {"pool":"a-b"}
	RailBlock another-name yes - {}
	= RailBlock: a block has its pool in spec.pool
	RailBlock $a no - {"node":"n1"}
	RailBlock $a yes - {"node":"n1","pool":"rail0"}
	RailBlock ${a%0} yes - {"node":"n1"}
	= RailBlock: the pool of a block never changes
	RailBlock $a no {"pool":"rail0"} {"pool":"rail1"}
	RailBlock $a no {"pool":"rail0"} {}
	RailBlock $a yes {"pool":"rail0"} {"pool":"rail0","node":"n1"}
	= RailBlock: the start of a block never changes
	RailBlock $a no {"pool":"rail0","start":"10.1.2.0"} {"pool":"rail0","start":"10.1.2.8"}
	RailBlock $a no {"pool":"rail0","start":"10.1.2.0"} {"pool":"rail0"}
	RailBlock $a yes {"pool":"rail0","start":"10.1.2.0"} {"pool":"rail0","start":"10.1.2.0","node":"n1"}
	RailBlock $a yes {"pool":"rail0"} {"pool":"rail0","start":"10.1.2.0"}
	= RailBlock: the token of a block with loans ends with '+', and that of no other block does
	RailBlock $a no - {"pool":"rail0","token":"1111111111111111","loans":[{"at":1,"node":"n1"}]}
	RailBlock $a no - {"pool":"rail0","loans":[{"at":1,"node":"n1"}]}
	RailBlock $a no - {"pool":"rail0","token":"1111111111111111+"}
	RailBlock $a no - {"pool":"rail0","token":"+","loans":[]}
	RailBlock $a no {"pool":"rail0","token":"1111111111111111"} {"pool":"rail0","token":"1111111111111111","loans":[{"at":1,"node":"n1"}]}
	RailBlock $a yes - {"pool":"rail0","token":"1111111111111111+","loans":[{"at":1,"node":"n1"}]}
	RailBlock $a yes - {"pool":"rail0","token":"+","loans":[{"at":1,"node":"n1"}]}
	RailBlock $a yes - {"pool":"rail0","token":"1111111111111111","loans":[]}
	= RailBlock: an address of a block is lent once
	RailBlock $a no - {"pool":"rail0","token":"+","loans":[{"at":1,"node":"n1"},{"at":1,"node":"n1","returned":true}]}
	RailBlock $a no - {"pool":"rail0","token":"+","loans":[{"at":1,"node":"n1"},{"at":2,"node":"n2"},{"at":1,"node":"n3"}]}
	RailBlock $a no {"pool":"rail0","token":"+","loans":[{"at":0,"node":"n1"}]} {"pool":"rail0","token":"+","loans":[{"at":0,"node":"n1"},{"at":0,"node":"n2"}]}
	RailBlock $a yes - {"pool":"rail0","token":"+","loans":[{"at":0,"node":"n1"},{"at":1,"node":"n1"},{"at":2,"node":"n2"}]}
	= RailPool: the name of a pool is a DNS label of at most 30 characters
	RailPool a234567890123456789012345678901 no - {}
	RailPool rail.0 no - {}
	RailPool a23456789012345678901234567890 yes - {}
	= RailPool: subnet is a network and its prefix length, as in 10.1.0.0/16, without host bits
	RailPool rail0 no - {"subnet":"10.1.0.0"}
	RailPool rail0 no - {"subnet":"10.1.0.0/33"}
	RailPool rail0 no - {"subnet":"10.1.0/16"}
	RailPool rail0 no - {"subnet":""}
	RailPool rail0 no - {"subnet":"10.1.0.1/16"}
	RailPool rail0 no - {"subnet":"fd00:1::1/64"}
	RailPool rail0 yes - {"subnet":"10.1.0.0/16"}
	RailPool rail0 yes - {"subnet":"fd00:1::/64"}
	= RailPool: subnet never changes: make another pool
	RailPool rail0 no {"subnet":"10.1.0.0/16"} {"subnet":"10.1.0.0/17"}
	RailPool rail0 yes {"subnet":"10.1.0.0/16"} {"subnet":"10.1.0.0/16","warm":4}
	= RailPool: blockSize never changes: make another pool
	RailPool rail0 no {"blockSize":8} {"blockSize":16}
	RailPool rail0 yes {"blockSize":8} {"blockSize":8,"warm":4}
	= RailPool: blockSize is at most the number of addresses of the subnet
	RailPool rail0 no - {"subnet":"10.1.0.0/30","blockSize":8}
	RailPool rail0 no - {"subnet":"fd00::/125","blockSize":16}
	RailPool rail0 yes - {"subnet":"10.1.0.0/29","blockSize":8}
	RailPool rail0 yes - {"subnet":"10.1.0.1/32","blockSize":1}
	RailPool rail0 yes - {"subnet":"fd00::/112","blockSize":65536}
	= RailPool: gateway is an address of the subnet
	RailPool rail0 no - {"gateway":"10.2.0.1"}
	RailPool rail0 no - {"gateway":"10.1.0.1/16"}
	RailPool rail0 no - {"gateway":"fd00::1"}
	RailPool rail0 no - {"gateway":""}
	RailPool rail0 yes - {"gateway":"10.1.0.1"}
	RailPool rail0 yes - {"subnet":"fd00::/64","gateway":"fd00::1"}
	= RailPool: each of ranges is an address, first-last or a network, as in 10.1.0.7, 10.1.0.10-10.1.0.19, 10.1.1.0/28, and in the subnet
	RailPool rail0 no - {"ranges":["10.1.0.0/33"]}
	RailPool rail0 no - {"ranges":["10.1.0.7","10.2.0.7"]}
	RailPool rail0 no - {"ranges":["10.1.255.0-10.2.0.9"]}
	RailPool rail0 no - {"ranges":["10.1.0.1-10.1.0.2-10.1.0.3"]}
	RailPool rail0 no - {"ranges":["10.0.0.0/8"]}
	RailPool rail0 no - {"ranges":["10.1.0"]}
	RailPool rail0 no {"ranges":["10.1.0.7"]} {"ranges":["10.1.0.7","fd00::7"]}
	RailPool rail0 yes - {"ranges":["10.1.0.7","10.1.0.10-10.1.0.19","10.1.1.0/28"]}
	RailPool rail0 yes - {"subnet":"fd00:1::/64","ranges":["fd00:1::10-fd00:1::1f","fd00:1:0:0:1::/80"]}
	= RailPool: each of excludes is an address, first-last or a network, as in 10.1.0.7, 10.1.0.10-10.1.0.19, 10.1.1.0/28, and in the subnet
	RailPool rail0 no - {"excludes":["10.1.0.0/33"]}
	RailPool rail0 no - {"excludes":["10.1.0.7","10.2.0.7"]}
	RailPool rail0 no - {"excludes":["10.1.255.0-10.2.0.9"]}
	RailPool rail0 no - {"excludes":["10.1.0.1-10.1.0.2-10.1.0.3"]}
	RailPool rail0 no - {"excludes":["10.0.0.0/8"]}
	RailPool rail0 no - {"excludes":["10.1.0"]}
	RailPool rail0 no {"excludes":["10.1.0.7"]} {"excludes":["10.1.0.7","fd00::7"]}
	RailPool rail0 yes - {"excludes":["10.1.0.7","10.1.0.10-10.1.0.19","10.1.1.0/28"]}
	RailPool rail0 yes - {"subnet":"fd00:1::/64","excludes":["fd00:1::10-fd00:1::1f","fd00:1:0:0:1::/80"]}
	= RailPool: each of reserved is an address, first-last or a network, as in 10.1.0.7, 10.1.0.10-10.1.0.19, 10.1.1.0/28
	RailPool rail0 no - {"reserved":["10.1.0"]}
	RailPool rail0 no - {"reserved":["10.1.0.7","10.1.0.10-10.1.0"]}
	RailPool rail0 yes - {"reserved":["10.1.0.7","10.2.0.10-10.2.0.19","fd00::/64"]}
	= RailPool: a route has dst, a network as in 10.2.0.0/16, and gw, an address, or no gw
	RailPool rail0 no - {"routes":[{"dst":"10.2.0.0"}]}
	RailPool rail0 no - {"routes":[{"dst":"10.2.0.0/16","gw":"10.1.0"}]}
	RailPool rail0 yes - {"routes":[{"dst":"10.2.0.0/16","gw":"10.1.0.1","mtu":9000},{"dst":"0.0.0.0/0"}]}
	= RailPool: stickyKeep is only for a pool with sticky and a blockSize of 1
	RailPool rail0 no - {"stickyKeep":60}
	RailPool rail0 no - {"stickyKeep":60,"sticky":true}
	RailPool rail0 no - {"stickyKeep":60,"sticky":false,"blockSize":1}
	RailPool rail0 yes - {"stickyKeep":60,"sticky":true,"blockSize":1}
	= RailPool: a pool of GUIDs (fe80::/64) has no gateway and no routes
	RailPool rail0 no - {"subnet":"fe80::/64","gateway":"fe80::1"}
	RailPool rail0 no - {"subnet":"fe80::1000/116","routes":[]}
	RailPool rail0 yes - {"subnet":"fe80::/64","warm":0}
	= RailPool: an open pool cannot begin to adopt: make another pool
	RailPool rail0 no {} {"state":"adopting"}
	RailPool rail0 no {"state":"open"} {"state":"adopting"}
	RailPool rail0 yes - {"state":"adopting"}
	RailPool rail0 yes {"state":"adopting"} {"state":"adopting","warm":4}
	RailPool rail0 yes {"state":"adopting"} {"state":"open"}
	RailPool rail0 yes {"state":"adopting"} {"warm":4}
	= RailReserved: the reserved addresses of the cluster are one object of the name cluster; others are those of nodes
	RailReserved other no - {}
	RailReserved n1 no - {"node":"n2","ranges":["10.1.0.7"]}
	RailReserved n1 yes - {"node":"n1","ranges":["10.1.0.7"]}
	RailReserved cluster yes - {}
	= RailReserved: a range is an address, first-last or a network, as in 10.1.0.7, 10.1.0.10-10.1.0.19, 10.1.1.0/28
	RailReserved cluster no - {"ranges":["10.1.0"]}
	RailReserved cluster no - {"ranges":["10.1.0.7","10.1.0.10-10.1.0"]}
	RailReserved cluster no - {"ranges":["10.1.0.1-10.1.0.2-10.1.0.3"]}
	RailReserved cluster no - {"ranges":["10.1.0.0/33"]}
	RailReserved cluster yes - {"ranges":["10.1.0.7","10.1.0.10-10.1.0.19","10.1.1.0/28","fd00::7"]}
	END
}

# api METHOD PATH TYPE BODY: as an operator; prints the answer. curl, because kubectl takes some time for each of a hundred calls.
api()
{
	curl -s --max-time "$LIMIT" --cacert "$W/kube/ca.pem" --cert "$W/kube/admin.pem" --key "$W/kube/admin.key" -X "$1" \
		-H "Content-Type: application/$3" -d "$4" "https://127.0.0.1:6443/apis/railhead.io/v1alpha1/$2" || give_up "$1 $2"
}
whole() { jq -nc --arg k "$1" --argjson s "$2" 'if $k == "RailPool" then {subnet:"10.1.0.0/16",blockSize:8} else {} end + $s'; } # KIND SPEC
custom() { jq -nc --arg k "$1" --arg n "$2" --argjson s "$(whole "$1" "$3")" '{apiVersion:"railhead.io/v1alpha1",kind:$k,metadata:{name:$n},spec:$s}'; }
made() { jq -e '.kind != "Status"' >/dev/null <<<"$1"; }

# tried KIND NAME OLD NEW: prints the answer to NEW, which is never kept.
tried()
{
	local plural=${1,,}s answer
	[ "$1" != RailReserved ] || plural=railreserved
	if [ "$3" = - ]; then
		api POST "$plural?dryRun=All" json "$(custom "$1" "$2" "$4")"
		return
	fi
	answer=$(api POST "$plural" json "$(custom "$1" "$2" "$3")")
	made "$answer" || { fail "the object before: $answer"; return; }
	api PATCH "$plural/$2?dryRun=All" json-patch+json "$(jq -nc --argjson s "$(whole "$1" "$4")" '[{op:"replace",path:"/spec",value:$s}]')"
	api DELETE "$plural/$2" json '{}' >/dev/null
}

# rules: KIND: MESSAGE of each rule that the API server has
rules()
{
	admin get crd -o json | jq -r '.items[].spec | select(.group == "railhead.io") | .names.kind as $k | .versions[].schema |
		.. | objects | ."x-kubernetes-validations"? // empty | .[] | $k + ": " + (.message // "no message: " + .rule)'
}

test_rules_of_the_types()
{
	local kind name want old new about='' answer
	NODES=0 cluster_begin
	rules | sort >"$W/rules"
	eq "rules without a case (<), cases of no rule (>), one message of two rules" \
		"$(diff "$W/rules" <(cases_of_rules | sed -n 's/^= //p' | sort) | grep '^[<>]')$(uniq -d "$W/rules")" ''
	for want in no yes; do
		eq "rules that have no case \"$want\"" "$(cases_of_rules | awk -v w=$want '/^=/ { about = $0; n[about] += 0; next }
			$3 == w { n[about]++ } END { for (a in n) if (!n[a]) print a }')" ''
	done
	while read -r kind name want old new; do
		[ "$kind" != = ] || { about="$name $want $old $new"; about=${about#*: }; continue; }
		answer=$(tried "$kind" "$name" "$old" "$new")
		case $want in
		no)
			! made "$answer" || fail "$about: the rule accepts $kind $name: $old, then $new"
			has "$kind $name: $old, then $new" "$(jq -r .message <<<"$answer")" "$about"
			;;
		yes) made "$answer" || fail "$about: $kind $name: $old, then $new: $(jq -r .message <<<"$answer")" ;;
		*) give_up "the line $kind $name $want" ;;
		esac
	done < <(cases_of_rules)
}

# typos WORD: each letter dropped, doubled, changed, and two exchanged
typos()
{
	local w=$1 i
	for ((i = 0; i < ${#w}; i++)); do
		printf '%s\n' "${w:0:i}${w:i+1}" "${w:0:i+1}${w:i}" "${w:0:i}q${w:i+1}" "${w:0:i}${w:i+1:1}${w:i:1}${w:i+2}"
	done
}

# Each key that the type has, misspelled in each way, in a pool of each client: refused by name, without the strict validation of kubectl.
test_rules_no_misspelled_key_of_a_pool()
{
	local key typo answer n=0
	NODES=0 cluster_begin
	admin get crd railpools.railhead.io -o json | jq -r '.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties | keys[]' |
		grep -vx node | sort >"$W/keys"
	[ "$(wc -l <"$W/keys")" -ge 18 ] || fail "keys: $(<"$W/keys")"
	eq "keys of the policy" "$(admin get validatingadmissionpolicy railhead-pool-keys -o json | jq -r '.spec.variables[0].expression' |
		grep -o "'[A-Za-z]*'" | tr -d "'" | sort)" "$(<"$W/keys")"
	while read -r key; do
		for typo in $(typos "$key" | sort -u); do
			! grep -qx "$typo" "$W/keys" || continue
			((++n % 7 == 0)) || [ "$key" = gateway ] || continue
			answer=$(api POST 'railpools?dryRun=All&fieldValidation=Ignore' json "$(custom RailPool rail0 "{\"$typo\":1}")")
			has "$typo" "$(jq -r .message <<<"$answer")" "a RailPool has no key $typo"
		done
	done <"$W/keys"
	for typo in gatewy:gateway cooldwn:cooldown Ranges:ranges namspaces:namespaces blocksize:blockSize; do
		answer=$(api POST 'railpools?dryRun=All' json "$(custom RailPool rail0 "{\"${typo%:*}\":1}")")
		has "$typo" "$(jq -r .message <<<"$answer")" "did you mean "
		has "$typo" "$(jq -r .message <<<"$answer")" "${typo#*:}"
	done
	answer=$(api POST 'railpools?dryRun=All' json "$(custom RailPool rail0 '{"routes":[{"dst":"10.2.0.0/16","gatway":"10.1.0.1"}]}')")
	has "a route" "$(jq -r .message <<<"$answer")" "a key in routes is not known"
	answer=$(api POST 'railpools?dryRun=All' json "$(jq '.spec |= {subnet}' <<<"$(custom RailPool rail0 '{}')")")
	has "no blockSize" "$(jq -r .message <<<"$answer")" "spec.blockSize: Required"
	isnt "kubectl" admin apply -f - <<<'{"apiVersion":"railhead.io/v1alpha1","kind":"RailPool","metadata":{"name":"rail0"},"spec":{"subnet":"10.1.0.0/16","blockSize":8,"gatewy":"10.1.0.1"}}'
	has "kubectl" "$(<"$W/is")" "did you mean gateway?"
}

# A pool of an older release may have such a key: it can be deleted, and its other keys change. Agents say that they do not use it.
test_rules_a_misspelled_key_that_is_there()
{
	NODES=1 cluster_begin
	is "no policy" admin delete validatingadmissionpolicybinding railhead-pool-keys
	is "a pool" eventually engine_object pools rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"gatewy":"10.92.0.1"}'
	eventually pool_is n1 .refused 'gatewy'
	eventually has_event PoolRefused RailPool/rail0 "and the pool is not used there: pool rail0: gatewy: there is no such key"
	eq "the event" "$(event_of PoolRefused '[.type, .metadata.namespace, .involvedObject.uid, .reportingInstance] | join(" ")')" \
		"Warning default $(admin get railpool rail0 -o 'jsonpath={.metadata.uid}') n1"
	is "pools with such keys inside" eventually engine_object pools deep \
		'{"subnet":"10.93.0.0/24","blockSize":8,"routes":[{"dst":"10.1.0.0/16","gatway":"10.93.0.1"}]}'
	is "policy" engine policy
	is "another key" admin patch railpool rail0 --type merge -p '{"spec":{"warm":0}}'
	isnt "another typo" admin patch railpool rail0 --type merge -p '{"spec":{"cooldwn":0}}'
	is "a label beside keys inside" eventually admin label railpool deep a=b
	is "a route beside them" admin patch railpool deep --type json -p '[{"op":"add","path":"/spec/routes/-","value":{"dst":"10.2.0.0/16"}}]'
	isnt "one more typo in routes" admin patch railpool deep --type json -p '[{"op":"add","path":"/spec/routes/-","value":{"dst":"10.3.0.0/16","gatway":""}}]'
	is "mended" admin patch railpool rail0 --type json -p '[{"op":"move","from":"/spec/gatewy","path":"/spec/gateway"}]'
	eventually knows n1 rail0
	add n1 p1 rail0
	has "the gateway" "$OUT" '"10.92.0.1"'
}
