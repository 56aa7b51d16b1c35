{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /* railhead.installer: a container that puts the plugins into a volume: `install` into the CNI folder, `restore` those that the agent puts
back, under the names that they have in the image. */ -}}
{{- define "railhead.installer" -}}
{{- $v := .root.Values -}}
{{- $install := eq .name "install" -}}
- name: {{ .name }}
  image: {{ include "railhead.image" (dict "root" .root "name" "railhead-plugins") }}
  {{- with $v.image.pullPolicy }}
  imagePullPolicy: {{ . }}
  {{- end }}
  {{- if $v.plugins.remove }}
  args: [--remove]
  {{- end }}
  {{- $chain := and $install $v.claims.chain }}
  {{- $only := $v.plugins.only }}
  {{- if and $only (or $v.claims.enabled $v.devicePlugin.rails) }}
  {{- /* Containers with a claim or a slot start through the first, and get the second as a mount. */}}
  {{- $only = concat $only (list "railhead-hook" "railctl") | uniq }}
  {{- end }}
  {{- if or $install $only }}
  env:
    {{- if $install }}
    - {name: PLUGIN_PREFIX, value: {{ $v.plugins.prefix | quote }}}
    {{- end }}
    {{- with $chain }}
    - {name: CNI_CONF, value: {{ . }}}
    {{- end }}
    {{- with $only }}
    - {name: PLUGINS, value: {{ join "," . | quote }}}
    {{- end }}
    {{- if and $install $v.plugins.force }}
    - {name: FORCE, value: "1"}
    {{- end }}
  {{- end }}
  resources:
    {{- toYaml $v.plugins.resources | nindent 4 }}
  securityContext:
    runAsUser: 0
    runAsGroup: 0
    privileged: false
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: {drop: [ALL]}
    seccompProfile: {type: RuntimeDefault}
  volumeMounts:
    - {name: {{ .volume }}, mountPath: /host/opt/cni/bin}
    - {name: run, mountPath: /run/railhead}
    - {name: cni, mountPath: /var/lib/cni, readOnly: true}
    {{- with $chain }}
    - {name: networks, mountPath: {{ . }}}
    {{- end }}
{{- end }}

{{- /* railhead.labeller: a container that writes the labels of the node. */ -}}
{{- define "railhead.labeller" -}}
{{- $v := .Values -}}
- name: labels
  image: {{ include "railhead.image" (dict "root" . "name" "railhead") }}
  {{- with $v.image.pullPolicy }}
  imagePullPolicy: {{ . }}
  {{- end }}
  command: [/usr/local/sbin/railctl, topo, --labels-out, /features.d/railhead]
  resources:
    {{- toYaml $v.agent.resources | nindent 4 }}
  securityContext:
    runAsUser: 0
    runAsGroup: 0
    privileged: false
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    # The kernel shows the whole configuration space of PCI functions only with this right. gdr-ready needs it.
    capabilities: {drop: [ALL], add: [SYS_ADMIN]}
    seccompProfile: {type: RuntimeDefault}
  volumeMounts:
    - {name: features, mountPath: /features.d}
    - {name: boot, mountPath: /boot, readOnly: true}
{{- end }}

{{- /* railhead.daemonset: packaging/kubernetes/container.md says why it has each mount and each right. `reclaim`: that of reclaim.sh.
An agent that repairs nothing needs neither rights nor sight of pods. */ -}}
{{- define "railhead.daemonset" -}}
{{- $v := .root.Values -}}
{{- $name := .reclaim | ternary "railheadd-reclaim" "railheadd" -}}
{{- $repairs := not (kindIs "bool" ($v.agent.config.repair)) -}}
{{- $restores := include "railhead.restores" .root -}}
{{- $claims := $v.claims.enabled -}}
{{- $devices := or $v.devicePlugin.enabled $claims -}}
{{- $slots := and $v.devicePlugin.enabled (gt (len $v.devicePlugin.rails) 0) -}}
{{- /* The container devices detaches rails. */ -}}
{{- $detaches := or $claims $slots -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "railhead.labels" .root | replace "name: railheadd" (printf "name: %s" $name) | nindent 4 }}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: {{ $name }}}}
  updateStrategy:
    # One agent of a node at a time: the next one waits for the lock of this one. Pods start meanwhile.
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: {{ $v.maxUnavailable }}, maxSurge: 0}
  template:
    metadata:
      labels: {app.kubernetes.io/name: {{ $name }}}
      # Another configuration starts the agents again: agent.json is mounted as a file, which does not change under them.
      annotations: {railhead.io/config: {{ include "railhead.agentConfig" .root | sha256sum | trunc 16 | quote }}}
    spec:
      serviceAccountName: railheadd
      priorityClassName: {{ $v.priorityClass.name }}
      {{- with $v.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      {{- with $v.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      # A node with this label runs the agent that also frees the blocks of dead nodes.
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions: [{key: railhead.io/reclaim, operator: {{ .reclaim | ternary "Exists" "DoesNotExist" }}}]
      {{- with $v.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      # Nothing is waited for at the end: pods keep their addresses.
      terminationGracePeriodSeconds: 10
      hostNetwork: true
      {{- if or $repairs $slots }}
      hostPID: true
      {{- end }}
      {{- with $v.seLinuxType }}
      securityContext: {seLinuxOptions: {type: {{ . }}}}
      {{- end }}
      dnsPolicy: Default
      enableServiceLinks: false
      {{- if or $v.plugins.install $v.nodeLabels.enabled }}
      initContainers:
        {{- if $v.plugins.install }}
        {{- include "railhead.installer" (dict "root" .root "name" "install" "volume" "plugins") | nindent 8 }}
        {{- if $restores }}
        {{- include "railhead.installer" (dict "root" .root "name" "restore" "volume" "restore") | nindent 8 }}
        {{- end }}
        {{- end }}
        {{- if $v.nodeLabels.enabled }}
        {{- include "railhead.labeller" .root | nindent 8 }}
        {{- end }}
      {{- end }}
      containers:
        - name: railheadd
          image: {{ include "railhead.image" (dict "root" .root "name" "railhead") }}
          {{- with $v.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
          command: [/usr/local/sbin/railheadd]
          args: [--config, /conf/agent.json{{ if .reclaim }}, --reclaim{{ end }}]
          env:
            - {name: RAILHEAD_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
            {{- with $v.agent.apiServer }}
            {{- if .host }}
            - {name: KUBERNETES_SERVICE_HOST, value: {{ .host | quote }}}
            - {name: KUBERNETES_SERVICE_PORT, value: {{ .port | quote }}}
            {{- end }}
            {{- end }}
          resources:
            {{- toYaml $v.agent.resources | nindent 12 }}
          # The agent answers at its socket. The cluster store may be away: a restart would not help.
          startupProbe:
            exec: {command: [/usr/local/sbin/railctl, cluster, status]}
            periodSeconds: 2
            timeoutSeconds: 5
            failureThreshold: 60
          livenessProbe:
            exec: {command: [/usr/local/sbin/railctl, cluster, status]}
            periodSeconds: 30
            timeoutSeconds: 10
            failureThreshold: 4
          # It has contact with the cluster store, and may assign addresses. An update of the agents waits for it.
          readinessProbe:
            exec: {command: [/usr/local/sbin/railctl, cluster, status, --ready]}
            periodSeconds: 10
            timeoutSeconds: 5
          securityContext:
            runAsUser: 0
            runAsGroup: 0
            privileged: false
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
              {{- with concat ($repairs | ternary (list "DAC_READ_SEARCH" "NET_ADMIN" "SYS_ADMIN" "SYS_PTRACE") list) ($v.fabric.enabled | ternary (list "NET_RAW") list) }}
              add: [{{ join ", " . }}]
              {{- end }}
            seccompProfile: {type: RuntimeDefault}
            {{- if $repairs }}
            appArmorProfile: {type: Unconfined}
            {{- end }}
          volumeMounts:
            - {name: conf, mountPath: /conf/agent.json, subPath: agent.json, readOnly: true}
            - {name: etc, mountPath: /etc/railhead, readOnly: true}
            - {name: state, mountPath: /var/lib/railhead}
            - {name: run, mountPath: /run/railhead}
            - {name: log, mountPath: /var/log}
            {{- if $repairs }}
            - {name: netns, mountPath: /run/netns, readOnly: true, mountPropagation: HostToContainer}
            {{- end }}
            {{- if or $repairs $restores }}
            # Records name programs by their path on the node.
            - {name: plugins, mountPath: {{ $v.plugins.binDir }}{{ if not $restores }}, readOnly: true{{ end }}}
            {{- end }}
            {{- with $v.claims.chain }}
            - {name: networks, mountPath: {{ . }}}
            {{- end }}
            - {name: boot, mountPath: /boot, readOnly: true}
        {{- if $devices }}
        - name: devices
          image: {{ include "railhead.image" (dict "root" .root "name" "railhead") }}
          {{- with $v.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
          command: [/usr/local/sbin/railhead-devices]
          args: [--config, /conf/agent.json]
          {{- if $claims }}
          env:
            - {name: RAILHEAD_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
            {{- with $v.agent.apiServer }}
            {{- if .host }}
            - {name: KUBERNETES_SERVICE_HOST, value: {{ .host | quote }}}
            - {name: KUBERNETES_SERVICE_PORT, value: {{ .port | quote }}}
            {{- end }}
            {{- end }}
          {{- end }}
          resources:
            {{- toYaml $v.agent.resources | nindent 12 }}
          securityContext:
            runAsUser: 0
            runAsGroup: 0
            privileged: false
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
              {{- if $detaches }}
              # Also to undo what a claim or a limit attached.
              add: [DAC_READ_SEARCH, NET_ADMIN, SYS_ADMIN, SYS_PTRACE]
              {{- else if $repairs }}
              add: [DAC_READ_SEARCH, SYS_PTRACE]
              {{- end }}
            seccompProfile: {type: RuntimeDefault}
            {{- if or $repairs $detaches }}
            appArmorProfile: {type: Unconfined}
            {{- end }}
          volumeMounts:
            - {name: conf, mountPath: /conf/agent.json, subPath: agent.json, readOnly: true}
            - {name: etc, mountPath: /etc/railhead, readOnly: true}
            - {name: state, mountPath: /var/lib/railhead{{ if not $detaches }}, readOnly: true{{ end }}}
            - {name: run, mountPath: /run/railhead}
            {{- if or $repairs $detaches }}
            - {name: netns, mountPath: /run/netns, readOnly: true, mountPropagation: HostToContainer}
            {{- end }}
            {{- if $detaches }}
            # For railhead-ipam, and to name the hook.
            - {name: log, mountPath: /var/log}
            - {name: plugins, mountPath: {{ $v.plugins.binDir }}, readOnly: true}
            {{- end }}
            {{- if $claims }}
            # The sockets of the driver are where the kubelet looks for drivers.
            - {name: drivers, mountPath: {{ dir $v.devicePlugin.kubeletDir }}/plugins}
            - {name: registry, mountPath: {{ dir $v.devicePlugin.kubeletDir }}/plugins_registry}
            {{- else }}
            # Over the token of the pod: this program asks no API server.
            - {name: no-token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
            {{- end }}
            # The kubelet has its socket here, and expects one for each resource beside it.
            - {name: device-plugins, mountPath: {{ $v.devicePlugin.kubeletDir }}}
            # The kubelet lists here which pod has which device, for a device plugin that has just started.
            - {name: pod-resources, mountPath: {{ dir $v.devicePlugin.kubeletDir }}/pod-resources, readOnly: true}
            # Multus reads here which device has which PCI address.
            - {name: devinfo, mountPath: /run/k8s.cni.cncf.io}
            # The runtime reads CDI files here.
            - {name: cdi, mountPath: /run/cdi}
            {{- if include "railhead.resources" .root }}
            - {name: resources, mountPath: /conf/resources.d, readOnly: true}
            {{- end }}
        {{- end }}
      volumes:
        - {name: conf, configMap: {name: railheadd}}
        - {name: etc, hostPath: {path: /etc/railhead, type: DirectoryOrCreate}}
        - {name: state, hostPath: {path: /var/lib/railhead, type: DirectoryOrCreate}}
        - {name: run, hostPath: {path: /run/railhead, type: DirectoryOrCreate}}
        - {name: log, hostPath: {path: /var/log, type: DirectoryOrCreate}}
        - {name: netns, hostPath: {path: /run/netns, type: DirectoryOrCreate}}
        - {name: plugins, hostPath: {path: {{ $v.plugins.binDir }}, type: DirectoryOrCreate}}
        {{- if $v.plugins.install }}
        - {name: cni, hostPath: {path: /var/lib/cni, type: DirectoryOrCreate}}
        {{- end }}
        {{- if $restores }}
        # Copies for the agent, which sees them in its state. An emptyDir would not do: anybody may write there.
        - {name: restore, hostPath: {path: /var/lib/railhead/plugins, type: DirectoryOrCreate}}
        {{- end }}
        {{- with $v.claims.chain }}
        - {name: networks, hostPath: {path: {{ . }}, type: DirectoryOrCreate}}
        {{- end }}
        - {name: boot, hostPath: {path: /boot, type: DirectoryOrCreate}}
        {{- if $v.nodeLabels.enabled }}
        - {name: features, hostPath: {path: {{ $v.nodeLabels.folder }}, type: DirectoryOrCreate}}
        {{- end }}
        {{- if $devices }}
        {{- if $claims }}
        - {name: drivers, hostPath: {path: {{ dir $v.devicePlugin.kubeletDir }}/plugins, type: DirectoryOrCreate}}
        - {name: registry, hostPath: {path: {{ dir $v.devicePlugin.kubeletDir }}/plugins_registry, type: DirectoryOrCreate}}
        {{- else }}
        - {name: no-token, emptyDir: {}}
        {{- end }}
        - {name: device-plugins, hostPath: {path: {{ $v.devicePlugin.kubeletDir }}, type: DirectoryOrCreate}}
        - {name: pod-resources, hostPath: {path: {{ dir $v.devicePlugin.kubeletDir }}/pod-resources, type: DirectoryOrCreate}}
        - {name: devinfo, hostPath: {path: /run/k8s.cni.cncf.io, type: DirectoryOrCreate}}
        - {name: cdi, hostPath: {path: /run/cdi, type: DirectoryOrCreate}}
        {{- if include "railhead.resources" .root }}
        - {name: resources, configMap: {name: railhead-resources}}
        {{- end }}
        {{- end }}
{{- end }}
