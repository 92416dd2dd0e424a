import t from 'tap'
import {
  checkedRequirements,
  formatLabelSelector,
  matchesLabels,
  parseLabelSelector,
  requirementsOf,
  selectorProblems,
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

t.test('everything that is wrong with a selector is told with its place', async (t) => {
  const selector = {
    matchLabels: { app: 'web', 'a b': 'x', tier: '-' },
    matchExpressions: [
      { key: 'app', operator: 'In', values: ['web', 'not one', 'api'] },
      { key: '/x', operator: 'Exists' },
      { key: 'tier', operator: 'NotIn', values: [] },
      { key: 'tier', operator: 'DoesNotExist', values: ['x'] },
    ],
  } as const
  const problems = selectorProblems(selector)
  t.match(problems, [
    /^matchLabels\[a b\]: name part must consist of/,
    /^matchLabels\[tier\]: a valid label must be/,
    /^matchExpressions\[0\]: a valid label must be/,
    /^matchExpressions\[1\]: prefix part must be non-empty$/,
    /^matchExpressions\[2\]\.values: must be there with NotIn$/,
    /^matchExpressions\[3\]\.values: must not be there with DoesNotExist$/,
  ])
  t.equal(problems.length, 6)
  t.throws(() => checkedRequirements(selector), { code: 'PRO_INPUT', message: `The label selector is not valid: ${problems.join('; ')}.` })
  t.strictSame(checkedRequirements({ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', ''] }] }), [
    { key: 'app', operator: 'In', values: ['web', ''] },
  ])
})
