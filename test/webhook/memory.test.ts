import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { parse } from 'yaml'
import { requestCost } from '../../src/webhook/body/budget.ts'
import { maxReviewCost } from '../../src/webhook/body/cost.ts'
import { conversionCost, leastLimitBytes, processMemory, shareMemory } from '../../src/webhook/memory.ts'
import { shippedLimitBytes } from '../support/shipped-limit.ts'

const mebibyte = 2 ** 20
const process256 = { idleBytes: 160 * mebibyte, heapLimitBytes: 256 * mebibyte, processors: 4 }

t.test('the shipped limit is that of the Deployment and of the page about limits', (t) => {
  const { spec } = parse(readFileSync('config/manager/deployment.yaml', 'utf8')) as { spec: { template: { spec: PodSpec } } }
  t.equal(spec.template.spec.containers[0]!.resources.limits.memory, `${shippedLimitBytes / mebibyte}Mi`)
  const page = readFileSync('docs/reference/limits.md', 'utf8')
  const shares = shareMemory({ ...process256, limitBytes: shippedLimitBytes })
  const rows: readonly (readonly [string, string])[] = [
    ['Memory limit', `${shippedLimitBytes / mebibyte}Mi`],
    ['Memory of all requests in flight', `${Math.floor(shares.requestBytes / mebibyte)} MiB`],
    ['Body of a ConversionReview', `${Math.floor(shares.conversionBytes / mebibyte)} MiB`],
    ['Connections', String(shares.connections)],
  ]
  for (const [what, number] of rows) t.match(page, new RegExp(`\\| ${what} \\| ${number}[ |;]`), what)
  t.end()
})

interface PodSpec {
  readonly containers: readonly { readonly resources: { readonly limits: { readonly memory: string } } }[]
}

t.test('with the shipped limit there is room for the largest review and a thread for it', (t) => {
  const shares = shareMemory({ ...process256, limitBytes: shippedLimitBytes })
  t.ok(shares.reserveBytes >= maxReviewCost, `${shares.reserveBytes}`)
  t.strictSame(shares.threads, { count: 1, heapMegabytes: 96 })
  t.end()
})

t.test('a second thread takes a processor beside the one of the event loop, and memory', (t) => {
  const threadsOf = (processors: number, limitBytes: number): number => shareMemory({ ...process256, processors, limitBytes }).threads.count
  t.strictSame(
    [1, 2, 3, 16].map((processors) => threadsOf(processors, 1024 * mebibyte)),
    [1, 1, 2, 2],
  )
  t.equal(threadsOf(16, shippedLimitBytes), 1)
  t.end()
})

t.test('whatever the limit, the shares are within it', (t) => {
  for (let limit = 300; limit < 5000; limit *= 1.3) {
    const limitBytes = limit * mebibyte
    const { requestBytes, reserveBytes, conversionBytes, threads, connections } = shareMemory({
      ...process256,
      heapLimitBytes: limitBytes,
      limitBytes,
    })
    const all = process256.idleBytes + requestBytes + threads.count * threads.heapMegabytes * mebibyte + connections * 66 * 1024
    t.ok(all <= limitBytes, `${limit} MiB: ${all / mebibyte}`)
    t.ok(reserveBytes < requestBytes && conversionBytes < reserveBytes, 'some of it is shared')
    t.ok(requestCost + Math.ceil(conversionBytes * conversionCost) <= reserveBytes, 'the largest ConversionReview has room')
  }
  t.end()
})

t.test('a ConversionReview of 128 MiB is converted from 1 GiB on', (t) => {
  t.equal(shareMemory({ ...process256, heapLimitBytes: 2 ** 30, limitBytes: 2 ** 30 }).conversionBytes, 128 * mebibyte)
  t.end()
})

t.test('a small heap makes the shares smaller', (t) => {
  const shares = shareMemory({ ...process256, heapLimitBytes: 100 * mebibyte, limitBytes: 2 ** 30 })
  t.equal(shares.requestBytes, 36 * mebibyte)
  t.end()
})

t.test('a limit that is too small is known as such, and something is left all the same', (t) => {
  const memory = { ...process256, limitBytes: 100 * mebibyte }
  t.ok(memory.limitBytes < leastLimitBytes(memory))
  const shares = shareMemory(memory)
  t.ok(shares.requestBytes >= 16 * mebibyte)
  t.ok(shares.threads.heapMegabytes >= 16)
  t.end()
})

t.test('the least limit is what an idle process takes, 32 MiB, and a tenth for what cannot be counted', (t) => {
  t.equal(leastLimitBytes({ idleBytes: 160 * mebibyte }), Math.ceil((192 * mebibyte) / 0.9))
  t.equal(shareMemory({ ...process256, limitBytes: leastLimitBytes(process256) }).requestBytes, 16 * mebibyte)
  t.end()
})

t.test('the shares of small, middling and large limits', (t) => {
  const shares = (limit: number, heap = limit): Record<string, unknown> => {
    const { requestBytes, reserveBytes, conversionBytes, ...others } = shareMemory({
      ...process256,
      limitBytes: limit * mebibyte,
      heapLimitBytes: heap * mebibyte,
    })
    const inMebibytes = [requestBytes, reserveBytes, conversionBytes].map((bytes) => Math.round((bytes / mebibyte) * 10) / 10)
    return { ...others, inMebibytes }
  }
  t.strictSame(shares(100), {
    limitBytes: 100 * mebibyte,
    connections: 124,
    threads: { count: 1, heapMegabytes: 16 },
    inMebibytes: [16, 12.8, 5.1],
  })
  t.strictSame(shares(10)['connections'], 64, 'and never fewer connections')
  // Of 360 - 160 MiB 60 % are for the thread: 40 and 80.
  t.strictSame(shares(400), {
    limitBytes: 400 * mebibyte,
    connections: 496,
    threads: { count: 1, heapMegabytes: 80 },
    inMebibytes: [80, 64, 25.6],
  })
  t.strictSame(shares(2000), {
    limitBytes: 2000 * mebibyte,
    connections: 2482,
    threads: { count: 2, heapMegabytes: 96 },
    inMebibytes: [1368, 320, 128],
  })
  t.strictSame(shares(2000, 70), {
    limitBytes: 2000 * mebibyte,
    connections: 2482,
    threads: { count: 2, heapMegabytes: 96 },
    inMebibytes: [16, 12.8, 5.1],
  })
  t.end()
})

t.test('a second thread is there once 60 % of what is left hold two', (t) => {
  const least = (2 * (40 + 96)) / 0.6 + 160
  const countOf = (usable: number): number => shareMemory({ ...process256, limitBytes: (usable / 0.9) * mebibyte }).threads.count
  t.strictSame([countOf(least - 0.1), countOf(least + 0.1)], [1, 2])
  t.end()
})

t.test('a limit that is given goes before that of the container', (t) => {
  t.equal(processMemory(300 * mebibyte).limitBytes, 300 * mebibyte)
  t.end()
})

t.test('without a limit, the process takes half of the machine and 1 GiB at most', (t) => {
  const unlimited = Math.min(1024 * mebibyte, totalmem() / 2)
  for (const [constrained, limit] of [
    [0, unlimited],
    [2 ** 60, unlimited],
    [totalmem(), unlimited],
    [totalmem() - 1, totalmem() - 1],
    [300 * mebibyte, 300 * mebibyte],
    [1, 1],
  ] as const) {
    const intercepted = t.intercept(process, 'constrainedMemory', { value: () => constrained })
    t.equal(processMemory().limitBytes, limit, `constrained to ${constrained}`)
    intercepted.restore()
  }
  t.equal(processMemory().heapLimitBytes, getHeapStatistics().heap_size_limit)
  t.equal(processMemory().processors, availableParallelism())
  t.end()
})

t.test('what the process takes before it is sent anything is measured, and no less than that of an idle one', (t) => {
  const resident = t.intercept(process.memoryUsage, 'rss', { value: () => 500 * mebibyte })
  t.equal(processMemory().idleBytes, 500 * mebibyte)
  resident.restore()
  t.intercept(process.memoryUsage, 'rss', { value: () => 50 * mebibyte })
  t.equal(processMemory().idleBytes, 160 * mebibyte)
  t.end()
})
