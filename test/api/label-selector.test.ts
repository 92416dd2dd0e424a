import t from 'tap'
import {
  isLabelSelector,
  checkedRequirements,
  formatLabelSelector,
  matchesLabels,
  parseLabelSelector,
  requirementsOf,
  selectorProblems,
  type LabelRequirement,
} from '../../src/api/label-selector.ts'
import { fc } from '../support/property.ts'

t.test('selectors match like kubectl -l', async (t) => {
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

t.test('invalid selectors are refused', async (t) => {
  for (const selector of ['a=b,', 'a in b', 'a in (', '=b', 'a b', '!', ',', '-a', 'a=$', 'a>x', 'x/y/z']) {
    t.throws(
      () => parseLabelSelector(selector),
      { name: 'SyntaxError', message: /^(unable to parse requirement: )?(found |<nil>|values)/ },
      selector,
    )
  }
})

t.test('a formatted selector parses to itself', async (t) => {
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

t.test('a LabelSelector object selects by labels and expressions', async (t) => {
  const requirements = requirementsOf({ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] })
  t.ok(matchesLabels(requirements, { a: 'b', c: '' }))
  t.notOk(matchesLabels(requirements, { a: 'b' }))
  t.notOk(matchesLabels(requirementsOf({ matchLabels: { constructor: 'x' } }), {}))
})

t.test('each mistake of a selector is reported with its path', async (t) => {
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

t.test('each operator matches like in Kubernetes', async (t) => {
  const labels = { a: 'x', n: '10', negative: '-5', text: '1a', empty: '', most: '9223372036854775807', more: '9223372036854775808' }
  const cases: readonly (readonly [LabelRequirement, boolean])[] = [
    [{ key: 'a', operator: 'In', values: ['y', 'x'] }, true],
    [{ key: 'a', operator: 'In', values: ['y'] }, false],
    [{ key: 'missing', operator: 'In', values: ['x'] }, false],
    [{ key: 'a', operator: 'NotIn', values: ['y'] }, true],
    [{ key: 'a', operator: 'NotIn', values: ['y', 'x'] }, false],
    [{ key: 'missing', operator: 'NotIn', values: ['x'] }, true],
    [{ key: 'empty', operator: 'Exists', values: [] }, true],
    [{ key: 'missing', operator: 'Exists', values: [] }, false],
    [{ key: 'toString', operator: 'Exists', values: [] }, false],
    [{ key: 'empty', operator: 'DoesNotExist', values: [] }, false],
    [{ key: 'missing', operator: 'DoesNotExist', values: [] }, true],
    [{ key: 'n', operator: 'Gt', values: ['9'] }, true],
    [{ key: 'n', operator: 'Gt', values: ['10'] }, false],
    [{ key: 'n', operator: 'Lt', values: ['10'] }, false],
    [{ key: 'n', operator: 'Lt', values: ['11'] }, true],
    [{ key: 'negative', operator: 'Lt', values: ['-4'] }, true],
    [{ key: 'most', operator: 'Gt', values: ['9223372036854775806'] }, true],
    [{ key: 'more', operator: 'Gt', values: ['0'] }, false],
    [{ key: 'n', operator: 'Lt', values: ['9223372036854775808'] }, false],
    [{ key: 'n', operator: 'Gt', values: ['-9223372036854775808'] }, true],
    [{ key: 'n', operator: 'Gt', values: ['-9223372036854775809'] }, false],
    [{ key: 'n', operator: 'Gt', values: ['+9'] }, true],
    [{ key: 'text', operator: 'Gt', values: ['0'] }, false],
    [{ key: 'text', operator: 'Lt', values: ['9'] }, false],
    [{ key: 'missing', operator: 'Gt', values: ['0'] }, false],
    [{ key: 'missing', operator: 'Lt', values: ['9'] }, false],
  ]
  for (const [requirement, expected] of cases) t.equal(matchesLabels([requirement], labels), expected, JSON.stringify(requirement))
  t.ok(matchesLabels([], undefined))
  t.notOk(matchesLabels([{ key: 'a', operator: 'Exists', values: [] }], undefined))
  t.notOk(
    matchesLabels(
      [
        { key: 'a', operator: 'Exists', values: [] },
        { key: 'b', operator: 'Exists', values: [] },
      ],
      labels,
    ),
    'all requirements must match',
  )
})

t.test('selectors are parsed to requirements', async (t) => {
  const cases: readonly (readonly [string, readonly LabelRequirement[]])[] = [
    ['', []],
    ['  ', []],
    ['a', [{ key: 'a', operator: 'Exists', values: [] }]],
    ['!a', [{ key: 'a', operator: 'DoesNotExist', values: [] }]],
    [
      ' a = b , c==d ',
      [
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'c', operator: 'In', values: ['d'] },
      ],
    ],
    ['a!=b', [{ key: 'a', operator: 'NotIn', values: ['b'] }]],
    [
      'a=,b!=',
      [
        { key: 'a', operator: 'In', values: [''] },
        { key: 'b', operator: 'NotIn', values: [''] },
      ],
    ],
    ['a in (b, c,b)', [{ key: 'a', operator: 'In', values: ['b', 'c'] }]],
    ['a notin (,b,)', [{ key: 'a', operator: 'NotIn', values: ['', 'b'] }]],
    ['a in ()', [{ key: 'a', operator: 'In', values: [''] }]],
    [
      'a>1,b<9223372036854775807',
      [
        { key: 'a', operator: 'Gt', values: ['1'] },
        { key: 'b', operator: 'Lt', values: ['9223372036854775807'] },
      ],
    ],
    ['example.com/a=b', [{ key: 'example.com/a', operator: 'In', values: ['b'] }]],
  ]
  for (const [text, requirements] of cases) t.strictSame(parseLabelSelector(text), requirements, text)
})

t.test('an invalid selector has the error message of the API server', async (t) => {
  const start = 'unable to parse requirement: '
  const nameMessage =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  const labelMessage =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
  const cases: readonly (readonly [string, string])[] = [
    ['a=b,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a b', `${start}found 'b', expected: in, notin, =, ==, !=, gt, lt`],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['!', `${start}found '', expected: identifier`],
    ['!=', "found '!=', expected: !, identifier, or 'end of string'"],
    ['a ! = b', `${start}found '!', expected: in, notin, =, ==, !=, gt, lt`],
    ['a = = b', `${start}found '=', expected: identifier`],
    ['a===b', `${start}found '=', expected: identifier`],
    ['a==!=b', `${start}found '!=', expected: identifier`],
    ['!a==b', "found '==', expected: ',' or 'end of string'"],
    ['a\u00a0=b', `${start}<nil>: Invalid value: "a\\u00a0": ${nameMessage}`],
    ['$ b', `${start}<nil>: Invalid value: "$": ${nameMessage}`],
    ['a in b', `${start}found 'b' expected: '('`],
    ['a in', `${start}found '' expected: '('`],
    ['a in (b', `${start}found '', expected: ',' or ')'`],
    ['a in (=', `${start}found '=', expected: ',', ')' or identifier`],
    ['a in (b,', `${start}found '', expected: ',', or identifier`],
    ['a in (b,=)', `${start}found '=', expected: ',', or identifier`],
    ['a in (,', `${start}found '', expected: ',', or identifier`],
    ['a in (c,$)', `${start}values[0][a]: Invalid value: "$": ${labelMessage}`],
    ['a=)', `${start}found ')', expected: identifier`],
    ['a>x', `${start}values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
    [
      'a>9223372036854775808',
      `${start}values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['a>-1', `${start}values[0][a]: Invalid value: "-1": ${labelMessage}`],
    [
      'a<-x',
      `${start}[values[0]: Invalid value: "-x": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "-x": ${labelMessage}]`,
    ],
    ['a<', `${start}values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['/a', `${start}<nil>: Invalid value: "/a": prefix part must be non-empty`],
  ]
  for (const [text, message] of cases) t.throws(() => parseLabelSelector(text), new SyntaxError(message), text)
})

t.test('requirements are formatted as kubectl accepts them', async (t) => {
  const requirements: readonly LabelRequirement[] = [
    { key: 'a', operator: 'Exists', values: [] },
    { key: 'b', operator: 'DoesNotExist', values: [] },
    { key: 'c', operator: 'In', values: ['1'] },
    { key: 'd', operator: 'NotIn', values: ['1'] },
    { key: 'e', operator: 'In', values: ['1', '2'] },
    { key: 'f', operator: 'NotIn', values: ['1', '2'] },
    { key: 'g', operator: 'Gt', values: ['1'] },
    { key: 'h', operator: 'Lt', values: ['1'] },
  ]
  t.equal(formatLabelSelector(requirements), 'a,!b,c=1,d!=1,e in (1,2),f notin (1,2),g>1,h<1')
  t.equal(formatLabelSelector([]), '')
})

t.test('a LabelSelector is converted to requirements in order', async (t) => {
  const selector = {
    matchLabels: { a: 'b', c: '' },
    matchExpressions: [
      { key: 'd', operator: 'In', values: ['e'] },
      { key: 'f', operator: 'Exists' },
    ],
  } as const
  const expected = [
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'c', operator: 'In', values: [''] },
    { key: 'd', operator: 'In', values: ['e'] },
    { key: 'f', operator: 'Exists', values: [] },
  ]
  t.strictSame([requirementsOf(selector), checkedRequirements(selector), requirementsOf({})], [expected, expected, []])
  t.strictSame(
    selectorProblems({
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: [] },
      ],
    }),
    ['matchExpressions[0].values: must be there with In'],
  )
})

t.test('the shape of a selector is checked', async (t) => {
  t.strictSame(isLabelSelector({ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }, 's'), [])
  t.strictSame(isLabelSelector({ matchLabels: 'a', matchExpressions: [{ operator: 'Gt', values: [1] }, 'x'] }, 's'), [
    's.matchLabels: must be an object, found "a"',
    's.matchExpressions[0].key: is missing',
    's.matchExpressions[0].operator: must be one of "In", "NotIn", "Exists", "DoesNotExist", found "Gt"',
    's.matchExpressions[0].values[0]: must be a string, found 1',
    's.matchExpressions[1]: must be an object, found "x"',
  ])
})

t.test('a selector of another form is refused, because it would select all objects', async (t) => {
  for (const [selector, message] of [
    [{ matchLables: { app: 'web' } }, /labelSelector\.matchLables: unknown field; did you mean matchLabels/],
    ['app=web', /labelSelector: must be an object/],
    [{ matchExpressions: [{ key: 'app', operator: 'Inn', values: [] }] }, /matchExpressions\[0\]\.operator: must be one of/],
    [null, /labelSelector/],
  ] as const)
    t.throws(() => checkedRequirements(selector as never), { code: 'PRO_INPUT', message })
})
