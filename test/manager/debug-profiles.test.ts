import type { Readable } from 'node:stream'
import t from 'tap'
import type { Answer } from '../../src/manager/http-endpoint.ts'
import { profileHandlers } from '../../src/manager/debug-profiles.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

const mebibyte = 2 ** 20

async function heapSnapshot(handlers: ReturnType<typeof profileHandlers>): Promise<Answer> {
  const request = { method: 'GET', signal: new AbortController().signal }
  return (await handlers[0]!(new URL('/debug/heap', 'http://localhost'), request))!
}

/** Returns the memory in MiB that a snapshot needs according to the error message. */
async function neededFor(
  memoryLimitBytes: number,
  handlers = profileHandlers({ clock: new FakeClock(), memoryLimitBytes }),
): Promise<number> {
  const { code, body } = await heapSnapshot(handlers)
  t.equal(code, 503)
  return Number(/ needs (\d+) MiB/.exec(body as string)![1])
}

// The next test must be the first. It measures the growth of the maximum resident memory, and a higher maximum from an earlier test would
// hide this growth.
t.test('a heap snapshot stays within the memory that it is said to need', async (t) => {
  const limited = profileHandlers({ clock: new FakeClock(), memoryLimitBytes: 1 })
  const unlimited = profileHandlers({ clock: new FakeClock(), memoryLimitBytes: 2 ** 40 })
  const one = {}
  for (const [shape, make] of [
    ['one long array', () => new Array<object>(100_000).fill(one)],
    ['objects', () => Array.from({ length: 100_000 }, (_, index) => ({ a: { b: [index, { c: `x${index}` }] }, d: `y${index}` }))],
  ] as const) {
    const kept = make()
    const needed = await neededFor(1, limited)
    const before = process.resourceUsage().maxRSS
    const { body } = await heapSnapshot(unlimited)
    for await (const _ of body as Readable);
    const grown = (process.resourceUsage().maxRSS - before) / 1024
    t.ok(grown < needed, `${shape}: ${Math.ceil(grown)} of ${needed} MiB`)
    t.ok(kept.length > 0)
  }
})

t.test('a heap snapshot that does not fit is refused with the limit that would be enough', async (t) => {
  const needed = await neededFor(1)
  const heap = process.memoryUsage().heapUsed / mebibyte
  t.ok(needed > 8 * heap, `${needed} MiB for a heap of ${Math.ceil(heap)} MiB`)
  const memoryLimitBytes = process.memoryUsage.rss() + Math.floor(needed / 2) * mebibyte
  const { body } = await heapSnapshot(profileHandlers({ clock: new FakeClock(), memoryLimitBytes }))
  t.match(
    body,
    /^a heap snapshot needs \d+ MiB, and \d+ MiB are left below the memory limit of \d+ MiB, while the heap has \d+ MiB: raise the memory limit to \d+ MiB\. .*--heapsnapshot-near-heap-limit=1\n$/,
  )
  const enough = Number(/raise the memory limit to (\d+) MiB/.exec(body as string)![1])
  const accepted = await heapSnapshot(profileHandlers({ clock: new FakeClock(), memoryLimitBytes: (enough + 64) * mebibyte }))
  t.equal(accepted.code, 200)
  ;(accepted.body as Readable).destroy()
})
