import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { isExempt } from '../../../src/webhook/review/exempt.ts'
import { readReview } from '../../../src/webhook/review/admission-review.ts'
import { review, widgetObject } from '../../support/webhook/fixture.ts'
import type { ReviewedRequest } from '../../support/webhook/fixture.ts'

const exempt = (request: ReviewedRequest): boolean => isExempt(readReview(Buffer.from(JSON.stringify(review(request)))))
const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] }
const update = (oldObject: JsonObject, object: JsonObject): ReviewedRequest => ({ operation: 'UPDATE', oldObject, object })

t.test('subresources and connections are exempt, objects are not', async (t) => {
  const object = widgetObject({})
  t.equal(exempt({ object }), false)
  t.equal(exempt(update(object, object)), false)
  t.equal(exempt({ operation: 'DELETE', oldObject: widgetObject({}, leaving) }), false)
  t.equal(exempt({ object, subResource: 'status' }), true)
  t.equal(exempt({ operation: 'CONNECT', object }), true)
})

t.test('a change of only the metadata of a deleted object is exempt', async (t) => {
  const before = widgetObject({ size: 1 }, leaving)
  t.equal(exempt(update(before, widgetObject({ size: 1 }, { ...leaving, finalizers: [] }))), true)
  t.equal(exempt(update(before, widgetObject({ size: 2 }, { ...leaving, finalizers: [] }))), false)
  t.equal(exempt(update(before, { ...before, status: {} })), false)
  t.equal(exempt(update({ ...before, status: {} }, before)), false)
  t.equal(exempt(update(widgetObject({ size: 1 }), before)), false, 'the old object was not deleted')
  t.equal(exempt({ object: before, oldObject: before }), false, 'only updates are exempt')
  t.equal(exempt(update({ spec: 1 }, { spec: 1 })), false)
})
