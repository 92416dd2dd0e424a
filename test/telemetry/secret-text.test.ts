import fc from 'fast-check'
import t from 'tap'
import { redactText } from '../../src/telemetry/secret-text.ts'

/** Milliseconds of computing, which other programs on the machine do not lengthen. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

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

t.test('the time for a hostile text grows with its length, not with the square of it', async (t) => {
  for (const first of fragments) {
    for (const second of ['', ...fragments]) {
      // A quarter of the longest; the square of it would take a second and more.
      const text = (first + second).repeat(length).slice(0, length / 4)
      const ms = cpuMsOf(() => redactText(text, true))
      if (ms > 100) t.fail(`${JSON.stringify(first + second)} again and again took ${ms.toFixed(0)} ms`)
    }
  }
})

t.test('any mixture of what the rules look for is redacted in a short while', async (t) => {
  const isQuick = fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 400 }), (parts) => {
    const text = parts.join('').repeat(20).slice(0, length)
    return cpuMsOf(() => redactText(text)) < 300
  })
  t.doesNotThrow(() => fc.assert(isQuick, { numRuns: 100 }))
})
