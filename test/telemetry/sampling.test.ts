import { randomUUID } from 'node:crypto'
import t from 'tap'
import { sampler } from '../../src/telemetry/sampling.ts'

const ids = Array.from({ length: 20_000 }, (_, index) => `705ab4f5-6393-11e8-b7cc-${index.toString(16).padStart(12, '0')}`)

t.test('about the configured share is in the sample', async (t) => {
  t.equal(ids.some(sampler(1e-12)), false)
  for (const share of [0, 0.01, 0.25, 0.9, 1]) {
    const inSample = sampler(share)
    const found = ids.filter(inSample).length / ids.length
    t.ok(Math.abs(found - share) < 0.015, `${found} of ${share}`)
  }
  t.equal(ids.every(sampler(1)), true)
  t.equal(ids.some(sampler(0)), false)
})

t.test('an id is always in the sample or never, and in every larger sample', async (t) => {
  const small = sampler(0.2)
  const large = sampler(0.6)
  for (const id of Array.from({ length: 1000 }, () => randomUUID())) {
    t.equal(small(id), sampler(0.2)(id))
    if (small(id)) t.ok(large(id))
  }
})

t.test('every replica, of any version, has the same ids in its sample', async (t) => {
  const inSample = sampler(0.25)
  const found = ids.slice(0, 40).flatMap((id, index) => (inSample(id) ? [index] : []))
  // The expected numbers were computed with another implementation of FNV-1a and of the finalizer of MurmurHash3.
  t.strictSame(found, [0, 3, 8, 10, 14, 15, 16, 23, 27, 29, 35, 36])
})

t.test('an invalid share is refused', async (t) => {
  for (const share of [-0.1, 1.1, NaN, Infinity]) {
    t.throws(
      () => sampler(share),
      { code: 'PRO_CONFIG_INVALID', message: `The share of reviews to log is a number from 0 (none) to 1 (all), found ${share}.` },
      String(share),
    )
  }
})
