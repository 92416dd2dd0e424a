import { Linter } from 'eslint'
import t from 'tap'
import { assertions } from '../../../scripts/lint/assertions.ts'

const config: Linter.Config = { plugins: { proreus: { rules: { assertions } } }, rules: { 'proreus/assertions': 'error' } }
/** Returns the message ids of the problems that the rule reports for the code of a test. */
const problems = (code: string): (string | undefined)[] => new Linter().verify(code, config).map(({ messageId }) => messageId)

t.test('null and the empty list are refused anywhere in a pattern', async (t) => {
  t.strictSame(problems('t.match(found, null)'), ['null'])
  t.strictSame(problems('t.match(found, { a: [{ b: null }], ...{ c: [] } })'), ['null', 'empty'])
  t.strictSame(problems('t.has(found, { a: [] }, "what")'), ['empty'])
  t.strictSame(problems('t.rejects(() => act(), { cause: null })'), ['null'])
  t.strictSame(problems('sub.notMatch(found, wide ? [] : { a: 1 })'), ['empty'])
})

t.test('exact comparisons and values that are not patterns are accepted', async (t) => {
  t.strictSame(problems('t.match({ a: null, b: [] }, { a: 1 })'), [], 'the first argument is the actual value')
  t.strictSame(problems('t.strictSame(found, { a: null, b: [] }); t.equal(found, null)'), [])
  t.strictSame(problems('t.match(found, { a: () => null })'), [])
  t.strictSame(problems('text.match(/null/); set.has(null)'), [])
})

t.test('loose and empty comparisons are refused', async (t) => {
  t.strictSame(problems(['same', 'notSame'].map((name) => `t.${name}(found, wanted)`).join(';')), ['loose', 'loose'])
  t.strictSame(problems('t.pass(); t.pass("done")'), ['pass', 'pass'])
})
