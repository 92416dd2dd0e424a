/**
 * Tests of the Xxx operator: the outputs `hostPath` and `claim`, the clean-up Jobs, and builds that must wait for a Pod of an earlier
 * build.
 */
import t, { type Test } from 'tap'
import { pod as podType } from '../../../src/api/builtin.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import { xxxOperatorWith } from '../../../src/operators/xxx/index.ts'
import { xxx } from '../../../src/operators/xxx/kind.ts'
import type { XxxOptions } from '../../../src/operators/xxx/options.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { startControlPlane } from '../../../src/testing/control-plane.ts'
import { until } from '../../../src/testing/until.ts'
import { find } from '../../support/devcluster/client.ts'
import { cleanUpName, isOther } from '../../support/xxx/objects.ts'
import { xxxWorld } from '../../support/xxx/world.ts'

const namespaces = ['builds', 'tools', 'others']
const key = { namespace: 'builds', name: 'xxx-sample' }

async function start(t: Test, options: Partial<XxxOptions>) {
  const controlPlane = await startControlPlane({ namespaces, nodes: [{ name: 'a' }, { name: 'b' }] })
  t.teardown(() => controlPlane.stop())
  const startWith = (others: Partial<XxxOptions>) => controlPlane.startOperator([xxxOperatorWith({ ...defaultOptions, ...others })])
  const operator = await startWith(options)
  return { ...controlPlane, startWith, operator, ...xxxWorld(controlPlane.client) }
}

const hostPath: XxxOptions['output'] = { kind: 'hostPath', path: '/srv/programs', namespaces: ['builds', 'tools'] }
const isOn = (job: batch.Job, node: string): boolean =>
  JSON.stringify(job.spec?.template.spec?.affinity).includes(`{"key":"metadata.name","operator":"In","values":["${node}"]}`)

t.test('hostPath: the builds and the clean-up of an Xxx run on one node, as root without capabilities', async (t) => {
  const { client, create, untilJob, untilPhase, untilGone } = await start(t, { output: hostPath, image: 'golang:1.24' })
  await create(key)
  const { status } = await untilPhase(key, 'Succeeded')
  const node = status?.node ?? ''
  const first = await untilJob(key)
  t.equal(first.spec?.template.spec?.affinity, undefined)
  t.match(first.spec?.template.spec, {
    volumes: [{ hostPath: { path: '/srv/programs' } }],
    securityContext: { runAsUser: 0 },
    containers: [{ image: 'golang:1.24', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
  })
  await client.patch(xxx, key, { spec: { binaryName: 'other' } })
  const second = await untilJob(key, undefined, ({ metadata }) => metadata.uid !== first.metadata.uid)
  t.ok(isOn(second, node))
  await untilPhase(key, 'Succeeded')
  t.ok(isOn(await untilJob(key, cleanUpName), node))
  await client.delete(xxx, key)
  await untilGone(key)
})

t.test('hostPath: other namespaces are refused, and a file belongs to one Xxx', async (t) => {
  const { create, untilJob } = await start(t, { output: hostPath })
  await t.rejects(create({ ...key, namespace: 'others' }), {
    statusCode: 422,
    message: /metadata\.namespace: Forbidden: Xxxes of the namespace "others" may not write to the node/,
  })
  await create(key)
  await untilJob(key)
  const other = { namespace: 'tools', name: 'other' }
  await t.rejects(create(other), {
    statusCode: 422,
    message: /spec\.binaryName: Invalid value: "helloworld": the Xxx "xxx-sample" in the namespace "builds" writes this file/,
  })
  await t.resolves(create(other, { binaryName: 'other' }))
})

t.test('F8: with a claim, the claim is the only volume that is kept, and Xxxes of a namespace share it', async (t) => {
  const { create, untilJob } = await start(t, { output: { kind: 'claim', name: 'programs' } })
  await create(key)
  const { spec } = await untilJob(key)
  t.match(spec?.template.spec?.volumes, [{ persistentVolumeClaim: { claimName: 'programs' } }, { emptyDir: {} }])
  t.match(spec?.template.spec?.securityContext, { runAsNonRoot: true, fsGroup: 1001 })
  await t.rejects(create({ ...key, name: 'other' }, { jobName: 'other' }), { message: /spec\.binaryName: .* writes this file/ })
  await t.resolves(create({ ...key, namespace: 'tools' }))
})

t.test('an Xxx whose namespace has lost the output waits, also with its deletion, until the force annotation releases it', async (t) => {
  const { client, startWith, operator, create, untilPhase, untilCondition, untilGone, untilEvents } = await start(t, { output: hostPath })
  await create(key)
  await untilPhase(key, 'Succeeded')
  await operator.stop()
  await startWith({ output: { ...hostPath, namespaces: ['tools'] } as XxxOptions['output'] })
  await untilCondition(key, 'Ready', 'OutputNotAllowed')
  await client.delete(xxx, key)
  const { status } = await untilCondition(key, 'CleanupFailed', 'OutputNotAllowed')
  t.equal(status?.phase, 'Deleting')
  t.equal(await find(client, batch.job, { ...key, name: cleanUpName }), undefined)
  await client.patch(xxx, key, { metadata: { annotations: { 'test.inspur.com/force-delete': 'true' } } })
  await untilGone(key)
  await untilEvents(key, 'CleanupFailed', 'CleanupSkipped')
})

t.test('names that another client has written into the status never reach the clean-up', async (t) => {
  const { client, create, untilPhase, untilJob } = await start(t, {})
  await create(key)
  await untilPhase(key, 'Succeeded')
  const { metadata } = await client.get(xxx, key)
  await t.rejects(client.patchStatus(xxx, metadata, { status: { binaryNames: ['../etc'] } }), {
    statusCode: 422,
    message: /status\.binaryNames\[0\]/,
  })
  const job = await untilJob(key)
  await client.patch(batch.job, job.metadata, { metadata: { annotations: { 'test.inspur.com/binary-name': '../etc' } } })
  await untilJob(key, undefined, isOther(job))
  await untilPhase(key, 'Succeeded')
  await client.delete(xxx, key)
  const { spec } = await untilJob(key, cleanUpName)
  t.strictSame(spec?.template.spec?.containers[0]?.command, ['rm', '-f', '--', '/opt/helloworld'])
})

t.test('a namespace with an Xxx can be deleted', async (t) => {
  const { client, create, untilPhase, untilGone } = await start(t, {})
  await create(key)
  await untilPhase(key, 'Succeeded')
  await client.delete(core.namespace, { name: key.namespace })
  await untilGone(key)
  await until('the namespace is gone', async () => (await find(client, core.namespace, { name: key.namespace })) === undefined)
})

t.test('a leftover clean-up Job of an Xxx that is gone is replaced, and one of another object is not', async (t) => {
  const { client, create, untilPhase, untilJob, untilCondition, untilGone } = await start(t, {})
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/app:1' }] } }
  const name = { namespace: key.namespace, name: cleanUpName }
  const createForeign = (labels: Record<string, string>) =>
    client.create(batch.job, { metadata: { ...name, labels }, spec: { suspend: true, template } })
  await create(key)
  await untilPhase(key, 'Succeeded')
  const leftover = await createForeign({ 'test.inspur.com/xxx-uid': 'gone', 'test.inspur.com/task': 'clean-up' })
  await client.delete(xxx, key)
  await untilGone(key)
  const own = await untilJob(key, cleanUpName)
  t.not(own.metadata.uid, leftover.metadata.uid)
  await client.delete(batch.job, name, { propagationPolicy: 'Background' })

  await create(key)
  await untilPhase(key, 'Succeeded')
  const foreign = await createForeign({})
  await client.delete(xxx, key)
  await untilCondition(key, 'CleanupFailed', 'NameConflict')
  t.equal((await client.get(batch.job, name)).metadata.uid, foreign.metadata.uid)
  await client.delete(batch.job, name, { propagationPolicy: 'Background' })
  await untilGone(key)
})

t.test('a Pod that outlives its Job delays the next build', async (t) => {
  const { client, create, untilJob, untilCondition, untilPod, podsOf } = await start(t, { nodeSelector: { never: 'there' } })
  await create(key)
  const job = await untilJob(key)
  const pod = await untilPod(job)
  await client.patchStatus(podType, pod.metadata, { status: { phase: 'Running' } })
  await client.delete(batch.job, job.metadata, { propagationPolicy: 'Orphan' })
  const { status } = await untilCondition(key, 'Ready', 'Waiting')
  t.match(findCondition(status?.conditions, 'Ready'), { message: `Waits for the end of ${pod.metadata.name}.` })
  t.equal((await podsOf(job)).length, 1)
  await client.patchStatus(podType, pod.metadata, { status: { phase: 'Failed' } })
  await untilJob(key, undefined, ({ metadata }) => metadata.uid !== job.metadata.uid)
})
