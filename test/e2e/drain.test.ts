/** A process that is told to end while the API server sends admission requests: none of them fails. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { AdmissionLoad } from '../support/admission-load.ts'
import { startDev } from '../support/dev.ts'
import { freePort } from '../support/free-port.ts'
import { startOperator } from '../support/operator.ts'
import { until } from '../support/process.ts'

const perSecond = 200
/** The validating webhook asks the API server two things each time, and needs its connections to it to the end. */
const paths = [...Array<string>(9).fill('/mutate-harryyann-github-io-v1-mypod'), '/validate-harryyann-github-io-v1-mypod']
/** How long it may take until all API servers know that an endpoint is gone. */
const withdrawalMs = 5_000

const review = (uid: string): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid,
      kind: { group: 'harryyann.github.io', version: 'v1', kind: 'MyPod' },
      resource: { group: 'harryyann.github.io', version: 'v1', resource: 'mypods' },
      operation: 'CREATE',
      namespace: 'test-mypod',
      name: uid,
      userInfo: { username: 'kubernetes-admin', groups: ['system:masters'] },
      object: {
        apiVersion: 'harryyann.github.io/v1',
        kind: 'MyPod',
        metadata: { name: uid, namespace: 'test-mypod' },
        spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:1' }] } },
      },
    },
  })

t.test('SIGTERM under a load of 200 admissions a second', async (t) => {
  const { kubeconfig, directory } = await startDev(t, ['--operators', 'none'])
  const { running, webhookUrl, probesUrl } = await startOperator(t, { directory, kubeconfig }, await freePort())
  const isReady = async (): Promise<boolean> => (await fetch(`${probesUrl}/readyz`)).ok
  await until('it is ready', isReady)

  const ca = readFileSync(join(directory, 'certs/ca.crt'), 'utf8')
  const load = new AdmissionLoad({ url: webhookUrl, ca, paths, body: review, perSecond, burst: 20, most: 20 * perSecond })
  t.teardown(() => load.stop())
  await until('the load is steady', () => load.answered >= perSecond)

  const told = performance.now()
  const ended = running.stop('SIGTERM')
  await until('/readyz is false', async () => !(await isReady()), 2_000)
  const noticed = performance.now() - told
  const withdrawal = setTimeout(() => load.withdraw(), withdrawalMs)
  t.teardown(() => clearTimeout(withdrawal))

  t.equal(await ended, 0, 'it ends with code 0')
  const seconds = (performance.now() - told) / 1000
  const { answered, failures, elsewhere, opened, lastOnes, latencies } = await load.stop()
  t.strictSame(failures, [], 'no request fails')
  t.ok(answered >= (perSecond * withdrawalMs) / 1000, 'requests were answered as long as they came')
  t.ok(lastOnes > 0 && opened > lastOnes / 2, 'answers during the drain ended their connections')
  t.ok(elsewhere > 0, 'in the end all requests went elsewhere')
  t.ok(seconds < 14, 'it did not wait for the deadline')
  t.comment(
    `${answered} answered over ${opened} connections, ${lastOnes} ended by the answer, ${elsewhere} went elsewhere; ` +
      `not ready after ${noticed.toFixed(0)} ms, ended after ${seconds.toFixed(1)} s; ` +
      `latency p50 ${quantile(latencies, 0.5)} ms, p99 ${quantile(latencies, 0.99)} ms, max ${quantile(latencies, 1)} ms`,
  )
})

function quantile(ascending: readonly number[], part: number): string {
  return (ascending[Math.min(ascending.length - 1, Math.floor(part * ascending.length))] ?? NaN).toFixed(1)
}
