import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { normalizeFieldPath } from '../../src/cel/field-path.ts'
import { ruleShapeErrors } from '../../src/cel/rule-shape.ts'

const text: StructuralSchema = { type: 'string' }
const names = ['a', 'a.b', 'a-b', "a'b", 'a\\b', 'x[y]', '', '\u0007\b\f\n\r\t\v']
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    ...Object.fromEntries(names.map((name) => [name, text])),
    o: { type: 'object', properties: { p: { type: 'object', properties: { q: text } } } },
    m: { type: 'object', additionalProperties: { type: 'object', properties: { q: text } } },
    any: { type: 'object', additionalProperties: true },
    list: { type: 'array', items: text },
  },
}

t.test('a path of fields and map keys is written as in field errors', async (t) => {
  const paths: Readonly<Record<string, string>> = {
    '.a': 'a',
    "['a']": 'a',
    "['a.b']": 'a.b',
    '.a-b': 'a-b',
    [String.raw`['a\'b']`]: "a'b",
    [String.raw`['a\\b']`]: 'a\\b',
    "['x[y]']": 'x[y]',
    "['']": '[]',
    [String.raw`['\a\b\f\n\r\t\v']`]: '\u0007\b\f\n\r\t\v',
    '.o.p.q': 'o.p.q',
    "['o'].p['q']": 'o.p.q',
    ".m['k'].q": 'm[k].q',
    '.m.k.q': 'm[k].q',
    ".any['k']": 'any[k]',
    '.list': 'list',
  }
  for (const [path, normalized] of Object.entries(paths)) t.equal(normalizeFieldPath(path, schema), normalized, path)
})

t.test('a path of another syntax, or to a field that the schema does not have, is invalid', async (t) => {
  const wrong = [
    '',
    '.',
    'a',
    ']a',
    "'x'a",
    "'a'",
    'a.a',
    '.a.',
    '..a',
    '[a]',
    "['a'",
    "'a']",
    '["a"]',
    "['a']a",
    '.[',
    '[]',
    '.a]',
    '.o p',
  ]
  const missing = ['.b', '.a.b', '.o.q', '.o.p.q.r', '.list[0]', ".list['0']", '.constructor', '.o.toString', ".m['k'].r", '.any.k.l']
  for (const path of [...wrong, ...missing, String.raw`['\q']`, String.raw`['a\']`])
    t.equal(normalizeFieldPath(path, schema), undefined, path)
})

t.test('a path is blank if it has only white space of Go', async (t) => {
  const problems = (fieldPath: string): string[] =>
    ruleShapeErrors({ ...schema, 'x-kubernetes-validations': [{ rule: 'true', fieldPath }] }, 's').map(({ message }) =>
      message.replace(/^.*: /, ''),
    )
  t.strictSame(problems(' \u0085'), ['must be non-empty if specified', 'must be a valid path'])
  t.strictSame(problems('\ufeff'), ['must be a valid path'])
})
