/** Tests of control planes that run only some of the controllers. */
import t from 'tap'
import { configMap, pod as podType, serviceAccount } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import type { Client } from '../../src/client/client.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'selected'
const containers = [{ name: 'main', image: 'example.com/work:1' }]
const labels = { app: 'web' }

function createDeployment(client: Client): Promise<apps.Deployment> {
  const template = { metadata: { labels }, spec: { containers } }
  return client.create(apps.deployment, { metadata: { namespace, name: 'web' }, spec: { selector: { matchLabels: labels }, template } })
}

const jobKey = { namespace, name: 'work' }

function createJob(client: Client): Promise<batch.Job> {
  return client.create(batch.job, { metadata: jobKey, spec: { template: { spec: { restartPolicy: 'Never', containers } } } })
}

t.test('a Deployment stays untouched when its controller is omitted, while Jobs run', needsOwnControlPlane, async (t) => {
  const { client } = await conformanceControlPlane(t, { controllers: ['*', '-deployment-controller'], namespaces: [namespace] })
  const created = await createDeployment(client)
  await createJob(client)
  await until('the Job is complete', async () => {
    const { status } = await client.get(batch.job, jobKey)
    return findCondition(status?.conditions, 'Complete')?.status === 'True'
  })
  t.strictSame(await client.get(apps.deployment, { namespace, name: 'web' }), created)
  t.strictSame((await client.list(apps.replicaSet, { namespace })).items, [])
})

t.test('a named controller runs alone, with the scheduler, and Pods need no ServiceAccount', needsOwnControlPlane, async (t) => {
  const { client } = await conformanceControlPlane(t, { controllers: ['job-controller'], nodes: [], namespaces: [namespace] })
  await createDeployment(client)
  await createJob(client)
  await until('the Pod of the Job has met the scheduler', async () => {
    const [pod] = (await client.list(podType, { namespace })).items
    return findCondition(pod?.status?.conditions, 'PodScheduled')?.reason === 'Unschedulable'
  })
  for (const type of [apps.replicaSet, serviceAccount, configMap]) t.strictSame((await client.list(type, { namespace })).items, [])
})
