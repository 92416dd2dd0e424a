/** Tests that the rejection of an object with very many errors takes little CPU time. */
import t from 'tap'
import type { FieldError } from '../../src/api/field-error.ts'
import { forbidden } from '../../src/api/field-error.ts'
import { validateAnnotations, validateLabels } from '../../src/api/object-meta.ts'
import { reviewOfSpec } from '../support/hostile/reviews.ts'
import type { Handlers } from '../support/hostile/server.ts'
import { ask, serve } from '../support/hostile/server.ts'
import { Turns } from '../support/turns.ts'

/**
 * The maximum duration of an iteration of the event loop, in milliseconds of CPU time. An ordinary iteration takes a fraction of this
 * limit. If the code created an error for each label, 60,000 labels would block the event loop for 1.3 s.
 */
const longestTurn = 300

const labels = (count: number, key: (index: number) => string): string =>
  `{"labels":{${Array.from({ length: count }, (_, index) => `"${key(index)}":"é é"`).join()}}}`
const bad = (index: number): string => `-bad ${index}`

const attacks: readonly [name: string, validate: NonNullable<NonNullable<Handlers>['validate']>, spec: string][] = [
  ['12,000 bad labels', ({ spec }) => validateLabels(spec.labels, 'spec.labels'), labels(12_000, bad)],
  ['60,000 bad labels', ({ spec }) => validateLabels(spec.labels, 'spec.labels'), labels(60_000, bad)],
  ['60,000 bad annotations', ({ spec }) => validateAnnotations(spec.labels, 'spec.labels'), labels(60_000, bad)],
  ['few labels, with long keys', ({ spec }) => validateLabels(spec.labels, 'spec.labels'), labels(60, (i) => `${i} ${'k'.repeat(50_000)}`)],
  [
    'a handler that lists 100,000 errors',
    () => Array.from({ length: 100_000 }, (_, i): FieldError => forbidden(`spec.x[${i}]`, 'is not wanted')),
    '{}',
  ],
  [
    'a handler that lists long errors',
    () => Array.from({ length: 1000 }, (_, i): FieldError => forbidden(`spec.x[${i}]`, 'x'.repeat(100_000))),
    '{}',
  ],
]

t.test('a response lists at most 250 errors, and states that there are more', async (t) => {
  for (const [name, validate, spec] of attacks) {
    const { server } = await serve(t, { validate })
    for (const verb of ['mutate', 'validate']) {
      const body = Buffer.from(reviewOfSpec(spec))
      const turns = new Turns()
      const answer = await ask(server, verb, body)
      t.ok(turns.stop() < longestTurn, `${verb} ${name}: ${turns.longest.toFixed(1)} ms`)
      t.match({ allowed: answer.allowed, code: answer.status?.code }, { allowed: false, code: 422 }, name)
      const causes = answer.status?.details?.causes ?? []
      t.ok(causes.length > 1 && causes.length <= 251, `${causes.length} causes`)
      t.match(causes.at(-1), {
        field: '<nil>',
        reason: 'FieldValueTooMany',
        message: /^Too many: at least \d+ more errors? (is|are) not listed/,
      })
      t.ok(JSON.stringify(answer).length < 600_000, `${JSON.stringify(answer).length} characters`)
    }
    await server.stop(0)
  }
})

t.test('a response has at most 64 warnings of 4096 characters', async (t) => {
  const { server } = await serve(t, {
    validate: (_object, _old, { warn }) => {
      for (let index = 0; index < 10_000; index += 1) warn(`${index} ${'w'.repeat(100_000)}`)
      return []
    },
  })
  const { warnings = [] } = await ask(server, 'validate', reviewOfSpec('{}'))
  t.equal(warnings.length, 64)
  t.ok(warnings.every(({ length }) => length <= 4096))
})
