import t from 'tap'
import { noErrors } from '../../../src/api/error-list.ts'
import { formatFieldError } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { defineKind } from '../../../src/api/kind.ts'
import type { Kind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'
import { failure } from '../../../src/api/status.ts'
import type { Verb } from '../../../src/webhook/evaluation/evaluation.ts'
import { InlineEvaluation, rulesOf } from '../../../src/webhook/evaluation/inline.ts'
import { encodeReview, readReview } from '../../../src/webhook/review/admission-review.ts'
import { review, widget, widgetObject } from '../../support/webhook/fixture.ts'
import type { ReviewedRequest } from '../../support/webhook/fixture.ts'

const object = widgetObject({ image: 'i' })

function evaluationOf(verb: Verb, request: ReviewedRequest, kind: Kind | null = widget, subresource = ''): InlineEvaluation {
  const rules = rulesOf({ schemaKind: kind ?? undefined, version: 'v1', subresource }, verb)
  return new InlineEvaluation(rules, readReview(Buffer.from(JSON.stringify(review(request)))))
}

t.test('a review applies if it has an object for the webhook', async (t) => {
  const cases: readonly (readonly [ReviewedRequest, mutate: boolean, validate: boolean])[] = [
    [{ object }, true, true],
    [{ operation: 'UPDATE', object, oldObject: object }, true, true],
    [{ operation: 'UPDATE', object, oldObject: object, subResource: 'status' }, false, false],
    [{ operation: 'DELETE', oldObject: object }, false, true],
    [{ operation: 'DELETE' }, false, false],
    [{ operation: 'CONNECT', object }, false, false],
  ]
  for (const [request, ...expected] of cases)
    for (const [index, verb] of (['mutate', 'validate'] as const).entries())
      t.equal(evaluationOf(verb, request).begin().applies, expected[index], `${verb} ${JSON.stringify(request)}`)
})

t.test('a review of a subresource applies, and CONNECT may have no options', async (t) => {
  const connect = { operation: 'CONNECT', subResource: 'exec' }
  for (const [verb, request, applies, expected] of [
    ['mutate', { ...connect, object }, true, object],
    ['mutate', connect, false, undefined],
    ['validate', { ...connect, object }, true, object],
    ['validate', connect, true, {}],
    ['validate', { operation: 'UPDATE', subResource: 'status', object, oldObject: object }, true, object],
  ] as const) {
    const evaluation = evaluationOf(verb, request as ReviewedRequest, null, request.subResource)
    const { request: decoded } = evaluation
    t.strictSame(evaluation.begin(), { request: decoded, applies, errors: noErrors, warnings: [] })
    t.strictSame(evaluation.objects().object, expected)
    t.equal(evaluation.change(object), noErrors, 'without a schema there are no errors')
  }
})

t.test('a mutating webhook applies the defaults of the schema, a validating one leaves the object as it is', async (t) => {
  const mutating = evaluationOf('mutate', { object })
  t.strictSame(mutating.begin().errors, noErrors)
  t.strictSame(mutating.objects(), { object: widgetObject({ image: 'i', size: 3 }), oldObject: undefined })
  const validating = evaluationOf('validate', { operation: 'UPDATE', object, oldObject: object })
  validating.begin()
  t.strictSame(validating.objects(), { object, oldObject: object })
})

t.test('an update is validated against the old object: unchanged errors are tolerated', async (t) => {
  const lacking = widgetObject({})
  for (const verb of ['mutate', 'validate'] as const) {
    const created = evaluationOf(verb, { object: lacking })
    t.strictSame(created.begin().errors.listed.map(formatFieldError), ['spec.image: Required value'])
    const oldObject = widgetObject({ size: 99 })
    const pathsOf = (object: JsonObject): string[] =>
      evaluationOf(verb, { operation: 'UPDATE', object, oldObject })
        .begin()
        .errors.listed.map(({ path }) => path)
        .sort()
    t.strictSame(pathsOf(widgetObject({ size: 99 }, { labels: { a: 'b' } })), [])
    t.strictSame(pathsOf(widgetObject({ size: 99, note: 'new' })), ['spec.image'])
    t.strictSame(pathsOf(widgetObject({ size: 98 })), ['spec.image', 'spec.size'])
  }
})

t.test('the object that a handler returns is validated and becomes the patch', async (t) => {
  const evaluation = evaluationOf('mutate', { object })
  evaluation.begin()
  const errors = evaluation.change(widgetObject({ image: 'i', size: 10 }))
  t.strictSame(
    errors.listed.map(({ path }) => path),
    ['spec.size'],
  )
  t.strictSame(evaluation.change(widgetObject({ image: 'j', size: 9 })).listed, [])
  const changed = [
    { op: 'replace', path: '/spec/image', value: 'j' },
    { op: 'add', path: '/spec/size', value: 9 },
  ] as const
  t.strictSame(evaluation.answer({ allowed: true, warnings: ['w'] }), encodeReview('uid-1', { allowed: true, warnings: ['w'] }, changed))
  const denied = { allowed: false, status: failure(403, 'Forbidden', 'no') }
  t.strictSame(evaluation.answer(denied), encodeReview('uid-1', denied))
})

t.test('only answers of applying mutating reviews have a patch', async (t) => {
  const none = encodeReview('uid-1', { allowed: true })
  for (const [verb, request] of [
    ['validate', { object }],
    ['mutate', { operation: 'DELETE', oldObject: object }],
    ['mutate', { operation: 'UPDATE', subResource: 'status', object, oldObject: object }],
  ] as const) {
    const evaluation = evaluationOf(verb, request)
    evaluation.begin()
    t.strictSame(evaluation.answer({ allowed: true }), none, JSON.stringify([verb, request]))
  }
})

t.test('a mutating webhook warns of at most 32 unknown fields of an embedded type', async (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Holder',
    versions: [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }],
  })
  const warningsOf = (verb: Verb, fields: JsonObject): readonly string[] =>
    evaluationOf(verb, { object: widgetObject({ pod: { containers: [], ...fields } }) }, kind).begin().warnings
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`f${index}`, 1]))
  t.equal(warningsOf('mutate', many).length, 32)
  t.strictSame(warningsOf('validate', many), [])
  t.strictSame(warningsOf('mutate', { typo: 1 }), ['unknown field "spec.pod.typo"'])
})
