import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { defineKind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { CombinedWebhook } from '../../../src/webhook/definition/combine.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import { writeDelta } from '../../../src/webhook/evaluation/thread-delta.ts'
import type { Found } from '../../../src/webhook/evaluation/evaluation.ts'
import { InlineEvaluation, rulesOf } from '../../../src/webhook/evaluation/inline.ts'
import type { ReviewThread, ReviewThreadOptions } from '../../../src/webhook/evaluation/review-threads.ts'
import { ReviewThreads } from '../../../src/webhook/evaluation/review-threads.ts'
import { readReview } from '../../../src/webhook/review/admission-review.ts'
import { reviewOfSpec, target } from '../../support/hostile/reviews.ts'

t.setTimeout(300_000)

const definition = { group: target.group, kind: target.kind }
const [targets] = combineWebhooks([defineWebhook(target)]) as [CombinedWebhook]
const forever = new AbortController().signal

function threadsOf(t: Test, options: Partial<ReviewThreadOptions> = {}): { threads: ReviewThreads; clock: FakeClock } {
  const clock = new FakeClock()
  const threads = new ReviewThreads({ webhooks: [targets], clock, threads: 2, ...options })
  t.teardown(() => threads.stop())
  return { threads, clock }
}

function begin(thread: ReviewThread, spec: string, webhook = 0): Promise<Found> {
  const bytes = new Uint8Array(Buffer.from(reviewOfSpec(spec))).buffer
  return thread.call('begin', { webhook, verb: 'mutate', bytes }, [bytes])
}

async function evaluate(threads: ReviewThreads, spec: string, webhook?: number): Promise<Found> {
  const thread = await threads.acquire(forever)
  try {
    return await begin(thread, spec, webhook)
  } finally {
    threads.release(thread)
  }
}

t.test('threads start with the first review, and stop after ten idle seconds', async (t) => {
  const { threads, clock } = threadsOf(t)
  t.equal(threads.size, 0)
  const found = await Promise.all(Array.from({ length: 5 }, () => evaluate(threads, '{}')))
  t.strictSame(
    found.map(({ applies, errors }) => [applies, errors.listed.length]),
    Array(5).fill([true, 0]),
  )
  const both = [await threads.acquire(forever), await threads.acquire(forever)]
  for (const thread of both) threads.release(thread)
  t.equal(threads.size, 2)
  await clock.advance(9999)
  t.equal(threads.size, 2)
  await clock.advance(1)
  t.equal(threads.size, 0)
  t.equal((await evaluate(threads, '{"labels":{"a":1}}')).errors.listed.length, 1)
})

t.test('the number of threads is limited, and a review waits for one', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const first = await threads.acquire(forever)
  let acquired = false
  const waiting = threads.acquire(forever).finally(() => (acquired = true))
  await begin(first, '{}')
  t.equal(acquired, false)
  t.equal(threads.size, 1)
  threads.release(first)
  const second = await waiting
  t.equal(second, first)
  await t.rejects(second.call('objects', undefined), { message: 'no review has begun' }, 'the previous review is discarded')
  threads.release(second)
})

t.test('a review that exceeds the memory limit of its thread fails, and the next one gets another thread', async (t) => {
  const { threads } = threadsOf(t, { maxOldGenerationSizeMb: 48 })
  // Worker threads do not keep the process alive. In production, the listening server keeps the process alive; here, this timer does.
  const running = setInterval(() => undefined, 1000)
  t.teardown(() => clearInterval(running))
  const fields = Array.from({ length: 480_000 }, (_, index) => `"key-${index}":"v"`).join()
  await t.rejects(evaluate(threads, `{"labels":{${fields}}}`), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
  t.equal((await evaluate(threads, '{}')).applies, true)
})

t.test('a thread parses a review, applies the changes, and answers like an inline evaluation', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const thread = await threads.acquire(forever)
  const payload = JSON.parse(reviewOfSpec('{"plain":[{"name":"a"}]}')) as {
    request: { object: JsonObject; operation: string; oldObject: unknown }
  }
  payload.request.operation = 'UPDATE'
  payload.request.oldObject = { ...payload.request.object, spec: { labels: { old: 'yes' } } }
  const bytes = new TextEncoder().encode(JSON.stringify(payload)).buffer
  const inline = new InlineEvaluation(rulesOf(targets, 'mutate'), readReview(Buffer.from(bytes.slice())))
  t.strictSame(await thread.call('begin', { webhook: 0, verb: 'mutate', bytes }, [bytes]), inline.begin())
  t.equal(bytes.byteLength, 0, 'the bytes have been transferred to the thread')
  const { object, oldObject } = await thread.call('objects', undefined)
  const objects = inline.objects()
  t.strictSame(
    [Buffer.from(object!), Buffer.from(oldObject!)].map((json) => JSON.parse(String(json)) as unknown),
    [objects.object, objects.oldObject],
  )
  const changed = { ...objects.object, spec: { plain: [{ name: 'a', weight: 11 }] } }
  const delta = writeDelta(structuredClone(changed), objects.object!, 1000).next().value as string
  t.strictSame(await thread.call('change', delta), inline.change(changed))
  const { text, patch } = await thread.call('answer', { allowed: true, warnings: ['w'] })
  const own = inline.answer({ allowed: true, warnings: ['w'] })
  t.strictSame([Buffer.from(text).toString(), patch], [own.text, own.patch])
  threads.release(thread)
})

t.test('a review with too many values, levels or bytes is refused unread, and the thread keeps working', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const refused = (what: string): { name: string; code: number; message: string } => ({
    name: 'BodyRefused',
    code: 413,
    message: `The AdmissionReview ${what}, and is not read.`,
  })
  await t.rejects(evaluate(threads, `{"open":[${'1,'.repeat(500_000)}1]}`), refused('has more than 500000 values'))
  await t.rejects(evaluate(threads, `{"open":${'['.repeat(1100)}${']'.repeat(1100)}}`), {
    name: 'BodyRefused',
    message: /has more than \d+ levels/,
  })
  const thread = await threads.acquire(forever)
  const sized = (length: number, letter = 'x'): Promise<Found> => {
    const text = reviewOfSpec('{}').replace('"options":null', `"options":{"a":"${letter.repeat(length)}"}`)
    const bytes = new TextEncoder().encode(text).buffer
    return thread.call('begin', { webhook: 0, verb: 'mutate', bytes }, [bytes])
  }
  const { request } = await sized(0)
  const rest = 128 * 1024 - JSON.stringify(request).length
  t.equal((await sized(rest)).applies, true)
  await t.rejects(sized(rest + 1), refused('is larger than 131072 bytes without its objects'))
  await t.rejects(sized(Math.floor(rest / 2) + 1, 'é'), refused('is larger than 131072 bytes without its objects'), 'two bytes a letter')
  threads.release(thread)
  t.equal((await evaluate(threads, '{}')).applies, true)
  t.equal(threads.size, 1)
})

t.test('reviews get their threads in order of arrival', async (t) => {
  const { threads, clock } = threadsOf(t, { threads: 1 })
  const first = await threads.acquire(forever)
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (number) => {
    const thread = await threads.acquire(forever)
    order.push(number)
    threads.release(thread)
  })
  threads.release(first)
  await Promise.all(waiting)
  t.strictSame(order, [1, 2, 3])
  t.equal(clock.pending, 1, 'one timer for the idle thread')
  const again = await threads.acquire(forever)
  t.equal(clock.pending, 0)
  threads.release(again)
})

t.test('a waiting review is rejected when the server stops', async (t) => {
  const { threads, clock } = threadsOf(t, { threads: 1 })
  const thread = await threads.acquire(forever)
  const waiting = threads.acquire(forever)
  const stopped = { message: 'the server ends' }
  const rejected = t.rejects(waiting, stopped)
  const busy = t.rejects(thread.call('objects', undefined), stopped)
  await threads.stop()
  await Promise.all([rejected, busy])
  t.equal(clock.pending, 0)
  threads.release(thread)
  t.equal(clock.pending, 0, 'a released thread that has stopped is not kept')
})

t.test('large values are transferred between threads', async (t) => {
  const item = Type.Object({ name: Type.String(), weight: Type.Integer({ default: 1 }) })
  const spec = Type.Object({ items: Type.Array(item), pod: Type.Builtin('PodSpec') })
  const kind = defineKind({ ...definition, versions: [{ name: 'v1', spec }] })
  const { threads } = threadsOf(t, { webhooks: combineWebhooks([defineWebhook(kind)]) })
  const items = Array.from({ length: 5000 }, (_, index) => `{"name":"n${index}"}`).join()
  const thread = await threads.acquire(forever)
  const begun = await begin(thread, `{"items":[${items}],"pod":{"containers":[{"name":"a"}],"unknown":1}}`)
  const { request: _, ...found } = begun
  t.strictSame(found, { applies: true, errors: { listed: [], omitted: 0 }, warnings: ['unknown field "spec.pod.unknown"'] })
  t.ok(JSON.stringify(begun).length < 1000, 'the structured-cloned part is short')
  const { object, oldObject } = await thread.call('objects', undefined)
  t.ok(object!.byteLength > 50_000)
  t.equal(oldObject, undefined)
  const { text, patch } = await thread.call('answer', { allowed: true })
  t.ok(text.byteLength > 50_000)
  t.equal(patch?.operations, 5000)
  threads.release(thread)
})

t.test('an aborted review stops its thread, or leaves the queue', async (t) => {
  const { threads } = threadsOf(t)
  const controller = new AbortController()
  const [first, second] = [await threads.acquire(forever), await threads.acquire(forever)]
  const begun = [first, second].map((thread) => begin(thread, '{}'))
  const queued = threads.acquire(controller.signal)
  controller.abort(new Error('too late'))
  await t.rejects(queued, { message: 'too late' })
  for (const thread of [first, second]) threads.release(thread)
  for (const one of begun) await t.rejects(one, { message: 'the review was aborted' })
  t.equal(threads.size, 0)
  t.equal((await evaluate(threads, '{}')).applies, true)
  await t.rejects(begin(first, '{}'), { message: 'the review was aborted' })
  await t.rejects(threads.acquire(controller.signal), { message: 'too late' })
})

t.test('a failing review does not affect others in its thread', async (t) => {
  const broken = { ...targets, schemaKind: { versions: 7 } } as unknown as CombinedWebhook
  const { threads } = threadsOf(t, { webhooks: [broken, targets], threads: 1 })
  await t.rejects(evaluate(threads, '{}', 0), { message: /is not a function/ })
  await t.rejects(evaluate(threads, '{', 1), { name: 'MalformedReview', message: /is not (the )?JSON/ })
  t.equal((await evaluate(threads, '{}', 1)).applies, true)
  t.equal(threads.size, 1)
})

t.test('a thread validates the built-in types that a kind embeds', async (t) => {
  const kind = defineKind({ ...definition, versions: [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }] })
  const { threads } = threadsOf(t, { webhooks: combineWebhooks([defineWebhook(kind)]) })
  t.strictSame((await evaluate(threads, '{"pod":{"containers":[{"name":"a"}]}}')).errors.listed, [])
  const { listed } = (await evaluate(threads, '{"pod":{"containers":[{"nam":1}]}}')).errors
  t.strictSame(
    listed.map(({ path }) => path),
    ['spec.pod.containers[0].name'],
  )
})

t.test('a starting thread is kept when its review is aborted', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const controller = new AbortController()
  const acquired = threads.acquire(controller.signal)
  controller.abort(new Error('too late'))
  await t.rejects(acquired, { message: 'too late' })
  t.equal(threads.size, 1)
  t.equal((await evaluate(threads, '{}')).applies, true)
  t.equal(threads.size, 1)
})

t.test(
  'worker threads have a lower priority than the main thread',
  { skip: process.platform !== 'linux' && 'only Linux has a priority for each thread' },
  async (t) => {
    const { threads } = threadsOf(t, { threads: 1 })
    await evaluate(threads, '{}')
    // The nice value is field 19 of the file `stat` (proc(5)). It is the 17th field after the process name.
    const nice = readdirSync('/proc/self/task').map((task) => {
      const fields = readFileSync(`/proc/self/task/${task}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      return Number(fields[16])
    })
    t.equal(nice.filter((value) => value === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
  },
)

/** Calls `listener` with each worker thread that starts during the test. */
function onWorker(t: Test, listener: (worker: Worker) => unknown): void {
  process.on('worker', listener)
  t.teardown(() => void process.off('worker', listener))
}

t.test('a thread that cannot start fails the review that has waited longest, and others get another thread', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const failures = [new Error('no memory'), new Error('no memory again')]
  onWorker(t, (worker) => {
    const failure = failures.shift()
    if (failure !== undefined) worker.emit('error', failure)
  })
  const acquired = Array.from({ length: 3 }, () => threads.acquire(forever))
  await t.rejects(acquired[0]!, { message: 'no memory' })
  await t.rejects(acquired[1]!, { message: 'no memory again' })
  const thread = await acquired[2]!
  t.equal((await begin(thread, '{}')).applies, true)
  t.equal(threads.size, 1)
  threads.release(thread)
})

t.test('the failure of a thread fails its own review, not one that waits', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const workers: Worker[] = []
  onWorker(t, (worker) => workers.push(worker))
  const thread = await threads.acquire(forever)
  const waiting = threads.acquire(forever)
  const busy = t.rejects(begin(thread, '{}'), { message: 'out of luck' })
  workers[0]!.emit('error', new Error('out of luck'))
  await busy
  threads.release(await waiting)
  t.equal(workers.length, 2)
})

t.test('a thread keeps the process alive while it starts or is reserved, not while it is idle', async (t) => {
  const { threads } = threadsOf(t, { threads: 1 })
  const ports = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
  const before = ports()
  const acquired = threads.acquire(forever)
  t.equal(ports(), before + 1, 'it starts')
  const thread = await acquired
  t.equal(ports(), before + 1, 'it is reserved')
  threads.release(thread)
  t.equal(ports(), before, 'it is idle')
  t.equal(await threads.acquire(forever), thread)
  t.equal(ports(), before + 1, 'it is reserved again')
})

t.test('threads have the memory limits of the options, and 512 MiB by default', async (t) => {
  const limits: unknown[] = []
  onWorker(t, ({ resourceLimits = {} }) => {
    limits.push([resourceLimits.maxOldGenerationSizeMb, resourceLimits.maxYoungGenerationSizeMb])
  })
  for (const maxOldGenerationSizeMb of [64, undefined]) await evaluate(threadsOf(t, { maxOldGenerationSizeMb }).threads, '{}')
  t.strictSame(limits, [
    [64, 8],
    [512, 8],
  ])
})

t.test('by default, two threads start at most, and one on a machine with two processors', async (t) => {
  const { threads } = threadsOf(t, { threads: undefined })
  const open = Array.from({ length: 3 }, () => evaluate(threads, '{}'))
  t.equal(threads.size, availableParallelism() > 2 ? 2 : 1)
  await Promise.all(open)
})

t.test('the timers of idle threads end with the server', async (t) => {
  const { threads, clock } = threadsOf(t)
  await evaluate(threads, '{}')
  t.equal(clock.pending, 1)
  await threads.stop()
  t.strictSame([clock.pending, threads.size], [0, 0])
})

t.test('reviews are rejected and threads stop with the server', async (t) => {
  const { threads } = threadsOf(t)
  const open = Array.from({ length: 4 }, () => evaluate(threads, '{}'))
  const settled = Promise.allSettled(open)
  await threads.stop()
  t.ok((await settled).every(({ status }) => status === 'rejected'))
  t.equal(threads.size, 0)
})
