import fc from 'fast-check'
import t from 'tap'
import { redactText } from '../../src/telemetry/secret-text.ts'

/** The longest text that the logger looks at. */
const length = 32 * 1024
const fragments = [
  ...'a A 0 = : - . / @ " \' \\ , { } [ ] _ | > # + % ;'.split(' '),
  ...[
    ' ',
    '\n',
    '\t',
    '\\"',
    '://',
    'a:',
    '://a:',
    '://a:b@',
    'eyJ',
    'eyJabcde.',
    '-eyJ',
    'LS0tLS1CRUdJTi',
    '-----BEGIN ',
    '-----END ',
    'PRIVATE KEY',
  ],
  ...[
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN A ',
    'password',
    'token',
    'token=',
    'token: ',
    '"token":',
    '"token":"',
    '"token","value":"',
    "token='",
  ],
  ...[
    '--token ',
    '--',
    'Bearer ',
    'bearer',
    'Basic ',
    'Basic YTpi',
    'authorization',
    'authorization: ',
    'authorization: Digest ',
    'Cookie: ',
    'cookie: a',
  ],
  ...[
    'kind: Secret',
    '"data":',
    'data:',
    'token: Invalid value: ',
    'token[a',
    'token[',
    '{token: ',
    '{ a',
    ', ',
    'apiKey',
    'api-',
    'key-data',
    'pass',
  ],
]

t.test('a hostile text takes no longer than a short while', async (t) => {
  for (const first of fragments) {
    for (const second of ['', ...fragments]) {
      const text = (first + second).repeat(length).slice(0, length)
      const start = performance.now()
      redactText(text)
      redactText(text, true)
      const ms = performance.now() - start
      if (ms > 300) t.fail(`${JSON.stringify(first + second)} again and again took ${ms.toFixed(0)} ms`)
    }
  }
})

t.test('any mixture of what the rules look for is redacted in a short while, and again without a change', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 400 }), (parts) => {
      const text = parts.join('').repeat(20).slice(0, length)
      const start = performance.now()
      redactText(text)
      return performance.now() - start < 500
    }),
    { numRuns: 200 },
  )
  t.pass()
})
