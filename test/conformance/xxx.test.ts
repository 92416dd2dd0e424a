/**
 * The acceptance tests of the Xxx operator. Each test is a row of the specification, F1 to F12. Except in F2, no node has the label that
 * the Pods require, so the Pods do not run. The tests set the phases of these Pods instead.
 */
import t from 'tap'
import { node as nodeType, pod as podType } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { isControlledBy } from '../../src/api/owner-reference.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { xxxOperatorWith } from '../../src/operators/xxx/index.ts'
import { xxx } from '../../src/operators/xxx/kind.ts'
import { defaultOptions } from '../../src/operators/xxx/options.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { cleanUpName, commandOf, isOther, sampleSpec, unsafeValues } from '../support/xxx/objects.ts'
import { finalizer, xxxWorld } from '../support/xxx/world.ts'

// The test takes long on a busy machine.
t.setTimeout(300_000)

const builders = { 'test.inspur.com/builder': 'yes' }
const xxxOperator = xxxOperatorWith({ ...defaultOptions, nodeSelector: builders })
const user = { name: 'xxx-operator', rules: rulesOfOperators([xxxOperator]) }
const controlPlane = await conformanceControlPlane(t, { users: [user] })
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'xxx')
const start = () => controlPlane.startOperator([xxxOperator], { connection: controlPlane.connectionFor(user.name) })
let operator = await start()
const world = xxxWorld(client)
const { create, apply, findJob, untilJob, untilPhase, untilCondition, untilGone, podsOf, untilPod, end, untilBuilt, untilCleanedUp } = world

const newKey = async (): Promise<NamespacedKey> => ({ namespace: await newNamespace(), name: 'xxx-sample' })

t.test('F1: an Xxx has a finalizer and a Job that clones, builds and copies', async (t) => {
  const key = await newKey()
  await apply(key)
  const created = await client.get(xxx, key)
  t.strictSame(created.metadata.finalizers, [finalizer])
  const job = await untilJob(key)
  t.ok(isControlledBy(job, created))
  t.match(job.spec?.template.spec, {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    nodeSelector: builders,
    containers: [{ name: 'golang', image: 'golang:1.13', volumeMounts: [{ mountPath: '/opt' }, { mountPath: '/root' }] }],
  })
  t.notOk(job.spec?.template.spec?.hostNetwork)
  t.match(commandOf(job)[2], /git clone .*; cd .*; bash -c .*; cp .* \/opt\/$/)
  t.strictSame(commandOf(job).slice(4), [sampleSpec.gitUrl, sampleSpec.clonePath, 'go build', 'helloworld'])
  await world.untilEvents(key, 'JobCreated')
})

t.test('F1: kubectl shows the Job, and prints what was applied', needsKubectl, async (t) => {
  const { namespace } = await newKey()
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  t.equal(await kubectl.ok(`apply -n ${namespace} -f config/samples/xxx.yaml`), 'xxx.test.inspur.com/xxx-sample created\n')
  await untilJob({ namespace, name: 'xxx-sample' })
  t.match(await kubectl.ok(`get job -n ${namespace} -owide`), /build-helloworld .* golang +golang:1\.13 /)
  await kubectl.until(`get xxxes -n ${namespace}`, (stdout) => /xxx-sample +Building +build-helloworld +helloworld /.test(stdout))
})

t.test('F2: an Xxx has succeeded when its Job has, and its node is known', async (t) => {
  const key = await newKey()
  await create(key)
  await untilPod(await untilJob(key))
  const { items } = await client.list(nodeType)
  const { name } = items[0]!.metadata
  await client.patch(nodeType, { name }, { metadata: { labels: builders } })
  t.teardown(() => client.patch(nodeType, { name }, { metadata: { labels: { 'test.inspur.com/builder': null } } }))
  const { status } = await untilPhase(key, 'Succeeded')
  t.match(status, { jobName: 'build-helloworld', builtBinaryName: 'helloworld', binaryNames: ['helloworld'], node: name })
  t.match(findCondition(status?.conditions, 'Ready'), { status: 'True', reason: 'BuildSucceeded' })
  await world.untilEvents(key, 'BuildSucceeded')
})

t.test('F3, F4: another binaryName is another Job, and the same manifest is not', async (t) => {
  const key = await newKey()
  await apply(key)
  const before = await untilBuilt(key)
  const [oldPod] = await podsOf(before)
  await apply(key, { binaryName: 'helloworld2' })
  const after = await untilJob(key, undefined, isOther(before))
  t.equal(commandOf(after).at(-1), 'helloworld2')
  t.notOk((await client.list(podType, { namespace: key.namespace })).items.some(({ metadata }) => metadata.uid === oldPod!.metadata.uid))
  await end(after, 'Failed')
  const { status, metadata } = await untilPhase(key, 'Failed')
  t.match(findCondition(status?.conditions, 'Ready'), { status: 'False', reason: 'BuildFailed' })
  t.match(status, { builtBinaryName: 'helloworld', binaryNames: ['helloworld', 'helloworld2'] })
  await world.untilEvents(key, 'JobReplaced', 'BuildFailed')
  await apply(key, { binaryName: 'helloworld2' })
  const later = { ...key, name: 'later' }
  await create(later, { jobName: 'later' })
  await untilJob(later, 'later')
  t.equal((await findJob(key))?.metadata.uid, after.metadata.uid)
  t.equal((await client.get(xxx, key)).metadata.resourceVersion, metadata.resourceVersion)
})

t.test('F5, F6: an Xxx stays until its file is removed, in each of its lives', async (t) => {
  const key = await newKey()
  let before: batch.Job | undefined
  for (const life of [1, 2]) {
    await create(key)
    const build = await untilBuilt(key)
    await client.delete(xxx, key)
    const cleanUp = await untilJob(key, cleanUpName, (job) => job.metadata.uid !== before?.metadata.uid)
    t.strictSame(commandOf(cleanUp), ['rm', '-f', '--', '/opt/helloworld'], `life ${life}`)
    t.match(cleanUp.spec, { ttlSecondsAfterFinished: 300, backoffLimit: 3, activeDeadlineSeconds: 300 })
    t.strictSame(await podsOf(build), [])
    t.match((await client.get(xxx, key)).status, { phase: 'Deleting' })
    await end(cleanUp, 'Succeeded')
    await untilGone(key)
    t.ok(findCondition((await findJob(key, cleanUpName))?.status?.conditions, 'Complete'), 'its result can still be seen')
    before = cleanUp
  }
})

t.test('F5: the clean-up Job is removed after its time to live', async () => {
  const key = await newKey()
  await create(key)
  await untilBuilt(key)
  await client.delete(xxx, key)
  const { metadata } = await untilJob(key, cleanUpName)
  await client.patch(batch.job, metadata, { spec: { ttlSecondsAfterFinished: 1 } })
  await untilCleanedUp(key)
  await untilGone(key)
  await until('the Job is removed', async () => (await findJob(key, cleanUpName)) === undefined)
})

t.test('F7: values that are unsafe are refused, also in an update', async (t) => {
  const key = await newKey()
  await create(key)
  for (const [field, value] of unsafeValues) {
    const refusal = { statusCode: 422, message: new RegExp(`spec\\.${field}: `) }
    await t.rejects(create({ ...key, name: 'refused' }, { [field]: value, ...(field !== 'jobName' && { jobName: 'other' }) }), refusal)
    await t.rejects(client.patch(xxx, key, { spec: { [field]: value } }), refusal, `${field}: ${value}`)
  }
  await client.patch(xxx, key, { spec: { binaryName: ' trimmed ' } })
  t.equal((await client.get(xxx, key)).spec.binaryName, 'trimmed')
})

t.test('F7: two Xxxes of a namespace cannot have one Job', async (t) => {
  const key = await newKey()
  await create(key)
  const other = { ...key, name: 'other' }
  const isCached = (): Promise<unknown> =>
    until('the webhook knows the first one', () =>
      create(other).then(
        () => client.delete(xxx, other),
        (error: Error) => /has the Jobs/.test(error.message),
      ),
    )
  await isCached()
  for (const jobName of [sampleSpec.jobName, cleanUpName])
    await t.rejects(create(other, { jobName }), {
      statusCode: 422,
      message: /spec\.jobName: Invalid value: .* the Xxx "xxx-sample" has the Jobs/,
    })
  await t.resolves(create({ namespace: await newNamespace(), name: 'other' }))
})

t.test('F8: the build command is a parameter of the script, and no folder of the node is mounted', async (t) => {
  const key = await newKey()
  await create(key, { buildCommand: 'go build; touch /opt/$(whoami) $$' })
  const job = await untilJob(key)
  t.equal(commandOf(job)[6], 'go build; touch /opt/$$(whoami) $$$$')
  t.strictSame(
    job.spec?.template.spec?.volumes?.map(({ emptyDir }) => emptyDir),
    [{}, {}],
  )
})

t.test('F9: the clean-up starts when the Pod of the build is gone', async (t) => {
  const key = await newKey()
  await create(key)
  const job = await untilJob(key)
  const { metadata } = await untilPod(job)
  await client.patchStatus(podType, metadata, { status: { phase: 'Running' } })
  await world.untilXxx(key, 'the file is known', ({ status }) => status?.binaryNames?.length === 1)
  const { finalizers = [] } = await client.get(podType, metadata).then(({ metadata }) => metadata)
  await client.patch(podType, metadata, { metadata: { finalizers: [...finalizers, 'example.com/hold'] } })
  await client.delete(xxx, key)
  await until('the Pod is being deleted', async () => (await client.get(podType, metadata)).metadata.deletionTimestamp !== undefined)
  await untilCondition(key, 'Ready', 'StoppingBuild')
  t.equal(await findJob(key, cleanUpName), undefined)
  await client.patch(podType, metadata, { metadata: { finalizers: null } })
  await untilCleanedUp(key)
  await untilGone(key)
})

t.test('F10: the Job of another object is left alone, and the build begins when it is gone', async (t) => {
  const key = await newKey()
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/app:1' }] } }
  const foreign = { namespace: key.namespace, name: sampleSpec.jobName }
  const { metadata } = await client.create(batch.job, { metadata: foreign, spec: { suspend: true, template } })
  await create(key)
  await untilCondition(key, 'Ready', 'NameConflict')
  await world.untilEvents(key, 'NameConflict')
  t.equal((await findJob(key))?.metadata.uid, metadata.uid)
  await client.delete(batch.job, foreign, { propagationPolicy: 'Background' })
  await untilJob(key, undefined, ({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'Xxx')
})

t.test('F12: a missing field is refused', async (t) => {
  const key = await newKey()
  for (const field of Object.keys(sampleSpec)) {
    const spec = { ...sampleSpec, [field]: undefined }
    await t.rejects(client.create(xxx, { metadata: key, spec }), {
      statusCode: 422,
      message: new RegExp(`spec\\.${field}: Required value`),
    })
  }
})

t.test('F11: a leader is cut off between the deletion of a Job and the creation of the next', async (t) => {
  const key = await newKey()
  await create(key)
  const before = await untilBuilt(key)
  await operator.stop()
  const { name, kinds, webhooks, controllers } = xxxOperator
  // A separate operator serves the webhooks, and the replicas run only the controllers. In a cluster, every replica can serve the webhooks,
  // because all replicas use the same certificates. In this test, each operator has its own certificates, but the webhook configurations
  // can contain the CA of only one operator.
  const webhooksOnly = await controlPlane.startOperator([defineOperator({ name, kinds, webhooks })])
  const controllersOnly = defineOperator({ name, kinds, controllers })
  const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 }
  const leaderElection = { namespace: key.namespace, name: 'leader', ...times }
  const startReplica = async () => {
    const proxy = await controlPlane.faultProxy()
    const started = await controlPlane.startOperator([controllersOnly], { connection: proxy.connection, leaderElection })
    return { proxy, started }
  }
  const leader = await startReplica()
  const others = [await startReplica(), await startReplica()]
  await client.patch(batch.job, before.metadata, { metadata: { finalizers: ['example.com/hold'] } })
  await client.patch(xxx, key, { spec: { buildCommand: 'make' } })
  await untilJob(key, undefined, ({ metadata }) => metadata.deletionTimestamp !== undefined)
  leader.proxy.cut({ alsoNew: true })
  await until('the Job is released', async () => {
    const { resourceVersion, finalizers = [] } = (await client.get(batch.job, before.metadata)).metadata
    const others = finalizers.filter((name) => name !== 'example.com/hold')
    return client.patch(batch.job, before.metadata, { metadata: { resourceVersion, finalizers: others } })
  })
  const after = await untilJob(key, undefined, isOther(before))
  leader.proxy.heal()
  await end(after, 'Succeeded')
  await untilPhase(key, 'Succeeded')
  const jobs = (await client.list(batch.job, { namespace: key.namespace })).items
  t.strictSame(
    jobs.map(({ metadata }) => metadata.uid),
    [after.metadata.uid],
  )
  await Promise.all([webhooksOnly, leader.started, ...others.map(({ started }) => started)].map((one) => one.stop()))
  operator = await start()
})
