import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { event as eventType, pod as podType } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import { clientFor } from '../../../support/devcluster/client.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'
import { namespacesProblem } from '../../../support/pods/namespaces-problem.ts'
import { hasEnded, isReady, keyOf } from '../../../support/pods/process-cluster.ts'
import { endless, never, sh } from './life-cycle/parts.ts'

const directory = await mkdtemp(join(tmpdir(), 'proreus-restart-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))
const options = { directory, keepObjects: true, pods: { stateFolder: join(directory, 'pods') } }

// A restart of the cluster ends all containers of the node, like a reboot. The expected results are those of
// k8s.io/kubernetes/pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions, and of
// github.com/containerd/containerd/internal/cri/server/restart.go: loadContainer.
t.test(
  'after a restart of the cluster, the containers have ended with 255, and the restart policy decides',
  { skip: await namespacesProblem() },
  async (t) => {
    const first = await startTestCluster(t, options)
    const before = clientFor(t, first.connection)
    const names = ['always', 'never']
    await before.create(podType, {
      metadata: keyOf('always'),
      spec: { initContainers: [sh('true', { name: 'first' })], containers: [sh(endless)] },
    } as never)
    await before.create(podType, { metadata: keyOf('never'), spec: { ...never, containers: [sh(endless)] } } as never)
    await Promise.all(names.map((name) => until(name, async () => isReady(await before.get(podType, keyOf(name))))))
    await first.close()

    const client = clientFor(t, (await startTestCluster(t, options)).connection)
    const reasonsOf = async (name: string): Promise<readonly unknown[]> => {
      const { items } = await client.list(eventType, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` })
      return items.map(({ reason }) => reason)
    }
    const restarted = await until('the Pod runs again', async () => {
      const found = await client.get(podType, keyOf('always'))
      return found.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(found) && found
    })
    t.match(restarted.status, {
      phase: 'Running',
      initContainerStatuses: [{ restartCount: 1, state: { terminated: { exitCode: 0 } } }],
      containerStatuses: [{ lastState: { terminated: { exitCode: 255, reason: 'Unknown' } }, state: { running: {} } }],
    })
    const ended = await until('the Pod has ended', async () => {
      const found = await client.get(podType, keyOf('never'))
      return hasEnded(found) && found
    })
    t.match(ended.status, {
      phase: 'Failed',
      containerStatuses: [{ restartCount: 0, state: { terminated: { exitCode: 255, reason: 'Unknown' } } }],
    })
    await until('the Event SandboxChanged', async () => (await reasonsOf('always')).includes('SandboxChanged'))
    t.notOk((await reasonsOf('never')).includes('SandboxChanged'), 'a Pod that is not restarted gets no new sandbox')
  },
)
