import t from 'tap'
import { isRuledOut } from '../../../src/webhook/definition/match-condition.ts'

t.test('a condition about the object and the old object rules out the creation of objects for which it is false', (t) => {
  const object = { metadata: { name: 'a', labels: { app: 'web' } } }
  const cases: readonly (readonly [string, boolean])[] = [
    ["object.metadata.name == 'a'", false],
    [" object.metadata.name == 'b' ", true],
    ['oldObject == null', false],
    ['oldObject != null', true],
    ["oldObject == null && object.metadata.labels.app == 'db'", true],
    ['true', false],
    ['false', true],
    // None of these expressions rules out the object. The first expression fails, and the last expression cannot be compiled. The other two
    // expressions are not evaluated, because they use a variable other than `object` and `oldObject`.
    ["object.metadata.labels.missing == 'x'", false],
    ["request.operation == 'UPDATE'", false],
    ["object.metadata.name == 'b' && request.operation == 'UPDATE'", false],
    ['object.metadata.name ==', false],
  ]
  for (const [expression, isOut] of cases) t.equal(isRuledOut([{ name: 'a', expression }], object), isOut, expression)
  const conditions = (...expressions: string[]) => expressions.map((expression, index) => ({ name: `c${index}`, expression }))
  t.equal(isRuledOut(conditions('true', 'false', 'true'), object), true, 'all conditions must be true')
  t.equal(isRuledOut([], object), false)
  t.end()
})
