{{/* Labels that select pods; each part adds its own. */}}
{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* What the pods of both parts have in common. */}}
{{- define "gatehouse.pod" -}}
# Longer than preStop, gateway.drain_delay_ms and gateway.drain_timeout_ms together.
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gatehouse.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: ["ALL"] }
# SIGTERM comes once the endpoints are told; the process then drains (gateway.drain_delay_ms).
lifecycle: { preStop: { exec: { command: ["sleep", "2"] } } }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  - { name: secrets, mountPath: /secrets, readOnly: true }
{{- end -}}

{{- define "gatehouse.env" -}}
- { name: SVC_STORAGE_POSTGRESURL_FILE, value: /secrets/postgres-url }
- { name: SVC_STORAGE_REDISURL_FILE, value: /secrets/redis-url }
- { name: SVC_STORAGE_SEALKEY_FILE, value: /secrets/seal-key }
- { name: SVC_METRICS_SECRET_FILE, value: /secrets/metrics-secret }
{{- end -}}

{{/* The keys of the Secret that both parts read. */}}
{{- define "gatehouse.keys" -}}
- { key: postgres-url, path: postgres-url }
- { key: redis-url, path: redis-url }
- { key: seal-key, path: seal-key }
- { key: metrics-secret, path: metrics-secret }
{{- end -}}
