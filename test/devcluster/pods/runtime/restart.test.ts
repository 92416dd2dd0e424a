import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { configMap, pod as podType } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import { clientFor, untilGone } from '../../../support/devcluster/client.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'
import { namespacesProblem } from '../../../support/pods/namespaces-problem.ts'
import { isReady, keyOf } from '../../../support/pods/process-cluster.ts'

t.test(
  'a Pod whose volumes are not ready after a restart of the cluster can be deleted',
  { skip: await namespacesProblem() },
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'proreus-restart-'))
    t.teardown(() => rm(directory, { recursive: true, force: true }))
    const options = { directory, keepObjects: true, pods: { stateFolder: join(directory, 'pods') } }
    const before = await startTestCluster(t, options)
    const first = clientFor(t, before.connection)
    await first.create(configMap, { metadata: keyOf('settings'), data: {} })
    const volumeMounts = [{ name: 'settings', mountPath: '/settings' }]
    await first.create(podType, {
      metadata: keyOf('one'),
      spec: {
        containers: [{ name: 'main', image: 'example.com/app:1', command: ['sleep', '1000'], volumeMounts }],
        volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
        terminationGracePeriodSeconds: 1,
      },
    } as never)
    await until('the Pod is ready', async () => isReady(await first.get(podType, keyOf('one'))))
    await first.delete(configMap, keyOf('settings'))
    await before.close()

    const { connection } = await startTestCluster(t, options)
    const second = clientFor(t, connection)
    await until('the container has ended', async () => {
      const { status } = await second.get(podType, keyOf('one'))
      return status?.containerStatuses?.[0]?.lastState?.terminated?.reason === 'Unknown'
    })
    const { status } = await second.get(podType, keyOf('one'))
    t.match(status?.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } }, 'it waits for its volume')
    await second.delete(podType, keyOf('one'))
    await t.resolves(untilGone(second, podType, keyOf('one')))
  },
)
