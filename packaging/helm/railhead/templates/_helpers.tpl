{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* railhead.manifest: a file of packaging/kubernetes for the namespace of the release. Its Namespace is left out: Helm stores the
release there, so it exists. */ -}}
{{- define "railhead.manifest" -}}
{{- $to := .root.Release.Namespace -}}
{{- range regexSplit "(?m)^---$" (.root.Files.Get (printf "files/%s.yaml" .name)) -1 }}
{{- if not (regexMatch "(?m)^kind: Namespace$" .) }}
---
{{ regexReplaceAll "namespace: railhead\\b" . (printf "namespace: %s" $to) | replace "system:serviceaccount:railhead:" (printf "system:serviceaccount:%s:" $to) | trim }}
{{- end }}
{{- end }}
{{- end }}

{{- define "railhead.image" -}}
{{ with .root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .name }}
{{- with get .root.Values.image.digests .name }}@{{ . }}{{ else }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "railhead.labels" -}}
app.kubernetes.io/name: railheadd
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* railhead.restores: the agent puts plugins back. Not during a removal, which it would undo. */ -}}
{{- define "railhead.restores" -}}
{{- if and .Values.plugins.restore (not .Values.plugins.remove) }}true{{ end }}
{{- end }}

{{- /* railhead.resources: the files of the ConfigMap railhead-resources; empty: each node has its own */ -}}
{{- define "railhead.resources" -}}
{{- with .Values.devicePlugin }}
{{- $files := deepCopy .resources }}
{{- $list := list }}
{{- range $name, $rails := .rails }}
{{- $one := merge (dict "name" $name) (omit $rails "network") }}
{{- with $rails.network }}
{{- $_ := set $one "network" (include "railhead.poolNetwork" . | fromJson) }}
{{- end }}
{{- $list = append $list $one }}
{{- end }}
{{- if $list }}
{{- $files = set $files "rails-by-limit.json" (dict "resources" $list) }}
{{- end }}
{{- if and .enabled $files }}{{ toJson $files }}{{ end }}
{{- end }}
{{- end }}

{{- /* railhead.poolNetwork: each rail has a pool of its own, as with the type rails of a network */ -}}
{{- define "railhead.poolNetwork" -}}
{{- $network := deepCopy . }}
{{- $_ := set $network "ipam" (merge ($network.ipam | default dict) (dict "type" "railhead-ipam")) }}
{{- if and (eq $network.ipam.type "railhead-ipam") (not $network.ipam.pool) (not $network.ipam.pools) }}
{{- $_ := set $network.ipam "pool" "rail{n}" }}
{{- end }}
{{- toJson $network }}
{{- end }}

{{- /* railhead.agentConfig: agent.json */ -}}
{{- define "railhead.agentConfig" -}}
{{- $all := deepCopy .Values.agent.config -}}
{{- if .Values.metrics.port }}
{{- $address := .Values.metrics.address }}
{{- if contains ":" $address }}{{ $address = printf "[%s]" $address }}{{ end }}
{{- $all = set $all "metrics" (dict "listen" (printf "%s:%d" $address (int .Values.metrics.port))) }}
{{- end }}
{{- with .Values.devicePlugin }}
{{- if .enabled }}
{{- $all = set $all "devicePlugin" (dict "kubelet" .kubeletDir) }}
{{- if include "railhead.resources" $ }}
{{- $_ := set $all.devicePlugin "resources" "/conf/resources.d" }}
{{- end }}
{{- else if not (hasKey $all "devicePlugin") }}
{{- $all = set $all "devicePlugin" false }}
{{- end }}
{{- end }}
{{- if .Values.claims.enabled }}
{{- $all = set $all "claims" dict }}
{{- with .Values.claims.groups }}
{{- $_ := set $all.claims "groups" . }}
{{- end }}
{{- end }}
{{- if .Values.fabric.enabled }}
{{- $all = set $all "fabric" dict }}
{{- end }}
{{- if not (kindIs "bool" $all.plugins) }}
{{- $plugins := $all.plugins | default dict }}
{{- if ne .Values.plugins.binDir "/opt/cni/bin" }}
{{- $_ := set $plugins "folder" .Values.plugins.binDir }}
{{- end }}
{{- with .Values.claims.chain }}
{{- $_ := set $plugins "chain" . }}
{{- end }}
{{- if include "railhead.restores" . }}
{{- $_ := set $plugins "restoreFrom" "/var/lib/railhead/plugins" }}
{{- end }}
{{- with $plugins }}
{{- $_ := set $all "plugins" . }}
{{- end }}
{{- end }}
{{- if not (hasKey $all "etcd") }}
{{- $all = set $all "kubernetes" dict }}
{{- end }}
{{- toPrettyJson $all }}
{{- end }}

{{- /* railhead.typesAgree: Helm never updates types. Older ones refuse what this release writes: railhead's README says what then fails. */ -}}
{{- define "railhead.typesAgree" -}}
{{- range $path, $_ := .Files.Glob "crds/*.yaml" }}
{{- $ours := $.Files.Get $path | fromYaml }}
{{- $theirs := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $ours.metadata.name }}
{{- if and $theirs (ne (toJson $theirs.spec.versions) (toJson $ours.spec.versions)) }}
{{- fail (printf "the type %s in this cluster is of another release, and Helm updates no types. First: helm show crds CHART | kubectl apply --server-side --force-conflicts -f -" $ours.metadata.name) }}
{{- end }}
{{- end }}
{{- end }}
