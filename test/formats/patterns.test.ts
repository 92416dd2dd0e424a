import { RE2JS } from 're2js'
import t from 'tap'
import { compilePattern, isSimple, patternProblem } from '../../src/formats/patterns.ts'
import { fc } from '../support/property.ts'
import { processorTimeMs } from '../support/turns.ts'

t.test('patterns have the semantics of RE2', async (t) => {
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
    ['^a$', 'A', false],
    ['^[a-z]$', 'A', false],
  ]
  for (const [pattern, text, matches] of cases)
    t.equal(compilePattern(pattern).test(text), matches, `${pattern} on ${JSON.stringify(text)}`)
  t.equal(compilePattern('^a$').source, '^a$')
  t.throws(() => compilePattern('(?=a)'), /error parsing regexp/)
})

t.test('a pattern that RE2 does not support is invalid', async (t) => {
  for (const pattern of ['(?=a)', '(?<!a)', '(a)\\1', '[', 'a**', '(', 'a{1001}'])
    t.match(patternProblem(pattern), /^error parsing regexp: /, pattern)
  t.equal(patternProblem('^a+$'), undefined)
})

t.test('only patterns with bounded backtracking use the native engine', async (t) => {
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

t.test('the number of steps of the native engine is limited', async (t) => {
  const cases: readonly (readonly [pattern: string, simple: boolean])[] = [
    // If a pattern has no leading `^`, a match can begin at every position of the string, so the engine tries the pattern at every
    // position. At each position, such a pattern may take at most 256 steps. The number of steps is the number of ways to match the
    // pattern, multiplied by the number of characters in the longest match.
    ['a{256}', true],
    ['a{257}', false],
    ['a{128}b{128}', true],
    ['a{128}b{129}', false],
    ['a?b?c?d?e?', true],
    ['a?b?c?d?e?f?', false],
    ['a{0,15}', true],
    ['a{0,16}', false],
    ['(?:a|b|c){0}', false],
    ['(aa|b)?', true],
    ['(a{16}|b){3}', false],
    // If a pattern has a leading `^`, a match can begin only at the start of the string, so the engine tries the pattern at only one
    // position. The limit for such a pattern is therefore higher: 16,384 steps instead of 256.
    ['^a{257}', true],
    [`^${'a{999}'.repeat(16)}a{400}`, true],
    [`^${'a{999}'.repeat(16)}a{401}`, false],
    // If a pattern has a leading `^`, it may also have one unbounded repetition, such as `a*`. This repetition can end at every position of
    // the string, so the engine may try the rest of the pattern at every position. The limit for such a pattern is therefore the same as
    // for a pattern without `^`: 256 steps at each position.
    ['^a*b{255}', true],
    ['^a*b{256}', false],
    ['^a+b{255}', true],
    ['^a{255,}', true],
    ['^a{256,}', false],
    ['a+', false],
    ['a{1,}', false],
    ['^(a*|b)', true],
    ['^(a*|b+)', false],
    ['^(a+)?b?', true],
    ['^a{2,1}', false],
    ['^a{2,2}', true],
    ['^(a){2}', false],
    ['^(a)*', false],
    // Patterns that are invalid, or that mean something else in JavaScript than in RE2.
    ['^(a', false],
    ['^a)', false],
    ['^(a|)', false],
    ['^(|a)', false],
    ['^a++', false],
    ['^a{1}{2}', false],
    ['^a|b', false],
    ['a$$', false],
    ['a\\$', true],
    ['^a\\$$', true],
    ['^(?:a$)', false],
    ['', true],
    ['^$', true],
    ['^[a-z', false],
    ['^\\n', false],
  ]
  for (const [source, simple] of cases) t.equal(isSimple(source), simple, source)
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
      // Patterns that RE2 does not accept are skipped, because `checkStructural` rejects schemas with them.
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

t.test('a hostile string is matched in linear time', async (t) => {
  for (const source of ['^(a+)+$', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', '^a*b', '(x+x+)+y']) {
    const compiled = compilePattern(source)
    const started = processorTimeMs()
    for (const unit of ['a', '-', 'x', 'a-']) compiled.test(`${unit.repeat(50_000)}!`)
    // An engine that backtracks would need years. Even on a busy machine, linear time stays far below the limit.
    t.ok(processorTimeMs() - started < 5000, source)
  }
})
