/**
 * Tests of the signals and hooks at the end of Pods (k8s.io/kubernetes/pkg/kubelet/kuberuntime/kuberuntime_container.go: killContainer).
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import { untilGone } from '../../../support/devcluster/client.ts'
import { isReady, keyOf, needNamespaces, startProcessCluster } from '../../../support/pods/process-cluster.ts'

const pods = await startProcessCluster(t)
await needNamespaces(t, pods.cluster)
t.jobs = 3

const folder = t.testdir()
const volumes = [{ name: 'out', hostPath: { path: folder } }]
const volumeMounts = [{ name: 'out', mountPath: '/out' }]
/** Returns a container that runs `script`. The script can append lines to `$file`, the file of its Pod. */
const container = (name: string, pod: string, script: string, more: object = {}): object => ({
  name,
  image: 'example.com/app:1',
  command: ['sh', '-c', `file=/out/${pod}; ${script}`],
  volumeMounts,
  ...more,
})
const onTerm = (text: string, action = 'exit 0'): string =>
  `trap 'echo ${text} >>$file; ${action}' TERM; touch /tmp/armed; while :; do sleep 0.1; done`
const whenArmed = { exec: { command: ['test', '-e', '/tmp/armed'] }, periodSeconds: 1, failureThreshold: 60 }
const linesOf = (name: string): string[] => {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

async function run(name: string, spec: object): Promise<void> {
  await pods.client.create(podType, { metadata: keyOf(name), spec: { volumes, ...spec } } as never)
  await pods.untilPod(name, isReady)
}

t.test('a Pod that is deleted by force gets SIGTERM and two seconds', async (t) => {
  await run('forced', {
    containers: [container('main', 'forced', onTerm('term', 'sleep 1; echo end >>$file; exit 0'), { readinessProbe: whenArmed })],
  })
  await pods.client.delete(podType, keyOf('forced'), { gracePeriodSeconds: 0 })
  await until('the container has cleaned up', () => linesOf('forced').includes('end'))
  t.strictSame(linesOf('forced'), ['term', 'end'])
})

t.test('a container gets SIGTERM when its preStop hook has ended', async (t) => {
  const preStop = { exec: { command: ['sh', '-c', 'echo begin >>/out/hook; sleep 1; echo end >>/out/hook'] } }
  await run('hook', { containers: [container('main', 'hook', onTerm('term'), { readinessProbe: whenArmed, lifecycle: { preStop } })] })
  await pods.client.delete(podType, keyOf('hook'))
  await untilGone(pods.client, podType, keyOf('hook'))
  t.strictSame(linesOf('hook'), ['begin', 'end', 'term'])
})

t.test('a container that ignores SIGTERM goes on until its grace period is over', async (t) => {
  const goOn = 'while :; do echo on >>$file; sleep 0.1; done'
  await run('stubborn', {
    terminationGracePeriodSeconds: 3,
    containers: [container('main', 'stubborn', onTerm('term', goOn), { readinessProbe: whenArmed })],
  })
  await pods.client.delete(podType, keyOf('stubborn'))
  await untilGone(pods.client, podType, keyOf('stubborn'))
  const [first, ...others] = linesOf('stubborn')
  t.equal(first, 'term')
  t.ok(others.length > 5, `it wrote ${others.length} times after SIGTERM`)
})

t.test('a sidecar whose turn comes after the grace period gets SIGTERM, too', async (t) => {
  await run('late', {
    terminationGracePeriodSeconds: 1,
    initContainers: [container('sidecar', 'late', onTerm('sidecar'), { restartPolicy: 'Always', startupProbe: whenArmed })],
    containers: [container('main', 'late', 'sleep 1000')],
  })
  await pods.client.delete(podType, keyOf('late'))
  await untilGone(pods.client, podType, keyOf('late'))
  t.strictSame(linesOf('late'), ['sidecar'])
})

t.test('the preStop hooks begin together; a sidecar gets SIGTERM when the regular containers have ended', async (t) => {
  const preStop = { exec: { command: ['sh', '-c', 'echo preStop >>/out/hooks'] } }
  const waitsForHook = onTerm('main', 'until grep -q preStop $file; do sleep 0.1; done; exit 0')
  await run('hooks', {
    terminationGracePeriodSeconds: 30,
    initContainers: [
      container('sidecar', 'hooks', onTerm('sidecar'), { restartPolicy: 'Always', startupProbe: whenArmed, lifecycle: { preStop } }),
    ],
    containers: [container('main', 'hooks', waitsForHook, { readinessProbe: whenArmed })],
  })
  await pods.client.delete(podType, keyOf('hooks'))
  await untilGone(pods.client, podType, keyOf('hooks'))
  t.strictSame(linesOf('hooks').sort(), ['main', 'preStop', 'sidecar'])
  t.equal(linesOf('hooks').at(-1), 'sidecar')
})

t.test('a postStart hook runs after the container has started', async (t) => {
  const postStart = { exec: { command: ['sh', '-c', 'sleep 1.1; exit 3'] } }
  await pods.client.create(podType, {
    metadata: keyOf('post-start'),
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [container('main', 'post-start', 'sleep 1000', { lifecycle: { postStart } })],
      volumes,
    },
  } as never)
  const { status } = await pods.untilPod('post-start', (pod) => pod.status?.phase === 'Failed')
  const { startedAt, finishedAt } = status?.containerStatuses?.[0]?.state?.terminated ?? {}
  t.ok(Date.parse(String(finishedAt)) - Date.parse(String(startedAt)) >= 1000)
})
