/** Tests of the parsing of scenario files, and of the substitution of `${name}` in them. */
import t from 'tap'
import { valueAt } from '../real/differential/path.ts'
import { allSteps, parseScenario, readScenarios } from '../real/differential/scenario.ts'
import { substitute } from '../real/differential/variables.ts'

t.test('every scenario can be parsed, with more than 300 requests in all', async (t) => {
  const steps = readScenarios().flatMap((scenario) => allSteps(scenario.steps))
  t.ok(steps.length > 300, `${steps.length} requests`)
})

t.test('`each` creates a step for every entry', async (t) => {
  const { steps, namespaces } = parseScenario(
    'x',
    'about: x\nsteps: [{ id: a, POST: /p, body: { n: "${it}" }, each: { one: 1, two: { it: 2, more: 3 } } }]',
  )
  t.strictSame(namespaces, ['diff-x'])
  t.match(steps, [
    { id: 'a/one', method: 'POST', values: { case: 'one', it: 1 } },
    { id: 'a/two', values: { case: 'two', it: 2, more: 3 } },
  ])
})

t.test('an error in a file is reported with its place', async (t) => {
  const cases: Record<string, RegExp> = {
    'steps: []': /scenario x: about/,
    'about: x': /steps: expected a list/,
    'about: x\nsteps: [{ GET: / }]': /a step has no id/,
    'about: x\nsteps: [{ id: a }]': /scenario x: a: no method/,
    'about: x\nsteps: [{ id: a, GET: /, boby: 1 }]': /scenario x: a: not known: boby/,
    'about: x\nsteps: [{ id: a, GET: / }, { id: a, GET: / }]': /the id a is listed twice/,
  }
  for (const [text, message] of Object.entries(cases)) t.throws(() => parseScenario('x', text), { message }, text)
})

t.test('values are replaced in strings and keys, and keep their type when they stand alone', async (t) => {
  const values = { n: 3, object: { a: ['${n}'] }, name: 'x' }
  t.strictSame(
    substitute({ a: '${n}', b: '${object}', c: 'n=${n}, ${name}', 'key-${name}': null, long: '${ab}'.replace('ab', 'z*3') }, values),
    {
      a: 3,
      b: { a: [3] },
      c: 'n=3, x',
      'key-x': null,
      long: 'zzz',
    },
  )
  t.throws(() => substitute('${nothing}', values), { message: 'there is no value ${nothing}' })
})

t.test('a path returns its value', async (t) => {
  const value = { items: [{ 'a.b/c': 1 }], metadata: { name: 'x' } }
  t.equal(valueAt(value, 'items[0]["a.b/c"]'), 1)
  t.equal(valueAt(value, 'metadata.name'), 'x')
  t.equal(valueAt(value, 'metadata.nothing.deeper'), undefined)
  t.equal(valueAt(value, ''), value)
  t.throws(() => valueAt(value, 'a['), { message: 'not a path: a[' })
})
