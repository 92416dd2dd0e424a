import t from 'tap'
import { dataHash, templateHash } from '../../../../src/devcluster/controllers/workloads/hash.ts'

t.test('the hash of data is that of Go', (t) => {
  const template = { $patch: 'replace', metadata: { labels: { app: 'web' } } }
  const cases: readonly (readonly [object, number, string])[] = [
    [{}, 0, 'cccc864bc'],
    [{}, 1, 'cccc864bb'],
    [{}, 12, '7f9c96b656'],
    [{ b: [1, { z: null, a: 'x' }], a: '<&> \u2028 é' }, 0, '84bb4b45cf'],
    [{ b: [1, { z: null, a: 'x' }], a: '<&> \u2028 é' }, 12, '7f865d656'],
    [{ spec: { template } }, 0, '7c75489b6c'],
  ]
  // The message contains only the index of the case. The data of some cases contains U+2028, which would end a line of the test's output.
  for (const [index, [data, collisions, hash]] of cases.entries()) t.equal(dataHash(data, collisions), hash, `case ${index}`)
  t.end()
})

t.test('the hash of a template depends on the template and the collisions, but not on the order of fields', (t) => {
  const hash = templateHash({ a: 1, b: 2 }, 0)
  t.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{5,10}$/)
  t.equal(templateHash({ b: 2, a: 1 }, 0), hash)
  t.not(templateHash({ a: 1, b: 3 }, 0), hash)
  t.not(templateHash({ a: 1, b: 2 }, 1), hash)
  t.end()
})
