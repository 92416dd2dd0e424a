import t from 'tap'
import { parseWarnings } from '../../src/client/warning.ts'

const cases: [string, string | string[] | undefined, string[]][] = [
  ['none', undefined, []],
  ['one', '299 - "unknown field \\"spec.foo\\""', ['unknown field "spec.foo"']],
  ['several in one header', '299 - "a, 299 b", 299 - "c\\\\d"', ['a, 299 b', 'c\\d']],
  ['several headers', ['299 - "a"', '299 host:1 "b" "Sat, 21 Nov 2026 00:00:00 GMT"'], ['a', 'b']],
  ['other codes', '199 - "cache"', []],
  ['a longer number', '1299 - "a"', []],
  ['nonsense', '299 - a', []],
]
for (const [name, header, expected] of cases) t.test(name, async (t) => t.strictSame(parseWarnings(header), expected))
