import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { parse } from 'yaml'
import { requestCost } from '../../../src/webhook/body/memory-budget.ts'
import { maxReviewCost } from '../../../src/webhook/body/memory-estimate.ts'
import {
  batchCost,
  conversionCost,
  convertedCopies,
  leastLimitBytes,
  processMemory,
  shareMemory,
} from '../../../src/webhook/http/memory-shares.ts'
import { shippedLimitBytes } from '../../support/hostile/shipped-limit.ts'

const mebibyte = 2 ** 20
const process256 = { idleBytes: 160 * mebibyte, heapLimitBytes: 256 * mebibyte, processors: 4 }

t.test('the shipped memory limit matches the Deployment and docs/reference/limits.md', (t) => {
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

t.test('the shipped limit has room for the largest review and one thread', (t) => {
  const shares = shareMemory({ ...process256, limitBytes: shippedLimitBytes })
  t.ok(shares.reserveBytes >= maxReviewCost, `${shares.reserveBytes}`)
  t.strictSame(shares.threads, { count: 1, heapMegabytes: 96 })
  t.end()
})

t.test('a second thread needs a second processor beside the event loop, and memory', (t) => {
  const threadsOf = (processors: number, limitBytes: number): number => shareMemory({ ...process256, processors, limitBytes }).threads.count
  t.strictSame(
    [1, 2, 3, 16].map((processors) => threadsOf(processors, 1024 * mebibyte)),
    [1, 1, 2, 2],
  )
  t.equal(threadsOf(16, shippedLimitBytes), 1)
  t.end()
})

t.test('the shares stay within any limit', (t) => {
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

t.test('a ConversionReview of 128 MiB is accepted from 1 GiB on', (t) => {
  t.equal(shareMemory({ ...process256, heapLimitBytes: 2 ** 30, limitBytes: 2 ** 30 }).conversionBytes, 128 * mebibyte)
  t.end()
})

t.test('a small heap reduces the shares', (t) => {
  const shares = shareMemory({ ...process256, heapLimitBytes: 100 * mebibyte, limitBytes: 2 ** 30 })
  t.equal(shares.requestBytes, 36 * mebibyte)
  t.end()
})

t.test('a limit that is too small is recognized, and still yields usable shares', (t) => {
  const memory = { ...process256, limitBytes: 100 * mebibyte }
  t.ok(memory.limitBytes < leastLimitBytes(memory))
  const shares = shareMemory(memory)
  t.ok(shares.requestBytes >= 16 * mebibyte)
  t.ok(shares.threads.heapMegabytes >= 16)
  t.end()
})

t.test('the least limit is that of an idle process, 32 MiB, and a tenth for uncounted memory', (t) => {
  t.equal(leastLimitBytes({ idleBytes: 160 * mebibyte }), Math.ceil((192 * mebibyte) / 0.9))
  t.equal(shareMemory({ ...process256, limitBytes: leastLimitBytes(process256) }).requestBytes, 16 * mebibyte)
  t.end()
})

t.test('small, medium and large limits are divided into these shares', (t) => {
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
  t.strictSame(shares(10)['connections'], 64, 'and at least 64 connections')
  // The process may use 360 MiB, 90 % of the limit. When idle, it uses 160 MiB. Threads may use 60 % of the remaining 200 MiB: 120 MiB, of
  // which 40 MiB are overhead and 80 MiB are heap.
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

t.test('a second thread starts once 60 % of the remaining memory hold two', (t) => {
  const least = (2 * (40 + 96)) / 0.6 + 160
  const countOf = (usable: number): number => shareMemory({ ...process256, limitBytes: (usable / 0.9) * mebibyte }).threads.count
  t.strictSame([countOf(least - 0.1), countOf(least + 0.1)], [1, 2])
  t.end()
})

t.test('an explicit limit takes precedence over that of the container', (t) => {
  t.equal(processMemory(300 * mebibyte).limitBytes, 300 * mebibyte)
  t.end()
})

t.test('without a limit, the process takes half of the machine, at most 1 GiB', (t) => {
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

t.test('the idle memory is measured, and at least that of a typical idle process', (t) => {
  const resident = t.intercept(process.memoryUsage, 'rss', { value: () => 500 * mebibyte })
  t.equal(processMemory().idleBytes, 500 * mebibyte)
  resident.restore()
  t.intercept(process.memoryUsage, 'rss', { value: () => 50 * mebibyte })
  t.equal(processMemory().idleBytes, 160 * mebibyte)
  t.end()
})

t.test('a ConversionReview costs two and a half times its bytes, of which a half is for a batch of objects', (t) => {
  t.strictSame({ conversionCost, batchCost, convertedCopies }, { conversionCost: 2.5, batchCost: 0.5, convertedCopies: 2 })
  t.end()
})
