import t from 'tap'
import type { JsonObject } from '../../../../../src/api/json.ts'
import { validateContainers } from '../../../../../src/devcluster/resources/builtin/pod-spec/containers.ts'
import { podFacts } from '../../../../../src/devcluster/resources/builtin/pod-spec/pod-facts.ts'

const defaulted = { name: 'a', image: 'x', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
const facts = podFacts({ terminationGracePeriodSeconds: 30, restartPolicy: 'Always' }, new Map([['v', { emptyDir: {} }]]), 'pod')

/** Returns the errors of containers as `path: message`. Their Pod has the volume `v`. */
const errorsOf = (...changes: JsonObject[]): string[] =>
  validateContainers(
    changes.map((change) => ({ ...defaulted, ...change })),
    'c',
    facts,
  ).map(({ path, message }) => `${path}: ${message}`)

t.test('containers have the policies and protocols of the Kubernetes documentation', async (t) => {
  const supported = (values: string): string => `Unsupported value: "x": supported values: ${values}`
  t.strictSame(errorsOf({ terminationMessagePolicy: 'x', imagePullPolicy: 'x', ports: [{ containerPort: 80, protocol: 'x' }] }), [
    `c[0].terminationMessagePolicy: ${supported('"File", "FallbackToLogsOnError"')}`,
    `c[0].ports[0].protocol: ${supported('"SCTP", "TCP", "UDP"')}`,
    `c[0].imagePullPolicy: ${supported('"Always", "IfNotPresent", "Never"')}`,
  ])
  for (const imagePullPolicy of ['Always', 'IfNotPresent', 'Never']) t.strictSame(errorsOf({ imagePullPolicy }), [])
  for (const terminationMessagePolicy of ['File', 'FallbackToLogsOnError']) t.strictSame(errorsOf({ terminationMessagePolicy }), [])
  for (const protocol of ['TCP', 'UDP', 'SCTP']) t.strictSame(errorsOf({ ports: [{ containerPort: 80, protocol }] }), [])
})

t.test('the names of the containers of a Pod are unique', async (t) => {
  t.strictSame(errorsOf({ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: '' }, { name: '' }), [
    'c[2].name: Duplicate value: "a"',
    'c[3].name: Required value',
    'c[4].name: Required value',
  ])
})

t.test('a probe needs one handler, and numbers in their ranges', async (t) => {
  const tcpSocket = { port: 80 }
  const below = 'must be greater than or equal to 0'
  for (const [probe, ...expected] of [
    [{ tcpSocket, successThreshold: 1 }],
    [{ successThreshold: 1 }, 'c[0].livenessProbe: Required value: must specify a handler type'],
    [{ tcpSocket, successThreshold: 2 }, 'c[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
    [{ exec: {}, successThreshold: 1 }, 'c[0].livenessProbe.exec.command: Required value'],
    [{ grpc: {}, successThreshold: 1 }, 'c[0].livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
    [
      { httpGet: { port: 80, path: '/', scheme: 'FTP' }, successThreshold: 1 },
      'c[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
    ],
    [
      { grpc: { port: 1 }, sleep: { seconds: 1 }, tcpSocket, exec: { command: ['a'] }, successThreshold: 1 },
      'c[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
      'c[0].livenessProbe.grpc: Forbidden: may not specify more than 1 handler type',
    ],
    [
      { tcpSocket, initialDelaySeconds: -1, timeoutSeconds: -2, periodSeconds: -3, successThreshold: 1, failureThreshold: -4 },
      `c[0].livenessProbe.initialDelaySeconds: Invalid value: -1: ${below}`,
      `c[0].livenessProbe.timeoutSeconds: Invalid value: -2: ${below}`,
      `c[0].livenessProbe.periodSeconds: Invalid value: -3: ${below}`,
      `c[0].livenessProbe.failureThreshold: Invalid value: -4: ${below}`,
    ],
    [
      { tcpSocket, successThreshold: 1, terminationGracePeriodSeconds: 0 },
      'c[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0',
    ],
    [{ tcpSocket, successThreshold: 1, terminationGracePeriodSeconds: 1 }],
  ] as readonly (readonly [JsonObject, ...string[]])[]) {
    t.strictSame(errorsOf({ livenessProbe: probe }), expected)
    t.strictSame(
      errorsOf({ startupProbe: probe }),
      expected.map((text) => text.replace('livenessProbe', 'startupProbe')),
    )
  }
  t.strictSame(errorsOf({ readinessProbe: { tcpSocket, successThreshold: 2 } }), [])
  t.strictSame(errorsOf({ readinessProbe: { tcpSocket, successThreshold: 1, terminationGracePeriodSeconds: 1 } }), [
    'c[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes',
  ])
  t.strictSame(errorsOf({ lifecycle: { preStop: {}, postStart: { exec: {} } } }), [
    'c[0].lifecycle.postStart.exec.command: Required value',
    'c[0].lifecycle.preStop: Required value: must specify a handler type',
  ])
})

t.test('the requests and limits of a container are standard or qualified, not negative, and in order', async (t) => {
  const standard = 'must be a standard resource for containers'
  t.strictSame(
    errorsOf({
      resources: {
        limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1', 'hugepages-2Mi': '2Mi', 'ex.com/gpu': '1', foo: '1' },
        requests: { bar: '1', cpu: '1001m', memory: '1Gi', 'ephemeral-storage': '-1', 'ex.com/gpu': '2' },
      },
    }),
    [
      'c[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      `c[0].resources.limits[foo]: Invalid value: "foo": ${standard}`,
      'c[0].resources.requests[bar]: Invalid value: "bar": must be a standard resource type or fully qualified',
      `c[0].resources.requests[bar]: Invalid value: "bar": ${standard}`,
      'c[0].resources.requests: Invalid value: "1001m": must be less than or equal to cpu limit of 1',
      'c[0].resources.requests[ephemeral-storage]: Invalid value: "-1": must be greater than or equal to 0',
      'c[0].resources.requests: Invalid value: "2": must be equal to ex.com/gpu limit of 1',
    ],
  )
  t.strictSame(errorsOf({ resources: { requests: { cpu: '0', memory: '1Gi' }, limits: { cpu: '0' } } }), [])
})

t.test('a variable and a volume mount need their fields, and a mount an existing volume', async (t) => {
  const below = 'c[0].env[0].valueFrom'
  for (const [variable, ...expected] of [
    [{ name: 'A', value: 'x' }],
    [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
    [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } }],
    [
      { name: 'A', valueFrom: {} },
      `${below}: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
    ],
    [
      { name: 'A', value: 'x', valueFrom: { secretKeyRef: { name: 'a' }, configMapKeyRef: { name: 'a' } } },
      `${below}.configMapKeyRef.key: Required value`,
      `${below}.secretKeyRef.key: Required value`,
      `${below}: Invalid value: "": may not be specified when \`value\` is not empty`,
    ],
    [
      { name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1' }, resourceFieldRef: { resource: 'limits.cpu' } } },
      `${below}.fieldRef.fieldPath: Required value`,
      `${below}: Invalid value: "": may not have more than one field specified at a time`,
    ],
  ] as readonly (readonly [JsonObject, ...string[]])[])
    t.strictSame(errorsOf({ env: [variable] }), expected)
  t.strictSame(
    errorsOf({ volumeMounts: [{ name: 'v', mountPath: '/a' }, { name: 'w' }, { name: 'v', mountPath: '/a' }, { mountPath: '/b' }] }),
    [
      'c[0].volumeMounts[1].name: Not found: "w"',
      'c[0].volumeMounts[1].mountPath: Required value',
      'c[0].volumeMounts[2].mountPath: Invalid value: "/a": must be unique',
      'c[0].volumeMounts[3].name: Required value',
      'c[0].volumeMounts[3].name: Not found: ""',
    ],
  )
})

t.test('allowPrivilegeEscalation=false contradicts privileged and CAP_SYS_ADMIN, and errors show the whole security context', async (t) => {
  const shown =
    '{"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":-1,' +
    '"RunAsGroup":2147483648,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,' +
    '"SeccompProfile":null,"AppArmorProfile":null}'
  const securityContext = {
    runAsUser: -1,
    runAsGroup: 2 ** 31,
    allowPrivilegeEscalation: false,
    privileged: true,
    capabilities: { add: ['CAP_SYS_ADMIN'] },
  }
  const ids = [
    'c[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    'c[0].securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
  ]
  t.strictSame(errorsOf({ securityContext }), [
    ...ids,
    `c[0].securityContext: Invalid value: ${shown}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
    `c[0].securityContext: Invalid value: ${shown}: cannot set \`allowPrivilegeEscalation\` to false and \`capabilities.Add\` CAP_SYS_ADMIN`,
  ])
  t.strictSame(errorsOf({ securityContext: { ...securityContext, allowPrivilegeEscalation: true } }), ids)
  t.strictSame(errorsOf({ securityContext: { allowPrivilegeEscalation: false, runAsUser: 0, runAsGroup: 2 ** 31 - 1 } }), [])
})
