/** Tests of the rules for an Xxx that depend on the cluster: the requester, the output, and other Xxxes. */
import t from 'tap'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import { defaultOptions, type Output } from '../../../src/operators/xxx/options.ts'
import { validatorOf } from '../../../src/operators/xxx/webhook.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import type { AdmissionContext } from '../../../src/webhook/definition/context.ts'
import { anXxx, cleanUpName, sampleSpec } from '../../support/xxx/objects.ts'
import { statusWith } from '../../support/xxx/steps.ts'

const claim: Output = { kind: 'claim', name: 'programs' }
const hostPath: Output = { kind: 'hostPath', path: '/opt', namespaces: ['default', 'tools'] }

function named(
  name: string,
  spec: Partial<Xxx['spec']>,
  { namespace = 'default', status }: Partial<Xxx & { namespace: string }> = {},
): Xxx {
  const object = anXxx(spec)
  return { ...object, metadata: { ...object.metadata, namespace, name, uid: `${namespace}-${name}` }, ...(status && { status }) }
}

interface Cluster {
  readonly output?: Output
  readonly others?: readonly Xxx[]
  readonly old?: Xxx
  readonly may?: boolean
}

async function validate(object: Xxx, { output = { kind: 'emptyDir' }, others = [], old, may = true }: Cluster = {}) {
  const questions: unknown[] = []
  const context = {
    cache: reconcileContext({ client: {} as Client, cached: structuredClone([...others]) }).cache,
    requesterCan: async (attributes: unknown) => (questions.push(attributes), may),
    user: { username: 'jane' },
  } as unknown as AdmissionContext
  const errors = await validatorOf({ ...defaultOptions, output })(object, old, context)
  return { errors: errors.map(({ path, message }) => `${path}: ${message}`), questions }
}

t.test('the requester must be allowed to create Jobs in the namespace', async (t) => {
  const { errors, questions } = await validate(anXxx(), { may: false })
  t.strictSame(errors, [
    'spec.jobName: Forbidden: user "jane" cannot create resource "jobs" in API group "batch" in the namespace "default", which an Xxx needs',
  ])
  t.strictSame(questions, [{ verb: 'create', type: batch.job, namespace: 'default' }])
})

t.test('only a changed spec is validated, so that metadata can be changed although the rules have become stricter', async (t) => {
  const old = anXxx()
  const output: Output = { ...hostPath, namespaces: ['tools'] }
  const others = [named('other', {})]
  const labelled = { ...old, metadata: { ...old.metadata, labels: { seen: 'yes' } } }
  t.strictSame(await validate(labelled, { old, output, others, may: false }), { errors: [], questions: [] })
  for (const field of Object.keys(sampleSpec)) {
    const { errors } = await validate(anXxx({ [field]: 'changed' }), { old, may: false })
    t.match(errors, [/cannot create resource "jobs"/], field)
  }
})

t.test('a folder of the node is for Xxxes of the namespaces that the operator allows', async (t) => {
  const { errors, questions } = await validate(named('a', {}, { namespace: 'others' }), { output: hostPath })
  t.match(errors, [/^metadata\.namespace: Forbidden: Xxxes of the namespace "others" may not write to the node/])
  t.strictSame(questions, [])
  t.strictSame((await validate(named('a', {}, { namespace: 'tools' }), { output: hostPath })).errors, [])
})

t.test('neither of the two Jobs of an Xxx may be one of another Xxx in the namespace', async (t) => {
  const others = [named('other', { jobName: 'build' })]
  const refusal = (jobName: string): string[] => [
    `spec.jobName: Invalid value: "${jobName}": the Xxx "other" has the Jobs build and build-delete`,
  ]
  for (const jobName of ['build', 'build-delete']) t.strictSame((await validate(anXxx({ jobName }), { others })).errors, refusal(jobName))
  const longer = [named('other', { jobName: cleanUpName })]
  t.match((await validate(anXxx(), { others: longer })).errors, [/the Xxx "other" has the Jobs build-helloworld-delete and/])
  for (const jobName of ['build-delete-delete', 'build-2', 'delete'])
    t.strictSame((await validate(anXxx({ jobName }), { others })).errors, [], jobName)
  t.strictSame((await validate(named('other', { jobName: 'build' }, { namespace: 'tools' }), { others })).errors, [], 'another namespace')
  const changed = named('other', { jobName: 'build', buildCommand: 'make' })
  t.strictSame((await validate(changed, { others, old: others[0]! })).errors, [], 'its own Job')
})

t.test('a file belongs to one Xxx of those that write to the same folder', async (t) => {
  const object = anXxx({ jobName: 'mine' })
  const [near, far] = ['default', 'tools'].map((namespace) => named('other', {}, { namespace }))
  const refusal = (namespace: string): string[] => [
    `spec.binaryName: Invalid value: "helloworld": the Xxx "other" in the namespace "${namespace}" writes this file`,
  ]
  t.strictSame((await validate(object, { output: claim, others: [near!] })).errors, refusal('default'))
  t.strictSame((await validate(object, { output: claim, others: [far!] })).errors, [], 'a claim is in one namespace')
  t.strictSame((await validate(object, { output: hostPath, others: [near!] })).errors, refusal('default'))
  t.strictSame((await validate(object, { output: hostPath, others: [far!] })).errors, refusal('tools'))
  t.strictSame((await validate(object, { others: [near!, far!] })).errors, [], 'an emptyDir is in one Pod')
  const twin = named('xxx-sample', {}, { namespace: 'tools' })
  t.match((await validate(object, { output: hostPath, others: [twin] })).errors, [/in the namespace "tools" writes this file/], 'of equal names') // prettier-ignore
})

t.test('a file that another Xxx has built before, and that no clean-up has removed, still belongs to that Xxx', async (t) => {
  const status = statusWith(['helloworld', 'renamed'])
  const others = [named('other', { binaryName: 'renamed', jobName: 'other' }, { status })]
  for (const output of [claim, hostPath])
    t.match((await validate(anXxx(), { output, others })).errors, [/^spec\.binaryName: .*the Xxx "other" .*writes this file$/], output.kind)
  const removed = [{ ...others[0]!, status: statusWith(['renamed']) }]
  t.strictSame((await validate(anXxx(), { output: claim, others: removed })).errors, [])
  const own = { ...anXxx({ binaryName: 'new' }), status: statusWith(['helloworld', 'new']) }
  t.strictSame((await validate(anXxx(), { output: claim, others: [own], old: own })).errors, [], 'its own earlier file')
})

t.test('all problems with the spec are reported at once', async (t) => {
  const { errors } = await validate(anXxx(), { output: claim, others: [named('other', {})], may: false })
  t.match(errors, [/^spec\.jobName: Forbidden/, /^spec\.jobName: Invalid value/, /^spec\.binaryName: Invalid value/])
})
