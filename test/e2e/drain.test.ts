/** Tests that no request fails when `proreus run` is stopped while the API server calls its webhooks. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { AdmissionLoad } from '../support/webhook/admission-load.ts'
import { startDev } from '../support/process/dev.ts'
import { freePort } from '../support/process/free-port.ts'
import { startOperator } from '../support/process/operator.ts'
import { until } from '../../src/testing/until.ts'

const perSecond = 200
/**
 * One request in ten is for the validating webhook. The handler of this webhook sends a dry-run request to the API server for each call.
 * The process therefore needs connections to the API server until the last call has ended.
 */
const paths = [...Array<string>(9).fill('/mutate-harryyann-github-io-v1-mypod'), '/validate-harryyann-github-io-v1-mypod']
/** The time in milliseconds from the moment when `/readyz` fails until the API servers open no more connections to the process. */
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

t.test('SIGTERM under a load of 200 admissions a second fails no request', async (t) => {
  const { kubeconfig, directory } = await startDev(t, 'none')
  const { running, webhookUrl, probesUrl } = await startOperator(
    t,
    { directory, kubeconfig, args: ['--drain-delay', '10s'] },
    await freePort(),
  )
  const isReady = async (): Promise<boolean> => (await fetch(`${probesUrl}/readyz`)).ok
  await until('it is ready', isReady)

  const ca = readFileSync(join(directory, 'certs/ca.crt'), 'utf8')
  const load = new AdmissionLoad({
    url: webhookUrl,
    ca,
    paths,
    body: review,
    perSecond,
    burst: 20,
    most: 20 * perSecond,
    inFlight: perSecond,
  })
  t.teardown(() => load.stop())
  await until('the load is steady', () => load.answered >= perSecond)

  const signalled = performance.now()
  const exited = running.stop('SIGTERM')
  await until('/readyz is false', async () => !(await isReady()), 2_000)
  const noticed = performance.now() - signalled
  const withdrawal = setTimeout(() => load.withdraw(), withdrawalMs)
  t.teardown(() => clearTimeout(withdrawal))

  t.equal(await exited, 0, 'it exits with code 0')
  const seconds = (performance.now() - signalled) / 1000
  const { answered, failures, elsewhere, opened, lastOnes, lastSent, latencies } = await load.stop()
  t.strictSame(failures, [], 'no request fails')
  t.ok(lastSent - signalled > withdrawalMs / 2, 'requests were answered as long as they arrived')
  t.ok(lastOnes > 0 && opened > lastOnes / 2, 'answers during the drain closed their connections')
  t.ok(elsewhere > 0, 'in the end all requests used another endpoint')
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
