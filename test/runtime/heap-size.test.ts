/** Tests of `limitHeapSize`, which limits the heap of a process and of the threads that the process starts. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { limitHeapSize } from '../../src/runtime/heap-size.ts'
import { youngMb, youngMbOfNewThread } from '../support/heap-size.ts'

const limitMb = 16

/**
 * Creates objects, many of which survive collections. Returns the largest size of the young generation in MB. Ends after `turns` iterations
 * of the event loop, or when the size has reached `enoughMb`.
 */
async function grownTo(turns: number, enoughMb = Infinity): Promise<number> {
  let largest = 0
  let kept: object[] = []
  for (let turn = 0; turn < turns && largest < enoughMb; turn += 1) {
    for (let index = 0; index < 10_000; index += 1) kept.push({ index, items: [index] })
    if (kept.length > 300_000) kept = []
    await setImmediate()
    largest = Math.max(largest, youngMb())
  }
  return largest
}

t.test('the young generation grows to the limit, and beyond it when the limit is removed', async (t) => {
  const release = limitHeapSize({ execArgv: [], env: {} })
  const megabytes = await grownTo(150)
  // `limitHeapSize` checks the size after each iteration of the event loop. If two garbage collections occur in one iteration, the size can
  // exceed the limit. Therefore, the test permits twice the limit.
  t.ok(megabytes > limitMb / 4 && megabytes <= 2 * limitMb, `${megabytes} MB`)
  release()
  // After each garbage collection, V8 decides whether the young generation grows. On a busy machine, the young generation keeps its size
  // after some of the collections, so the loop has up to 5,000 iterations.
  const unlimited = await grownTo(5_000, 4 * limitMb)
  t.ok(unlimited >= 4 * limitMb, `${unlimited} MB`)
})

t.test('threads start with the limit, because they do not grow', async (t) => {
  const release = limitHeapSize({ execArgv: [], env: {} })
  t.equal(await youngMbOfNewThread(), limitMb / 2)
  release()
  t.ok((await youngMbOfNewThread()) < limitMb / 2)
})

t.test('an option of the process has precedence', async (t) => {
  for (const given of [
    { execArgv: ['--max-semi-space-size=64'], env: {} },
    { execArgv: [], env: { NODE_OPTIONS: '--enable-source-maps --max_semi_space_size=64' } },
  ]) {
    const release = limitHeapSize(given)
    t.teardown(release)
    t.ok((await youngMbOfNewThread()) < limitMb / 2)
  }
})

t.test('garbage is collected when it takes half as much memory as the live objects', async (t) => {
  const largest = async (...args: readonly string[]): Promise<number> => {
    const program = join(import.meta.dirname, '../support/heap-garbage.ts')
    return Number((await promisify(execFile)(process.execPath, ['--conditions=proreus-source', program, ...args])).stdout)
  }
  const limited = await largest('limited')
  t.ok(limited > 60 && limited < 120, `${limited} MB`)
  const unlimited = await largest('unlimited')
  t.ok(unlimited > 120, `${unlimited} MB`)
})

t.test('an option of the process for the growth of the heap has precedence', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--heap-growing-percent=300',
    '--conditions=proreus-source',
    join(import.meta.dirname, '../support/heap-garbage.ts'),
    'limited',
  ])
  t.ok(Number(stdout) > 120, `${stdout} MB`)
})
