/** Tests of the errors and warnings that the webhooks and the API server return for MyPods. A12 is a row of the acceptance tests. */
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import type { ObjectInput } from '../../src/api/object.ts'
import { createClient } from '../../src/client/client.ts'
import { mypod, type MyPod } from '../../src/operators/mypod/kind.ts'
import { clientFor, untilGone } from '../support/devcluster/client.ts'
import { mypodNamed, namespace, startMyPodWorld } from '../support/mypod/world.ts'
import { until } from '../../src/testing/until.ts'
import { needsRequests } from '../support/conformance/backends.ts'

const mypodRules = { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: ['create', 'get', 'list', 'update', 'patch'] }

t.test('admission of MyPods', async (t) => {
  const { controlPlane, client, startOperator, running, refusals, podOf, mypodOf, untilPod } = await startMyPodWorld(t, [
    { name: 'only-mypods', rules: [mypodRules] },
    { name: 'both', rules: [mypodRules, { apiGroups: [''], resources: ['pods'], verbs: ['create'] }] },
  ])
  // The object is created before the webhooks are installed. Its label is invalid only for the webhooks, not for the schema.
  await client.create(mypod, mypodNamed('legacy', { podLabels: { creator: 'somebody' } }, { finalizers: ['example.com/hold'] }))
  const operator = await startOperator()

  const main = { name: 'main', image: 'x' }
  const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an"
  const invalid: Readonly<
    Record<string, { readonly by: string; readonly spec: object; readonly causes: readonly (readonly [string, string, string])[] }>
  > = {
    'A12: no containers': {
      by: 'mutate',
      spec: { podSpec: { containers: [] } },
      causes: [
        ['spec.podSpec.containers', 'FieldValueInvalid', 'Invalid value: 0: spec.podSpec.containers in body should have at least 1 items'],
      ],
    },
    'no spec of the Pod': {
      by: 'mutate',
      spec: { podLabels: { app: 'a' } },
      causes: [['spec.podSpec', 'FieldValueRequired', 'Required value']],
    },
    'a label of the operator': {
      by: 'mutate',
      spec: { podLabels: { creator: 'me' }, podSpec: { containers: [main] } },
      causes: [['spec.podLabels[creator]', 'FieldValueForbidden', 'Forbidden: the label is set by the operator']],
    },
    'two containers of one name': {
      by: 'mutate',
      spec: { podSpec: { containers: [main, main] } },
      causes: [['spec.podSpec.containers[1]', 'FieldValueDuplicate', 'Duplicate value: {"name":"main"}']],
    },
    'a number for a text, and an empty text': {
      by: 'mutate',
      spec: { podLabels: { app: 1 }, podSpec: { containers: [{ name: 'main', image: '' }] } },
      causes: [
        [
          'spec.podLabels.app',
          'FieldValueTypeInvalid',
          'Invalid value: "integer": spec.podLabels.app in body must be of type string: "integer"',
        ],
        [
          'spec.podSpec.containers[0].image',
          'FieldValueInvalid',
          'Invalid value: "": spec.podSpec.containers[0].image in body should be at least 1 chars long',
        ],
      ],
    },
    'what no Pod spec can be, in any of its fields': {
      by: 'mutate',
      spec: {
        podSpec: {
          restartPolicy: 'Sometimes',
          containers: [
            { ...main, env: [{ value: 'x' }], ports: [{ containerPort: '80' }], resources: { limits: { cpu: 0.5, memory: 'much' } } },
          ],
        },
      },
      causes: [
        ['spec.podSpec.containers[0].env[0].name', 'FieldValueRequired', 'Required value'],
        [
          'spec.podSpec.containers[0].ports[0].containerPort',
          'FieldValueTypeInvalid',
          'Invalid value: "string": spec.podSpec.containers[0].ports[0].containerPort in body must be of type integer: "string"',
        ],
        [
          'spec.podSpec.containers[0].resources.limits.memory',
          'FieldValueInvalid',
          `Invalid value: "much": spec.podSpec.containers[0].resources.limits.memory in body should match '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
        ],
        [
          'spec.podSpec.restartPolicy',
          'FieldValueNotSupported',
          'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        ],
      ],
    },
    'what the API server refuses for Pods': {
      by: 'validate',
      spec: { podSpec: { containers: [{ name: 'Main', image: 'x', ports: [{ containerPort: 70_000 }] }] } },
      causes: [
        [
          'spec.podSpec.containers[0].name',
          'FieldValueInvalid',
          `Invalid value: "Main": ${label} alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
        ],
        [
          'spec.podSpec.containers[0].ports[0].containerPort',
          'FieldValueInvalid',
          'Invalid value: 70000: must be between 1 and 65535, inclusive',
        ],
      ],
    },
  }
  for (const [what, { by, spec, causes }] of Object.entries(invalid))
    t.test(`${what}, refused with every error`, async (t) => {
      const refusal: unknown = await client
        .create(mypod, { metadata: { namespace, name: 'invalid' }, spec } as ObjectInput<MyPod>)
        .catch((error: unknown) => error)
      const lines = causes.map(([field, , message]) => `${field}: ${message}`)
      const problems = lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`
      t.strictSame((refusal as { status?: unknown }).status, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `admission webhook "${by}-mypod-v1.harryyann.github.io" denied the request: MyPod.harryyann.github.io "invalid" is invalid: ${problems}`,
        reason: 'Invalid',
        details: {
          name: 'invalid',
          group: 'harryyann.github.io',
          kind: 'MyPod',
          causes: causes.map(([field, reason, message]) => ({ reason, message, field })),
        },
        code: 422,
      })
      t.equal(await mypodOf('invalid'), undefined)
    })

  t.test('a requester needs the right to create Pods in order to create MyPods', async (t) => {
    const user = clientFor(t, controlPlane.connectionFor('only-mypods'))
    await t.rejects(user.create(mypod, mypodNamed('by-only-mypods')), {
      statusCode: 422,
      message: `MyPod.harryyann.github.io "by-only-mypods" is invalid: spec.podSpec: Forbidden: user "only-mypods" cannot create resource "pods" in API group "" in the namespace "${namespace}", which a MyPod needs`,
    })
    t.equal(await mypodOf('by-only-mypods'), undefined)
    const both = clientFor(t, controlPlane.connectionFor('both'))
    await both.create(mypod, mypodNamed('by-both'))
    await untilPod('by-both', 'is there')
    await t.rejects(user.delete(pod, { namespace, name: 'by-both' }), {
      statusCode: 403,
      message: `pods "by-both" is forbidden: User "only-mypods" cannot delete resource "pods" in API group "" in the namespace "${namespace}"`,
    })
  })

  t.test('a dry run is validated and creates nothing', async (t) => {
    t.match(await client.create(mypod, mypodNamed('dry'), { dryRun: true }), { metadata: { name: 'dry' } })
    await t.rejects(client.create(mypod, mypodNamed('dry', { podLabels: { creator: 'me' } }), { dryRun: true }), {
      message: /spec\.podLabels\[creator\]: Forbidden: the label is set by the operator/,
    })
    // The MyPod `after-dry` is created after the dry run. If the dry run had an effect, the effect would be visible by the time the Pod of
    // `after-dry` runs.
    await running('after-dry')
    t.equal(await mypodOf('dry'), undefined)
    const { items } = await client.list(pod, { namespace })
    t.strictSame(
      items.map(({ metadata }) => metadata.name).filter((name) => name === 'dry' || name.startsWith('mypod-check-')),
      [],
      'the dry run of the Pod creates nothing',
    )
  })

  t.test('a requester without the right to create Pods can change only fields that do not affect the Pod', async (t) => {
    const user = clientFor(t, controlPlane.connectionFor('only-mypods'))
    const key = { namespace, name: 'by-admin' }
    await running('by-admin')
    await t.rejects(user.patch(mypod, key, { spec: { podSpec: { hostNetwork: true } } }), {
      statusCode: 422,
      message: /cannot create resource "pods"/,
    })
    t.match(await user.patch(mypod, key, { metadata: { labels: { team: 'a' } } }), { metadata: { labels: { team: 'a' } } })
  })

  t.test('the finalizer of a terminating object can be removed even when the object is invalid', async (t) => {
    const key = { namespace, name: 'legacy' }
    await untilPod('legacy', 'is there')
    await t.rejects(client.patch(mypod, key, { spec: { podAnnotations: { a: 'b' } } }), {
      message: /spec\.podLabels\[creator\]: Forbidden/,
    })
    await client.delete(mypod, key)
    t.ok((await mypodOf('legacy'))?.metadata.deletionTimestamp, 'the finalizer keeps it')
    await client.delete(pod, key)
    await untilGone(client, pod, key)
    const before = await operator.reconciles()
    await client.patchStatus(mypod, key, { status: { podPhase: 'Touched' } })
    await until('it was reconciled', async () => (await operator.reconciles()) > before)
    t.equal(await podOf('legacy'), undefined, 'no Pod is created for a terminating object')
    await client.patch(mypod, key, { metadata: { finalizers: null } })
    await untilGone(client, mypod, key)
  })

  t.test('a name that is too long for a host name, or access to the node, causes a warning', async (t) => {
    const warnings: string[] = []
    const warned = createClient(controlPlane.connection, { onWarning: (text) => warnings.push(text) })
    t.teardown(() => warned.close())
    const podSpec = {
      hostNetwork: true,
      volumes: [{ name: 'node', hostPath: { path: '/' } }],
      containers: [{ name: 'main', image: 'x', securityContext: { privileged: true } }],
    }
    await warned.create(mypod, mypodNamed('n'.repeat(64), { podSpec }))
    t.strictSame(warnings, [
      "metadata.name: longer than 63 characters; the Pod's host name will be cut",
      "spec.podSpec.hostNetwork: shares the node's namespace with the Pod",
      "spec.podSpec.volumes[0].hostPath: gives the Pod access to the node's files",
      'spec.podSpec.containers[0].securityContext.privileged: has full access to the node',
    ])
    await untilPod('n'.repeat(64), 'is there')
  })

  t.test('an unknown field of the Pod causes a warning', async (t) => {
    const warnings: string[] = []
    const warned = createClient(controlPlane.connection, { onWarning: (text) => warnings.push(text) })
    t.teardown(() => warned.close())
    const podSpec = { restartpolicy: 'Never', containers: [{ name: 'main', image: 'x', envs: [] }] }
    await warned.create(mypod, mypodNamed('misspelled', { podSpec }))
    t.strictSame(warnings, ['unknown field "spec.podSpec.containers[0].envs"', 'unknown field "spec.podSpec.restartpolicy"'])
    await untilPod('misspelled', 'is there')
  })

  t.test('no request of the operator was forbidden', needsRequests, async (t) => {
    t.strictSame(await refusals(), [])
  })
})
