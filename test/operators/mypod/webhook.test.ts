import t from 'tap'
import type { AdmissionContext } from '../../../src/webhook/definition.ts'
import type { FieldError } from '../../../src/api/field-error.ts'
import { pod } from '../../../src/api/builtin.ts'
import type { StatusCause } from '../../../src/api/status.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { validateMyPod, validateMyPodInCluster } from '../../../src/operators/mypod/webhook.ts'
import { aMyPod } from '../../support/mypod.ts'

function said(object: MyPod): { errors: readonly FieldError[]; warnings: string[] } {
  const warnings: string[] = []
  return { errors: validateMyPod(object, undefined, { warn: (text) => void warnings.push(text) }), warnings }
}

t.test('labels and annotations are those that a Pod may have, without that of the operator', (t) => {
  t.strictSame(said(aMyPod()), { errors: [], warnings: [] })
  t.strictSame(said(aMyPod({ podLabels: { app: 'a', creators: 'b' }, podAnnotations: { creator: 'c' } })), { errors: [], warnings: [] })
  const { errors, warnings } = said(aMyPod({ podLabels: { 'a b': 'c', creator: 'd' }, podAnnotations: { 'e f': 'g' } }))
  t.strictSame(warnings, [])
  t.strictSame(
    errors.map(({ path, reason }) => `${path} ${reason}`),
    ['spec.podLabels FieldValueInvalid', 'spec.podLabels[creator] FieldValueForbidden', 'spec.podAnnotations FieldValueInvalid'],
  )
  t.match(errors[1]!.message, 'the label is set by the operator')
  t.end()
})

t.test('what reaches beyond the Pod, or will be cut, is warned of', (t) => {
  const container = { name: 'main', image: 'x' }
  const privileged = { ...container, securityContext: { privileged: true } }
  const containers = [container, privileged, { ...container, securityContext: { privileged: false } }]
  const podSpec = {
    hostIPC: true,
    hostNetwork: true,
    hostPID: true,
    volumes: [{ name: 'a', emptyDir: {} }, { name: 'b', hostPath: { path: '/' } }], // prettier-ignore
    containers,
    initContainers: [privileged],
  }
  t.strictSame(said(aMyPod({ podSpec }, { name: 'n'.repeat(64) })), {
    errors: [],
    warnings: [
      "metadata.name: longer than 63 characters; the Pod's host name will be cut",
      "spec.podSpec.hostNetwork: shares the node's namespace with the Pod",
      "spec.podSpec.hostPID: shares the node's namespace with the Pod",
      "spec.podSpec.hostIPC: shares the node's namespace with the Pod",
      "spec.podSpec.volumes[1].hostPath: gives the Pod access to the node's files",
      'spec.podSpec.containers[1].securityContext.privileged: has full access to the node',
      'spec.podSpec.initContainers[0].securityContext.privileged: has full access to the node',
    ],
  })
  const modest = { hostIPC: false, hostNetwork: false, hostPID: false, containers: [container] }
  t.strictSame(said(aMyPod({ podSpec: modest }, { name: 'n'.repeat(63) })).warnings, [])
  const { name: _, ...nameless } = aMyPod().metadata
  t.strictSame(said({ ...aMyPod(), metadata: nameless as MyPod['metadata'] }).warnings, [], 'the name may be generated later')
  t.end()
})

/** What the cluster has to say, and what it was asked. */
async function judged(object: MyPod, old?: MyPod, { may = true, refusal }: { may?: boolean; refusal?: Error } = {}) {
  const warnings: string[] = []
  const asked: unknown[] = []
  const context = {
    user: { username: 'somebody' },
    warn: (text: string) => void warnings.push(text),
    requesterCan: async (attributes: object) => {
      asked.push(attributes)
      return may
    },
    client: {
      create: async (...args: unknown[]) => {
        asked.push(args)
        if (refusal !== undefined) throw refusal
      },
    },
  } as unknown as AdmissionContext
  return { errors: await validateMyPodInCluster(object, old, context), warnings, asked }
}

const refused = (code: number, message = 'no', causes?: StatusCause[]): ApiError =>
  new ApiError({ ...failure(code, 'Reason', message), ...(causes && { details: { causes } }) })

t.test('the requester must be allowed to create Pods, and the API server is asked about this one', async (t) => {
  const object = aMyPod({ podLabels: { a: 'b' }, podAnnotations: { c: 'd' } })
  const { errors, asked, warnings } = await judged(object)
  t.strictSame([errors, warnings], [[], []]) // prettier-ignore
  const metadata = {
    generateName: 'mypod-check-',
    namespace: 'ns',
    labels: { a: 'b', creator: 'mypod-controller' },
    annotations: { c: 'd' },
  }
  t.strictSame(asked, [{ verb: 'create', type: pod, namespace: 'ns' }, [pod, { metadata, spec: object.spec.podSpec }, { dryRun: true }]])
  t.strictSame((await judged(object, undefined, { may: false })).errors, [
    {
      path: 'spec.podSpec',
      reason: 'FieldValueForbidden',
      message: 'Forbidden: user "somebody" cannot create resource "pods" in API group "" in the namespace "ns", which a MyPod needs',
    },
  ])
})

t.test('nothing is asked about a spec that stays', async (t) => {
  const object = aMyPod()
  t.strictSame(await judged({ ...object, metadata: { ...object.metadata, labels: { a: 'b' } } }, aMyPod(), { may: false }), {
    errors: [],
    warnings: [],
    asked: [],
  })
  t.equal((await judged(aMyPod({ podLabels: { a: 'b' } }), aMyPod())).asked.length, 2)
})

t.test('what the API server says of the Pod is told of the field that it comes from', async (t) => {
  const cause = (field: string): StatusCause => ({ field, message: 'wrong', reason: 'FieldValueRequired' })
  const causes = [
    cause('spec.containers[0].name'),
    cause('spec'),
    cause('specs'),
    cause('metadata.labels[a]'),
    cause('metadata.annotations'),
    { message: 'm' },
    { field: 'spec.x' },
  ]
  const { errors } = await judged(aMyPod(), undefined, { refusal: refused(422, 'invalid', causes) })
  t.strictSame(
    errors.map(({ path, message, reason }) => [path, message, reason]),
    [
      ['spec.podSpec.containers[0].name', 'wrong', 'FieldValueRequired'],
      ['spec.podSpec', 'wrong', 'FieldValueRequired'],
      ['specs', 'wrong', 'FieldValueRequired'],
      ['spec.podLabels[a]', 'wrong', 'FieldValueRequired'],
      ['spec.podAnnotations', 'wrong', 'FieldValueRequired'],
      ['', 'm', 'FieldValueInvalid'],
      ['spec.podSpec.x', '', 'FieldValueInvalid'],
    ],
  )
  const one = await judged(aMyPod(), undefined, { refusal: refused(422, 'invalid', [cause('spec.nodeName')]) })
  t.strictSame(
    one.errors.map(({ path }) => path),
    ['spec.podSpec.nodeName'],
  )
  for (const code of [422, 400])
    t.strictSame((await judged(aMyPod(), undefined, { refusal: refused(code, 'cannot be read') })).errors, [
      { path: 'spec.podSpec', reason: 'FieldValueInvalid', message: 'Invalid value: "object": cannot be read' },
    ])
  const both = await judged(aMyPod(), undefined, { may: false, refusal: refused(400) })
  t.strictSame(
    both.errors.map(({ reason }) => reason),
    ['FieldValueForbidden', 'FieldValueInvalid'],
  )
})

t.test('what may change, or is told by others, is no error of the object; what nobody knows is one of the review', async (t) => {
  const quota = await judged(aMyPod(), undefined, { refusal: refused(403, 'pods "mypod-check-x7" is forbidden: quota of "mine"') })
  t.strictSame([quota.errors, quota.warnings], [[], ['the Pod would be refused now: pods "a" is forbidden: quota of "mine"']]) // prettier-ignore
  const { name: _, ...nameless } = aMyPod().metadata
  const generated = await judged({ ...aMyPod(), metadata: nameless as MyPod['metadata'] }, undefined, {
    refusal: refused(403, 'pods "mypod-check-x7" is forbidden'),
  })
  t.strictSame(generated.warnings, ['the Pod would be refused now: pods "" is forbidden'])
  const missing = await judged(aMyPod(), undefined, { refusal: refused(404) })
  t.strictSame([missing.errors, missing.warnings], [[], []]) // prettier-ignore
  await t.rejects(judged(aMyPod(), undefined, { refusal: refused(500, 'broken') }), { message: 'broken' })
  await t.rejects(judged(aMyPod(), undefined, { refusal: new Error('away') }), { message: 'away' })
})
