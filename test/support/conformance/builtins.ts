/** Invalid objects of built-in types, each with the error messages of the API server. */
import type { JsonObject } from '../../../src/api/json.ts'

export interface RefusedObject {
  readonly path: string
  /** The object without apiVersion and kind. If `body` contains no name, the name of the object is `x`. */
  readonly body: JsonObject
  readonly status: number
  /** Strings and patterns that the message contains, in any order. */
  readonly texts: readonly (string | RegExp)[]
}

const containers = [{ name: 'main', image: 'nginx' }]
const ephemeralContainers = [{ name: 'debug', image: 'busybox' }]
const template = { metadata: { labels: { app: 'a' } }, spec: { containers } }
const selector = { matchLabels: { app: 'a' } }
const once = { spec: { template: { spec: { restartPolicy: 'Never', containers } } } }
const webhook = {
  name: 'a.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://127.0.0.1:1' },
}
const probed = (probe: JsonObject): JsonObject => ({ spec: { containers: [{ ...containers[0], ...probe }] } })
const backend = { service: { name: 's', port: { number: 80 } } }

/**
 * Invalid objects of namespaced types with parts of their error messages, keyed by `GROUP/VERSION/PLURAL`, or by `PLURAL` in the core
 * group.
 */
const namespaced: Readonly<Record<string, readonly (readonly [JsonObject, string | RegExp, ...(string | RegExp)[]])[]>> = {
  configmaps: [
    [{ data: { a: '' }, binaryData: { a: '' } }, 'data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    [{ data: { a: 'x'.repeat(2 ** 20 + 1) } }, ': Too long: may not be more than 1048576 bytes'],
    [{ metadata: { name: 'x', generation: -1 } }, 'metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  ],
  secrets: [
    [{ type: 'kubernetes.io/basic-auth' }, 'data[username]: Required value', 'data[password]: Required value'],
    [
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } },
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input',
    ],
  ],
  pods: [
    [
      probed({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
      'spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
    ],
    [probed({ startupProbe: {} }), 'spec.containers[0].startupProbe: Required value: must specify a handler type'],
    [
      probed({ readinessProbe: { httpGet: { port: 'a_b', scheme: 'FTP' } } }),
      'readinessProbe.httpGet.port: Invalid value: "a_b"',
      'readinessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
    ],
    [
      probed({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
      'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
    [probed({ terminationMessagePolicy: 'Odd' }), 'Unsupported value: "Odd": supported values: "File", "FallbackToLogsOnError"'],
    [probed({ imagePullPolicy: 'Odd' }), 'Unsupported value: "Odd": supported values: "Always", "IfNotPresent", "Never"'],
    [{ spec: { containers, ephemeralContainers } }, 'spec.ephemeralContainers: Forbidden: cannot be set on create'],
    [
      { spec: { containers, volumes: [{ name: 'v', secret: null, hostPath: { path: '' } }] } },
      'spec.volumes[0].hostPath.path: Required value',
    ],
  ],
  services: [
    [
      { spec: { clusterIP: '1.2', ports: [{ port: 1 }] } },
      'spec.clusterIPs[0]: Invalid value: "1.2": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [{ spec: { ports: [{ port: 1, nodePort: 30_000 }] } }, "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    [{ spec: { ports: [{ port: 0 }] } }, 'spec.ports[0].port: Invalid value: 0', 'spec.ports[0].targetPort: Invalid value: 0'],
    [{ spec: { type: 'ExternalName' } }, 'spec.externalName: '],
    [{ spec: { sessionAffinity: 'Often', ports: [{ port: 1 }] } }, 'supported values: "ClientIP", "None"'],
  ],
  persistentvolumeclaims: [
    [{ spec: {} }, 'spec.accessModes: Required value: at least 1 access mode is required', 'spec.resources[storage]: Required value'],
    [
      { spec: { accessModes: ['Often'], volumeMode: 'Odd', resources: { requests: { storage: '0' } } } },
      'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'spec.resources[storage]: Invalid value: "0": must be greater than zero',
      'spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"',
    ],
    [
      { spec: { accessModes: ['ReadWriteOnce'], volumeMode: '', resources: { requests: { storage: '1' } } } },
      'spec.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"',
    ],
  ],
  'apps/v1/deployments': [
    [
      {},
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
    [
      { spec: { selector, template, strategy: { type: 'Recreate', rollingUpdate: {} } } },
      "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
    [
      { spec: { selector, template, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0',
    ],
    [
      { spec: { selector, template, minReadySeconds: 600 } },
      'spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds',
    ],
    [
      { spec: { selector, template: { ...template, spec: { containers, ephemeralContainers } } } },
      'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ],
  ],
  'batch/v1/jobs': [
    [{ spec: { ...once.spec, completionMode: 'Odd' } }, 'supported values: "NonIndexed", "Indexed"'],
    [
      { spec: { ...once.spec, podReplacementPolicy: '' } },
      'spec.podReplacementPolicy: Unsupported value: "": supported values: "Failed", "TerminatingOrFailed"',
    ],
    [
      { spec: { template: { spec: { ...once.spec.template.spec, ephemeralContainers } } } },
      'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ],
    [
      { spec: { ...once.spec, parallelism: 1, completionMode: 'Indexed' } },
      'spec.completions: Required value: when completion mode is Indexed',
    ],
  ],
  'batch/v1/cronjobs': [
    [{ spec: { schedule: 'often', jobTemplate: once } }, 'expected exactly 5 fields, found 1: [often]'],
    [{ spec: { schedule: '61 * * * *', jobTemplate: once } }, 'end of range (61) above maximum (59): 61'],
    [{ spec: { schedule: '5-1 * * * *', jobTemplate: once } }, 'beginning of range (5) beyond end of range (1): 5-1'],
    [{ spec: { schedule: '*/0 * * * *', jobTemplate: once } }, 'step of range should be a positive number: */0'],
    [
      { spec: { schedule: '* * * * mond', jobTemplate: once } },
      'failed to parse int from mond: strconv.Atoi: parsing "mond": invalid syntax',
    ],
    [{ spec: { schedule: 'TZ=UTC * * * * *', jobTemplate: once } }, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
    [
      { spec: { schedule: '@never', timeZone: 'Nowhere', jobTemplate: once } },
      'spec.schedule: Invalid value: "@never": unrecognized descriptor: @never',
      'spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere',
    ],
  ],
  'coordination.k8s.io/v1/leases': [
    [{ spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }, 'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
  ],
  'discovery.k8s.io/v1/endpointslices': [
    [{ addressType: 'Odd', endpoints: [] }, 'addressType: Unsupported value: "Odd": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  'rbac.authorization.k8s.io/v1/roles': [
    [
      { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ],
  ],
  'rbac.authorization.k8s.io/v1/rolebindings': [
    [
      { roleRef: { kind: 'Other', name: 'r' }, subjects: [{ kind: 'Robot', name: 'a' }] },
      'roleRef.kind: Unsupported value: "Other": supported values: "Role", "ClusterRole"',
      'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ],
  ],
  'networking.k8s.io/v1/ingresses': [
    [{ spec: {} }, 'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    [{ spec: { rules: [{ http: { paths: [{ backend }] } }] } }, 'paths[0].pathType: Required value: pathType must be specified'],
    [
      { spec: { rules: [{ host: '1.2.3.4', http: { paths: [{ path: 'x', pathType: 'Exact', backend: {} }] } }] } },
      'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      'paths[0].path: Invalid value: "x": must be an absolute path',
      'paths[0].backend: Invalid value: "": resource or service backend is required',
    ],
  ],
  'networking.k8s.io/v1/networkpolicies': [
    [
      { spec: { podSelector: {}, ingress: [{ ports: [{ port: 0 }], from: [{}] }] } },
      'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ingress[0].from[0]: Required value: must specify a peer',
    ],
  ],
  'policy/v1/poddisruptionbudgets': [
    [
      { spec: { minAvailable: '101%', maxUnavailable: 1 } },
      'minAvailable and maxUnavailable cannot be both set',
      'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
    ],
  ],
  'autoscaling/v2/horizontalpodautoscalers': [
    [
      { spec: {} },
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
    [
      { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'v1', kind: 'De/x', name: 'd/e' } } },
      'spec.scaleTargetRef.kind: Invalid value: "De/x": may not contain \'/\'',
      'spec.scaleTargetRef.name: Invalid value: "d/e": may not contain \'/\'',
      'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
    ],
    [
      { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'a/b/c', kind: 'Deployment', name: 'd' } } },
      'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ],
    ...['scaleUp', 'scaleDown'].map((direction): readonly [JsonObject, string] => [
      { spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' }, behavior: { [direction]: { selectPolicy: '' } } } },
      `spec.behavior.${direction}.selectPolicy: Unsupported value: "": supported values: "Disabled", "Max", "Min"`,
    ]),
  ],
}

/** Invalid objects of cluster-scoped types with parts of their error messages, keyed by `GROUP/VERSION/PLURAL`. */
const clusterWide: Readonly<Record<string, (typeof namespaced)[string]>> = {
  'rbac.authorization.k8s.io/v1/clusterrolebindings': [
    [
      { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] },
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
    ],
  ],
  'scheduling.k8s.io/v1/priorityclasses': [
    [{ value: 2_000_000_000 }, 'value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    [{ value: 1, preemptionPolicy: '' }, 'preemptionPolicy: Required value'],
    [
      { value: 1, preemptionPolicy: 'Odd' },
      'preemptionPolicy: Unsupported value: "Odd": supported values: "PreemptLowerPriority", "Never"',
    ],
  ],
  'storage.k8s.io/v1/storageclasses': [
    [{}, 'provisioner: Required value'],
    [
      { provisioner: 'p', reclaimPolicy: 'Odd', volumeBindingMode: '' },
      'reclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  ],
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations': [
    [
      { webhooks: [{ ...webhook, matchConditions: [{ name: '', expression: 'true' }] }] },
      'webhooks[0].matchConditions[0].name: Required value',
    ],
    [{ webhooks: [{ ...webhook, clientConfig: { service: { name: 's' } } }] }, 'webhooks[0].clientConfig.service.name: Required value'],
  ],
}

/** Requests that the API server rejects with a status other than 422. */
const otherwise: readonly (readonly [path: string, JsonObject, number, string])[] = [
  ['secrets', { data: { a: '*' } }, 400, 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0'],
  [
    'coordination.k8s.io/v1/leases',
    { spec: { renewTime: '2026-01-01T00:00:00.123Z' } },
    400,
    'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00.123Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"',
  ],
  ['configmaps', { metadata: { name: 'x', creationTimestamp: 'yesterday' } }, 400, 'cannot parse "yesterday" as "2006"'],
  ['pods', { spec: { containers, priorityClassName: 'no' } }, 403, 'pods "x" is forbidden: no PriorityClass with name no was found'],
  [
    'pods',
    { spec: { containers, priorityClassName: 'constructor' } },
    403,
    'pods "x" is forbidden: no PriorityClass with name constructor was found',
  ],
  ['pods', { spec: { containers, priority: 7 } }, 403, 'the integer value of priority (7) must not be provided in pod spec'],
]

export function refusedBuiltins(namespace: string): RefusedObject[] {
  const inNamespace = (type: string): string => {
    const cut = type.lastIndexOf('/')
    return `${cut < 0 ? '/api/v1' : `/apis/${type.slice(0, cut)}`}/namespaces/${namespace}/${type.slice(cut + 1)}`
  }
  return [
    ...Object.entries(namespaced).flatMap(([type, cases]) =>
      cases.map(([body, ...texts]) => ({ path: inNamespace(type), body, status: 422, texts })),
    ),
    ...Object.entries(clusterWide).flatMap(([type, cases]) =>
      cases.map(([body, ...texts]) => ({ path: `/apis/${type}`, body, status: 422, texts })),
    ),
    ...otherwise.map(([type, body, status, text]) => ({ path: inNamespace(type), body, status, texts: [text] })),
  ]
}
