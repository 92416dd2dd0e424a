import t from 'tap'
import { addErrors, noErrors } from '../../src/api/error-list.ts'
import type { FieldError } from '../../src/api/field-error.ts'
import { forbidden, invalid, invalidStatus } from '../../src/api/field-error.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { failure } from '../../src/api/status.ts'
import type { Client } from '../../src/client/client.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../src/webhook/access.ts'
import { AdmissionCache } from '../../src/webhook/admission-cache.ts'
import type { OperatorWebhook } from '../../src/webhook/combine.ts'
import { combineWebhooks } from '../../src/webhook/combine.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import type { WebhookHandlers } from '../../src/webhook/definition.ts'
import type { Call } from '../../src/webhook/handler.ts'
import { handlersWith, respond } from '../../src/webhook/handler.ts'
import { completeByHandlers } from '../../src/webhook/mutating.ts'
import { RequestContext } from '../../src/webhook/request-context.ts'
import { readReview } from '../../src/webhook/review.ts'
import { admissionVerdict, deletionVerdict, ownErrors } from '../../src/webhook/verdict.ts'
import { recordingLogger } from '../support/certs-recording-logger.ts'
import { review, widget, widgetObject } from '../support/webhook-fixture.ts'
import type { Widget } from '../support/webhook-fixture.ts'

const old = widgetObject({ size: 1 })
const decoded = readReview(Buffer.from(JSON.stringify(review({ operation: 'UPDATE', object: widgetObject({ size: 2 }), oldObject: old }))))
const { request } = decoded
const object = decoded.object!
const listOf = (...errors: FieldError[]): ReturnType<typeof addErrors> => addErrors(noErrors, errors)
const [first, second, third] = [invalid('spec.a', 1, 'first'), forbidden('spec.b', 'second'), forbidden('spec.c', 'third')] as const
const boom = new Error('boom')

function fixture(): { context: RequestContext; entries: Record<string, unknown>[] } {
  const { logger, entries } = recordingLogger('debug')
  const call: Call = {
    client: {} as Client,
    cache: new AdmissionCache(undefined),
    access: new AccessReviews(new FakeClock()),
    logger,
    signal: new AbortController().signal,
  }
  return { context: new RequestContext(request, decoded.oldObject, call), entries }
}

const webhooksOf = (...handlers: readonly WebhookHandlers<Widget>[]): OperatorWebhook[] => handlers.map((one) => defineWebhook(widget, one))
const said = (entries: readonly Record<string, unknown>[]): unknown[] =>
  entries.map(({ level, msg, err }) => [level, msg, (err as Error).message])

t.test('validate is given the frozen object, the one before and the context', async (t) => {
  const { context } = fixture()
  const given: unknown[][] = []
  await ownErrors(webhooksOf({ validate: (...all) => (given.push(all), []) }, {}), object, context)
  t.equal(given.length, 1)
  t.equal(given[0]![0], object)
  t.equal(given[0]![1], context.oldObject)
  t.equal(given[0]![2], context)
  t.ok([object, object['spec'], context.oldObject, context.oldObject!['spec']].every((one) => Object.isFrozen(one)))
  const creating = new RequestContext(request, undefined, {} as Call)
  await ownErrors(webhooksOf({ validate: (...all) => (given.push(all), []) }), object, creating)
  t.equal(given[1]![1], undefined)
})

t.test('what one validate throws counts where nothing is known against the object', async (t) => {
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
    t.strictSame(said(entries), isSwallowed ? [['debug', 'validate() failed on an object that is refused anyway: boom', 'boom']] : [])
  }
})

t.test('the cluster is asked by each handler, with a context of its own, and a status ends it', async (t) => {
  const no = failure(403, 'Forbidden', 'no')
  const asked: string[] = []
  const answering = (name: string, answer: readonly FieldError[] | typeof no | Error): WebhookHandlers<Widget> => ({
    validateInCluster: async (given, before, { warn, operation }) => {
      asked.push(`${name} ${operation} ${given.spec.size} ${before?.spec.size}`)
      warn(name)
      if (answer instanceof Error) throw answer
      return answer
    },
    validateDelete: async (given, { operation }) => {
      asked.push(`${name} ${operation} ${given.spec.size}`)
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  for (const [answers, known, verdict, calls] of [
    [[[], []], noErrors, noErrors, 2],
    [[[first], [second]], listOf(third), listOf(third, first, second), 2],
    [[[first], no, [second]], noErrors, no, 2],
    [[[first], boom, [second]], noErrors, listOf(first, second), 3],
    [[boom, [second]], noErrors, boom, 1],
    [[boom, [second]], listOf(third), listOf(third, second), 2],
  ] as const) {
    const { context, entries } = fixture()
    const handlers = webhooksOf({ validate: () => [first] }, ...answers.map((answer, index) => answering(String(index), answer)))
    const asks = [
      () => admissionVerdict(handlers, object, context, known),
      ...(known === noErrors ? [() => deletionVerdict(handlers, object, context)] : []),
    ]
    for (const [index, ask] of asks.entries()) {
      asked.length = 0
      entries.length = 0
      if (verdict === boom) await t.rejects(ask(), boom)
      else t.strictSame(await ask(), verdict)
      t.strictSame(
        asked,
        Array.from({ length: calls }, (_, at) => (index === 0 ? `${at} UPDATE 2 1` : `${at} UPDATE 2`)),
      )
      const isSwallowed = verdict !== boom && (answers as readonly unknown[]).includes(boom)
      t.strictSame(said(entries), isSwallowed ? [['debug', 'a handler failed on an object that is refused anyway: boom', 'boom']] : [])
    }
    t.strictSame(
      context.said()?.warnings,
      Array.from({ length: calls }, (_, at) => String(at)),
    )
  }
})

t.test('defaults are asked one after the other, as long as the types are right', async (t) => {
  const wrongType = listOf({ path: 'spec', reason: 'FieldValueTypeInvalid', message: 'wrong' })
  const named = (name: string): WebhookHandlers<Widget> => ({
    default: async (given) => ({ ...given, spec: { ...given.spec, note: `${given.spec.note ?? ''}${name}` } }),
  })
  const fails: WebhookHandlers<Widget> = { default: () => Promise.reject(boom) }
  const noteOf = ({ spec }: JsonObject): unknown => (spec as JsonObject)['note']
  for (const [handlers, before, after, note, errors, changes] of [
    [[named('a'), {}, named('b')], noErrors, noErrors, 'ab', noErrors, 2],
    [[{ default: (given) => given }], listOf(first), noErrors, undefined, listOf(first), 0],
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
    const completing = completeByHandlers(
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
    t.strictSame(said(entries), isSwallowed ? [['debug', 'default() failed on an object that the schema refuses: boom', 'boom']] : [])
  }
})

t.test('what a default returns is an object', async (t) => {
  for (const result of [undefined, null, [], 'x'])
    await t.rejects(
      completeByHandlers(webhooksOf({ default: () => result as never }), { object, errors: noErrors }, fixture().context, () => noErrors),
      { name: 'TypeError', message: 'default() must return the object, changed or not' },
    )
})

t.test('handlers are those that have one of the functions, for each operation', async (t) => {
  const all = [
    defineWebhook(widget, { validate: () => [], operations: ['CREATE'] }),
    defineWebhook(widget, { validateInCluster: () => [], operations: ['UPDATE', 'CONNECT'] }),
    defineWebhook(widget, { validateDelete: () => [], operations: ['CREATE', 'DELETE'] }),
  ] as const
  const [{ handlers }] = combineWebhooks(all) as [ReturnType<typeof combineWebhooks>[0]]
  t.strictSame(handlersWith(handlers, 'validate', 'validateInCluster'), {
    CREATE: [all[0]],
    UPDATE: [all[1]],
    DELETE: [],
    CONNECT: [all[1]],
  })
  t.strictSame(handlersWith(handlers, 'validateDelete'), { CREATE: [all[2]], UPDATE: [], DELETE: [all[2]], CONNECT: [] })
})

t.test('a response has all that was said, and the errors sorted with what was left out at their end', async (t) => {
  const { kind } = request
  const words = { warnings: ['w'], auditAnnotations: { a: 'b' } }
  t.strictSame(respond(request, noErrors), { allowed: true })
  t.strictSame(respond(request, noErrors, words), { allowed: true, ...words })
  const no = failure(403, 'Forbidden', 'no')
  t.strictSame(respond(request, no, words), { allowed: false, status: no, ...words })
  t.strictSame(respond(request, listOf(second, first), words), {
    allowed: false,
    status: invalidStatus(kind, 'w', [first, second]),
    ...words,
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
