import t from 'tap'
import { systemClock } from '../../../src/api/clock.ts'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { AccessReviews } from '../../../src/webhook/access.ts'
import { AdmissionCache } from '../../../src/webhook/admission-cache.ts'
import { readBody } from '../../../src/webhook/body/read.ts'
import { ReviewThreads } from '../../../src/webhook/body/review-threads.ts'
import { reviewedApart } from '../../../src/webhook/body/reviewed-apart.ts'
import { combineWebhooks } from '../../../src/webhook/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition.ts'
import { decodeReview } from '../../../src/webhook/review.ts'
import { reviewOfSpec, target } from '../../support/hostile-reviews.ts'

type Handlers = NonNullable<Parameters<typeof defineWebhook<typeof target>>[1]>

const call = {
  client: {} as Client,
  cache: new AdmissionCache(undefined),
  access: new AccessReviews(systemClock),
  logger: silentLogger(),
  signal: new AbortController().signal,
}
const created = reviewOfSpec(`{"labels":{"a":"${'x'.repeat(3_000_000)}"},"items":[{"name":"a"}]}`)
const deleted = created.replace('"CREATE"', '"DELETE"').replace('"object":', '"oldObject":').replace('"oldObject":null,', '"object":null,')

const byDefault: Handlers = { default: (object) => object }
const byValidate: Handlers = { validate: () => [] }
const byAdmit: Handlers = { validateInCluster: () => [] }
const byDeletion: Handlers = { validateDelete: () => [] }
const late: Handlers = { refuseInvalidEarly: false, validate: () => [] }
const settings: Handlers = { failurePolicy: 'Ignore' }

const cases: readonly [what: string, handlers: Handlers, verb: 'mutate' | 'validate', review: string, reads: boolean][] = [
  ['nothing but the schema', {}, 'mutate', created, false],
  ['nothing but the schema', settings, 'validate', created, false],
  ['default', byDefault, 'mutate', created, true],
  ['default', byDefault, 'validate', created, false],
  ['validate', byValidate, 'mutate', created, true],
  ['validate', byValidate, 'validate', created, true],
  ['validate, not asked early', late, 'mutate', created, false],
  ['admit, which has nothing to add to no errors', byAdmit, 'mutate', created, false],
  ['admit', byAdmit, 'validate', created, true],
  ['validateDelete', byDeletion, 'validate', created, false],
  ['validateDelete', byDeletion, 'validate', deleted, true],
]

t.test('a large object is read again only for handlers that are asked about it', async (t) => {
  for (const [what, handlers, verb, review, reads] of cases) {
    const webhooks = combineWebhooks([defineWebhook(target, handlers)])
    const threads = new ReviewThreads(webhooks, systemClock)
    const seen: unknown[] = []
    const handler = reviewedApart(
      ({ object, oldObject }) => {
        seen.push(object ?? oldObject)
        return Promise.resolve({ allowed: true })
      },
      { threads, webhook: webhooks[0]!, verb },
    )
    const request = decodeReview(await readBody(Buffer.from(review)))
    t.match(await handler(request, call), { allowed: true })
    t.equal(seen.length, reads ? 1 : 0, `${verb}: ${what}`)
    const weight = verb === 'mutate' ? 1 : undefined
    for (const object of seen) t.match(object, { spec: { items: [{ name: 'a', weight }] } }, `${verb}: ${what}`)
    await threads.stop()
  }
})
