/** Tests of Pods whose sandbox ends without a request from the kubelet. The kubelet then replaces the sandbox. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import t from 'tap'
import type { Pod } from '../../../../src/api/builtin.ts'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import type { ProcessCluster } from '../../../support/pods/process-cluster.ts'
import { hasEnded, isReady, keyOf, needNamespaces, startProcessCluster } from '../../../support/pods/process-cluster.ts'
import { untilGone } from '../../../support/devcluster/client.ts'
import { sh } from './life-cycle/parts.ts'

/** A script that prints the network namespace of the Pod, and runs until it is killed. */
const endless = 'readlink /proc/self/ns/net; sleep 1000'

const pods = await startProcessCluster(t)
await needNamespaces(t, pods.cluster)

// The expected results are those of k8s.io/kubernetes/pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions, SyncPod.
t.test('all containers begin again in the new sandbox, the init containers first', async (t) => {
  const initContainers = [sh('true', { name: 'first' })]
  await pods.run('always', sh(endless), { initContainers })
  const before = await pods.untilPod('always', isReady)
  await killSandbox(pods, before)
  const after = await pods.untilPod('always', (pod) => restartsOf(pod) === '1,1' && isReady(pod))
  t.equal(after.status?.podIP, before.status?.podIP)
  t.match(after.status, {
    phase: 'Running',
    initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    containerStatuses: [{ lastState: { terminated: { exitCode: 137 } } }],
  })
  t.ok((await pods.events('always')).includes('Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.'))
})

t.test('with the restart policy OnFailure, a container that has succeeded stays ended', async () => {
  const done = sh('true', { name: 'done' })
  await pods.client.create(podType, {
    metadata: keyOf('on-failure'),
    spec: { restartPolicy: 'OnFailure', containers: [sh(endless), done] },
  } as never)
  const isHalfDone = ({ status }: Pod): boolean => {
    const [doneStatus, mainStatus] = status?.containerStatuses ?? []
    return doneStatus?.state?.terminated?.exitCode === 0 && mainStatus?.state?.running !== undefined
  }
  await killSandbox(pods, await pods.untilPod('on-failure', isHalfDone))
  await pods.untilPod('on-failure', (pod) => isHalfDone(pod) && restartsOf(pod) === '0,1')
})

t.test('with the restart policy Never, the Pod fails', async (t) => {
  await pods.run('never', sh(endless), { restartPolicy: 'Never' })
  await killSandbox(pods, await pods.untilPod('never', isReady))
  const { status } = await pods.untilPod('never', hasEnded)
  t.match(status, { phase: 'Failed', containerStatuses: [{ restartCount: 0, state: { terminated: { exitCode: 137 } } }] })
})

t.test('a Pod can be deleted while it gets a new sandbox', async () => {
  await pods.run('deleted', sh(endless))
  await killSandbox(pods, await pods.untilPod('deleted', isReady))
  await pods.client.delete(podType, keyOf('deleted'))
  await untilGone(pods.client, podType, keyOf('deleted'))
})

/** Kills the first process in the PID namespace of the Pod. The kernel then kills all processes of the Pod. */
async function killSandbox({ output }: ProcessCluster, pod: Pod): Promise<void> {
  const network = await until('the container has printed its network', async () => {
    const text = await output(pod).catch(() => '')
    return /^net:\[\d+\]/.exec(text)?.[0]
  })
  const inNetwork = readdirSync('/proc').flatMap((pid) => (networkOf(pid) === network ? [{ pid, ids: idsOf(pid) }] : []))
  const first = inNetwork.filter(({ ids }) => ids.at(-1) === '1')
  // The first process of a container is one PID namespace deeper than the first process of the Pod.
  const depth = Math.min(...first.map(({ ids }) => ids.length))
  for (const { pid, ids } of first) if (ids.length === depth) process.kill(Number(pid), 'SIGKILL')
}

function networkOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return undefined
  }
}

/** Returns the ids of a process in all its PID namespaces. The last id is the id in the innermost namespace. */
function idsOf(pid: string): readonly string[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? []
}

/** Returns the restart counts of the init containers, followed by the restart counts of the containers in the order of their names. */
function restartsOf({ status }: Pod): string {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return all.map(({ restartCount }) => restartCount).join()
}
