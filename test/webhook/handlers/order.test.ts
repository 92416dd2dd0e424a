/** Tests of the order of the steps in the mutating and the validating handler. A fake evaluation and a fake cache record the steps. */
import t from 'tap'
import type { ErrorList } from '../../../src/api/error-list.ts'
import { addErrors, noErrors } from '../../../src/api/error-list.ts'
import { configMap } from '../../../src/api/builtin.ts'
import { invalid, invalidStatus } from '../../../src/api/field-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../../src/webhook/handlers/requester-access.ts'
import { AdmissionCache } from '../../../src/webhook/handlers/admission-cache.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import type { WebhookHandlers, WebhookSettings } from '../../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { Evaluation } from '../../../src/webhook/evaluation/evaluation.ts'
import type { AdmissionHandler, Call } from '../../../src/webhook/handlers/call.ts'
import { mutatingHandler } from '../../../src/webhook/handlers/mutating.ts'
import type { AdmissionResponse } from '../../../src/webhook/review/admission-review.ts'
import { readReview } from '../../../src/webhook/review/admission-review.ts'
import { validatingHandler } from '../../../src/webhook/handlers/validating.ts'
import { review, widget, widgetObject } from '../../support/webhook/fixture.ts'
import type { ReviewedRequest, Widget } from '../../support/webhook/fixture.ts'

const object = widgetObject({})
const wrong = invalid('spec', 'x', 'is wrong')
const listOf = (...errors: (typeof wrong)[]): ErrorList => addErrors(noErrors, errors)

interface Input {
  readonly definition?: WebhookHandlers<Widget> & WebhookSettings
  readonly request?: ReviewedRequest
  readonly errors?: ErrorList
  readonly warnings?: readonly string[]
}

/** Creates a handler. Returns the response of the handler to a request, and the recorded steps. */
function run(
  createHandler: typeof mutatingHandler,
  { definition = {}, request = { object }, errors = noErrors, warnings = [] }: Input,
): { answer: ReturnType<AdmissionHandler>; steps: string[] } {
  const steps: string[] = []
  const step = (name: string): void => void steps.push(name)
  const handlers: WebhookHandlers<Widget> = {
    ...(definition.default && { default: (...all) => (step('default'), definition.default!(...all)) }),
    ...(definition.validate && { validate: (...all) => (step('validate'), definition.validate!(...all)) }),
    ...(definition.validateInCluster && { validateInCluster: (...all) => (step('cluster'), definition.validateInCluster!(...all)) }),
    ...(definition.validateDelete && { validateDelete: (...all) => (step('delete'), definition.validateDelete!(...all)) }),
  }
  const [webhook] = combineWebhooks([defineWebhook(widget, { ...definition, ...handlers })])
  const decoded = readReview(Buffer.from(JSON.stringify(review(request))))
  const evaluation = {
    objects: async () => (step('objects'), { object: decoded.object, oldObject: decoded.oldObject }),
    change: () => (step('change'), errors),
    close: () => step('close'),
  } as unknown as Evaluation
  const { signal } = new AbortController()
  const cache = Object.assign(new AdmissionCache(undefined), {
    whenFilled: async (types: readonly unknown[], until: AbortSignal) => {
      step(`filling ${types.length}`)
      await Promise.resolve()
      step(`filled ${until === signal}`)
    },
  })
  const call: Call = { client: {} as Client, cache, access: new AccessReviews(new FakeClock()), logger: silentLogger(), signal }
  const found = { request: decoded.request, applies: true, errors, warnings }
  return { answer: createHandler(webhook!)(evaluation, found, call), steps }
}

const refusal = (...errors: (typeof wrong)[]): AdmissionResponse => ({
  allowed: false,
  status: invalidStatus({ group: 'apps.example.com', kind: 'Widget' }, 'w', errors),
})
const reads = [configMap]
const none = (): [] => []

t.test('a mutating webhook without handlers answers at once, by the schema alone', async (t) => {
  t.strictSame(run(mutatingHandler, {}).answer, { allowed: true })
  t.strictSame(run(mutatingHandler, { warnings: ['w'] }).answer, { allowed: true, warnings: ['w'] })
  t.strictSame(run(mutatingHandler, { errors: listOf(wrong), warnings: ['w'] }).answer, { ...refusal(wrong), warnings: ['w'] })
  const late = { refuseInvalidEarly: false, validate: none }
  t.strictSame(
    run(mutatingHandler, { definition: late, errors: listOf(wrong) }).answer,
    { allowed: true },
    'unless refuseInvalidEarly is false',
  )
  const { answer, steps } = run(mutatingHandler, { definition: { validateInCluster: none } })
  t.strictSame([answer, steps], [{ allowed: true }, []], 'validateInCluster is for the validating webhook')
})

t.test('a mutating webhook applies defaults and validates, and calls validateInCluster only on invalid objects', async (t) => {
  const changed: NonNullable<WebhookHandlers<Widget>['default']> = (object) => ({ ...object })
  const cluster = (): [typeof wrong] => [invalid('spec.a', 'x', 'says the cluster')]
  const cases: readonly (readonly [string, Input, AdmissionResponse, string[]])[] = [
    ['defaults', { definition: { default: changed } }, { allowed: true }, ['objects', 'default', 'change']],
    [
      'warnings',
      { definition: { default: (object) => object }, warnings: ['w'] },
      { allowed: true, warnings: ['w'] },
      ['objects', 'default'],
    ],
    ['a valid object', { definition: { validate: none, validateInCluster: cluster, reads } }, { allowed: true }, ['objects', 'validate']],
    [
      'an object that a handler refuses',
      { definition: { default: changed, validate: () => [wrong], validateInCluster: cluster, reads } },
      refusal(wrong, ...cluster()),
      ['objects', 'default', 'change', 'validate', 'close', 'filling 1', 'filled true', 'cluster'],
    ],
    [
      'an object that the schema refuses',
      { definition: { validate: () => [wrong], validateInCluster: cluster }, errors: listOf(cluster()[0]) },
      refusal(...cluster(), wrong),
      ['objects', 'validate'],
    ],
    [
      'an invalid object with refuseInvalidEarly: false',
      { definition: { default: changed, validate: () => [wrong], refuseInvalidEarly: false }, errors: listOf(wrong) },
      { allowed: true },
      ['objects', 'default', 'change'],
    ],
    [
      'an update, with a handler for creates',
      { definition: { validate: none, operations: ['CREATE'] }, request: { operation: 'UPDATE', object, oldObject: object } },
      { allowed: true },
      [],
    ],
  ]
  for (const [name, input, response, expected] of cases) {
    const { answer, steps } = run(mutatingHandler, input)
    t.strictSame(await answer, response, name)
    t.strictSame(steps, expected, name)
  }
})

t.test('a validating webhook answers at once if the schema refuses, or if no handler applies', async (t) => {
  t.strictSame(run(validatingHandler, {}).answer, { allowed: true })
  t.strictSame(run(validatingHandler, { definition: { default: (object) => object } }).answer, { allowed: true })
  const definition = { validate: none, validateInCluster: none }
  const { answer, steps } = run(validatingHandler, { definition, errors: listOf(wrong) })
  t.strictSame([answer, steps], [refusal(wrong), []])
})

t.test('a validating webhook closes the evaluation, and calls validateInCluster once the cache is filled', async (t) => {
  const deleting = { operation: 'DELETE', oldObject: object }
  const cases: readonly (readonly [string, Input, AdmissionResponse, string[]])[] = [
    ['the object', { definition: { validate: () => [wrong] } }, refusal(wrong), ['objects', 'close', 'validate']],
    [
      'the cluster',
      { definition: { validate: none, validateInCluster: () => [wrong], reads } },
      refusal(wrong),
      ['objects', 'close', 'validate', 'filling 1', 'filled true', 'cluster'],
    ],
    [
      'a deletion',
      { definition: { validate: none, validateInCluster: none, validateDelete: () => [wrong], reads }, request: deleting },
      refusal(wrong),
      ['objects', 'close', 'filling 1', 'filled true', 'delete'],
    ],
    [
      'a deletion without reads',
      { definition: { validateDelete: (_object, { warn }) => (warn('w'), []) }, request: deleting },
      { allowed: true, warnings: ['w'] },
      ['objects', 'close', 'delete'],
    ],
    ['a create, with a handler for deletions only', { definition: { validateDelete: () => [wrong] } }, { allowed: true }, []],
  ]
  for (const [name, input, response, expected] of cases) {
    const { answer, steps } = run(validatingHandler, input)
    t.strictSame(await answer, response, name)
    t.strictSame(steps, expected, name)
  }
})
