import t from 'tap'
import { excessOf } from '../../../src/webhook/evaluation/text-limits.ts'

const limits = { levels: 20, values: 1000 }

t.test('levels and values are counted outside of strings', (t) => {
  const cases: [string, string | undefined][] = [
    ['['.repeat(20), undefined],
    ['['.repeat(21), '20 levels'],
    ['{"a":'.repeat(21), '20 levels'],
    [`[${'{},'.repeat(400)}1]`, undefined],
    [`[${'1,'.repeat(990)}1]`, undefined],
    [`[${'1,'.repeat(999)}1]`, undefined],
    [`[${'1,'.repeat(1000)}1]`, '1000 values'],
    [`[${'{},'.repeat(499)}1]`, undefined],
    [`[${'{},'.repeat(500)}1]`, '1000 values'],
    [`["${'{,['.repeat(1000)}"]`, undefined],
    [`["\\"${'{,['.repeat(1000)}\\\\",1]`, undefined],
  ]
  for (const [text, excess] of cases) t.equal(excessOf(Buffer.from(text), limits), excess, text.slice(0, 20))
  t.end()
})

t.test('text that is not JSON is counted to its end', (t) => {
  for (const text of ['', '}}}}', '"', '"\\', ']{"request":', '\\', ',,,,']) t.equal(excessOf(Buffer.from(text), limits), undefined, text)
  t.end()
})

t.test('by default a review has at most 500,000 values in 1010 levels', (t) => {
  const cases: [string, string | undefined][] = [
    [`[${'1,'.repeat(499_999)}1]`, undefined],
    [`[${'1,'.repeat(500_000)}1]`, '500000 values'],
    ['['.repeat(1010), undefined],
    ['['.repeat(1011), '1010 levels'],
  ]
  for (const [text, excess] of cases) t.equal(excessOf(Buffer.from(text)), excess)
  t.end()
})
