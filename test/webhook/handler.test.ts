import t from 'tap'
import { noErrors } from '../../src/api/error-list.ts'
import { invalid } from '../../src/api/field-error.ts'
import type { Client } from '../../src/client/client.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../src/webhook/access.ts'
import { AdmissionCache } from '../../src/webhook/admission-cache.ts'
import { combineWebhooks } from '../../src/webhook/combine.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import type { Evaluation } from '../../src/webhook/evaluation/evaluation.ts'
import { mutatingHandler } from '../../src/webhook/mutating.ts'
import { readReview } from '../../src/webhook/review.ts'
import { validatingHandler } from '../../src/webhook/validating.ts'
import { review, widget, widgetObject } from '../support/webhook-fixture.ts'

t.test('while the cluster is asked, the evaluation is closed: its thread is there for another review', async (t) => {
  for (const createHandler of [mutatingHandler, validatingHandler]) {
    const steps: string[] = []
    const [webhook] = combineWebhooks([
      defineWebhook(widget, {
        validate: () => [invalid('spec', 'x', 'is wrong')],
        validateInCluster: () => {
          steps.push('asked')
          return []
        },
      }),
    ])
    const { request, object, oldObject } = readReview(Buffer.from(JSON.stringify(review({ object: widgetObject({}) }))))
    const evaluation = { objects: () => ({ object, oldObject }), close: () => void steps.push('closed') } as unknown as Evaluation
    const call = {
      client: {} as Client,
      cache: new AdmissionCache(undefined),
      access: new AccessReviews(new FakeClock()),
      logger: silentLogger(),
      signal: new AbortController().signal,
    }
    const found = { request, applies: true, errors: noErrors, warnings: [] }
    t.match(await createHandler(webhook!)(evaluation, found, call), { allowed: false })
    t.strictSame(steps, ['closed', 'asked'], createHandler.name)
  }
})
