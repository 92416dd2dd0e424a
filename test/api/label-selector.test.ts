import t from 'tap'
import {
  formatLabelSelector,
  matchesLabels,
  parseLabelSelector,
  requirementsOf,
  type LabelRequirement,
} from '../../src/api/label-selector.ts'
import { fc } from '../support/property.ts'

t.test('selects as kubectl -l does', async (t) => {
  const labels = { app: 'web', tier: 'front', empty: '', size: '3' }
  const cases: [string, boolean][] = [
    ['', true],
    ['app=web', true],
    ['app==web,tier!=back', true],
    ['app!=web', false],
    ['app in (api, web)', true],
    ['app notin (api,web)', false],
    ['missing notin (a)', true],
    ['missing notin ()', true],
    ['app', true],
    ['!app', false],
    ['!missing', true],
    ['empty=', true],
    ['app=', false],
    ['app in (,api)', false],
    ['empty in ()', true],
    ['size>2', true],
    ['size>3', false],
    ['size<4,app', true],
    ['app>1', false],
  ]
  for (const [selector, expected] of cases) t.equal(matchesLabels(parseLabelSelector(selector), labels), expected, selector)
})

t.test('refuses what is no selector', async (t) => {
  for (const selector of ['a=b,', 'a in b', 'a in (', '=b', 'a b', '!', ',', '-a', 'a=$', 'a>x', 'x/y/z']) {
    t.throws(
      () => parseLabelSelector(selector),
      { name: 'SyntaxError', message: /^(unable to parse requirement: )?(found |<nil>|values)/ },
      selector,
    )
  }
})

t.test('what is printed is read back', async (t) => {
  const word = fc.stringMatching(/^[a-z]([a-z0-9.-]{0,8}[a-z0-9])?$/).filter((text) => text !== 'in' && text !== 'notin')
  const requirement = fc.oneof(
    fc.record(
      { key: word, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const), values: fc.constant([]) },
      { noNullPrototype: true },
    ),
    fc.record(
      {
        key: word,
        operator: fc.constantFrom('In' as const, 'NotIn' as const),
        values: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
      },
      { noNullPrototype: true },
    ),
  )
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), (requirements: LabelRequirement[]) => {
      t.strictSame(parseLabelSelector(formatLabelSelector(requirements)), requirements)
    }),
    { numRuns: 50 },
  )
})

t.test('the object form', async (t) => {
  const requirements = requirementsOf({ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] })
  t.ok(matchesLabels(requirements, { a: 'b', c: '' }))
  t.notOk(matchesLabels(requirements, { a: 'b' }))
  t.notOk(matchesLabels(requirementsOf({ matchLabels: { constructor: 'x' } }), {}))
})
