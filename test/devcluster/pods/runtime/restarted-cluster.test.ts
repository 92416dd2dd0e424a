/** Tests of the files of Pods in a cluster that is restarted. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import { clientFor } from '../../../support/devcluster/client.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'
import { hasEnded, keyOf } from '../../../support/pods/process-cluster.ts'

t.test('the files of a Pod that ended before a restart are removed with the Pod', async (t) => {
  const directory = t.testdir()
  const stateFolder = join(directory, 'pods')
  const options = { directory, keepObjects: true, pods: { stateFolder } }
  const first = await startTestCluster(t, options)
  const key = keyOf('ended')
  const containers = [{ name: 'main', image: 'example.com/app:1', command: ['true'] }]
  const client = clientFor(t, first.connection)
  const { metadata } = await client.create(podType, { metadata: key, spec: { restartPolicy: 'Never', containers } })
  await until('the Pod has ended', async () => hasEnded(await client.get(podType, key)))
  await first.close()
  const folders = ['pods', 'logs'].map((name) => join(stateFolder, name, metadata.uid))

  const second = await startTestCluster(t, options)
  t.ok(folders.every(existsSync), 'the files outlive the restart')
  await clientFor(t, second.connection).delete(podType, key)
  await until('the files are removed', () => !folders.some(existsSync))
})
