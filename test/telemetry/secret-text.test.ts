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

const R = '[redacted]'
const jwt = 'eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl'
const keyInBase64 = Buffer.from('-----BEGIN PRIVATE KEY-----\nMIGH').toString('base64')
const certificateInBase64 = Buffer.from('-----BEGIN CERTIFICATE-----\nMIGH').toString('base64')

/** What stands around a secret stays. */
const texts: readonly (readonly [text: string, clean: string])[] = [
  ['a -----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY----- b', `a ${R} b`],
  ['a -----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK----- b', `a ${R} b`],
  ['a -----BEGIN PRIVATE KEY-----\nx', `a ${R}`],
  [`a ${keyInBase64} ${certificateInBase64} b`, `a ${R} ${certificateInBase64} b`],
  [`a ${jwt} b`, `a ${R} b`],
  [jwt, R],
  [keyInBase64, R],
  ['x-eyJhbGciOi.eyJzdWIi.c2ln a', 'x-eyJhbGciOi.eyJzdWIi.c2ln a'],
  ['at https://user:hidden@a:1/b c', `at https://user:${R}@a:1/b c`],
  ['at https://:hidden@a/b', `at https://:${R}@a/b`],
  ['at https://user:80@a/b', `at https://user:${R}@a/b`],
  ['at https://a:8080/b@c', 'at https://a:8080/b@c'],
  ['at https://a:8080?b@c', 'at https://a:8080?b@c'],
  ['at https://a:8080#b@c', 'at https://a:8080#b@c'],
  [`at https://${'a'.repeat(20)}@b c`, `at https://${R}@b c`],
  [`at https://${'a'.repeat(19)}@b c`, `at https://${'a'.repeat(19)}@b c`],
  ['Authorization: Bearer abc123, more', `Authorization: Bearer ${R}, more`],
  ['authorization: bearer: abc123', `authorization: bearer: ${R}`],
  ['sent Bearer Token123 to a', `sent Bearer ${R} to a`],
  ['sent BEARER mine', `sent BEARER ${R}`],
  ['sent Bearer mine', `sent Bearer ${R}`],
  ['Bearer token is missing', 'Bearer token is missing'],
  ['Bearer Realm="kubernetes"', 'Bearer Realm="kubernetes"'],
  ['Bearer token1 is missing', `Bearer ${R} is missing`],
  ['the bearer mine is', 'the bearer mine is'],
  ['the bearer mine, is', 'the bearer mine, is'],
  ['the bearer Mine is', `the bearer ${R} is`],
  ['Authorization: Basic dXNlcjpoaWRkZW4= x', `Authorization: Basic ${R} x`],
  ['basic knowledge of this', 'basic knowledge of this'],
  ['authorization: Digest user="a", response=b\nnext', `authorization: Digest ${R}\nnext`],
  ['authorization: Digest user="a", response="b"\nnext', `authorization: Digest ${R}\nnext`],
  ['{"authorization":"Digest user=\\"a\\", response=\\"b\\"","host":"c"}', `{"authorization":"Digest ${R}","host":"c"}`],
  ['{"authorization":"Negotiate YWI=","host":"c"}', `{"authorization":"Negotiate ${R}","host":"c"}`],
  ['"authorization": "Negotiate abc" x', `"authorization": "Negotiate ${R}" x`],
  ['Cookie: a=b; c=d\nHost: e', `Cookie: ${R}\nHost: e`],
  ['Cookie: none of them', 'Cookie: none of them'],
  ['spec.password: Invalid value: "hid\\"den": too short', `spec.password: Invalid value: ${R}: too short`],
  ['spec.token[0]: Invalid value: hidden: too short', `spec.token[0]: Invalid value: ${R} too short`],
  ['spec.name: Invalid value: "seen": a token', 'spec.name: Invalid value: "seen": a token'],
  ['{"password":"hidden","a":"b"}', `{"password":"${R}","a":"b"}`],
  ['{"name":"DB_PASSWORD","value":"hidden","a":"b"}', `{"name":"DB_PASSWORD","value":"${R}","a":"b"}`],
  ["x token='hidden' y", `x token='${R}' y`],
  ['password: "hidden" y', `password: "${R}" y`],
  ['secret: "web" not found', 'secret: "web" not found'],
  ['client_secret: "hidden" y', `client_secret: "${R}" y`],
  ['"secret": "hidden" y', `"secret": "${R}" y`],
  ['secret="hidden" y', `secret="${R}" y`],
  ['token="" y', 'token="" y'],
  ['password=hidden, a=b', `password=${R}, a=b`],
  ['DB_PASS=hidden bypass=seen', `DB_PASS=${R} bypass=seen`],
  ['password=true token=null a', 'password=true token=null a'],
  ['a:\n  apiKey: hidden\n  b: c', `a:\n  apiKey: ${R}\n  b: c`],
  ['  token: hidden # mine\nx', `  token: ${R} # mine\nx`],
  ['token: the server refused it', 'token: the server refused it'],
  ['in {user: a, password: hidden, b: c}', `in {user: a, password: ${R}, b: c}`],
  ['run --token hidden123 --x', `run --token ${R} --x`],
  ['run --token a-file of it', 'run --token a-file of it'],
  [`run --token ${'a'.repeat(20)} b`, `run --token ${R} b`],
  ['run --token camelCase b', `run --token ${R} b`],
  ['cannot apply kind: Secret\ndata:\n  a: b', `cannot apply kind: Secret\ndata: ${R}`],
  ['cannot apply {"data":{"a":"b"},"kind":"Secret"}', `cannot apply {"data": ${R}`],
  ['cannot apply {"stringData":{"a":"b"},"kind":"SecretList"}', `cannot apply {"stringData": ${R}`],
  ['cannot apply kind: ConfigMap\ndata:\n  a: b', 'cannot apply kind: ConfigMap\ndata:\n  a: b'],
]

t.test('a secret is taken out of a text, and nothing beside it', (t) => {
  for (const [text, clean] of texts) t.equal(redactText(text), clean, text)
  t.equal(redactText('a: {"data":{"a":"b"}}'), 'a: {"data":{"a":"b"}}')
  t.equal(redactText('a: {"data":{"a":"b"}}', true), `a: {"data": ${R}`, 'of the beginning of a text nobody knows what it quotes')
  t.end()
})

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
