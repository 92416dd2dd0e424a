import assert from 'node:assert/strict'
import { test } from 'node:test'
import { core, keyOf } from 'proreus'
import type { DeepReadonly, ReconcileContext, Result } from 'proreus'
import { FakeClock, reconcileContext, startControlPlane } from 'proreus/testing'

/** Deletes a ConfigMap one day after its last use. An annotation contains the time of the last use. */
async function expire(object: DeepReadonly<core.ConfigMap>, { client, clock, events }: ReconcileContext): Promise<Result> {
  const left = Date.parse(object.metadata.annotations?.['example.com/used'] ?? '') + 86_400_000 - clock.now()
  if (left > 0) return { requeueAfterMs: left }
  events.event(object, 'Normal', 'Expired', 'not used for a day')
  await client.delete(core.configMap, keyOf(object))
}

test('what was not used for a day is deleted', async (t) => {
  const controlPlane = await startControlPlane({ controllers: false, namespaces: ['test'] })
  t.after(() => controlPlane.stop())
  const { client } = controlPlane
  const clock = new FakeClock('2026-06-01T00:00:00Z')
  const annotations = { 'example.com/used': '2026-05-31T12:00:00Z' }
  const object = await client.create(core.configMap, { metadata: { namespace: 'test', name: 'draft', annotations } })

  const context = reconcileContext({ client, cached: [object], clock })
  assert.deepEqual(await expire(object, context), { requeueAfterMs: 12 * 3_600_000 })
  await clock.advance(12 * 3_600_000)
  assert.equal(await expire(object, context), undefined)
  assert.deepEqual(
    context.recorded.map(({ reason }) => reason),
    ['Expired'],
  )
  await assert.rejects(client.get(core.configMap, keyOf(object)), { statusCode: 404 })
})
