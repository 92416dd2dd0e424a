/** Measures the time from the update of an App to its reconcile, at a steady rate of updates. */
import { systemClock } from '../../src/index.ts'
import { sleep } from '../../src/runtime/waiting.ts'
import { app } from '../app.ts'
import type { ApiServer } from './api-server.ts'
import { nameOf, namespace } from './apps.ts'
import type { BuiltProgram } from './programs.ts'
import { RunningProgram } from './programs.ts'

export interface LatencySample {
  readonly p50: number
  readonly p99: number
  /**
   * Number of updates whose latency is not measured. For example, if an App is updated twice before it is reconciled, only the latency of
   * the second update is measured.
   */
  readonly unseen: number
}

/**
 * Milliseconds to wait before the first update and after the last update. In the first wait, the program fills its cache. In the second
 * wait, the program reconciles the last updates.
 */
const settleMs = 3_000

/**
 * Sends `perSecond` updates per second to the Apps in turn. Resolves to percentiles of the latencies in milliseconds. A latency starts when
 * the update is sent to the API server, and ends when the program reconciles the App.
 */
export async function measureLatency(
  server: ApiServer,
  program: BuiltProgram,
  { count, perSecond, seconds }: { readonly count: number; readonly perSecond: number; readonly seconds: number },
): Promise<LatencySample> {
  const { client } = server.controlPlane
  const running = new RunningProgram(program, ['observe'], server.envOf(program))
  try {
    await sleep(systemClock, settleMs)
    const updates: Promise<unknown>[] = []
    const began = performance.now()
    for (let index = 0; index < perSecond * seconds; index += 1) {
      const wait = began + (index * 1000) / perSecond - performance.now()
      if (wait > 0) await sleep(systemClock, wait)
      const sent = (performance.timeOrigin + performance.now()).toFixed(3)
      updates.push(client.patch(app, { namespace, name: nameOf(index % count) }, { spec: { labels: { sent } } }))
    }
    await Promise.all(updates)
    await sleep(systemClock, settleMs)
    running.terminate()
    const { ms } = await running.result<{ ms: number[] }>()
    // At its start, the program reconciles every App. If an earlier round has updated an App, this reconcile reports the time since that
    // old update. This time is longer than `settleMs`, so all times of `settleMs` or more are ignored.
    const fresh = ms.filter((one) => one < settleMs).sort((a, b) => a - b)
    const quantile = (q: number): number => fresh[Math.min(fresh.length - 1, Math.floor(fresh.length * q))] ?? Number.NaN
    return { p50: quantile(0.5), p99: quantile(0.99), unseen: updates.length - fresh.length }
  } finally {
    await running.stop()
  }
}
