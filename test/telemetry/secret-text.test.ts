import { fc } from '../support/property.ts'
import t from 'tap'
import { redactText } from '../../src/telemetry/secret-text.ts'

/** Returns the CPU time of `work` in milliseconds. CPU time does not depend on other processes of the machine. */
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

/** Strings with secrets, each with its expected result. In the result, only the secret is replaced. */
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

t.test('only the secret in a text is redacted', (t) => {
  for (const [text, clean] of texts) t.equal(redactText(text), clean, text)
  t.equal(redactText('a: {"data":{"a":"b"}}'), 'a: {"data":{"a":"b"}}')
  t.equal(redactText('a: {"data":{"a":"b"}}', true), `a: {"data": ${R}`, 'a truncated text may quote a Secret')
  t.end()
})

t.test('each name of a secret is recognized before its value', (t) => {
  const names =
    'password passwd passphrase pwd pass token secret credential credentials api_key apikey private-key private_key secretKey access_key ' +
    'signing-key encryptionKey client_key key-data key_data keydata'
  for (const name of names.split(' ')) {
    for (const written of [name, name.toUpperCase()]) {
      t.equal(redactText(`${written}=hidden, a=b`), `${written}=${R}, a=b`)
      t.equal(redactText(`{"${written}":"hidden","a":"b"}`), `{"${written}":"${R}","a":"b"}`)
      t.equal(redactText(`a: b\n${written}: hidden\nc: d`), `a: b\n${written}: ${R}\nc: d`)
      t.equal(redactText(`{a: b, ${written}: hidden}`), `{a: b, ${written}: ${R}}`)
      t.equal(redactText(`spec.${written}: Invalid value: "hidden": short`), `spec.${written}: Invalid value: ${R}: short`)
      t.equal(redactText(`run --${written} hidden123 --x`), `run --${written} ${R} --x`)
    }
  }
  for (const value of ['true', 'false', 'null', 'none', 'undefined']) t.equal(redactText(`token=${value} a`), `token=${value} a`)
  t.equal(redactText('token=nonesuch a'), `token=${R} a`)
  t.end()
})

t.test('the credentials of each authentication scheme are redacted', (t) => {
  for (const scheme of ['Digest', 'Negotiate', 'NTLM', 'Token', 'ApiKey', 'AWS4-HMAC-SHA256'])
    for (const written of [scheme, scheme.toLowerCase()])
      t.equal(redactText(`authorization: ${written} abc\nnext`), `authorization: ${written} ${R}\nnext`)
  t.equal(redactText('authorization: Other abc'), 'authorization: Other abc')
  t.end()
})

t.test('a word after "Bearer" that belongs to a sentence is no token', (t) => {
  const words =
    'token tokens auth authentication authorization authorisation scheme realm error header credential credentials challenge of or and is was not in must'
  for (const word of words.split(' ')) {
    t.equal(redactText(`Bearer ${word} a`), `Bearer ${word} a`)
    t.equal(redactText(`Bearer ${word}7 a`), `Bearer ${R} a`, 'unless it has a digit')
  }
  t.end()
})

/** The maximum length of a string in a log entry. The logger truncates longer strings before it redacts them. */
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

t.test('the time for a hostile text is linear in its length', async (t) => {
  for (const first of fragments) {
    for (const second of ['', ...fragments]) {
      // This text has only a quarter of the maximum length, so that the test is short. If the redaction needed quadratic time, even this
      // text would take more than a second, far more than the limit of 100 ms.
      const text = (first + second).repeat(length).slice(0, length / 4)
      const ms = cpuMsOf(() => redactText(text, true))
      if (ms > 100) t.fail(`${JSON.stringify(first + second)} again and again took ${ms.toFixed(0)} ms`)
    }
  }
})

t.test('any mixture of patterns is redacted quickly', async (t) => {
  const isQuick = fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 400 }), (parts) => {
    const text = parts.join('').repeat(20).slice(0, length)
    return cpuMsOf(() => redactText(text)) < 300
  })
  t.doesNotThrow(() => fc.assert(isQuick, { numRuns: 100 }))
})
