/** Tests of `OffloadedEvaluation`: the calls to the worker thread during an evaluation. A fake worker thread records the calls. */
import t from 'tap'
import { noErrors } from '../../../src/api/error-list.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { OffloadedEvaluation } from '../../../src/webhook/evaluation/offloaded.ts'
import type { ReviewThreads } from '../../../src/webhook/evaluation/review-threads.ts'
import type { Call } from '../../../src/webhook/handlers/call.ts'
import { encodeReview, readReview } from '../../../src/webhook/review/admission-review.ts'
import { review, widgetObject } from '../../support/webhook/fixture.ts'

const object = widgetObject({ size: 1 })
const body = JSON.stringify(review({ object, dryRun: true }))
const { request } = readReview(Buffer.from(body))
const bufferOf = (value: unknown): ArrayBuffer => new TextEncoder().encode(JSON.stringify(value)).buffer

interface Fixture {
  readonly evaluation: OffloadedEvaluation
  readonly controller: AbortController
  readonly calls: { readonly method: string; readonly argument: unknown; readonly moved: readonly ArrayBuffer[] }[]
  /** Returns the number of times that the worker thread was released. */
  readonly released: () => number
  begin(): Promise<unknown>
}

function fixture(bytes = Buffer.from(body), { verb = 'mutate' as 'mutate' | 'validate', applies = true, input = object } = {}): Fixture {
  const controller = new AbortController()
  const calls: Fixture['calls'] = []
  let released = 0
  const answers: Readonly<Record<string, unknown>> = {
    begin: { request, applies, errors: noErrors, warnings: [] },
    objects: { object: bufferOf(input), oldObject: undefined },
    change: noErrors,
    answer: { text: bufferOf('written'), patch: { operations: 1, bytes: 2 } },
  }
  const thread = {
    call: async (method: string, argument: unknown, moved: readonly ArrayBuffer[] = []) => {
      calls.push({ method, argument, moved })
      return answers[method]
    },
  }
  const threads = {
    acquire: async (signal: AbortSignal) => (signal === controller.signal ? thread : undefined),
    release: (one: unknown) => (released += one === thread ? 1 : NaN),
  } as unknown as ReviewThreads
  const evaluation = new OffloadedEvaluation(bytes, { threads, webhook: 3, verb })
  return {
    evaluation,
    controller,
    calls,
    released: () => released,
    begin: async () => evaluation.begin({ signal: controller.signal } as Call),
  }
}

t.test('the body is moved to the thread, and the request is known before, except for the fields behind its objects', async (t) => {
  const own = Buffer.from(new TextEncoder().encode(body).buffer)
  const { evaluation, calls, begin } = fixture(own)
  t.strictSame(evaluation.request, { ...request, dryRun: false, options: undefined })
  t.strictSame(await begin(), { request, applies: true, errors: noErrors, warnings: [] })
  t.strictSame(evaluation.request, request)
  const [{ method, argument, moved }] = calls as [Fixture['calls'][0]]
  const { webhook, verb, bytes } = argument as { webhook: number; verb: string; bytes: ArrayBuffer }
  t.strictSame([method, webhook, verb], ['begin', 3, 'mutate'])
  t.equal(bytes, own.buffer, 'without a copy')
  t.equal(moved.length, 1)
  t.equal(moved[0], bytes)
})

t.test('a body that is part of a shared buffer is copied', async (t) => {
  const { calls, begin } = fixture(Buffer.from(`${body}${body}`).subarray(0, Buffer.byteLength(body)))
  await begin()
  const { bytes } = calls[0]!.argument as { bytes: ArrayBuffer }
  t.equal(Buffer.from(bytes).toString(), body)
})

t.test('objects are parsed and frozen, and changed objects are sent as deltas', async (t) => {
  const { evaluation, calls, begin } = fixture()
  await begin()
  const objects = await evaluation.objects()
  t.strictSame(objects, { object, oldObject: undefined })
  const input = objects.object as JsonObject & { spec: JsonObject }
  t.ok(Object.isFrozen(input) && Object.isFrozen(input.spec))
  const changed = { ...input, spec: { ...input.spec, size: 2 } }
  t.equal(await evaluation.change(changed), noErrors)
  await evaluation.change({ ...changed, kind: 'Other' })
  t.strictSame(
    calls.slice(1).map(({ method, argument }) => [method, argument]),
    [
      ['objects', undefined],
      ['change', '[2,"apiVersion",[0],"kind",[0],"metadata",[0],"spec",[2,"size",2]]'],
      ['change', '[2,"apiVersion",[0],"kind","Other","metadata",[0],"spec",[0]]'],
    ],
  )
})

t.test('the thread writes answers that may have a patch', async (t) => {
  const { evaluation, calls, begin } = fixture()
  await begin()
  const { text, patch } = await evaluation.answer({ allowed: true })
  t.strictSame([String(text), patch], ['"written"', { operations: 1, bytes: 2 }])
  t.strictSame([calls[1]!.method, calls[1]!.argument], ['answer', { allowed: true }])
  for (const [options, response] of [
    [{}, { allowed: false }],
    [{ verb: 'validate' }, { allowed: true }],
    [{ applies: false }, { allowed: true }],
  ] as const) {
    const other = fixture(undefined, options)
    await other.begin()
    t.strictSame(await other.evaluation.answer(response), encodeReview('uid-1', response), JSON.stringify(options))
    t.equal(other.calls.length, 1)
    other.evaluation.close()
    t.strictSame(await other.evaluation.answer(response), encodeReview('uid-1', response), 'also when it is closed')
  }
})

t.test('closing an evaluation releases the thread once, and later calls are refused', async (t) => {
  const { evaluation, calls, released, begin } = fixture()
  evaluation.close()
  t.equal(released(), 0, 'no thread has been acquired yet')
  await begin()
  for (const _ of [1, 2]) evaluation.close()
  t.equal(released(), 1)
  await t.rejects(evaluation.objects(), { message: 'the review has been closed' })
  t.equal(calls.length, 1)
})

t.test('an aborted review releases its thread, and throws the reason', async (t) => {
  const { evaluation, controller, calls, released, begin } = fixture()
  await begin()
  const { object: read } = await evaluation.objects()
  const reason = new Error('too late')
  controller.abort(reason)
  t.equal(released(), 1)
  await t.rejects(evaluation.objects(), reason)
  await t.rejects(evaluation.change({ ...read }), reason)
  t.equal(calls.length, 2)

  const late = fixture()
  const beginning = late.begin()
  late.controller.abort(reason)
  await t.rejects(beginning, reason)
  t.strictSame([late.released(), late.calls.length], [1, 0], 'also one that has just acquired its thread')
})

t.test('large objects are parsed and written while the event loop stays free, until the review is aborted', async (t) => {
  const large = widgetObject({ parts: Array.from({ length: 10_000 }, (_, index) => ({ name: `n${index}` })) })
  let turns = 0
  let counting = setImmediate(function count() {
    turns += 1
    counting = setImmediate(count)
  })
  t.teardown(() => clearImmediate(counting))
  const { evaluation, begin } = fixture(undefined, { input: large })
  await begin()
  turns = 0
  const { object: read } = await evaluation.objects()
  // The object has 20,000 values, and each iteration of the event loop reads 5,000 of them.
  t.ok(turns >= 3, `read in ${turns} turns`)
  turns = 0
  await evaluation.change(structuredClone(read!))
  t.ok(turns >= 3, `written in ${turns} turns`)

  const reason = new Error('too late')
  for (const step of ['objects', 'change'] as const) {
    const late = fixture(undefined, { input: large })
    await late.begin()
    if (step === 'change') await late.evaluation.objects()
    const before = late.calls.length
    const working = step === 'change' ? late.evaluation.change(structuredClone(read!)) : late.evaluation.objects()
    setImmediate(() => late.controller.abort(reason))
    await t.rejects(Promise.resolve<unknown>(working), reason)
    t.equal(late.calls.length, before + (step === 'objects' ? 1 : 0))
  }
})
