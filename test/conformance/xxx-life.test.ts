/**
 * Tests of the life cycle of an Xxx. The acceptance tests do not cover these cases. No node accepts the Pods, so no kubelet runs them. The
 * tests set the phase of each Pod to `Succeeded` or `Failed` instead.
 */
import t from 'tap'
import { findCondition } from '../../src/api/conditions.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { createClient } from '../../src/client/client.ts'
import { xxxOperatorWith } from '../../src/operators/xxx/index.ts'
import { xxx } from '../../src/operators/xxx/kind.ts'
import { defaultOptions } from '../../src/operators/xxx/options.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { cleanUpName, commandOf, isOther, sampleSpec } from '../support/xxx/objects.ts'
import { xxxWorld } from '../support/xxx/world.ts'

// The test takes long on a busy machine.
t.setTimeout(300_000)

const builders = { 'test.inspur.com/builder': 'yes' }
const xxxOperator = xxxOperatorWith({ ...defaultOptions, nodeSelector: builders })
const user = { name: 'xxx-operator', rules: rulesOfOperators([xxxOperator]) }
const author = { name: 'xxx-author', rules: [{ apiGroups: ['test.inspur.com'], resources: ['xxxes'], verbs: ['create', 'patch'] }] }
const controlPlane = await conformanceControlPlane(t, { users: [user, author] })
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'xxx-life')
const start = () => controlPlane.startOperator([xxxOperator], { connection: controlPlane.connectionFor(user.name) })
let operator = await start()
const world = xxxWorld(client)
const { create, findJob, untilJob, untilCondition, untilGone, untilPod, end, untilBuilt, untilCleanedUp } = world

const newKey = async (): Promise<NamespacedKey> => ({ namespace: await newNamespace(), name: 'xxx-sample' })

t.test('after a build with another binaryName, the file before is removed', async (t) => {
  const key = await newKey()
  await create(key)
  const before = await untilBuilt(key)
  await client.patch(xxx, key, { spec: { binaryName: 'helloworld2' } })
  await end(await untilJob(key, undefined, isOther(before)), 'Succeeded')
  const cleanUp = await untilCleanedUp(key)
  t.strictSame(commandOf(cleanUp), ['rm', '-f', '--', '/opt/helloworld'])
  const { status } = await world.untilXxx(key, 'one file is left', ({ status }) => status?.binaryNames?.length === 1)
  t.match(status, { phase: 'Succeeded', builtBinaryName: 'helloworld2', binaryNames: ['helloworld2'] })
})

t.test('another jobName is another Job, and the Job before is deleted', async (t) => {
  const key = await newKey()
  await create(key)
  await untilBuilt(key)
  await client.patch(xxx, key, { spec: { jobName: 'renamed' } })
  await untilJob(key, 'renamed')
  t.equal(await findJob(key), undefined)
  const { status } = await world.untilXxx(key, 'the status names the Job', ({ status }) => status?.jobName === 'renamed')
  t.equal(status?.phase, 'Building')
})

t.test('a clean-up that fails is tried again when its Job is removed, until the force annotation releases the Xxx', async (t) => {
  const key = await newKey()
  await create(key)
  await untilBuilt(key)
  await client.delete(xxx, key)
  const first = await untilJob(key, cleanUpName)
  await client.patch(batch.job, first.metadata, { spec: { activeDeadlineSeconds: 1 } })
  const { status } = await untilCondition(key, 'CleanupFailed', 'DeadlineExceeded')
  t.match(status, { phase: 'Deleting', binaryNames: ['helloworld'] })
  await world.untilEvents(key, 'CleanupStarted', 'CleanupFailed')
  await client.patch(batch.job, first.metadata, { spec: { ttlSecondsAfterFinished: 0 } })
  await untilJob(key, cleanUpName, isOther(first))
  t.equal(findCondition((await client.get(xxx, key)).status?.conditions, 'CleanupFailed')?.status, 'True')
  await client.patch(xxx, key, { metadata: { annotations: { 'test.inspur.com/force-delete': 'true' } } })
  await untilGone(key)
  await world.untilEvents(key, 'CleanupSkipped')
})

t.test('an Xxx whose build never started goes without a clean-up', async (t) => {
  const key = await newKey()
  await create(key)
  await untilPod(await untilJob(key))
  await client.delete(xxx, key)
  await untilGone(key)
  t.equal(await findJob(key, cleanUpName), undefined)
})

t.test('an Xxx is for users who may create Jobs', async (t) => {
  const key = await newKey()
  const as = createClient(controlPlane.connectionFor(author.name))
  t.teardown(() => as.close())
  await until('the user may create Xxxes', () =>
    as.create(xxx, { metadata: key, spec: sampleSpec }).catch((error: Error) => /cannot create resource "jobs"/.test(error.message)),
  )
  t.equal((await client.list(xxx, { namespace: key.namespace })).items.length, 0)
  const { metadata } = await create(key)
  const change = { spec: { buildCommand: 'touch /opt/mine' } }
  await t.rejects(as.patch(xxx, metadata, change), { message: /cannot create resource "jobs"/ }, 'also for other commands')
  await t.resolves(as.patch(xxx, metadata, { metadata: { labels: { seen: 'yes' } } }), 'a label runs nothing')
})

t.test('a Job that is deleted is created again', async () => {
  const key = await newKey()
  await create(key)
  const before = await untilBuilt(key)
  await client.delete(batch.job, before.metadata, { propagationPolicy: 'Background' })
  await untilJob(key, undefined, isOther(before))
})

t.test('at rest nothing is written, also by an operator that is started again', needsRequests, async (t) => {
  const key = await newKey()
  await create(key)
  await untilBuilt(key)
  const { metadata } = await client.get(xxx, key)
  await operator.stop()
  const since = Date.now()
  operator = await start()
  const later = { ...key, name: 'later' }
  await create(later, { jobName: 'later' })
  await untilJob(later, 'later')
  t.equal((await client.get(xxx, key)).metadata.resourceVersion, metadata.resourceVersion)
  const requests = (await controlPlane.requests()).filter(({ at, user: by }) => at >= since && by === user.name)
  const writes = requests.filter(({ verb, path }) => !['get', 'list', 'watch'].includes(verb) && path.includes(`/${key.namespace}/`))
  t.notOk(writes.some(({ path }) => path.includes(key.name) || path.includes(sampleSpec.jobName)))
})
