import t from 'tap'
import type { FieldError } from '../../../src/api/field-error.ts'
import type { StatusCause } from '../../../src/api/status.ts'
import { failure } from '../../../src/api/status.ts'
import { pod } from '../../../src/api/builtin.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { validateMyPod, validateMyPodInCluster } from '../../../src/operators/mypod/webhook.ts'
import type { AdmissionContext } from '../../../src/webhook/definition/context.ts'
import { aMyPod } from '../../support/mypod/objects.ts'

const containers = [{ name: 'main', image: 'x:1' }]

function validate(object: MyPod): { errors: string[]; warnings: string[] } {
  const warnings: string[] = []
  const errors = validateMyPod(object, undefined, { warn: (text) => void warnings.push(text) })
  return { errors: errors.map(({ path, message }) => `${path}: ${message}`), warnings }
}

t.test('labels and annotations are validated like in Kubernetes, and the creator label is reserved', async (t) => {
  t.strictSame(validate(aMyPod()), { errors: [], warnings: [] })
  t.strictSame(validate(aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'any text at all' } })), { errors: [], warnings: [] })
  t.strictSame(validate(aMyPod({ podLabels: { creator: 'me' } })).errors, [
    'spec.podLabels[creator]: Forbidden: the label is set by the operator',
  ])
  const { errors } = validate(aMyPod({ podLabels: { '-a': 'b', creator: 'c d' }, podAnnotations: { '-e': '' } }))
  t.strictSame(
    errors.map((error) => error.split(': ').slice(0, 3).join(': ')),
    [
      'spec.podLabels: Invalid value: "-a"',
      'spec.podLabels: Invalid value: "c d"',
      'spec.podLabels[creator]: Forbidden: the label is set by the operator',
      'spec.podAnnotations: Invalid value: "-e"',
    ],
  )
})

t.test('a name longer than a host name is a warning', async (t) => {
  t.strictSame(validate(aMyPod({}, { name: 'a'.repeat(63) })).warnings, [])
  t.strictSame(validate(aMyPod({}, { name: 'a'.repeat(64) })).warnings, [
    "metadata.name: longer than 63 characters; the Pod's host name will be cut",
  ])
  t.strictSame(validate(aMyPod({}, { name: undefined as never, generateName: 'a'.repeat(64) })).warnings, [])
})

t.test('settings that give a Pod power over its node are warnings', async (t) => {
  const privileged = { securityContext: { privileged: true } }
  const powerful = aMyPod({
    podSpec: {
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      volumes: [
        { name: 'a', emptyDir: {} },
        { name: 'b', hostPath: { path: '/' } },
      ],
      initContainers: [{ name: 'init', image: 'i', ...privileged }],
      containers: [...containers, { name: 'second', image: 'y', ...privileged }],
    },
  })
  t.strictSame(validate(powerful), {
    errors: [],
    warnings: [
      "spec.podSpec.hostNetwork: shares the node's namespace with the Pod",
      "spec.podSpec.hostPID: shares the node's namespace with the Pod",
      "spec.podSpec.hostIPC: shares the node's namespace with the Pod",
      "spec.podSpec.volumes[1].hostPath: gives the Pod access to the node's files",
      'spec.podSpec.containers[1].securityContext.privileged: has full access to the node',
      'spec.podSpec.initContainers[0].securityContext.privileged: has full access to the node',
    ],
  })
  const harmless = { securityContext: { privileged: false } }
  const weak = { hostNetwork: false, hostPID: false, hostIPC: false, containers: [{ ...containers[0]!, ...harmless }] }
  t.strictSame(validate(aMyPod({ podSpec: weak })).warnings, [])
})

interface Calls {
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
  /** The arguments with which `requesterCan` was called. */
  readonly questions: readonly unknown[]
  readonly tried: readonly (readonly unknown[])[]
}

async function validateInCluster(
  object: MyPod,
  { old, may = true, refuse }: { old?: MyPod; may?: boolean; refuse?: Error } = {},
): Promise<Calls> {
  const [warnings, questions, tried]: [string[], unknown[], unknown[][]] = [[], [], []]
  const context = {
    client: {
      create: async (...all: unknown[]) => {
        tried.push(all)
        if (refuse !== undefined) throw refuse
      },
    },
    requesterCan: async (attributes: unknown) => (questions.push(attributes), may),
    user: { username: 'jane' },
    warn: (text: string) => void warnings.push(text),
  } as unknown as AdmissionContext
  return { errors: await validateMyPodInCluster(object, old, context), warnings, questions, tried }
}

t.test('the requester must be allowed to create Pods, and the Pod is created as a dry run', async (t) => {
  const { errors, warnings, questions, tried } = await validateInCluster(aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'y' } }))
  t.strictSame([errors, warnings], [[], []])
  t.strictSame(questions, [{ verb: 'create', type: pod, namespace: 'ns' }])
  t.strictSame(tried, [
    [
      pod,
      {
        metadata: {
          generateName: 'mypod-check-',
          namespace: 'ns',
          labels: { app: 'x', creator: 'mypod-controller' },
          annotations: { note: 'y' },
        },
        spec: { containers },
      },
      { dryRun: true },
    ],
  ])
})

t.test('only a changed spec is checked', async (t) => {
  const object = aMyPod()
  const same = await validateInCluster(aMyPod({}, { labels: { a: 'b' } }), { old: structuredClone(object), may: false })
  t.strictSame(same, { errors: [], warnings: [], questions: [], tried: [] })
  const changed = await validateInCluster(aMyPod({ podLabels: { a: 'b' } }), { old: object })
  t.strictSame([changed.questions.length, changed.tried.length], [1, 1])
})

const of = (code: number, message: string, causes?: StatusCause[]): ApiError =>
  new ApiError(failure(code, 'Reason', message, causes === undefined ? undefined : { causes }))

t.test(
  'a requester who may not create Pods is refused, and sees nothing of the dry run, which has the permissions of the operator',
  async (t) => {
    const { errors, tried, warnings } = await validateInCluster(aMyPod(), { may: false, refuse: of(400, 'no such field') })
    t.strictSame(errors, [
      {
        path: 'spec.podSpec',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: user "jane" cannot create resource "pods" in API group "" in the namespace "ns", which a MyPod needs',
      },
    ])
    t.strictSame([tried, warnings], [[], []])
  },
)

t.test('errors of the dry run are mapped to the fields of the MyPod', async (t) => {
  const causes = [
    { field: 'spec.containers[0].name', message: 'bad name', reason: 'FieldValueDuplicate' },
    { field: 'spec', message: 'bad spec', reason: 'FieldValueRequired' },
    { field: 'specials', message: 'not ours' },
    { field: 'metadata.labels', message: 'bad label', reason: 'FieldValueInvalid' },
    { field: 'metadata.annotations[x]', message: 'bad note', reason: 'FieldValueTooLong' },
    { field: 'metadata.name', message: 'bad name', reason: 'FieldValueInvalid' },
    {},
  ]
  t.strictSame((await validateInCluster(aMyPod(), { refuse: of(422, 'invalid', causes) })).errors, [
    { path: 'spec.podSpec.containers[0].name', message: 'bad name', reason: 'FieldValueDuplicate' },
    { path: 'spec.podSpec', message: 'bad spec', reason: 'FieldValueRequired' },
    { path: 'specials', message: 'not ours', reason: 'FieldValueInvalid' },
    { path: 'spec.podLabels', message: 'bad label', reason: 'FieldValueInvalid' },
    { path: 'spec.podAnnotations[x]', message: 'bad note', reason: 'FieldValueTooLong' },
    { path: 'metadata.name', message: 'bad name', reason: 'FieldValueInvalid' },
    { path: '', message: '', reason: 'FieldValueInvalid' },
  ])
})

t.test('each error of the dry run is an error, a warning or ignored', async (t) => {
  const wrong = (text: string): object[] => [
    { path: 'spec.podSpec', reason: 'FieldValueInvalid', message: `Invalid value: "object": ${text}` },
  ]
  for (const [error, errors, warnings] of [
    [of(422, 'invalid'), wrong('invalid'), []],
    [of(422, 'invalid', []), wrong('invalid'), []],
    [of(400, 'unknown field'), wrong('unknown field'), []],
    [
      of(403, 'pods "mypod-check-x7b2k" is forbidden: exceeded quota "q"'),
      [],
      ['the Pod would be refused now: pods "a" is forbidden: exceeded quota "q"'],
    ],
    [of(404, 'namespaces "ns" not found'), [], []],
  ] as const) {
    const result = await validateInCluster(aMyPod(), { refuse: error })
    t.strictSame([result.errors, result.warnings], [errors, warnings], error.message)
  }
  for (const error of [of(500, 'oops'), of(409, 'conflict'), new Error('not from the API server')])
    await t.rejects(validateInCluster(aMyPod(), { refuse: error }), error)
  const nameless = await validateInCluster(aMyPod({}, { name: undefined as never }), {
    refuse: of(403, 'pods "mypod-check-" is forbidden'),
  })
  t.strictSame(nameless.warnings, ['the Pod would be refused now: pods "" is forbidden'])
})
