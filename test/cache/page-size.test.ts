import t from 'tap'
import { PageSize } from '../../src/cache/page-size.ts'

const mebibyte = 1024 * 1024

t.test('refused pages have half as many objects each, down to one, which may have any size', async (t) => {
  const size = new PageSize()
  const limits = [size.limits.limit]
  for (let refused = 0; refused < 10; refused += 1) {
    t.equal(size.limits.maxResponseBytes, limits.at(-1) === 1 ? undefined : mebibyte)
    size.shrink()
    limits.push(size.limits.limit)
  }
  t.strictSame(limits, [500, 250, 125, 63, 32, 16, 8, 4, 2, 1, 1])
  t.strictSame(size.limits, { limit: 1 })
})

t.test('pages grow again, also from one object, and never beyond 500', async (t) => {
  const size = new PageSize()
  for (let refused = 0; refused < 10; refused += 1) size.shrink()
  size.grow()
  t.strictSame(size.limits, { limit: 2, maxResponseBytes: mebibyte })
  for (let pages = 0; pages < 90; pages += 1) size.grow()
  t.equal(size.limits.limit, 500)
  size.grow()
  t.equal(size.limits.limit, 500)
})
