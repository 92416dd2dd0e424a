import t from 'tap'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import {
  goStruct,
  immutable,
  invalidStruct,
  nonNegative,
  notSupportedStruct,
  objects,
  portNameErrors,
  validateContainer,
  validateEnum,
  validateOptionalEnum,
  validatePort,
  validatePortOrName,
} from '../../../../src/devcluster/resources/builtin/container-validation.ts'

const defaulted = { name: 'a', image: 'x', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }

/** Returns the errors of a container as `path: message`. Its Pod has the volume `v`, and other containers with the names `taken`. */
const errorsOf = (change: JsonObject, taken = new Set<string>()): string[] =>
  validateContainer({ ...defaulted, ...change }, 'c', new Set(['v']), taken).map(({ path, message }) => `${path}: ${message}`)

t.test('a missing or unknown value of an enumeration is refused with all supported values', async (t) => {
  const required = { path: 'p.f', reason: 'FieldValueRequired', message: 'Required value' }
  t.strictSame(validateEnum({}, 'f', 'p', ['A', 'B']), [required])
  t.strictSame(validateEnum({ f: '' }, 'f', 'p', ['A', 'B']), [required])
  t.strictSame(validateEnum({ f: '' }, 'f', '', ['A', 'B']), [{ ...required, path: 'f' }])
  t.strictSame(validateEnum({ f: 'B' }, 'f', 'p', ['A', 'B']), [])
  const message = 'Unsupported value: "C": supported values: "A", "B"'
  t.strictSame(validateEnum({ f: 'C' }, 'f', 'p', ['A', 'B']), [{ path: 'p.f', reason: 'FieldValueNotSupported', message }])
  t.strictSame(validateOptionalEnum({ f: 'C' }, 'f', '', ['A', 'B']), [{ path: 'f', reason: 'FieldValueNotSupported', message }])
  t.strictSame(validateOptionalEnum({}, 'f', 'p', ['A', 'B']), [])
  t.strictSame(validateOptionalEnum({ f: 'A' }, 'f', 'p', ['A', 'B']), [])
  t.equal(validateOptionalEnum({ f: '' }, 'f', 'p', ['A', 'B']).length, 1, 'an optional field must not be empty')
})

t.test('containers have the policies and protocols of the Kubernetes documentation', async (t) => {
  const supported = (values: string): string => `Unsupported value: "x": supported values: ${values}`
  t.strictSame(errorsOf({ terminationMessagePolicy: 'x', imagePullPolicy: 'x', ports: [{ containerPort: 80, protocol: 'x' }] }), [
    `c.terminationMessagePolicy: ${supported('"File", "FallbackToLogsOnError"')}`,
    `c.imagePullPolicy: ${supported('"Always", "IfNotPresent", "Never"')}`,
    `c.ports[0].protocol: ${supported('"SCTP", "TCP", "UDP"')}`,
  ])
  for (const imagePullPolicy of ['Always', 'IfNotPresent', 'Never']) t.strictSame(errorsOf({ imagePullPolicy }), [])
  for (const terminationMessagePolicy of ['File', 'FallbackToLogsOnError']) t.strictSame(errorsOf({ terminationMessagePolicy }), [])
  for (const protocol of ['TCP', 'UDP', 'SCTP']) t.strictSame(errorsOf({ ports: [{ containerPort: 80, protocol }] }), [])
})

t.test('the names of the containers of a Pod are unique', async (t) => {
  const taken = new Set<string>()
  t.strictSame(errorsOf({ name: 'a' }, taken), [])
  t.strictSame(errorsOf({ name: 'b' }, taken), [])
  t.strictSame(errorsOf({ name: 'a' }, taken), ['c.name: Duplicate value: "a"'])
  t.strictSame(errorsOf({ name: '' }, taken), ['c.name: Required value'])
  t.strictSame([...taken], ['a', 'b'])
})

t.test('a probe needs one handler, and numbers in their ranges', async (t) => {
  const tcpSocket = { port: 80 }
  const below = 'must be greater than or equal to 0'
  for (const [probe, ...expected] of [
    [{ tcpSocket, successThreshold: 1 }],
    [{ successThreshold: 1 }, 'c.livenessProbe: Required value: must specify a handler type'],
    [{ tcpSocket, successThreshold: 2 }, 'c.livenessProbe.successThreshold: Invalid value: 2: must be 1'],
    [{ exec: {}, successThreshold: 1 }, 'c.livenessProbe.exec.command: Required value'],
    [{ grpc: {}, successThreshold: 1 }, 'c.livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
    [
      { httpGet: { port: 80, scheme: 'FTP' }, successThreshold: 1 },
      'c.livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
    ],
    [
      { grpc: { port: 1 }, sleep: { seconds: 1 }, tcpSocket, exec: { command: ['a'] }, successThreshold: 1 },
      'c.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
      'c.livenessProbe.grpc: Forbidden: may not specify more than 1 handler type',
      'c.livenessProbe.sleep: Forbidden: may not specify more than 1 handler type',
    ],
    [
      { tcpSocket, initialDelaySeconds: -1, timeoutSeconds: -2, periodSeconds: -3, successThreshold: 1, failureThreshold: -4 },
      `c.livenessProbe.initialDelaySeconds: Invalid value: -1: ${below}`,
      `c.livenessProbe.timeoutSeconds: Invalid value: -2: ${below}`,
      `c.livenessProbe.periodSeconds: Invalid value: -3: ${below}`,
      `c.livenessProbe.failureThreshold: Invalid value: -4: ${below}`,
    ],
    [
      { tcpSocket, successThreshold: 1, terminationGracePeriodSeconds: 0 },
      'c.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0',
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
    'c.readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes',
  ])
  t.strictSame(errorsOf({ lifecycle: { preStop: {}, postStart: { exec: {} } } }), [
    'c.lifecycle.postStart.exec.command: Required value',
    'c.lifecycle.preStop: Required value: must specify a handler type',
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
      'c.resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      `c.resources.limits[foo]: Invalid value: "foo": ${standard}`,
      'c.resources.requests[bar]: Invalid value: "bar": must be a standard resource type or fully qualified',
      `c.resources.requests[bar]: Invalid value: "bar": ${standard}`,
      'c.resources.requests: Invalid value: "1001m": must be less than or equal to cpu limit of 1',
      'c.resources.requests[ephemeral-storage]: Invalid value: "-1": must be greater than or equal to 0',
      'c.resources.requests: Invalid value: "2": must be less than or equal to ex.com/gpu limit of 1',
    ],
  )
  t.strictSame(errorsOf({ resources: { requests: { cpu: '0', memory: '1Gi' }, limits: { cpu: '0' } } }), [])
})

t.test('a variable and a volume mount need their fields, and a mount an existing volume', async (t) => {
  const below = 'c.env[0].valueFrom'
  for (const [variable, ...expected] of [
    [{ name: 'A', value: 'x' }],
    [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
    [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } }],
    [
      { name: 'A', valueFrom: {} },
      `${below}: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
    ],
    [
      { name: 'A', value: 'x', valueFrom: { secretKeyRef: {}, configMapKeyRef: {} } },
      `${below}: Invalid value: "": may not be specified when \`value\` is not empty`,
      `${below}.configMapKeyRef.key: Required value`,
      `${below}.secretKeyRef.key: Required value`,
    ],
    [
      { name: 'A', valueFrom: { fieldRef: {}, resourceFieldRef: { resource: 'limits.cpu' } } },
      `${below}: Invalid value: "": may not have more than one field specified at a time`,
      `${below}.fieldRef.fieldPath: Required value`,
    ],
  ] as readonly (readonly [JsonObject, ...string[]])[])
    t.strictSame(errorsOf({ env: [variable] }), expected)
  t.strictSame(
    errorsOf({ volumeMounts: [{ name: 'v', mountPath: '/a' }, { name: 'w' }, { name: 'v', mountPath: '/a' }, { mountPath: '/b' }] }),
    [
      'c.volumeMounts[1].name: Not found: "w"',
      'c.volumeMounts[1].mountPath: Required value',
      'c.volumeMounts[2].mountPath: Invalid value: "/a": must be unique',
      'c.volumeMounts[3].name: Required value',
      'c.volumeMounts[3].name: Not found: ""',
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
    'c.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    'c.securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
  ]
  t.strictSame(errorsOf({ securityContext }), [
    ...ids,
    `c.securityContext: Invalid value: ${shown}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
    `c.securityContext: Invalid value: ${shown}: cannot set \`allowPrivilegeEscalation\` to false and \`capabilities.Add\` CAP_SYS_ADMIN`,
  ])
  t.strictSame(errorsOf({ securityContext: { ...securityContext, allowPrivilegeEscalation: true } }), ids)
  t.strictSame(errorsOf({ securityContext: { allowPrivilegeEscalation: false, runAsUser: 0, runAsGroup: 2 ** 31 - 1 } }), [])
})

t.test('ports are numbers from 1 to 65535, or names of at most 15 characters', async (t) => {
  const messages = (errors: readonly { message: string }[]): string[] => errors.map(({ message }) => message)
  for (const port of [1, 80, 65_535]) t.strictSame([validatePort(port, 'p'), validatePortOrName(port, 'p')], [[], []])
  for (const port of [0, -1, 65_536, null]) {
    const message = `Invalid value: ${port}: must be between 1 and 65535, inclusive`
    t.strictSame(validatePort(port, 'p'), [{ path: 'p', reason: 'FieldValueInvalid', message }])
  }
  t.strictSame(messages(validatePortOrName(undefined, 'p')), ['Invalid value: 0: must be between 1 and 65535, inclusive'])
  t.strictSame(messages(validatePortOrName('http-1', 'p')), [])
  t.strictSame(messages(validatePortOrName('Http', 'p')), [
    'Invalid value: "Http": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
  ])
  t.strictSame(portNameErrors('a'.repeat(15)), [])
  t.strictSame(portNameErrors('-1--2_34567890-'), [
    'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    'must contain at least one letter (a-z)',
    'must not contain consecutive hyphens',
    'must not begin or end with a hyphen',
  ])
  t.strictSame(portNameErrors('a'.repeat(16)), ['must be no more than 15 characters'])
  t.strictSame(portNameErrors('a-'), ['must not begin or end with a hyphen'])
})

t.test('values are printed as internal types of kube-apiserver', async (t) => {
  t.strictSame(goStruct({ name: 'a', apiGroup: 'b' }, ['apiGroup', 'kind', 'name', 'seLinuxOptions']), {
    APIGroup: 'b',
    Kind: null,
    Name: 'a',
    SELinuxOptions: null,
  })
  t.strictSame(invalidStruct('p', { b: 1 }, ['a', 'b'], 'wrong'), {
    path: 'p',
    reason: 'FieldValueInvalid',
    message: 'Invalid value: {"A":null,"B":1}: wrong',
  })
  t.strictSame(notSupportedStruct('p', { b: 1 }, ['b'], ['x', 'y']), {
    path: 'p',
    reason: 'FieldValueNotSupported',
    message: 'Unsupported value: {"B":1}: supported values: "x", "y"',
  })
})

t.test('negative numbers and changes of immutable fields are refused', async (t) => {
  const negative = { path: 'p', reason: 'FieldValueInvalid', message: 'Invalid value: -1: must be greater than or equal to 0' }
  t.strictSame(nonNegative(-1, 'p'), [negative])
  for (const value of [0, 1, undefined, null, '-1']) t.strictSame(nonNegative(value, 'p'), [])
  const changed = (value: JsonValue | undefined, old: JsonValue | undefined): string[] =>
    immutable(value, old, 'p').map(({ message }) => message)
  t.strictSame(changed({ a: [1] }, { a: [1] }), [])
  t.strictSame(changed(undefined, null), [])
  t.strictSame(changed(1, 2), ['Invalid value: 1: field is immutable'])
  t.strictSame(changed(undefined, 2), ['Invalid value: null: field is immutable'])
  t.strictSame(changed(0, undefined), ['Invalid value: 0: field is immutable'])
})

t.test('the objects of a list keep their indices', async (t) => {
  t.strictSame(objects([{ a: 1 }, 'x', null, { b: 2 }]), [
    [{ a: 1 }, 0],
    [{ b: 2 }, 3],
  ])
})
