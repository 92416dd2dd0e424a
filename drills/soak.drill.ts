/**
 * The soak drill. Objects change continuously, while connections are closed, stalled and delayed, and the API server is killed and started
 * again. At the end, every object must be reconciled in its final state, the work queue must be empty, and the heap must not have grown
 * faster than tolerated.
 *
 * `npm run drill -- soak [--seconds 1200] [--seed N]`. The last line of the output is JSON with the counts and the failures. The exit code
 * is 1 if there is a failure.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ensurePrograms, showProgress } from '../scripts/tools.ts'
import type { Client } from '../src/index.ts'
import { core, defineOperator, systemClock } from '../src/index.ts'
import { installKinds } from '../src/manifests/install.ts'
import type { ControlPlane } from '../src/testing/index.ts'
import { startControlPlane, until } from '../src/testing/index.ts'
import { mixedFaults, playFaults, randomOf } from '../test/support/unplugging/faults.ts'
import { ApiServerProcess } from './api-server-process.ts'
import { changeAll, churn, namespace } from './soak/churn.ts'
import { gadget } from './gadget.ts'
import type { HeapSample } from './soak/heap-slope.ts'
import { heapSlope } from './soak/heap-slope.ts'
import { OperatorProcess } from './soak/operator-process.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '1200' }, seed: { type: 'string' } } })
const seconds = Number(values.seconds)
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed)
process.stderr.write(`--seconds ${seconds} --seed ${seed}\n`)

/**
 * Time limit in milliseconds until all objects are reconciled after the faults. The limit includes the timeout of a request without a
 * response, and the longest back-off.
 */
const settleMs = 150_000
/** When there are no faults, all objects must be reconciled within this time, in milliseconds. */
const promptMs = 20_000
/** Interval in milliseconds at which the heap is measured. */
const sampleMs = 2_000
/** Measurements of the heap in this first fraction of the run are ignored, because caches and compiled code grow at the beginning. */
const warmUp = 0.33
/** The tolerated growth of the heap in MiB per minute. A faster growth counts as a leak if it also exceeds three standard errors. */
const toleratedMbPerMinute = 0.2
/** Seconds between two restarts of the API server. If the run is shorter than 180 s, the interval is a quarter of the run. */
const restartEverySeconds = 45
/**
 * The maximum time in milliseconds from the kill of the API server to the start of the new API server. Each restart uses a random time up
 * to this maximum.
 */
const longestAwayMs = 3_000

const failures: string[] = []
const check = (holds: boolean, failure: string): void => {
  if (!holds) failures.push(failure)
}

await ensurePrograms(['etcd', 'kube-apiserver'], { env: process.env, progress: showProgress })
const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false, namespaces: [namespace] })
const apiServer = new ApiServerProcess(controlPlane)
const tried = await soak(controlPlane).finally(async () => {
  apiServer.stop()
  await controlPlane.stop()
})
process.stdout.write(`${JSON.stringify({ drill: 'soak', seconds, seed, ...tried, failures })}\n`)
process.exitCode = failures.length === 0 ? 0 : 1

async function soak({ client, faultProxy }: ControlPlane): Promise<object> {
  await installKinds(client, [defineOperator({ name: 'soak', kinds: [gadget] })], systemClock)
  const proxy = await faultProxy()
  const operator = new OperatorProcess(proxy.kubeconfig)
  try {
    // The faults begin after the operator has started, because an operator cannot start without an API server.
    await client.create(gadget, { metadata: { namespace, name: 'first' }, spec: { value: 0 } })
    await settled(client, operator, 'before the faults', settleMs)
    const random = randomOf(seed)
    const measured = measureHeap(operator)
    const [writes, faults, restarts] = await Promise.all([
      churn(client, seconds, random),
      playFaults(proxy, mixedFaults(seed, seconds)),
      restartAgainAndAgain(randomOf(seed + 1)),
    ])
    const heap = await measured()
    proxy.heal()
    await settled(client, operator, 'after the faults', settleMs)
    await changeAll(client)
    await settled(client, operator, 'after one more change of every object', promptMs)
    const { reconciles } = await operator.state()
    const { mibPerMinute, error } = heapSlope(heap)
    const isLeak = mibPerMinute > toleratedMbPerMinute && mibPerMinute > 3 * error
    check(!isLeak, `the heap grows by ${mibPerMinute.toFixed(2)} ± ${error.toFixed(2)} MiB per minute`)
    const exitCode = await operator.stop()
    check(exitCode === 0, `the operator ended with ${exitCode}`)
    const heapMiB = [heap[0]!, heap.at(-1)!].map(({ bytes }) => Number((bytes / 1024 / 1024).toFixed(1)))
    return { writes, reconciles, faults, restarts, heapMiB, mibPerMinute: round(mibPerMinute), error: round(error) }
  } finally {
    await operator.stop()
  }
}

/**
 * Begins to measure the heap of the operator. The returned function ends the measurement, and resolves to the samples that were taken after
 * the warm-up.
 */
function measureHeap(operator: OperatorProcess): () => Promise<readonly HeapSample[]> {
  const samples: HeapSample[] = []
  const began = performance.now()
  let isOver = false
  const measuring = (async () => {
    while (!isOver) {
      await delay(sampleMs)
      const atMs = performance.now() - began
      const bytes = await operator.heapUsed()
      if (atMs > seconds * 1000 * warmUp) samples.push({ atMs, bytes })
    }
  })()
  // Without this line, the rejection would be unhandled. The returned function rejects with the same error.
  measuring.catch(() => undefined)
  return async () => {
    isOver = true
    await measuring
    return samples
  }
}

/** Restarts the API server repeatedly for `seconds` seconds. Resolves to the number of restarts. */
async function restartAgainAndAgain(random: () => number): Promise<number> {
  const ends = performance.now() + seconds * 1000
  let restarts = 0
  for (;;) {
    await delay(Math.min(restartEverySeconds, seconds / 4) * 1000)
    if (performance.now() > ends) return restarts
    await apiServer.restart(random() * longestAwayMs)
    restarts += 1
  }
}

/**
 * Waits until every object is reconciled in its final state, and the work queue is empty. If this takes longer than `timeoutMs`, adds a
 * failure to `failures`.
 */
async function settled(client: Client, operator: OperatorProcess, when: string, timeoutMs: number): Promise<void> {
  let missing: readonly string[] = []
  try {
    await until(
      'all is reconciled',
      async () => {
        missing = await missingIn(client, operator)
        return missing.length === 0
      },
      timeoutMs,
    )
  } catch (error) {
    check(false, `${when}: ${missing.length === 0 ? String(error) : missing.slice(0, 10).join('; ')}`)
  }
}

/**
 * Returns one line for each Gadget with an outdated status, and one line for each ConfigMap that does not correspond to the Gadgets. If the
 * work queue is not empty, or a reconcile is running, returns one more line.
 */
async function missingIn(client: Client, operator: OperatorProcess): Promise<string[]> {
  const gadgets = (await client.list(gadget, { namespace })).items
  const configMaps = (await client.list(core.configMap, { namespace })).items
  const values = new Map(configMaps.map(({ metadata, data }) => [metadata.name, data?.['value']]))
  const wanted = new Map(gadgets.map(({ metadata, spec }) => [metadata.name, String(spec.value)]))
  const { depth, longestSeconds } = await operator.state()
  return [
    ...gadgets.filter(({ spec, status }) => status?.seen !== spec.value).map(({ metadata }) => `${metadata.name} has an old status`),
    ...[...wanted].filter(([name, value]) => values.get(name) !== value).map(([name]) => `the ConfigMap ${name} is old or missing`),
    ...[...values.keys()].filter((name) => !wanted.has(name)).map((name) => `the ConfigMap ${name} should be deleted`),
    ...(depth + longestSeconds > 0 ? [`the work queue has ${depth} keys, and a reconcile has run for ${longestSeconds.toFixed(0)} s`] : []),
  ]
}

function round(value: number): number {
  return Number(value.toFixed(3))
}
