import { RE2JS } from 're2js'
import t from 'tap'
import { compilePattern, isSimple, patternProblem } from '../../src/schema/patterns.ts'
import { fc } from '../support/property.ts'
import { processorTimeMs } from '../support/turns.ts'

t.test('patterns have the meaning of RE2', async (t) => {
  const cases: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ['(?i)^ABC$', 'abc', true],
    ['[[:alpha:]]+', '5', false],
    ['[[:alpha:]]+', 'a', true],
    ['^a.c$', 'a\rc', true],
    ['^a.c$', 'a\nc', false],
    ['a$', 'a\n', false],
    ['\\Aab\\z', 'ab', true],
    ['\\Qa.b\\E', 'axb', false],
    ['(?P<name>a)', 'a', true],
    ['^\\s$', '\v', false],
    ['^\\s$', '\u00a0', false],
    ['^.$', '👍', true],
    ['^[^a]$', '👍', true],
    ['\\pL', 'é', true],
  ]
  for (const [pattern, text, matches] of cases)
    t.equal(compilePattern(pattern).test(text), matches, `${pattern} on ${JSON.stringify(text)}`)
})

t.test('what RE2 does not know is no pattern', async (t) => {
  for (const pattern of ['(?=a)', '(?<!a)', '(a)\\1', '[', 'a**', '(', 'a{1001}']) t.type(patternProblem(pattern), 'string', pattern)
  t.equal(patternProblem('^a+$'), undefined)
})

t.test('only what cannot backtrack without end goes to the native engine', async (t) => {
  const simple = [
    '^a$',
    'abc',
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    '^v[1-9]\\d{0,3}$',
    '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    '^\\$\\{x\\}$',
  ]
  const others = [
    '^(a+)+$',
    'a*b',
    '^a*a*b$',
    '^(a|b)*$',
    '.',
    '[^a]',
    '\\s',
    '\\bx',
    '^a{2,}b*$',
    '(?i)a',
    'a|^b',
    '^a*?',
    '^(a?){9}$',
    '[[:alpha:]]',
    '[+-9]',
    '^(a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?)$',
    '()',
    'é',
    '^a$$',
    '^^a',
  ]
  for (const pattern of simple) t.ok(isSimple(pattern), pattern)
  for (const pattern of others) t.notOk(isSimple(pattern), pattern)
})

const piece = fc.constantFrom(
  'a',
  'b',
  '-',
  '.',
  '\\.',
  '\\d',
  '\\w',
  '[a-z]',
  '[-a-c]',
  '[a.b-]',
  '[\\w-]',
  '(',
  '(?:',
  ')',
  ')?',
  '|',
  '*',
  '+',
  '?',
  '{2}',
  '{1,2}',
  '{1,}',
  '^',
  '$',
  '\\$',
  '/',
  ' ',
  '{',
  '}',
  ']',
)
const pattern = fc
  .tuple(fc.constantFrom('', '^'), fc.array(piece, { minLength: 1, maxLength: 8 }), fc.constantFrom('', '$'))
  .map(([start, pieces, end]) => start + pieces.join('') + end)
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'z', '-', '.', '1', '$', '/', ' ', '\n', '_', 'é', '👍', '\\'), { maxLength: 8 })
  .map((characters) => characters.join(''))

t.test('the native engine and RE2 agree on every pattern that goes to the native engine', async (t) => {
  let native = 0
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 10 }), (source, texts) => {
      if (!isSimple(source)) return
      // Neither engine accepting it is agreement, too: `checkStructural` refuses the schema.
      if (patternProblem(source) !== undefined) return
      native += 1
      const re2 = RE2JS.compile(source)
      for (const one of texts)
        if (compilePattern(source).test(one) !== re2.test(one)) throw new Error(`${source} on ${JSON.stringify(one)}`)
    }),
    { numRuns: 3000 },
  )
  t.ok(native > 300, `${native} of 3000 were native`)
})

t.test('a hostile text takes no longer than its length', async (t) => {
  for (const source of ['^(a+)+$', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', '^a*b', '(x+x+)+y']) {
    const compiled = compilePattern(source)
    const started = processorTimeMs()
    for (const unit of ['a', '-', 'x', 'a-']) compiled.test(`${unit.repeat(50_000)}!`)
    // Backtracking would take years; the limit only has to tell the two apart on a busy machine.
    t.ok(processorTimeMs() - started < 5000, source)
  }
})
