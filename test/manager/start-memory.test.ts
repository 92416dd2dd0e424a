import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { collectGarbage, releaseStartMemory } from '../../src/manager/start-memory.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

/**
 * Starts `releaseStartMemory` for a simulated process. In each half second, the process uses the CPU time that `cpuMs` returns, in
 * milliseconds. The process uses `heapMiB` MiB of its heap.
 */
function start(t: Test, { cpuMs, heapMiB = 20 }: { cpuMs: () => number; heapMiB?: number }) {
  const clock = new FakeClock()
  const stop = new AbortController()
  let collections = 0
  const zero = { user: 0, system: 0 }
  const usage = {
    cpuUsage: (previous?: NodeJS.CpuUsage) => (previous === undefined ? zero : { user: cpuMs() * 900, system: cpuMs() * 100 }),
    memoryUsage: Object.assign(() => ({ ...process.memoryUsage(), heapUsed: heapMiB * 2 ** 20 }), { rss: () => 0 }),
  }
  const collect = (): Promise<void> => {
    collections += 1
    return Promise.resolve()
  }
  const ended = releaseStartMemory({ clock, signal: stop.signal, usage, collect })
  t.teardown(() => stop.abort())
  return { clock, stop, ended, collections: () => collections }
}

t.test('garbage is collected once, after the first half second in which the process is idle', async (t) => {
  let cpuMs = 50
  const { clock, ended, collections } = start(t, { cpuMs: () => cpuMs })
  await clock.advance(1_000)
  t.equal(collections(), 0, 'busy')
  cpuMs = 49
  await clock.advance(499)
  t.equal(collections(), 0, 'not yet')
  await clock.advance(1)
  t.equal(collections(), 1)
  await ended
  t.equal(clock.pending, 0)
})

t.test('a large heap is left alone, because its collection would block the process', async (t) => {
  for (const [heapMiB, expected] of [
    [64, 1],
    [65, 0],
  ] as const) {
    const { clock, ended, collections } = start(t, { cpuMs: () => 0, heapMiB })
    await clock.advance(500)
    await ended
    t.equal(collections(), expected, `${heapMiB} MiB`)
  }
})

t.test('a process that is busy for a minute is left alone', async (t) => {
  const { clock, ended, collections } = start(t, { cpuMs: () => 500 })
  await clock.advance(59_999)
  t.equal(clock.pending, 1)
  await clock.advance(1)
  await ended
  t.equal(collections(), 0)
})

t.test('it ends when the signal aborts', async (t) => {
  const { clock, stop, ended, collections } = start(t, { cpuMs: () => 0 })
  stop.abort()
  await ended
  t.equal(clock.pending, 0)
  t.equal(collections(), 0)
})

t.test('collectGarbage frees what is unreachable, and shrinks the heap', async (t) => {
  const garbage = new WeakRef({ large: Array.from({ length: 100_000 }, (_, index) => ({ index })) })
  await turn() // until the turn ends, the WeakRef keeps its object in memory
  const { heapTotal } = process.memoryUsage()
  await collectGarbage()
  t.equal(garbage.deref(), undefined)
  t.ok(process.memoryUsage().heapTotal < heapTotal)
})
