import t from 'tap'
import { addErrors, noErrors } from '../../../src/api/error-list.ts'
import type { FieldError } from '../../../src/api/field-error.ts'
import { forbidden, invalid, invalidStatus } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { failure } from '../../../src/api/status.ts'
import type { Client } from '../../../src/client/client.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../../src/webhook/handlers/requester-access.ts'
import { AdmissionCache } from '../../../src/webhook/handlers/admission-cache.ts'
import type { OperatorWebhook } from '../../../src/webhook/definition/combine.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { WebhookHandlers } from '../../../src/webhook/definition/definition.ts'
import type { Call } from '../../../src/webhook/handlers/call.ts'
import { webhooksWith } from '../../../src/webhook/definition/combine.ts'
import { respond } from '../../../src/webhook/handlers/verdict.ts'
import { applyDefaultHandlers } from '../../../src/webhook/handlers/mutating.ts'
import { HandlerContext } from '../../../src/webhook/handlers/handler-context.ts'
import { readReview } from '../../../src/webhook/review/admission-review.ts'
import { admissionVerdict, deletionVerdict, ownErrors } from '../../../src/webhook/handlers/verdict.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { review, widget, widgetObject } from '../../support/webhook/fixture.ts'
import type { Widget } from '../../support/webhook/fixture.ts'

const old = widgetObject({ size: 1 })
const decoded = readReview(Buffer.from(JSON.stringify(review({ operation: 'UPDATE', object: widgetObject({ size: 2 }), oldObject: old }))))
const { request } = decoded
const object = decoded.object!
const listOf = (...errors: FieldError[]): ReturnType<typeof addErrors> => addErrors(noErrors, errors)
const [first, second, third] = [invalid('spec.a', 1, 'first'), forbidden('spec.b', 'second'), forbidden('spec.c', 'third')] as const
const boom = new Error('boom')

function fixture(): { context: HandlerContext; entries: Record<string, unknown>[] } {
  const { logger, entries } = recordingLogger('debug')
  const call: Call = {
    client: {} as Client,
    cache: new AdmissionCache(undefined),
    access: new AccessReviews(new FakeClock()),
    logger,
    signal: new AbortController().signal,
  }
  return { context: new HandlerContext(request, decoded.oldObject, call), entries }
}

const webhooksOf = (...handlers: readonly WebhookHandlers<Widget>[]): OperatorWebhook[] => handlers.map((one) => defineWebhook(widget, one))
const logged = (entries: readonly Record<string, unknown>[]): unknown[] =>
  entries.map(({ level, msg, err }) => [level, msg, (err as Error).message])

t.test('validate receives the frozen object, the old object and the context', async (t) => {
  const { context } = fixture()
  const received: unknown[][] = []
  await ownErrors(webhooksOf({ validate: (...all) => (received.push(all), []) }, {}), object, context)
  t.equal(received.length, 1)
  t.equal(received[0]![0], object)
  t.equal(received[0]![1], context.oldObject)
  t.equal(received[0]![2], context)
  t.ok([object, object['spec'], context.oldObject, context.oldObject!['spec']].every((one) => Object.isFrozen(one)))
  const creating = new HandlerContext(request, undefined, {} as Call)
  await ownErrors(webhooksOf({ validate: (...all) => (received.push(all), []) }), object, creating)
  t.equal(received[1]![1], undefined)
})

t.test('an error that validate throws is swallowed if the object is refused anyway', async (t) => {
  const throws: WebhookHandlers<Widget> = { validate: () => Promise.reject(boom) }
  for (const [handlers, known, errors] of [
    [[{ validate: () => [first] }, { validate: async () => [second] }], noErrors, [first, second]],
    [[{ validate: () => [first] }, throws, { validate: () => [second] }], noErrors, [first, second]],
    [[throws, { validate: () => [first] }], noErrors, boom],
    [[throws, { validate: () => [first] }], listOf(third), [first]],
    [[throws], listOf(third), []],
    [[], listOf(third), []],
  ] as const) {
    const { context, entries } = fixture()
    const found = ownErrors(webhooksOf(...handlers), object, context, known)
    if (errors === boom) await t.rejects(found, boom)
    else t.strictSame((await found).listed, errors)
    const isSwallowed = errors !== boom && (handlers as readonly unknown[]).includes(throws)
    t.strictSame(logged(entries), isSwallowed ? [['debug', 'validate() failed on an object that is refused anyway: boom', 'boom']] : [])
  }
})

t.test('validateInCluster of each handler is called in turn, and a returned Status ends the validation', async (t) => {
  const no = failure(403, 'Forbidden', 'no')
  const called: string[] = []
  const answering = (name: string, answer: readonly FieldError[] | typeof no | Error): WebhookHandlers<Widget> => ({
    validateInCluster: async (current, before, { warn, operation }) => {
      called.push(`${name} ${operation} ${current.spec.size} ${before?.spec.size}`)
      warn(name)
      if (answer instanceof Error) throw answer
      return answer
    },
    validateDelete: async (current, { operation }) => {
      called.push(`${name} ${operation} ${current.spec.size}`)
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  for (const [answers, known, result, calls] of [
    [[[], []], noErrors, noErrors, 2],
    [[[first], [second]], listOf(third), listOf(third, first, second), 2],
    [[[first], no, [second]], noErrors, no, 2],
    [[[first], boom, [second]], noErrors, listOf(first, second), 3],
    [[boom, [second]], noErrors, boom, 1],
    [[boom, [second]], listOf(third), listOf(third, second), 2],
  ] as const) {
    const { context, entries } = fixture()
    const handlers = webhooksOf({ validate: () => [first] }, ...answers.map((answer, index) => answering(String(index), answer)))
    const runs = [
      () => admissionVerdict(handlers, object, context, known),
      ...(known === noErrors ? [() => deletionVerdict(handlers, object, context)] : []),
    ]
    for (const [index, run] of runs.entries()) {
      called.length = 0
      entries.length = 0
      if (result === boom) await t.rejects(run(), boom)
      else t.strictSame(await run(), result)
      t.strictSame(
        called,
        Array.from({ length: calls }, (_, at) => (index === 0 ? `${at} UPDATE 2 1` : `${at} UPDATE 2`)),
      )
      const isSwallowed = result !== boom && (answers as readonly unknown[]).includes(boom)
      t.strictSame(logged(entries), isSwallowed ? [['debug', 'a handler failed on an object that is refused anyway: boom', 'boom']] : [])
    }
    t.strictSame(
      context.collected()?.warnings,
      Array.from({ length: calls }, (_, at) => String(at)),
    )
  }
})

t.test('default handlers run in order as long as the types are right', async (t) => {
  const wrongType = listOf({ path: 'spec', reason: 'FieldValueTypeInvalid', message: 'wrong' })
  const named = (name: string): WebhookHandlers<Widget> => ({
    default: async (current) => ({ ...current, spec: { ...current.spec, note: `${current.spec.note ?? ''}${name}` } }),
  })
  const fails: WebhookHandlers<Widget> = { default: () => Promise.reject(boom) }
  const noteOf = ({ spec }: JsonObject): unknown => (spec as JsonObject)['note']
  for (const [handlers, before, after, note, errors, changes] of [
    [[named('a'), {}, named('b')], noErrors, noErrors, 'ab', noErrors, 2],
    [[{ default: (current) => current }], listOf(first), noErrors, undefined, listOf(first), 0],
    [[named('a'), named('b')], listOf(first), listOf(second), 'ab', listOf(second), 2],
    [[named('a')], wrongType, noErrors, undefined, wrongType, 0],
    [[named('a'), named('b')], noErrors, wrongType, 'a', wrongType, 1],
    [[fails, named('b')], listOf(first), noErrors, undefined, listOf(first), 0],
    [[fails], noErrors, noErrors, undefined, boom, 0],
  ] as readonly (readonly [
    WebhookHandlers<Widget>[],
    typeof noErrors,
    typeof noErrors,
    string | undefined,
    typeof noErrors | Error,
    number,
  ])[]) {
    const { context, entries } = fixture()
    const changed: JsonObject[] = []
    const completing = applyDefaultHandlers(
      webhooksOf(...handlers),
      { object, errors: before },
      context,
      async (one) => (changed.push(one), after),
    )
    if (errors === boom) await t.rejects(completing, boom)
    else {
      const completed = await completing
      t.strictSame([noteOf(completed.object), completed.errors], [note, errors])
      t.equal(changed.at(-1) ?? object, completed.object)
    }
    t.equal(changed.length, changes)
    const isSwallowed = errors !== boom && handlers.includes(fails)
    t.strictSame(logged(entries), isSwallowed ? [['debug', 'default() failed on an object that the schema refuses: boom', 'boom']] : [])
  }
})

t.test('default() must return an object', async (t) => {
  for (const result of [undefined, null, [], 'x'])
    await t.rejects(
      applyDefaultHandlers(webhooksOf({ default: () => result as never }), { object, errors: noErrors }, fixture().context, () => noErrors),
      { name: 'TypeError', message: 'default() must return the object, changed or not' },
    )
})

t.test('handlers are selected by operation and by function', async (t) => {
  const all = [
    defineWebhook(widget, { validate: () => [], operations: ['CREATE'] }),
    defineWebhook(widget, { validateInCluster: () => [], operations: ['UPDATE', 'CONNECT'] }),
    defineWebhook(widget, { validateDelete: () => [], operations: ['CREATE', 'DELETE'] }),
  ] as const
  const [{ webhooks }] = combineWebhooks(all) as [ReturnType<typeof combineWebhooks>[0]]
  t.strictSame(webhooksWith(webhooks, 'validate', 'validateInCluster'), {
    CREATE: [all[0]],
    UPDATE: [all[1]],
    DELETE: [],
    CONNECT: [all[1]],
  })
  t.strictSame(webhooksWith(webhooks, 'validateDelete'), { CREATE: [all[2]], UPDATE: [], DELETE: [all[2]], CONNECT: [] })
})

t.test('a response has all warnings and audit annotations, and the sorted errors with the number of omitted ones', async (t) => {
  const { kind } = request
  const extras = { warnings: ['w'], auditAnnotations: { a: 'b' } }
  t.strictSame(respond(request, noErrors), { allowed: true })
  t.strictSame(respond(request, noErrors, extras), { allowed: true, ...extras })
  const no = failure(403, 'Forbidden', 'no')
  t.strictSame(respond(request, no, extras), { allowed: false, status: no, ...extras })
  t.strictSame(respond(request, listOf(second, first), extras), {
    allowed: false,
    status: invalidStatus(kind, 'w', [first, second]),
    ...extras,
  })
  const { status } = respond(request, { listed: [third, first], omitted: 2 })
  t.strictSame(
    status?.details?.causes?.map(({ field, message }) => `${field}: ${message}`),
    [
      'spec.a: Invalid value: 1: first',
      'spec.c: Forbidden: third',
      '<nil>: Too many: at least 2 more errors are not listed; correct those that are',
    ],
  )
})
