import t from 'tap'
import { trimSpace } from '../../../src/cel/types/trim-space.ts'

t.test('the white space of Go is removed at both ends', async (t) => {
  for (const [text, trimmed] of [
    ['', ''],
    [' ', ''],
    ['a', 'a'],
    ['\t\n\v\f\r a \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000', 'a'],
    [' a b ', 'a b'],
    // JavaScript counts the byte order mark as white space, but Go does not. Neither JavaScript nor Go counts the zero width space as white
    // space.
    ['\ufeffa\u200b', '\ufeffa\u200b'],
    ['\u200b a', '\u200b a'],
    ['😀 ', '😀'],
  ] as const)
    t.equal(trimSpace(text), trimmed)
})

t.test('much white space within the text is not searched again and again', async (t) => {
  const text = `x${' '.repeat(3_000_000)}x`
  t.equal(trimSpace(` ${text} `).length, text.length)
})
